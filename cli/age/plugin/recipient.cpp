// The protocol recipient-v1: a plugin wraps file keys.
#include <fmt/core.h>

#include "cli/age/plugin/dialogue.h"
#include "cli/age/plugin/plugin.h"
#include "cli/age/stanzas.h"

namespace warpseal::cli::age::plugin {
namespace {

class Wrapping {
public:
    Wrapping(Connection& plugin, size_t recipients, size_t identities, size_t files)
        : plugin_(plugin), recipients_(recipients), identities_(identities), bytes_(files) {
        wrapped_.files.resize(files);
    }

    Wrapped run() {
        for (;;) {
            const Stanza message = plugin_.receive();
            const std::string& type = message.type();
            if (type == "done") break;
            if (type == "recipient-stanza")
                take_stanza(message);
            else if (type == "labels")
                take_labels(message);
            else if (type == "error")
                take_error(message);
            else
                answer(plugin_, message);
        }
        if (plugin_.has_errors()) plugin_.fail("");
        for (const std::vector<Stanza>& stanzas : wrapped_.files)
            if (stanzas.empty()) plugin_.fail("is done, but has not wrapped every file key");
        return std::move(wrapped_);
    }

private:
    void take_stanza(const Stanza& message) {
        if (message.arguments.size() < 3) plugin_.fail("sends a stanza without a type");
        std::vector<Stanza>& stanzas =
            wrapped_.files[plugin_.index(message.arguments[1], wrapped_.files.size(), "a file")];
        if (stanzas.size() == max_stanzas) plugin_.fail("sends more stanzas than a file takes");
        size_t& bytes = bytes_[static_cast<size_t>(&stanzas - wrapped_.files.data())];
        bytes += message.body.size();
        for (const std::string& argument : message.arguments) bytes += argument.size() + 1;
        if (bytes > max_header_bytes) plugin_.fail("sends more than the header of a file takes");
        stanzas.push_back({{message.arguments.begin() + 2, message.arguments.end()}, message.body});
        // A file with a stanza of a known type in another form could not be read.
        if (opens_by_passphrase(stanzas)) plugin_.fail("wraps for a passphrase");
        try {
            check_stanzas({stanzas.back()});
        } catch (const Failure&) {
            plugin_.fail("sends a stanza " + stanzas.back().type() + " of another form");
        }
        plugin_.send({"ok"});
    }

    void take_labels(const Stanza& message) {
        if (has_labels_) plugin_.fail("sends its labels twice");
        has_labels_ = true;
        wrapped_.labels = {message.arguments.begin() + 1, message.arguments.end()};
        if (wrapped_.labels.size() + 1 != message.arguments.size())
            plugin_.fail("sends a label twice");
        plugin_.send({"ok"});
    }

    void take_error(const Stanza& message) {
        const std::vector<std::string>& arguments = message.arguments;
        const std::string kind = arguments.size() > 1 ? arguments[1] : "";
        if (arguments.size() == 3 && kind == "recipient")
            (void)plugin_.index(arguments[2], recipients_, "a recipient");
        else if (arguments.size() == 3 && kind == "identity")
            (void)plugin_.index(arguments[2], identities_, "an identity");
        plugin_.add_error(shown_text(message.body));
        plugin_.send({"ok"});
    }

    Connection& plugin_;
    const size_t recipients_, identities_;
    Wrapped wrapped_;
    std::vector<size_t> bytes_;  // of the stanzas of each file
    bool has_labels_ = false;
};

}  // namespace

Wrapped wrap(const std::string& name, const std::vector<std::string>& recipients,
             const std::vector<Secret>& identities, const std::vector<Secret>& file_keys) {
    Connection plugin(name, "recipient-v1", file_keys.size());
    for (const std::string& recipient : recipients) plugin.send({"add-recipient", recipient});
    for (const Secret& identity : identities) plugin.send({"add-identity", text_of(identity)});
    plugin.send_grease();
    for (const Secret& file_key : file_keys) plugin.send({"wrap-file-key"}, file_key);
    plugin.send({"extension-labels"});
    plugin.send({"done"});
    Wrapped wrapped =
        Wrapping(plugin, recipients.size(), identities.size(), file_keys.size()).run();
    plugin.close();
    return wrapped;
}

}  // namespace warpseal::cli::age::plugin

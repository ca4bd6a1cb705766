// The protocol identity-v1: a plugin unwraps file keys.

#include "cli/age/crypto.h"
#include "cli/age/plugin/dialogue.h"
#include "cli/age/plugin/plugin.h"
#include "cli/support/format.h"

namespace warpseal::cli::age::plugin {
namespace {

using Files = std::vector<const std::vector<Stanza>*>;

class Unwrapping {
public:
    Unwrapping(Connection& plugin, size_t identities, const Files& files)
        : plugin_(plugin), identities_(identities), files_(files), keys_(files.size()) {}

    std::vector<std::optional<Secret>> run() {
        for (;;) {
            Stanza message = plugin_.receive();
            const std::string& type = message.type();
            if (type == "done") break;
            if (type == "file-key")
                take_key(message);
            else if (type == "error")
                take_error(message);
            else
                answer(plugin_, message);
        }
        // One identity or file may fail if another has succeeded.
        if (plugin_.has_errors() && !has_key_) plugin_.fail("");
        return std::move(keys_);
    }

private:
    void take_key(Stanza& message) {
        if (message.arguments.size() != 2) plugin_.fail("sends a file key without its file");
        std::optional<Secret>& key =
            keys_[plugin_.index(message.arguments[1], keys_.size(), "a file")];
        const size_t bytes = message.body.size();
        if (!key)
            key.emplace(message.body.begin(), message.body.end());
        else
            plugin_.fail("sends two keys for a file");
        warpseal_wipe(message.body.data(), bytes);
        if (bytes != file_key_bytes)
            plugin_.fail(
                cli::format("sends a file key of {} bytes instead of {}", bytes, file_key_bytes));
        has_key_ = true;
        plugin_.send({"ok"});
    }

    void take_error(const Stanza& message) {
        const std::vector<std::string>& arguments = message.arguments;
        const std::string kind = arguments.size() > 1 ? arguments[1] : "";
        if (arguments.size() == 3 && kind == "identity")
            (void)plugin_.index(arguments[2], identities_, "an identity");
        if (arguments.size() == 4 && kind == "stanza") {
            const size_t file = plugin_.index(arguments[2], files_.size(), "a file");
            (void)plugin_.index(arguments[3], files_[file]->size(), "a stanza");
        }
        plugin_.add_error(shown_text(message.body));
        plugin_.send({"ok"});
    }

    Connection& plugin_;
    const size_t identities_;
    const Files& files_;
    std::vector<std::optional<Secret>> keys_;
    bool has_key_ = false;
};

}  // namespace

std::vector<std::optional<Secret>> unwrap(const std::string& name,
                                          const std::vector<Secret>& identities,
                                          const Files& files) {
    Connection plugin(name, "identity-v1", files.size());
    for (const Secret& identity : identities) plugin.send({"add-identity", text_of(identity)});
    plugin.send_grease();
    for (size_t file = 0; file < files.size(); ++file)
        for (const Stanza& stanza : *files[file]) {
            const std::string number = std::to_string(file);
            std::vector<std::string_view> arguments{"recipient-stanza", number};
            arguments.insert(arguments.end(), stanza.arguments.begin(), stanza.arguments.end());
            plugin.send(arguments, stanza.body);
        }
    plugin.send({"done"});
    std::vector<std::optional<Secret>> keys = Unwrapping(plugin, identities.size(), files).run();
    plugin.close();
    return keys;
}

}  // namespace warpseal::cli::age::plugin

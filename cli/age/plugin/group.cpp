// Sorts recipients and identities by plugin, and compares the labels of recipients.
#include "cli/age/plugin/group.h"

#include <fmt/format.h>

#include <map>

#include "cli/age/source.h"

namespace warpseal::cli::age::plugin {
namespace {

constexpr char post_quantum_label[] = "postquantum";

struct Work {
    std::vector<std::string> recipients;
    std::vector<Secret> identities;
};

// Recipients of a file must agree in their labels.
class Labels {
public:
    void add(const std::string& shown, const std::set<std::string>& labels) {
        if (shown_.empty()) {
            shown_ = shown;
            labels_ = labels;
        } else if (labels != labels_) {
            refuse(shown, labels);
        }
    }

private:
    void refuse(const std::string& shown, const std::set<std::string>& labels) const {
        const bool one = labels.count(post_quantum_label) != 0,
                   other = labels_.count(post_quantum_label) != 0;
        if (one != other)
            throw Failure(ExitCode::usage,
                          fmt::format("{} is not post-quantum and would weaken the others: give "
                                      "recipients of one kind alone.",
                                      one ? shown_ : shown));
        throw Failure(ExitCode::usage,
                      fmt::format("{} and {} refuse to share a file: encrypt it for each alone.",
                                  shown_, shown));
    }
    std::string shown_;
    std::set<std::string> labels_;
};

}  // namespace

void wrap_by_plugins(const std::vector<Recipient>& recipients, View file_key,
                     std::vector<Stanza>& to) {
    Labels labels;
    std::map<std::string, Work> plugins;
    for (const Recipient& recipient : recipients) {
        if (recipient.type != KeyType::plugin) {
            labels.add(recipient.shown, recipient.type == KeyType::hybrid
                                            ? std::set<std::string>{post_quantum_label}
                                            : std::set<std::string>{});
            continue;
        }
        const std::string_view text = text_of(recipient.key);
        if (const std::string name = name_of_recipient(text); !name.empty())
            plugins[name].recipients.emplace_back(text);
        else
            plugins[name_of_identity(text)].identities.emplace_back(text.begin(), text.end());
    }
    const std::vector<Secret> file_keys{Secret(file_key.begin(), file_key.end())};
    for (const auto& [name, work] : plugins) {
        Wrapped wrapped = wrap(name, work.recipients, work.identities, file_keys);
        labels.add("age-plugin-" + name, wrapped.labels);
        for (Stanza& stanza : wrapped.files[0]) to.push_back(std::move(stanza));
    }
}

std::optional<Secret> unwrap_by_plugins(const std::vector<Identity>& identities,
                                        const std::vector<Stanza>& stanzas,
                                        std::optional<Failure>& failure) {
    std::map<std::string, std::vector<Secret>> plugins;
    for (const Identity& identity : identities)
        if (identity.type == KeyType::plugin)
            plugins[name_of_identity(text_of(identity.key))].push_back(identity.key);
    for (const auto& [name, own] : plugins) {
        try {
            std::vector<std::optional<Secret>> found = unwrap(name, own, {&stanzas});
            if (found[0]) return std::move(found[0]);
        } catch (const Failure& what) {
            throw_if_interrupted();
            if (what.code == ExitCode::interrupted) throw;
            if (!failure) failure = what;
        }
    }
    return std::nullopt;
}

}  // namespace warpseal::cli::age::plugin

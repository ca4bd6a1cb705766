// Sorts recipients and identities by plugin, and compares the labels of recipients.
#include "cli/age/plugin/group.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "cli/age/crypto.h"
#include "cli/age/payload/source.h"
#include "cli/support/format.h"

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
    bool are_post_quantum() const { return labels_.count(post_quantum_label) != 0; }

private:
    void refuse(const std::string& shown, const std::set<std::string>& labels) const {
        const bool one = labels.count(post_quantum_label) != 0,
                   other = labels_.count(post_quantum_label) != 0;
        if (one != other)
            throw Failure(ExitCode::usage,
                          cli::format("{} is not post-quantum and would weaken the others: give "
                                      "recipients of one kind alone.",
                                      one ? shown_ : shown));
        throw Failure(ExitCode::usage,
                      cli::format("{} and {} refuse to share a file: encrypt it for each alone.",
                                  shown_, shown));
    }
    std::string shown_;
    std::set<std::string> labels_;
};

// The work of each plugin by its name. Adds the labels of the other recipients.
std::map<std::string, Work> sorted(const std::vector<Recipient>& recipients, Labels& labels) {
    std::map<std::string, Work> plugins;
    for (const Recipient& recipient : recipients) {
        if (recipient.type != KeyType::plugin) {
            labels.add(recipient.shown, is_post_quantum(recipient.type)
                                            ? std::set<std::string>{post_quantum_label}
                                            : std::set<std::string>{});
            continue;
        }
        const std::string_view text = text_of(recipient.key);
        Work& work = plugins[name_of(recipient)];
        if (!name_of_recipient(text).empty())
            work.recipients.emplace_back(text);
        else
            work.identities.emplace_back(text.begin(), text.end());
    }
    return plugins;
}

// The stanzas of each file key.
std::vector<std::vector<Stanza>> wrap_by(const std::string& name, const Work& work,
                                         const std::vector<Secret>& file_keys, Labels& labels) {
    Wrapped wrapped = wrap(name, work.recipients, work.identities, file_keys);
    labels.add("age-plugin-" + name, wrapped.labels);
    return std::move(wrapped.files);
}

}  // namespace

std::string name_of(const Recipient& recipient) {
    const std::string_view text = text_of(recipient.key);
    const std::string name = name_of_recipient(text);
    return name.empty() ? name_of_identity(text) : name;
}

std::vector<std::vector<Stanza>> wrap_by_plugins(const std::vector<Recipient>& recipients,
                                                 const std::vector<Secret>& file_keys) {
    Labels labels;
    std::vector<std::vector<Stanza>> stanzas(file_keys.size());
    for (const auto& [name, work] : sorted(recipients, labels)) {
        std::vector<std::vector<Stanza>> files = wrap_by(name, work, file_keys, labels);
        for (size_t file = 0; file < stanzas.size(); ++file)
            for (Stanza& stanza : files[file]) stanzas[file].push_back(std::move(stanza));
    }
    return stanzas;
}

PluginKeys wrap_key_of_each_plugin(const std::vector<Recipient>& recipients) {
    Labels labels;
    PluginKeys made{};
    for (const auto& [name, work] : sorted(recipients, labels)) {
        std::vector<Secret> file_key{random_secret(file_key_bytes)};
        std::vector<Stanza> stanzas = std::move(wrap_by(name, work, file_key, labels)[0]);
        made.keys.push_back({name, std::move(file_key[0]), std::move(stanzas)});
    }
    made.are_post_quantum = labels.are_post_quantum();
    return made;
}

std::vector<std::optional<Secret>> unwrap_by_plugins(
    const std::vector<Identity>& identities, const std::vector<const std::vector<Stanza>*>& files,
    std::optional<Failure>& failure) {
    std::map<std::string, std::vector<Secret>> plugins;
    for (const Identity& identity : identities)
        if (identity.type == KeyType::plugin)
            plugins[name_of_identity(text_of(identity.key))].push_back(identity.key);
    std::vector<std::optional<Secret>> keys(files.size());
    std::vector<size_t> missing(files.size());
    std::iota(missing.begin(), missing.end(), size_t{0});
    for (const auto& [name, own] : plugins) {
        std::vector<const std::vector<Stanza>*> given;
        given.reserve(missing.size());
        for (const size_t file : missing) given.push_back(files[file]);
        try {
            std::vector<std::optional<Secret>> found = unwrap(name, own, given);
            for (size_t i = 0; i < found.size(); ++i) keys[missing[i]] = std::move(found[i]);
        } catch (const Failure& what) {
            throw_if_interrupted();
            if (what.code >= ExitCode::interrupted) throw;  // or 128 + another signal
            if (!failure) failure = what;
        }
        missing.erase(std::remove_if(missing.begin(), missing.end(),
                                     [&](size_t file) { return keys[file].has_value(); }),
                      missing.end());
        if (missing.empty()) break;
    }
    return keys;
}

}  // namespace warpseal::cli::age::plugin

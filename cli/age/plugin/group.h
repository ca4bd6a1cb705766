// The plugins among the recipients or identities of a command, each of which is started once.
#pragma once

#include <optional>

#include "cli/age/keys.h"
#include "cli/age/plugin/plugin.h"
#include "cli/support/command.h"

namespace warpseal::cli::age::plugin {

// Returns the stanzas that plugins make for each file key. `recipients` has recipients and
// identities of plugins, in their text, beside others. Throws Failure, also (usage) if a plugin
// refuses to share the file with the other recipients.
std::vector<std::vector<Stanza>> wrap_by_plugins(const std::vector<Recipient>& recipients,
                                                 const std::vector<Secret>& file_keys);
// A new file key that one plugin has wrapped for its recipients.
struct PluginKey {
    std::string name;  // of the plugin
    Secret file_key;
    std::vector<Stanza> stanzas;
};
struct PluginKeys {
    std::vector<PluginKey> keys;
    bool are_post_quantum;  // All recipients agree in it.
};
// Returns the name of the plugin of a recipient or of an identity that seals.
std::string name_of(const Recipient& recipient);
// Lets each plugin wrap a file key of its own. In all else it is like wrap_by_plugins.
PluginKeys wrap_key_of_each_plugin(const std::vector<Recipient>& recipients);
// Returns the file keys that plugins among the identities find, for files with these stanzas. The
// failure of a plugin is left in `failure`, as another may succeed. Throws Failure after a stop
// signal.
std::vector<std::optional<Secret>> unwrap_by_plugins(
    const std::vector<Identity>& identities, const std::vector<const std::vector<Stanza>*>& files,
    std::optional<Failure>& failure);

}  // namespace warpseal::cli::age::plugin

// The plugins among the recipients or identities of a command, each of which is started once.
#pragma once

#include <optional>

#include "cli/age/keys.h"
#include "cli/age/plugin/plugin.h"
#include "cli/support/command.h"

namespace warpseal::cli::age::plugin {

// Appends the stanzas of plugins. `recipients` has recipients and identities of plugins, in their
// text, beside others. Throws Failure, also (usage) if a plugin refuses to share the file with the
// other recipients.
void wrap_by_plugins(const std::vector<Recipient>& recipients, View file_key,
                     std::vector<Stanza>& to);
// Returns the file key if a plugin among the identities finds it. The failure of a plugin is left
// in `failure`, as another may succeed. Throws Failure after a stop signal.
std::optional<Secret> unwrap_by_plugins(const std::vector<Identity>& identities,
                                        const std::vector<Stanza>& stanzas,
                                        std::optional<Failure>& failure);

}  // namespace warpseal::cli::age::plugin

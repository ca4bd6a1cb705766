// age plugins as a client: programs that wrap and unwrap file keys (C2SP age-plugin).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/age/format/stanza.h"

namespace warpseal::cli::age::plugin {

// The name of the plugin that the text is for, or empty. A name has no '/' and no capital letter.
std::string name_of_recipient(std::string_view text);
std::string name_of_identity(std::string_view text);
// The identity without data of a plugin, in upper case. Throws Failure (usage) for a bad name.
Secret identity_without_data(const std::string& name);

// The functions below start one process for all files. They throw Failure if the plugin fails.

struct Wrapped {
    std::vector<std::vector<Stanza>> files;  // the stanzas of each, at least one
    std::set<std::string> labels;            // files whose recipients differ in them are refused
};
// All recipients and identities, in their text, are for this plugin.
Wrapped wrap(const std::string& name, const std::vector<std::string>& recipients,
             const std::vector<Secret>& identities, const std::vector<Secret>& file_keys);

// The file key of each file, or empty if no identity opens it.
std::vector<std::optional<Secret>> unwrap(const std::string& name,
                                          const std::vector<Secret>& identities,
                                          const std::vector<const std::vector<Stanza>*>& files);

}  // namespace warpseal::cli::age::plugin

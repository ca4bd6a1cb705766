// Stanzas as the parameters of key slots (docs/file-format.md).
#pragma once

#include <vector>

#include "cli/age/format/stanza.h"

namespace warpseal::cli::age {

// The decoded arguments and the body of a stanza that wrap_ssh made.
Octets ssh_parameters(const Stanza& stanza);
// Flags, and the text of all stanzas that one call of a plugin made, as the header of an age file
// has it.
Octets plugin_parameters(const std::vector<Stanza>& stanzas, bool is_post_quantum);
// The stanzas in a slot whose type and number of bytes the library has checked: one for an SSH key,
// and at least one of a plugin. Empty for a text of other things than stanzas.
std::vector<Stanza> stanzas_in_slot(uint32_t slot_type, View parameters);

}  // namespace warpseal::cli::age

// Stanzas as the parameters of key slots (docs/file-format.md).
#pragma once

#include <optional>

#include "cli/age/format/stanza.h"

namespace warpseal::cli::age {

// The decoded arguments and the body of a stanza that wrap_ssh made.
Octets ssh_parameters(const Stanza& stanza);
// The text of any stanza, as the header of an age file has it.
Octets text_parameters(const Stanza& stanza);
// The stanza in a slot whose type and number of bytes the library has checked. Empty for a text
// that is no stanza.
std::optional<Stanza> stanza_in_slot(uint32_t slot_type, View parameters);

}  // namespace warpseal::cli::age

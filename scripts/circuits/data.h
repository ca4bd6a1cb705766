// Circuits as data for a header.
#pragma once

#include "boxes.h"

namespace circuits {

// A type for core/gates.h.
std::string data_of(const std::string& type, const Network& network);

// Tables whose free entries, those that no input reaches, are such that the gates cost fewest
// operators on a machine without three-input logic.
Network with_cheap_tables(const Network& network);

}  // namespace circuits

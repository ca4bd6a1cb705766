// Circuits as data for a header.
#pragma once

#include "boxes.h"

namespace circuits {

// A type for core/gates.h.
std::string data_of(const std::string& type, const Network& network);

// Tables whose free entries, those that no input reaches, are such that the gates cost fewest
// operators on a machine without three-input logic.
Network with_cheap_tables(const Network& network);

// Operators that the gates cost there.
int operators_of(const Network& network);

// Gates whose first input is one that nothing reads afterwards, if there is one: VPTERNLOG
// overwrites it. A gate is preferred to an input of the circuit, which is still in memory.
Network with_dead_signal_first(const Network& network);

}  // namespace circuits

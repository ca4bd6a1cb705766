// Choice of a paper's tables by name.
#pragma once

#include <string>

#include "bench/papers/row.h"

namespace warpseal::papers {

// Returns true if `asked` is the table's name, in any case, or a kind and a number in it: "table 7"
// is in "tables 5 to 9", and "figure 7" in "figures 6 and 7". A number alone is a table's; "table
// 3" includes "table 3, by multiprocessors".
bool is_table(const Table& table, const std::string& asked);

}  // namespace warpseal::papers

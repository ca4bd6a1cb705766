// Text of figures, rows and tables of `warpseal bench papers`.
#pragma once

#include <optional>
#include <string>

#include "bench/papers/row.h"

namespace warpseal::papers {

std::string figure_text(std::optional<double> figure);  // three digits; "-" if there is none
std::string times_text(std::optional<double> ratio);    // e.g. "2.5x"; empty if there is none
// Returns the published figure as printed, after its bound: "at least 25"; "-" if there is none.
std::string published_text(const Row& row);
// Returns the name and subject of a row's table, and what is scaled in it.
std::string title_text(const Row& row);

// Return the text of a table's head and of a row. `differences`: with the table's differences from
// the paper.
std::string table_text(const Row& first, bool differences);
std::string row_text(const Row& row);

}  // namespace warpseal::papers

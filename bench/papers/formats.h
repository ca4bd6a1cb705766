// The tables of `warpseal bench papers` as text, one screen for each paper, Markdown and CSV.
#pragma once

#include <string>
#include <vector>

#include "bench/papers/study.h"

namespace warpseal::papers {

// Returns the papers and their tables, each table once, a paper in a paragraph.
std::string index_text(const std::vector<const Paper*>& papers);

// Choice of a paper's rows. Unless `all`, rows that were not run are left out, and so are rows
// without a published figure if the paper would not fit on a screen; the end counts both.
struct Shown {
    bool all = false;
    std::string no_gpu = {};  // reason of rows that were not run for want of a GPU
};

// Return a paper's rows as text or as Markdown. Text has the differences of a table from the paper
// only with `all`.
std::string paper_text(const Paper& paper, const std::vector<Row>& rows, const Shown& shown);
std::string markdown_text(const Paper& paper, const std::vector<Row>& rows, const Shown& shown);

// Returns all rows as CSV (RFC 4180), with the keys of JSON that every row has.
std::string csv_text(const std::vector<Row>& rows);

}  // namespace warpseal::papers

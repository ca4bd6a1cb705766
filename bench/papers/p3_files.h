// P3's files, a part of its reproduction.
#pragma once

#include "bench/papers/study.h"

namespace warpseal::papers {

extern const Table p3_files_table;

// Produces the rows of p3_files_table.
void encrypt_p3_files(Study& study);

}  // namespace warpseal::papers

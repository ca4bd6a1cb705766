// The 32-bit code of a cipher with its tables in arrays, as C programs for a CPU have it: the
// yardstick of P1 on a core.
#pragma once

#include <string>

#include "papers/study.h"

namespace warpseal::papers {

// GB/s of encryption on one core, "AES" or "ARIA" with a key of 128 bits, in place in 64 KiB; the
// first block is compared with the cipher's known one.
double table_code_rate(const std::string& cipher, Study& study);

}  // namespace warpseal::papers

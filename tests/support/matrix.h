// The matrix of compared outputs: cases for each target, cipher, mode and direction. An empty cell
// fails the program.
#pragma once

#include <cstdint>
#include <string>

#include "backends/cipher_backend.h"

namespace matrix {

// Counts n more outputs of that target that were compared with an independent result. Thread-safe.
void count(const std::string& target, const std::string& cipher, warpseal_mode mode,
           warpseal::Direction direction, uint64_t n = 1);

}  // namespace matrix

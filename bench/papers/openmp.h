// P5's listings (tables 1 to 3) with OpenMP: the threads of a team share the rows and columns of
// one state.
#pragma once

#include <string>

#include "bench/papers/methods.h"

namespace warpseal::papers {

enum class Temporaries {
    own,                // each thread has its own: correct
    shared,             // as printed: a data race; correct on one thread only
    shared_unoptimized  // the same, compiled without optimization
};

// Returns "", or the reason why this program has no OpenMP. The functions below then throw.
std::string no_openmp();

// The listings, and inverse steps for decryption, which the paper does not print. Inverse steps
// always have temporaries of their own.
Method by_openmp(const std::vector<uint8_t>& key, int threads, Temporaries temporaries);
// Forks and joins a team of `threads` threads without work, `count` times.
void fork_by_openmp(int threads, int count);

}  // namespace warpseal::papers

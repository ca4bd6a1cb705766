// What the tests of refused requests run: each entry of the C interface, in a process of its own.
#pragma once

#include "warpseal/warpseal.h"

namespace works {

// Runs to its end or to the first status that is not WARPSEAL_OK, frees what it holds, and returns
// that status. Wrong bytes end the process by exit(3) with `wrong`.
using Work = warpseal_status (*)();
inline constexpr int wrong = 99;

struct Named {
    const char* name;
    Work work;
    // Whether its self-tests run before, in the parent: those of ciphers make thousands of
    // requests, and abi_memory_test.cpp refuses them.
    bool self_tested = false;
};

warpseal_status ciphers();
warpseal_status batches();
warpseal_status files();
warpseal_status host_memory();
warpseal_status kem_one();
warpseal_status kem_many();
warpseal_status pool();
warpseal_status batcher();

}  // namespace works

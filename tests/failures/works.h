// Work for the tests of refused requests: each entry of the C interface, in a process of its own.
#pragma once

#include "warpseal/warpseal.h"

namespace works {

// Runs to its end or to the first status other than WARPSEAL_OK, frees its objects, and returns
// that status. On wrong bytes it calls exit(3) with `wrong`.
using Work = warpseal_status (*)();
inline constexpr int wrong = 99;

struct Named {
    const char* name;
    Work work;
    // True if its self-tests run before, in the parent. Those of ciphers make thousands of
    // requests, which c_api_memory_test.cpp refuses.
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
warpseal_status drbg();

}  // namespace works

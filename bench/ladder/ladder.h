// The ladder: kernel studies from the papers' kernels to the product's, each checked whenever it is
// timed. Compiles without CUDA.
#pragma once

#include <cstdint>
#include <span>

#include "warpseal/warpseal.h"

namespace warpseal::ladder {

struct Options {
    uint64_t bytes = 0;         // of data; 0: 1 GiB, or of keystream alone as much as takes about
                                // `seconds`, 2^35 blocks at most
    int threads_per_block = 0;  // 0: the step's own
    int repetitions = 7;        // the median counts
    double seconds = 1;         // no repetition is begun after so many, but the first is
    int device = 0;
};

struct Measured {
    double gigabytes_per_second;  // 10^9 bytes of data, counted once; within device memory, copies
                                  // to and from the host not counted
    double milliseconds;          // of the launch
    uint64_t bytes;               // what the launch took: whole blocks
    // Of the compiled kernel (cudaFuncGetAttributes); -1 for the product, whose kernels nobody
    // asks.
    int registers, local_bytes;  // per thread
    int shared_bytes;            // per block of threads, static and dynamic
    int threads_per_block;
};

struct Study;  // how it is launched: study.h

struct Step {
    const char* name;             // "camellia-128.merged-copies"
    const char* paper = nullptr;  // whose method it is: "P1", "P2", "P3"; or null
    const char* cipher;           // as the catalogue spells it
    const char* mode;             // "ecb" or "ctr"
    bool decrypts = false;
    bool keystream_only = false;  // nothing is read, and a thread writes one block in the end: the
                                  // sum of its keystream
    bool product = false;         // what the others lead to: the product's own call
    const char* what;             // one line: what this step changes
    const char* taught;           // one line
    const Study* study;
};

// In the order of the ladder; empty in a build without CUDA. Names are unique.
std::span<const Step> steps();

// Measures, and compares the whole output with the product's and a sample with the portable
// target's. WARPSEAL_SELF_TEST_FAILED: they differ, and there is no figure.
// WARPSEAL_INVALID_ARGUMENT: the step cannot have so many threads in a block. WARPSEAL_NO_DEVICE.
warpseal_status run(const Step& step, const Options& options, Measured* measured);

}  // namespace warpseal::ladder

// The ladder: kernel studies from the papers' kernels to the product's, each checked whenever it is
// timed. Compiles without CUDA.
#pragma once

#include <cstdint>
#include <span>

#include "warpseal/warpseal.h"

namespace warpseal::ladder {

struct Options {
    // Bytes of data. 0: 1 GiB; for keystream only, as much as takes about `seconds`, at most 2^35
    // blocks.
    uint64_t bytes = 0;
    int threads_per_block = 0;  // 0: the step's own
    int repetitions = 7;        // the figure is the median
    double seconds = 1;         // No repetition starts after this time, except the first.
    int device = 0;
    // Blocks of threads that a multiprocessor holds at once, at most. 0: as many as fit. Unused
    // shared memory keeps the others out.
    int resident_blocks = 0;
    // Multiprocessors that work, with one block of threads each; only for persistent kernels. 0:
    // all, with as many blocks as fit.
    int multiprocessors = 0;
};

// A compiled kernel and its launch. -1 for the product, whose kernels are not queried.
struct LaunchedKernel {
    int registers = -1, local_bytes = -1;  // per thread (cudaFuncGetAttributes)
    int shared_bytes = -1;  // per block of threads, static and dynamic, without unused bytes
    int threads_per_block = -1;
    int resident_blocks = -1;  // blocks of threads that a multiprocessor holds at once
    double occupancy = -1;     // resident warps over the most that a multiprocessor holds
    int multiprocessors = -1;  // number of those that work
    double blocks = -1;        // blocks of threads of the launch

    double resident_threads() const {
        const double most = static_cast<double>(resident_blocks) * multiprocessors;
        return (blocks < most ? blocks : most) * threads_per_block;
    }
};

struct Measured : LaunchedKernel {
    // 10^9 bytes of data per second, counted once, within device memory and without host copies.
    double gigabytes_per_second = 0;
    double milliseconds = 0;  // time of the launch
    uint64_t bytes = 0;       // bytes of the launch, in whole blocks
};

struct Study;  // launch parameters: study.h

struct Step {
    const char* name;             // e.g. "camellia-128.merged-copies"
    const char* paper = nullptr;  // paper of the method: "P1", "P2", "P3", or null
    const char* cipher;           // name in the catalogue
    const char* mode;             // "ecb" or "ctr"
    bool decrypts = false;
    // Reads nothing; each thread finally writes one block, the XOR of its keystream blocks.
    bool keystream_only = false;
    bool product = false;  // The product's own call, at the end of the ladder.
    const char* what;      // one line: the change of this step
    const char* taught;    // one line: the lesson
    const Study* study;
};

// Returns the steps in the order of the ladder; empty in a build without CUDA. Names are unique.
std::span<const Step> steps();

// Measures a step, and compares its whole output with the product's and a sample with the portable
// target's. Returns WARPSEAL_SELF_TEST_FAILED, without a figure, if they differ. Returns
// WARPSEAL_INVALID_ARGUMENT if the step cannot have that many threads in a block, resident blocks
// or multiprocessors. Returns WARPSEAL_NO_DEVICE if the device fails.
warpseal_status run(const Step& step, const Options& options, Measured* measured);

}  // namespace warpseal::ladder

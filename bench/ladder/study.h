// Launch parameters of a step of the ladder, and the lists of each cipher family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "bench/ladder/ladder.h"
#include "core/bitsliced_byte.h"
#include "core/block.h"

namespace warpseal::ladder {

// Data of one launch: device pointers, except for key and iv.
struct Work {
    const uint8_t* key;
    const uint8_t* iv;  // counter of the first block
    const uint8_t* in;
    uint8_t* out;
    uint64_t blocks;
};

inline constexpr size_t job_bytes = 4096;  // maximum size of a kernel's argument

struct Study {
    const void* kernel;  // Takes one argument by value; null: the product's call.
    warpseal_status (*fill)(void* job, const Work& work);
    int threads;               // threads per block, unless the caller sets it
    int threads_together = 1;  // The number of threads per block must be a multiple of this.
    int blocks_together = 1;   // Text blocks that each such group of threads processes at once.
    // true: persistent kernel with a grid-stride loop; false: one thread for each item
    bool stays = true;
    size_t shared_bytes = 0, shared_bytes_per_thread = 0;  // dynamic shared memory
};
inline constexpr Study product_study{};

// Argument of most kernels. The schedule is part of the kernel parameters, so round keys are
// operands from the constant bank.
template <class Cipher>
struct Job {
    uint32_t key[Cipher::schedule_words];
    Block<Cipher::block_bytes / 4> iv;
    const uint8_t* in;
    uint8_t* out;
    uint64_t blocks;
};

template <class Cipher>
warpseal_status fill_job(void* memory, const Work& work) {
    static_assert(sizeof(Job<Cipher>) <= job_bytes);
    Job<Cipher>& job = *new (memory) Job<Cipher>;
    Cipher::expand(job.key, work.key, WordSubstitution{});
    job.iv = load_block<Cipher::block_bytes / 4>(work.iv);
    job.in = work.in;
    job.out = work.out;
    job.blocks = work.blocks;
    return WARPSEAL_OK;
}

// Steps of one cipher, mode and direction.
struct Family {
    const char *cipher, *mode;
    bool decrypts = false, keystream_only = false;

    Step step(const char* name, const char* what, const char* taught, const Study* study,
              const char* paper = nullptr) const {
        return {.name = name,
                .paper = paper,
                .cipher = cipher,
                .mode = mode,
                .decrypts = decrypts,
                .keystream_only = keystream_only,
                .what = what,
                .taught = taught,
                .study = study};
    }
    Step product(const char* name, const char* what, const char* taught) const {
        Step made = step(name, what, taught, &product_study);
        made.product = true;
        return made;
    }
};

std::span<const Step> aes_steps();
std::span<const Step> aria_steps();
std::span<const Step> camellia_steps();
std::span<const Step> des_steps();
std::span<const Step> gkrypt_steps();

}  // namespace warpseal::ladder

// How a step of the ladder is launched, and what the families of ciphers hand to the list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "core/bitsliced_byte.h"
#include "core/block.h"
#include "ladder/ladder.h"

namespace warpseal::ladder {

// What one launch works on: pointers into device memory, but for key and iv.
struct Work {
    const uint8_t* key;
    const uint8_t* iv;  // the counter of the first block
    const uint8_t* in;
    uint8_t* out;
    uint64_t blocks;
};

inline constexpr size_t job_bytes = 4096;  // at most, of a kernel's argument

struct Study {
    const void* kernel;  // of one argument, by value; null: the product's call
    warpseal_status (*fill)(void* job, const Work& work);
    int threads;               // in a block of threads, unless the caller asks for others
    int threads_together = 1;  // a block of threads has a multiple of so many, and each so many
    int blocks_together = 1;   // take so many blocks of text at once
    bool stays =
        true;  // blocks of threads stay and take what is next; or there are as many as it takes
    size_t shared_bytes = 0, shared_bytes_per_thread = 0;  // dynamic
};
inline constexpr Study product_study{};

// What most kernels take: the schedule is part of the parameters, and so an operand from the
// constant bank.
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

// NTRU encapsulation without the hash, with one warp for each item (specification, section 1.12.2).
#pragma once

#include <algorithm>

#include "backends/cuda/kem/ntru/item.cuh"
#include "backends/cuda/kem/ntru/poly.cuh"
#include "backends/cuda/kem/ntru/sample.cuh"

namespace warpseal::cuda::ntru {

template <const Params& set>
struct Encapsulation {
    using R = Ring<set.n>;
    static constexpr size_t message_bytes = 2 * set.ternary_bytes(),
                            padded_bytes = kem::padded_bytes(message_bytes);
    static constexpr int words =
        std::max({coin_words<set>, staged_words(set.rq_bytes()), packed_words(set.rq_bytes())});
    static constexpr int shared_bytes = 4 * R::band_bytes + round16(4 * words);
    static_assert(2 * R::band_bytes >= 2 * R::covered,
                  "coefficients of the ciphertext lie where h was");
};

// Computes c = r h + lift(m), and packs r and m for the hash.
template <const Params& set>
__device__ __forceinline__ void encapsulate_item(const ItemJob& job, uint64_t item,
                                                 uint8_t* memory) {
    using E = Encapsulation<set>;
    using R = typename E::R;
    const warpseal_kem_batch& batch = job.batch;
    uint8_t *r = band<R>(memory, 0), *m = band<R>(memory, 1), *low = band<R>(memory, 2),
            *high = band<R>(memory, 3);
    auto* words = reinterpret_cast<uint32_t*>(memory + 4 * R::band_bytes);

    sample_pair<set>(r, m, words, batch.coins + item * batch.coins_stride);
    uint8_t* message = job.messages + item * E::padded_bytes;
    pack_ternary<set>(message, r);
    pack_ternary<set>(message + set.ternary_bytes(), m);
    pad_message<E::message_bytes>(message);

    const uint8_t* key = batch.public_keys + item * batch.public_key_stride;
    const StagedString string = load_string<set.rq_bytes()>(words, key);
    __syncwarp();
    unpack_q<set, Last::balances>(low, high, string);
    digits_to_trits<R>(r);
    lift<set>(m);
    __syncwarp();
    extend<R>(r);
    extend_factor<R>(low);
    extend_factor<R>(high);
    __syncwarp();

    Sums<R> c;
    multiply_q<R, Bytes::integer>(c, r, low, high);
    __syncwarp();
    // Public keys are not secret, so an invalid encoding may be reported.
    const bool valid =
        set.spare_bits() == 0 || key[set.rq_bytes() - 1] >> (8 - set.spare_bits()) == 0;
    uint8_t* out = batch.ciphertexts + item * batch.ciphertext_stride;
    if (valid)
        write_q<set>(out, c, memory + 2 * R::band_bytes, words,
                     [&](int i, int32_t value) { return value + static_cast<int8_t>(m[i]); });
    else
        fill_zero<set.rq_bytes()>(out);
    if (lane_id() == 0) {
        job.valid[item] = valid ? 0xffffffffu : 0;
        if (batch.statuses != nullptr)
            batch.statuses[item] = valid ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT;
    }
}

template <int n>
__global__ void __launch_bounds__(tuning::kem_threads<n>, tuning::kem_encapsulate_blocks<n>)
    encapsulate(const ItemJob job) {
    constexpr int bytes = Encapsulation<set_of(n)>::shared_bytes;
    uint8_t* memory = warp_shared<bytes>();
    const uint64_t item = warp_item();
    if (item >= job.batch.count) return;
    encapsulate_item<set_of(n)>(job, item, memory);
    wipe_shared<bytes>(memory);
}

}  // namespace warpseal::cuda::ntru

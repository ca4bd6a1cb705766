// NTRU decapsulation without the hashes, with one warp for each item (specification, section
// 1.12.3).
#pragma once

#include "backends/cuda/kem/ntru/item.cuh"
#include "backends/cuda/kem/ntru/poly.cuh"

namespace warpseal::cuda::ntru {

template <const Params& set>
struct Decapsulation {
    using R = Ring<set.n>;
    static constexpr size_t message_bytes = 2 * set.ternary_bytes(),
                            padded_bytes = kem::padded_bytes(message_bytes);
    static constexpr size_t rejected_bytes = Params::prf_key_bytes + set.ciphertext_bytes();
    static constexpr size_t rejected_padded_bytes = kem::padded_bytes(rejected_bytes);
    static constexpr int words = staged_words(set.rq_bytes());
    static constexpr int shared_bytes = 5 * R::band_bytes + round16(4 * words);
};

// Writes the message whose hash is the secret if the ciphertext is invalid: the implicit rejection
// key, then the ciphertext.
template <const Params& set>
__device__ __forceinline__ void write_rejected(uint8_t* message, const uint8_t* prf_key,
                                               const StagedString& ciphertext) {
    using D = Decapsulation<set>;
    message[lane_id()] = prf_key[lane_id()];
    static_assert(Params::prf_key_bytes == 32);
    for (uint32_t i = 4 * lane_id(); i + 4 <= set.ciphertext_bytes(); i += 128)
        put_word(message + 32 + i, ciphertext.bits(8 * i));
    constexpr uint32_t rest = set.ciphertext_bytes() % 4, end = set.ciphertext_bytes() - rest;
    if (lane_id() < rest)
        message[32 + end + lane_id()] =
            static_cast<uint8_t>(ciphertext.bits(8 * (end + lane_id())));
    pad_message<D::rejected_bytes>(message);
}

// True if the numbers of ones and of twos are what HPS requires.
template <const Params& set, class R>
__device__ __forceinline__ bool has_weight(const Sums<R>& digits) {
    uint32_t counts = 0;
    each_pair<R>([&](int k, int i) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            const uint32_t digit = digits.value[k + j];
            counts += i + j < set.n ? (digit & 1) | (digit >> 1) << 16 : 0;
        }
    });
    return warp_sum(counts) == static_cast<uint32_t>(set.weight() | set.weight() << 16);
}

// Recovers m from the ciphertext in bands c, with f and its inverse modulo 3. Writes it as digits
// to `m`. Returns true if it is in the message space.
template <const Params& set>
__device__ __forceinline__ bool recover_m(uint8_t* m, uint8_t* c_low, uint8_t* c_high,
                                          uint8_t* key_band, const uint8_t* key) {
    using R = Ring<set.n>;
    unpack_ternary<set>(key_band, key);
    __syncwarp();
    digits_to_trits<R>(key_band);
    __syncwarp();
    extend<R>(key_band);
    __syncwarp();
    {
        Sums<R> c;
        multiply_q<R, Bytes::integer>(c, key_band, c_low, c_high);
        put_band(m, c, [](int32_t value) { return centred_mod3<set>(value); });
    }
    __syncwarp();
    extend_behind<R>(m);
    unpack_ternary<set>(key_band, key + set.ternary_bytes());
    __syncwarp();
    extend_factor<R>(key_band);
    __syncwarp();
    Sums<R> digits;
    multiply_add<R, Bytes::integer, Bytes::natural>(digits, m, key_band);
    const uint32_t last = mod3(last_of(digits));
#pragma unroll
    for (int32_t& value : digits.value)
        value = static_cast<int32_t>(digit_difference(mod3(value), last));
    __syncwarp();
    put_band(m, digits, [](int32_t value) { return static_cast<uint32_t>(value); });
    return set.family == Family::hrss || has_weight<set>(digits);
}

// Computes c - lift(m) in place; m is replaced by its lift.
template <const Params& set>
__device__ __forceinline__ void subtract_lift(uint8_t* c_low, uint8_t* c_high, uint8_t* m) {
    using R = Ring<set.n>;
    lift<set>(m);
    __syncwarp();
    auto subtract = [&](int i) {
        const uint32_t low = word_at(c_low + i), high = word_at(c_high + i),
                       lifted = word_at(m + i);
        uint32_t c[4];
#pragma unroll
        for (int k = 0; k < 4; ++k)
            c[k] =
                (__byte_perm(low, high, 0x40 + 0x11 * k) - static_cast<int8_t>(lifted >> (8 * k))) &
                (set.q() - 1);
        put_four(c_low + i, c_high + i, c);
    };
    each_word<R>(subtract);
    if (lane_id() == 0) subtract(set.n - 1);
}

// Computes r = b / h as digits, with b in bands. Returns true if r is ternary.
template <const Params& set>
__device__ __forceinline__ bool recover_r(uint8_t* r, const uint8_t* b_low, const uint8_t* b_high,
                                          const uint8_t* low, const uint8_t* high) {
    using R = Ring<set.n>;
    Sums<R> c;
#pragma unroll 1
    for (int k = 0; k < 3; ++k) {
        if (k == 2) move_up(c);
        multiply_add<R, Bytes::natural, Bytes::natural>(c, k == 0 ? b_high : b_low,
                                                        k == 1 ? high : low);
    }
    const int32_t last = last_of(c);
    uint32_t others = 0;
    __syncwarp();
    each_pair<R>([&](int k, int i) {
        uint32_t digit[2];
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            // `next` is 0, 1, 2 for the coefficients -1, 0, 1.
            const uint32_t next = (c.value[k + j] - last + 1) & (set.q() - 1);
            others |= next > 2 ? 1 : 0;
            digit[j] = (next + (next == 0 ? 3 : 0) - 1) & 3;
        }
        put_pair(r + i, digit[0] | digit[1] << 8);
    });
    return __ballot_sync(0xffffffffu, others != 0) == 0;
}

template <const Params& set>
__device__ __forceinline__ void decapsulate_item(const ItemJob& job, uint64_t item,
                                                 uint8_t* memory) {
    using D = Decapsulation<set>;
    using R = typename D::R;
    const warpseal_kem_batch& batch = job.batch;
    uint8_t *c_low = band<R>(memory, 0), *c_high = band<R>(memory, 1),
            *key_band = band<R>(memory, 2), *m = band<R>(memory, 3);
    uint8_t* high = band<R>(memory, 4);
    auto* words = reinterpret_cast<uint32_t*>(memory + 5 * R::band_bytes);
    const uint8_t *in = batch.ciphertexts + item * batch.ciphertext_stride,
                  *key = batch.secret_keys + item * batch.secret_key_stride;
    uint8_t* message = job.messages + item * D::padded_bytes;

    const StagedString ciphertext = load_string<set.rq_bytes()>(words, in);
    __syncwarp();
    unpack_q<set, Last::balances>(c_low, c_high, ciphertext);
    write_rejected<set>(job.rejected + item * D::rejected_padded_bytes,
                        key + 2 * set.ternary_bytes() + set.rq_bytes(), ciphertext);
    bool valid = set.spare_bits() == 0 || in[set.rq_bytes() - 1] >> (8 - set.spare_bits()) == 0;
    __syncwarp();
    extend_factor<R>(c_low);
    extend_factor<R>(c_high);
    __syncwarp();

    valid &= recover_m<set>(m, c_low, c_high, key_band, key);
    const StagedString inverse = load_string<set.rq_bytes()>(words, key + 2 * set.ternary_bytes());
    __syncwarp();
    pack_ternary<set>(message + set.ternary_bytes(), m);
    __syncwarp();
    subtract_lift<set>(c_low, c_high, m);
    unpack_q<set, Last::zero>(key_band, high, inverse);
    __syncwarp();
    extend<R>(c_low);
    extend<R>(c_high);
    extend_factor<R>(key_band);
    extend_factor<R>(high);
    __syncwarp();
    valid &= recover_r<set>(m, c_low, c_high, key_band, high);
    __syncwarp();
    pack_ternary<set>(message, m);
    pad_message<D::message_bytes>(message);
    if (lane_id() == 0) {
        job.valid[item] = valid ? 0xffffffffu : 0;
        if (batch.statuses != nullptr) batch.statuses[item] = WARPSEAL_OK;
    }
}

template <int n>
__global__ void __launch_bounds__(tuning::kem_threads<n>, tuning::kem_blocks<n>)
    decapsulate(const ItemJob job) {
    constexpr int bytes = Decapsulation<set_of(n)>::shared_bytes;
    uint8_t* memory = warp_shared<bytes>();
    const uint64_t item = warp_item();
    if (item >= job.batch.count) return;
    decapsulate_item<set_of(n)>(job, item, memory);
    wipe_shared<bytes>(memory);
}

}  // namespace warpseal::cuda::ntru

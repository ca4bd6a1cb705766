// ML-KEM encryption, and the end of encapsulation and decapsulation, with half a warp for each item
// (FIPS 203, algorithms 14, 17 and 18).
#pragma once

#include "backends/cuda/kem/mlkem/vector.cuh"

namespace warpseal::cuda::mlkem {

// Shared memory of a half warp: a matrix, the vector y, a string to read (t, then the ciphertext to
// compare with), and the ciphertext.
template <int k>
struct Encryption {
    static constexpr int longest =
        Set<k>::vector > Set<k>::ciphertext ? Set<k>::vector : Set<k>::ciphertext;
    static constexpr int factors = matrix_bytes, given = factors + k * factor_bytes,
                         made = given + round16(4 * staged_words(longest)),
                         half_bytes = skewed(made + round16(4 * packed_words(Set<k>::ciphertext))),
                         shared_bytes = 2 * half_bytes;
    static constexpr int polys = noise_polys<k, false>;
};

template <int k>
__device__ __forceinline__ void make_y(const uint32_t* noise, uint8_t* memory) {
    const LaneFactors forward(forward_factors);
    auto* factors = reinterpret_cast<int16_t*>(memory + Encryption<k>::factors);
#pragma unroll 1
    for (int j = 0; j < k; ++j) {
        Coefficients c;
        load_noise<Set<k>::eta1>(c, noise + j * (noise_bytes / 4), 1);
        ntt(c, reinterpret_cast<int16_t*>(memory), forward);
        put_factor(factors + factor_numbers * j, c, forward);
    }
}

// Writes v, then u, to the ciphertext. Returns all ones if a coefficient of t is q or more, else 0.
template <int k>
__device__ __forceinline__ int32_t make_ciphertext(const uint32_t* noise, const int16_t* a,
                                                   const uint8_t* message, const StagedString& t,
                                                   uint8_t* memory) {
    using Shared = Encryption<k>;
    auto* matrix = reinterpret_cast<int16_t*>(memory);
    const auto* factors = reinterpret_cast<const int16_t*>(memory + Shared::factors);
    auto* words = reinterpret_cast<uint32_t*>(memory + Shared::made);
    const LaneFactors backward(backward_factors);
    int32_t exceeds = 0;
#pragma unroll 1
    for (int i = k; i >= 0; --i) {
        Coefficients c = {};
        if (i == k)
            exceeds = multiply_add_string<k>(c, t, factors);
        else
            multiply_add_matrix<k>(c, a + n * k * i, factors);
        reduce_all(c);
        inverse_ntt(c, matrix, backward);
        add_noise<Set<k>::eta2>(c, noise + (k + i) * (noise_bytes / 4));
        if (i == k) {
            add_message(c, message);
            compress_column<Set<k>::dv>(words, Set<k>::u, c, matrix);
        } else {
            compress_column<Set<k>::du>(words, 32 * Set<k>::du * i, c, matrix);
        }
    }
    return exceeds;
}

// Encrypts the message of each item of the warp.
template <int k>
__device__ __forceinline__ int32_t encrypt(const Job& job, const HalfItems& items,
                                           const uint8_t* keys, uint64_t stride,
                                           const uint8_t* messages, uint64_t message_stride,
                                           uint8_t* memory) {
    using Shared = Encryption<k>;
    const uint64_t item = items.mine();
    uint8_t* mine = memory + items.half * Shared::half_bytes;
    const uint32_t* noise = job.noise + item * Shared::polys * (noise_bytes / 4);
    make_y<k>(noise, mine);
    const StagedString t =
        load_both<Set<k>::vector>(memory + Shared::given, Shared::half_bytes, items, keys, stride);
    return make_ciphertext<k>(noise, job.matrix + item * (n * k * k),
                              messages + item * message_stride, t, mine);
}

// Encapsulates. An item whose public key has a coefficient of q or more gets zeros.
template <int k>
__global__ void __launch_bounds__(tuning::mlkem_threads, tuning::mlkem_blocks)
    encapsulate(const Job job) {
    using Shared = Encryption<k>;
    uint8_t* memory = warp_shared<Shared::shared_bytes>();
    const warpseal_kem_batch& batch = job.batch;
    const HalfItems items(batch.count);
    if (items.none()) return;
    const int32_t exceeds = encrypt<k>(job, items, batch.public_keys, batch.public_key_stride,
                                       batch.coins, batch.coins_stride, memory);
    const uint32_t lanes = __ballot_sync(0xffffffffu, exceeds != 0);
    store_both(memory + Shared::made, Shared::half_bytes, items,
               [&](uint32_t i, const uint32_t* words) {
                   const uint64_t at = items.of(i);
                   uint8_t* to = batch.ciphertexts + at * batch.ciphertext_stride;
                   const bool valid = (lanes >> (16 * i) & 0xffff) == 0;  // public
                   if (valid)
                       store_string<Set<k>::ciphertext>(to, words);
                   else
                       fill_zero<Set<k>::ciphertext>(to);
                   batch.shared_secrets[at * batch.shared_secret_stride + lane_id()] =
                       valid ? job.key[32 * at + lane_id()] : uint8_t{0};
                   if (batch.statuses != nullptr && lane_id() == 0)
                       batch.statuses[at] = valid ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT;
               });
    wipe_shared<Shared::shared_bytes>(memory);
}

// Returns all ones if the ciphertext that the half warp made is the given one, else 0.
template <int k>
__device__ __forceinline__ uint32_t is_equal(const StagedString& given, const uint8_t* memory) {
    const auto* made = reinterpret_cast<const uint32_t*>(memory + Encryption<k>::made) + 1;
    uint32_t differences = 0;
    for (uint32_t word = half_lane(); word < Set<k>::ciphertext / 4; word += 16)
        differences |= made[word] ^ given.bits(32 * word);
#pragma unroll
    for (int apart = 8; apart > 0; apart /= 2)
        differences |= __shfl_xor_sync(0xffffffffu, differences, apart);
    return ((differences | (0 - differences)) >> 31) - 1;
}

// Encrypts the decrypted message again, and chooses the secret. An item whose key has a wrong hash
// gets zeros.
template <int k>
__global__ void __launch_bounds__(tuning::mlkem_threads, tuning::mlkem_blocks)
    decapsulate(const Job job) {
    using Shared = Encryption<k>;
    uint8_t* memory = warp_shared<Shared::shared_bytes>();
    const warpseal_kem_batch& batch = job.batch;
    const HalfItems items(batch.count);
    if (items.none()) return;
    encrypt<k>(job, items, batch.secret_keys + Set<k>::vector, batch.secret_key_stride, job.message,
               32, memory);
    const StagedString given =
        load_both<Set<k>::ciphertext>(memory + Shared::given, Shared::half_bytes, items,
                                      batch.ciphertexts, batch.ciphertext_stride);
    const uint32_t accepted = is_equal<k>(given, memory + items.half * Shared::half_bytes);
    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t accept = __shfl_sync(0xffffffffu, accepted, 16 * i);
        if (!items.has(i)) continue;
        const uint64_t at = items.of(i);
        const uint32_t refused = job.refused[at], key = job.key[32 * at + lane_id()],
                       rejected = job.rejected[32 * at + lane_id()];
        batch.shared_secrets[at * batch.shared_secret_stride + lane_id()] =
            static_cast<uint8_t>(((key & accept) | (rejected & ~accept)) & (refused - 1));
        if (batch.statuses != nullptr && lane_id() == 0)
            batch.statuses[at] =
                static_cast<int32_t>(refused * uint32_t{WARPSEAL_INVALID_ARGUMENT});
    }
    wipe_shared<Shared::shared_bytes>(memory);
}

}  // namespace warpseal::cuda::mlkem

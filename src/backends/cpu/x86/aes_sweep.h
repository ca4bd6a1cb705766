// AES in parallel modes without a counter, in registers: ECB, and CBC and CFB decryption, which use
// the previous ciphertext block.
#pragma once

#include "backends/cpu/x86/aes_rounds.h"

namespace warpseal::cpu {
namespace {

template <class Aes, class Mode, Direction direction>
struct AesSweep {
    using W = typename Aes::W;
    using V = typename Aes::V;
    using Schedule = typename Aes::Schedule;
    static constexpr Direction cipher_direction = Mode::keystream ? Direction::encrypt : direction;

    // Processes a text. `previous` is the ciphertext block before it, if the mode has an IV. A
    // keystream mode may end with a partial block.
    static void run(const Schedule& schedule, __m128i previous, const uint8_t* in, uint8_t* out,
                    size_t bytes) {
        while (bytes >= Aes::group_bytes) some<Aes::at_once>(schedule, previous, in, out, bytes);
        if (bytes >= 4 * W::bytes) some<4>(schedule, previous, in, out, bytes);
        while (bytes >= W::bytes) some<1>(schedule, previous, in, out, bytes);
        if (bytes != 0) partial_vector(schedule, previous, in, out, bytes);
    }

    // Processes at most small_message_limit_bytes of whole blocks, in registers only. `feedback`
    // holds the previous ciphertext block, and then the last block of `in`.
    template <size_t small_message_limit_bytes>
    WARPSEAL_INLINE static void small(const Schedule& schedule, uint8_t* feedback,
                                      const uint8_t* in, uint8_t* out, size_t bytes) {
        __m128i previous{};
        if constexpr (Mode::has_iv) previous = load_one(feedback);
        if (bytes == small_message_limit_bytes) {
            crypt<small_message_limit_bytes / W::bytes>(schedule, previous, in, out);
        } else {
            // Block by block. The blocks are independent, whereas masked vector loads would wait
            // for stores in flight to the same bytes.
            for (; bytes != 0; in += 16, out += 16, bytes -= 16) {
                const __m128i text = load_one(in);
                const __m128i made =
                    Aes::template one<cipher_direction>(schedule, Mode::before(text, previous));
                store_one(out, Mode::after(text, previous, made));
                previous = text;
            }
        }
        if constexpr (Mode::has_iv) store_one(feedback, previous);
    }

private:
    WARPSEAL_INLINE static V text(const uint8_t* in, int u) { return W::load(in + u * W::bytes); }
    WARPSEAL_INLINE static V mask(__m128i previous, const uint8_t* in, int u) {
        if constexpr (Mode::has_iv)
            return u == 0 ? W::one_lane_up(previous, text(in, 0)) : W::load(in + u * W::bytes - 16);
        else
            return W::zero();
    }

    // Processes n vectors of blocks. Every load precedes the first store, since `out` may equal
    // `in`.
    template <int n>
    WARPSEAL_INLINE static void crypt(const Schedule& schedule, __m128i& previous,
                                      const uint8_t* in, uint8_t* out) {
        const V first_key = Aes::template key<cipher_direction>(schedule, 0),
                last_key = Aes::template key<cipher_direction>(schedule, Aes::rounds);
        V s[n];
        WARPSEAL_UNROLL
        for (int u = 0; u < n; ++u)
            s[u] = Mode::before(text(in, u), mask(previous, in, u)) ^ first_key;
        Aes::template middle_rounds<cipher_direction>(schedule, s);
        WARPSEAL_UNROLL
        for (int u = 0; u < n; ++u)
            s[u] = Mode::after(text(in, u), mask(previous, in, u),
                               Aes::template last_round<cipher_direction>(s[u], last_key));
        if (Mode::has_iv) previous = load_one(in + n * W::bytes - 16);
        WARPSEAL_UNROLL
        for (int u = 0; u < n; ++u) W::store(out + u * W::bytes, s[u]);
    }

    // Processes less than a vector.
    WARPSEAL_INLINE static void partial_vector(const Schedule& schedule, __m128i previous,
                                               const uint8_t* in, uint8_t* out, size_t bytes) {
        const V text = W::load_partial(in, bytes),
                mask = Mode::has_iv ? W::one_lane_up(previous, text) : W::zero();
        V s[1] = {Mode::before(text, mask) ^ Aes::template key<cipher_direction>(schedule, 0)};
        Aes::template middle_rounds<cipher_direction>(schedule, s);
        W::store_partial(
            out,
            Mode::after(text, mask,
                        Aes::template last_round<cipher_direction>(
                            s[0], Aes::template key<cipher_direction>(schedule, Aes::rounds))),
            bytes);
    }

    template <int n>
    WARPSEAL_INLINE static void some(const Schedule& schedule, __m128i& previous,
                                     const uint8_t*& in, uint8_t*& out, size_t& bytes) {
        crypt<n>(schedule, previous, in, out);
        in += n * W::bytes, out += n * W::bytes, bytes -= n * W::bytes;
    }
};

}  // namespace
}  // namespace warpseal::cpu

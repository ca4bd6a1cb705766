// AES sweeps without a counter, in registers: ECB, and CBC and CFB decryption, whose mask is the ciphertext block before (SP 800-38A 6.1
// to 6.3).
#pragma once

#include "backends/cpu/native/aes_rounds.h"
#include "core/block.h"

namespace warpseal::cpu {
namespace {

template <class Aes>
struct AesSweep {
    using W = typename Aes::W;
    using V = typename Aes::V;
    using Schedule = typename Aes::Schedule;
    static constexpr int rounds = Aes::rounds;

    enum class Chained : uint8_t { no, cbc, cfb };

    // `before`: the ciphertext block before these, where blocks are chained. CFB alone may end within a block.
    template <Direction direction, Chained chained>
    static void run(const Schedule& schedule, __m128i before, const uint8_t* in, uint8_t* out, size_t bytes) {
        const auto vectors = [&]<int n>() __attribute__((always_inline)) {
            some<direction, chained, n>(schedule, before, in, out);
            in += n * W::bytes, out += n * W::bytes, bytes -= n * W::bytes;
        };
        while (bytes >= Aes::group_bytes) vectors.template operator()<Aes::at_once>();
        if (bytes >= 4 * W::bytes) vectors.template operator()<4>();
        while (bytes >= W::bytes) vectors.template operator()<1>();
        if (bytes != 0) {
            SecretOf<uint8_t[W::bytes]> part;
            W::store(part.value, W::load_part(in, bytes));
            some<direction, chained, 1>(schedule, before, part.value, part.value);
            memcpy(out, part.value, bytes);
        }
    }

private:
    // n vectors of blocks; `before` becomes the last of them.
    template <Direction direction, Chained chained, int n>
    WARPSEAL_INLINE static void some(const Schedule& schedule, __m128i& before, const uint8_t* in, uint8_t* out) {
        constexpr Direction way = chained == Chained::cfb ? Direction::encrypt : direction;
        const V first_key = Aes::template key<way>(schedule, 0), last_key = Aes::template key<way>(schedule, rounds);
        V s[n];
        const V first = W::load(in), first_mask = chained == Chained::no ? W::zero() : W::one_lane_up(before, first);
        const auto mask = [&](int u) __attribute__((always_inline)) { return u == 0 ? first_mask : W::load(in + u * W::bytes - 16); };
        WARPSEAL_UNROLL
        for (int u = 0; u < n; ++u) s[u] = (chained == Chained::cfb ? mask(u) : W::load(in + u * W::bytes)) ^ first_key;
        Aes::template middle_rounds<way>(schedule, s);
        WARPSEAL_UNROLL
        for (int u = 0; u < n; ++u) {
            V key = last_key;
            if (chained == Chained::cbc) key = key ^ mask(u);
            if (chained == Chained::cfb) key = key ^ W::load(in + u * W::bytes);
            s[u] = Aes::template last_round<way>(s[u], key);
        }
        // Every load is before the first store, as `out` may be `in`.
        if (chained != Chained::no) before = load_one(in + n * W::bytes - 16);
        WARPSEAL_UNROLL
        for (int u = 0; u < n; ++u) W::store(out + u * W::bytes, s[u]);
    }
};

}  // namespace
}  // namespace warpseal::cpu

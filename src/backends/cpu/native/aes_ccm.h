// AES-CCM of one message's text: the counter's blocks are encrypted while the chain of the sum waits for its own: SP 800-38C 6.1 and 6.2.
#pragma once

#include "backends/cpu/native/aes_rounds.h"
#include "core/block.h"

namespace warpseal::cpu {
namespace {

template <class Aes, Direction direction>
struct AesCcm {
    using Schedule = typename Aes::Schedule;
    static constexpr int rounds = Aes::rounds;

    // The plaintext, filled up with zeros to whole blocks, enters the sum. The chain is that of aes_chain.h.
    static void run(const Schedule& schedule, __m128i& sum, const Block<4>& first_counter, const uint8_t* in, uint8_t* out, size_t bytes) {
        if (bytes == 0) return;
        const __m128i first_key = key_at(schedule.forward, 0), between = first_key ^ key_at(schedule.forward, rounds);
        Text text{schedule, reversed(load_one(reinterpret_cast<const uint8_t*>(first_counter.word))), in, out, bytes};
        __m128i s = sum ^ first_key ^ text.next();
        while (true) {
            const bool last = text.bytes == 0;
            const __m128i following = last ? _mm_setzero_si128() : text.next();
            WARPSEAL_UNROLL
            for (int r = 1; r < rounds; ++r) s = _mm_aesenc_si128(s, key_at(schedule.forward, r));
            s = _mm_aesenclast_si128(s, between ^ following);
            if (last) break;
        }
        sum = s ^ first_key;
    }

private:
    WARPSEAL_INLINE static __m128i reversed(__m128i x) {
        return _mm_shuffle_epi8(x, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    }

    struct Text {
        const Schedule& schedule;
        __m128i counter;  // as a number, of which at most 8 bytes count and never come round (SP 800-38C A.3)
        const uint8_t* in;
        uint8_t* out;
        size_t bytes;

        // The next block's plaintext.
        WARPSEAL_INLINE __m128i next() {
            __m128i mask = reversed(counter) ^ key_at(schedule.forward, 0);
            WARPSEAL_UNROLL
            for (int r = 1; r < rounds; ++r) mask = _mm_aesenc_si128(mask, key_at(schedule.forward, r));
            mask = _mm_aesenclast_si128(mask, key_at(schedule.forward, rounds));
            counter = _mm_add_epi64(counter, _mm_set_epi64x(0, 1));
            if (bytes < 16) return part(mask);
            const __m128i data = load_one(in), result = data ^ mask;
            store_one(out, result);
            in += 16, out += 16, bytes -= 16;
            return direction == Direction::encrypt ? data : result;
        }
        __m128i part(__m128i mask) {
            Secret<16> data, result;
            memcpy(data.data(), in, bytes);
            store_one(result.data(), load_one(data.data()) ^ mask);
            memcpy(out, result.data(), bytes);
            memset(result.data() + bytes, 0, 16 - bytes);
            bytes = 0;
            return load_one(direction == Direction::encrypt ? data.data() : result.data());
        }
    };
};

}  // namespace
}  // namespace warpseal::cpu

// AES in the modes that are serial within a message, at the latency of the rounds: CBC and CFB encryption, OFB (SP 800-38A 6.2 to 6.4),
// CBC-MAC (SP 800-38B 6.2, SP 800-38C 6.1).
#pragma once

#include "backends/cpu/native/aes_rounds.h"
#include "core/block.h"

namespace warpseal::cpu {
namespace {

enum class Serial : uint8_t { cbc, cfb, ofb, mac };

// What the cipher takes next is what it gave last, plus text or nothing, plus its first key: all in the key of its last round, so that
// nothing but rounds lies between one block and the next.
template <class Aes, Serial mode>
struct AesChain {
    using Schedule = typename Aes::Schedule;
    static constexpr int rounds = Aes::rounds;
    static constexpr bool text_before = mode == Serial::cbc || mode == Serial::mac;  // text enters before its block's rounds, not after

    static void run(const Schedule& schedule, __m128i& state, const uint8_t* in, uint8_t* out, size_t blocks) {
        if (blocks == 0) return;
        const __m128i first_key = key_at(schedule.forward, 0), between = first_key ^ key_at(schedule.forward, rounds);
        __m128i text = load_one(in), s = state ^ first_key;
        if (text_before) s = s ^ text;
        for (size_t i = 0; i < blocks; ++i, out += 16) {
            const __m128i following = i + 1 < blocks ? load_one(in += 16) : _mm_setzero_si128();
            __m128i added = between;
            if (text_before) added = added ^ following;
            if (mode == Serial::cfb) added = added ^ text;
            WARPSEAL_UNROLL
            for (int r = 1; r < rounds; ++r) s = _mm_aesenc_si128(s, key_at(schedule.forward, r));
            s = _mm_aesenclast_si128(s, added);
            const __m128i given = text_before ? s ^ first_key ^ following : s ^ first_key;
            if (mode != Serial::mac) store_one(out, mode == Serial::ofb ? given ^ text : given);
            text = following;
        }
        state = s ^ first_key;
    }
};

}  // namespace
}  // namespace warpseal::cpu

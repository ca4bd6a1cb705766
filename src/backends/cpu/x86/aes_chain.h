// AES in serial modes for one message, at the latency of its rounds: CBC and CFB encryption, OFB,
// and CBC-MAC for CMAC and CCM.
#pragma once

#include "backends/cpu/x86/aes_rounds.h"
#include "macs/cmac.h"
#include "modes/cbc.h"
#include "modes/cfb.h"
#include "modes/ofb.h"

namespace warpseal::cpu {
namespace {

// The next cipher input is the last output, XOR text or nothing, XOR the first round key. The key
// of the last round includes all of this, so that only rounds lie between one block and the next.
template <class Aes, class Mode>
struct AesChain {
    using Schedule = typename Aes::Schedule;
    static constexpr int rounds = Aes::rounds;
    static constexpr bool silent = __is_same(Mode, macs::CbcMac);
    // Text is XORed before the rounds of its block.
    static constexpr bool text_before = __is_same(Mode, modes::CbcEncryption) || silent;
    // Text is XORed after the rounds and becomes part of the state.
    static constexpr bool text_after = __is_same(Mode, modes::CfbEncryption);
    static_assert(text_before || text_after || __is_same(Mode, modes::Ofb));

    static void run(const Schedule& schedule, __m128i& state, const uint8_t* in, uint8_t* out,
                    size_t blocks) {
        if (blocks == 0) return;
        const __m128i first_key = key_at(schedule.forward, 0),
                      between = first_key ^ key_at(schedule.forward, rounds);
        __m128i text = load_one(in), s = state ^ (text_before ? first_key ^ text : first_key);
        for (size_t i = 0; i < blocks; ++i) {
            const __m128i following = i + 1 < blocks ? load_one(in += 16) : _mm_setzero_si128();
            WARPSEAL_UNROLL
            for (int r = 1; r < rounds; ++r) s = _mm_aesenc_si128(s, key_at(schedule.forward, r));
            s = _mm_aesenclast_si128(s, text_before  ? between ^ following
                                        : text_after ? between ^ text
                                                     : between);
            if constexpr (!silent) {
                const __m128i state_after = s ^ (text_before ? first_key ^ following : first_key);
                store_one(out, text_before || text_after ? state_after : state_after ^ text);
                out += 16;
            }
            text = following;
        }
        state = s ^ first_key;
    }
};

}  // namespace
}  // namespace warpseal::cpu

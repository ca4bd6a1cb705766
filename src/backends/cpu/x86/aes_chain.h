// AES in the chain modes at the latency of its rounds: CBC and CFB encryption, OFB and the sum of
// CMAC and CCM, of one message.
#pragma once

#include "backends/cpu/x86/aes_rounds.h"
#include "macs/cmac.h"
#include "modes/cbc.h"
#include "modes/cfb.h"
#include "modes/ofb.h"

namespace warpseal::cpu {
namespace {

// What the cipher takes next is what it gave last, plus text or nothing, plus its first key: all in
// the key of its last round, so that nothing but rounds lies between one block and the next.
template <class Aes, class Mode>
struct AesChain {
    using Schedule = typename Aes::Schedule;
    static constexpr int rounds = Aes::rounds;
    static constexpr bool silent = __is_same(Mode, macs::CbcMac);
    static constexpr bool text_before =
        __is_same(Mode, modes::CbcEncryption) || silent;  // text enters before its block's rounds
    static constexpr bool text_after =
        __is_same(Mode, modes::CfbEncryption);  // and stays in the state
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

// Representation of AES by the x86 AES instructions (FIPS 197), for any vector width, with the
// loops of each mode.
#pragma once

#include "backends/cpu/x86/aes_ccm.h"
#include "backends/cpu/x86/aes_chains.h"
#include "backends/cpu/x86/aes_keystream.h"
#include "backends/cpu/x86/aes_rounds.h"
#include "backends/cpu/x86/aes_sweep.h"
#include "backends/cpu/x86/aes_xts.h"
#include "modes/ecb.h"
#include "modes/gcm.h"
#include "modes/ofb.h"

namespace warpseal::cpu {
namespace {

template <int key_bits, class W>
struct AesInstructions {
    using Aes = AesRounds<key_bits, W>;
    using Schedule = typename Aes::Schedule;
    using Keystream = AesKeystream<Aes>;
    using Sum = typename Keystream::Sum;
    using Hash = typename Keystream::Hash;

    static constexpr const char* name = "instructions";
    static constexpr size_t narrow_blocks = 1;
    static constexpr size_t wide_blocks = Aes::group_blocks;
    // Stack that these functions, and the mode functions over them, leave behind.
    static constexpr size_t stack_bytes = 8192, small_stack_bytes = 1024;
    // Stack that a sweep without a counter leaves behind.
    static constexpr size_t sweep_stack_bytes = 512;
    static constexpr size_t small_message_limit_bytes = 64;  // fits in registers
    static constexpr size_t small_stack_limit_bytes = Keystream::early_rounds_pay_bytes;

    static void expand(Schedule& schedule, const uint8_t* key) { Aes::expand(schedule, key); }

    template <Direction direction, size_t blocks>
    static void run(const Schedule& schedule, const uint8_t* in, uint8_t* out) {
        if constexpr (blocks == 1)
            one<direction>(schedule, in, out);
        else
            sweep<modes::Ecb, direction>(schedule, {}, 0, in, out, 16 * blocks);
    }

    template <Direction direction>
    static void one(const Schedule& schedule, const uint8_t* in, uint8_t* out) {
        store_one(out, Aes::template one<direction>(schedule, load_one(in)));
    }

    template <class Mode, Direction direction>
    static void sweep(const Schedule& schedule, const Block<4>& iv, uint64_t first_block,
                      const uint8_t* in, uint8_t* out, size_t bytes) {
        if constexpr (requires { Mode::mask(iv, first_block); } && Mode::keystream) {
            __m128i none{};
            Keystream::template keystream<Mode, Sum::none>(
                schedule, nullptr, none, Mode::mask(iv, first_block), in, out, bytes);
        } else {
            AesSweep<Aes, Mode, direction>::run(schedule, load(iv), in, out, bytes);
        }
    }

    // Processes at most small_message_limit_bytes of whole blocks, in a mode without a counter.
    // `feedback` holds the previous ciphertext block, and then the last block of `in`.
    template <class Mode, Direction direction>
    static void sweep_small(const Schedule& schedule, uint8_t* feedback, const uint8_t* in,
                            uint8_t* out, size_t bytes) {
        AesSweep<Aes, Mode, direction>::template small<small_message_limit_bytes>(
            schedule, feedback, in, out, bytes);
    }

    // CTR variant of sweep_small, which advances the counter block. Returns false and does nothing
    // if the counter might carry out of its last 32 bits.
    static bool count_small(const Schedule& schedule, uint8_t* counter, const uint8_t* in,
                            uint8_t* out, size_t bytes) {
        return Keystream::template small<small_message_limit_bytes>(schedule, counter, in, out,
                                                                    bytes);
    }

    template <Direction direction>
    static void xts_blocks(const Schedule& schedule, Block<4>& tweak, const uint8_t* in,
                           uint8_t* out, size_t bytes) {
        AesXts<Aes, direction>::run(schedule, tweak, in, out, bytes);
    }

    // Processes at most small_message_limit_bytes of whole blocks, in the data unit of the given
    // number.
    template <Direction direction>
    static void xts_small(const Schedule& schedule, const Schedule& tweak_schedule,
                          const uint8_t* number, const uint8_t* in, uint8_t* out, size_t bytes) {
        const __m128i tweak =
            Aes::template one<Direction::encrypt>(tweak_schedule, load_one(number));
        AesXts<Aes, direction>::template small<small_message_limit_bytes>(schedule, tweak, in, out,
                                                                          bytes);
    }

    template <class Mode>
    static void chain(const Schedule& schedule, Block<4>& state, const uint8_t* in, uint8_t* out,
                      size_t blocks) {
        __m128i s = load(state);
        AesChain<Aes, Mode>::run(schedule, s, in, out, blocks);
        store_one(reinterpret_cast<uint8_t*>(state.word), s);
    }

    // Processes `blocks` blocks of each of several messages under one key.
    static constexpr int chains_at_once = AesChains<Aes, modes::Ofb>::most;
    template <class Mode>
    static void chains(const Schedule& schedule, Chain* chain, int count, size_t blocks) {
        AesChains<Aes, Mode>::run(schedule, chain, count, blocks);
    }

    // Processes one CCM message and computes its tag.
    template <Direction direction>
    static void ccm(const Schedule& schedule, const CcmHead& head, const uint8_t* in, uint8_t* out,
                    size_t bytes, Block<4>& tag) {
        store_one(reinterpret_cast<uint8_t*>(tag.word),
                  AesCcm<Aes, direction>::message(schedule, head, in, out, bytes));
    }

    template <Direction direction>
    static void gcm_blocks(const Schedule& schedule, const typename Hash::Key& hash,
                           const Block<4>& j0, Block<4>& sum, uint64_t first_block,
                           const uint8_t* in, uint8_t* out, size_t bytes) {
        __m128i s = Hash::load(sum);
        Keystream::template keystream<modes::Gcm, direction == Direction::encrypt ? Sum::of_output
                                                                                  : Sum::of_input>(
            schedule, &hash, s, modes::Gcm::mask(j0, first_block), in, out, bytes);
        Hash::store(sum, s);
    }

private:
    WARPSEAL_INLINE static __m128i load(const Block<4>& block) {
        return load_one(reinterpret_cast<const uint8_t*>(block.word));
    }
};

}  // namespace
}  // namespace warpseal::cpu

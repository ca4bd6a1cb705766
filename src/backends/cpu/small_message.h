// Functions of the backend interface that call a representation's own loops directly. A short
// message takes no longer than a few calls.
#pragma once

#include "backends/block_loops.h"
#include "backends/cpu/messages.h"
#include "backends/cpu/small_stack_zeroizer.h"
#include "core/block.h"
#include "modes/cbc.h"
#include "modes/cfb.h"
#include "modes/ctr.h"
#include "modes/ecb.h"
#include "modes/ofb.h"

namespace warpseal::cpu {
namespace {

// For representations with a nonzero `small_message_limit_bytes`. Chains of any length, and other
// modes up to that size, stay in registers and spill none. Their stack therefore needs no
// zeroizing; residue_stack_test.cpp checks this.
// State must have the representation's schedule as `keys`.
template <class Representation, class State>
struct SmallMessageFunctions {
    // Stack that a longer sweep without a counter leaves behind.
    static constexpr size_t sweep_stack_bytes = 512;

    static const typename Representation::Schedule& keys(const void* state) {
        return static_cast<const State*>(state)->keys;
    }

    template <class Mode, Direction direction>
    static void sweep(const void* state, const uint8_t* iv, uint64_t first_block, const uint8_t* in,
                      uint8_t* out, size_t bytes) {
        Block<4> first{};
        if constexpr (Mode::has_iv) first = load_block<4>(iv);
        Representation::template sweep<Mode, direction>(keys(state), first, first_block, in, out,
                                                        bytes);
    }

    // Processes at most small_message_limit_bytes of one data unit, in whole blocks.
    template <Direction direction>
    static void xts(const void* state, const void* tweak_state, const XtsUnits& units,
                    const uint8_t* in, uint8_t* out, size_t bytes) {
        Representation::template xts_small<direction>(keys(state), keys(tweak_state), units.first,
                                                      in, out, bytes);
    }

    // Processes one message of whole blocks.
    template <class Mode>
    static void chain(const void* state, const uint8_t* iv, const uint8_t* in, uint8_t* out,
                      size_t bytes) {
        Block<4> chained = load_block<4>(iv);
        Representation::template chain<Mode>(keys(state), chained, in, out, bytes / 16);
    }

    // Processes one CCM message.
    template <Direction direction>
    static uint64_t ccm(const void* state, const warpseal_batch& batch, uint64_t i, uint64_t) {
        const Message m = message_of(batch, i);
        SecretOf<Block<4>> tag;
        Representation::template ccm<direction>(keys(state),
                                                {m.iv, batch.iv_bytes, batch.tag_bytes,
                                                 batch.aad + i * batch.aad_stride, batch.aad_bytes},
                                                m.in, m.out, m.bytes, tag.value);
        return settle_tag(direction, batch, i, tag.value, m.out, m.bytes);
    }

    static constexpr void describe(CpuBlockLoops& loops) {
        using modes::CbcDecryption, modes::CbcEncryption, modes::CfbDecryption,
            modes::CfbEncryption, modes::Ecb, modes::Ofb;
        constexpr Direction encrypt = Direction::encrypt, decrypt = Direction::decrypt;
        loops.blocks[WARPSEAL_ECB][0] = sweep_on<Ecb, encrypt>;
        loops.blocks[WARPSEAL_ECB][1] = sweep_on<Ecb, decrypt>;
        loops.blocks[WARPSEAL_CBC][0] = chain_on<CbcEncryption>;
        loops.blocks[WARPSEAL_CBC][1] = sweep_on<CbcDecryption, decrypt>;
        loops.blocks[WARPSEAL_CFB][0] = chain_on<CfbEncryption>;
        loops.blocks[WARPSEAL_CFB][1] = sweep_on<CfbDecryption, decrypt>;
        loops.blocks[WARPSEAL_OFB][0] = loops.blocks[WARPSEAL_OFB][1] = chain_on<Ofb>;
        loops.blocks[WARPSEAL_CTR][0] = loops.blocks[WARPSEAL_CTR][1] = count_on;
    }

private:
    // Block loops of CpuBlockLoops, which update `feedback` for the next call.
    template <class Mode>
    static void chain_on(const void* state, uint8_t* feedback, const uint8_t* in, uint8_t* out,
                         size_t bytes) {
        Block<4> chained = load_block<4>(feedback);
        Representation::template chain<Mode>(keys(state), chained, in, out, bytes / 16);
        store_block(feedback, chained);
    }

    template <class Mode, Direction direction>
    static void sweep_on(const void* state, uint8_t* feedback, const uint8_t* in, uint8_t* out,
                         size_t bytes) {
        constexpr auto* many =
            SmallStackZeroizer<many_on<Mode, direction>, sweep_stack_bytes>::call;
        if (bytes > Representation::small_message_limit_bytes)
            return many(state, feedback, in, out, bytes);
        Representation::template sweep_small<Mode, direction>(keys(state), feedback, in, out,
                                                              bytes);
    }
    template <class Mode, Direction direction>
    static void many_on(const void* state, uint8_t* feedback, const uint8_t* in, uint8_t* out,
                        size_t bytes) {
        const Block<4> last = load_block<4>(in + bytes - 16);  // in-place operation overwrites it
        sweep<Mode, direction>(state, feedback, 0, in, out, bytes);
        if constexpr (Mode::has_iv) store_block(feedback, last);
    }

    static void count_on(const void* state, uint8_t* counter, const uint8_t* in, uint8_t* out,
                         size_t bytes) {
        constexpr auto* many =
            SmallStackZeroizer<many_counted, Representation::small_stack_bytes>::call;
        if (bytes > Representation::small_message_limit_bytes ||
            !Representation::count_small(keys(state), counter, in, out, bytes))
            many(state, counter, in, out, bytes);
    }
    static void many_counted(const void* state, uint8_t* counter, const uint8_t* in, uint8_t* out,
                             size_t bytes) {
        sweep<modes::Ctr, Direction::encrypt>(state, counter, 0, in, out, bytes);
        store_block(counter, add_big_endian<4>(load_block<4>(counter), bytes / 16));
    }
};

}  // namespace
}  // namespace warpseal::cpu

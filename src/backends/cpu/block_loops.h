// The functions behind backends/block_loops.h, which says who calls them and why. Only
// representations with a nonzero `small_message_limit_bytes` have them: AES by instructions.
#pragma once

#include "backends/block_loops.h"
#include "core/block.h"
#include "core/secret.h"
#include "modes/cbc.h"
#include "modes/cfb.h"
#include "modes/ctr.h"
#include "modes/ecb.h"
#include "modes/ofb.h"

namespace warpseal::cpu {
namespace {

// Block loops of one cipher, which call the representation directly and update `feedback` for the
// next call. Serial modes of any length, and other modes up to small_message_limit_bytes, stay in
// registers and spill none. Their stack needs no zeroizing; residue_stack_test.cpp checks this.
template <class Key>
struct BlockLoops {
    using Representation = typename Key::Representation;

    static constexpr CpuBlockLoops describe() {
        using modes::CbcDecryption, modes::CbcEncryption, modes::CfbDecryption,
            modes::CfbEncryption, modes::Ecb, modes::Ofb;
        constexpr Direction encrypt = Direction::encrypt, decrypt = Direction::decrypt;
        CpuBlockLoops loops{};
        loops.blocks[WARPSEAL_ECB][0] = sweep<Ecb, encrypt>;
        loops.blocks[WARPSEAL_ECB][1] = sweep<Ecb, decrypt>;
        loops.blocks[WARPSEAL_CBC][0] = chain<CbcEncryption>;
        loops.blocks[WARPSEAL_CBC][1] = sweep<CbcDecryption, decrypt>;
        loops.blocks[WARPSEAL_CFB][0] = chain<CfbEncryption>;
        loops.blocks[WARPSEAL_CFB][1] = sweep<CfbDecryption, decrypt>;
        loops.blocks[WARPSEAL_OFB][0] = loops.blocks[WARPSEAL_OFB][1] = chain<Ofb>;
        loops.blocks[WARPSEAL_CTR][0] = loops.blocks[WARPSEAL_CTR][1] = count;
        return loops;
    }

private:
    static const typename Representation::Schedule& schedule(const void* state) {
        return static_cast<const Key*>(state)->schedule;
    }

    template <class Mode>
    static void chain(const void* state, uint8_t* feedback, const uint8_t* in, uint8_t* out,
                      size_t bytes) {
        Block<4> chained = load_block<4>(feedback);
        Representation::template chain<Mode>(schedule(state), chained, in, out, bytes / 16);
        store_block(feedback, chained);
    }

    template <class Mode, Direction direction>
    static void sweep(const void* state, uint8_t* feedback, const uint8_t* in, uint8_t* out,
                      size_t bytes) {
        if (bytes > Representation::small_message_limit_bytes)
            return StackZeroizer<long_sweep<Mode, direction>,
                                 Representation::sweep_stack_bytes>::call(state, feedback, in, out,
                                                                          bytes);
        Representation::template sweep_small<Mode, direction>(schedule(state), feedback, in, out,
                                                              bytes);
    }
    template <class Mode, Direction direction>
    static void long_sweep(const void* state, uint8_t* feedback, const uint8_t* in, uint8_t* out,
                           size_t bytes) {
        const Block<4> last = load_block<4>(in + bytes - 16);  // in-place operation overwrites it
        Block<4> previous{};
        if constexpr (Mode::has_iv) previous = load_block<4>(feedback);
        Representation::template sweep<Mode, direction>(schedule(state), previous, 0, in, out,
                                                        bytes);
        if constexpr (Mode::has_iv) store_block(feedback, last);
    }

    static void count(const void* state, uint8_t* counter, const uint8_t* in, uint8_t* out,
                      size_t bytes) {
        if (bytes > Representation::small_message_limit_bytes ||
            !Representation::count_small(schedule(state), counter, in, out, bytes))
            StackZeroizer<long_count, Representation::small_stack_bytes>::call(state, counter, in,
                                                                               out, bytes);
    }
    static void long_count(const void* state, uint8_t* counter, const uint8_t* in, uint8_t* out,
                           size_t bytes) {
        const Block<4> first = load_block<4>(counter);
        Representation::template sweep<modes::Ctr, Direction::encrypt>(schedule(state), first, 0,
                                                                       in, out, bytes);
        store_block(counter, add_big_endian<4>(load_block<4>(counter), bytes / 16));
    }
};

}  // namespace
}  // namespace warpseal::cpu

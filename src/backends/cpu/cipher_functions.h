// Mode functions on the CPU for any cipher in its representation: sweeps, XTS, GCM and batches.
#pragma once

#include "backends/cpu/kernel_table.h"
#include "backends/cpu/parallel_modes.h"
#include "backends/cpu/serial_batches.h"
#include "backends/cpu/small_stack_zeroizer.h"
#include "backends/cpu/xts.h"
#include "core/table.h"
#include "macs/ghash.h"
#include "modes/gcm.h"

// Include after the target's header, which defines RepresentationOf and Hash. All names have
// internal linkage: each object keeps its own copies.
namespace warpseal::cpu {
namespace {

// Mode functions over a representation, which is a KernelTable.
template <class Representation>
struct CipherFunctions {
    using Text = typename Representation::Text;

    // GCM, CCM and XTS require 16-byte blocks: SP 800-38D 5.1, SP 800-38C 5.1, SP 800-38E 4.
    static constexpr bool has_long_blocks = Representation::facts.block_bytes == 16;

    struct NoHash {};
    struct State : Representation::Schedule {
        alignas(64) std::conditional_t<has_long_blocks, Hash::Key, NoHash> hash;
    };
    static const State& state_of(const void* state) { return *static_cast<const State*>(state); }

    // ---- sweep

    template <class Mode, Direction direction>
    static void sweep_blocks(const State& state, const Text& iv, uint64_t first_block,
                             const uint8_t* in, uint8_t* out, size_t bytes) {
        sweep_of<Representation, sizeof(BitslicedWord), Mode, direction>(state, iv, first_block, in,
                                                                         out, bytes);
    }

    template <class Mode, Direction direction>
    static void sweep(const void* state, const uint8_t* iv, uint64_t first_block, const uint8_t* in,
                      uint8_t* out, size_t bytes) {
        Text first{};
        if constexpr (Mode::has_iv) first = load_block<Text::words>(iv);
        sweep_blocks<Mode, direction>(state_of(state), first, first_block, in, out, bytes);
    }

    template <Direction direction>
    static void xts(const void* state, const void* tweak_state, const XtsUnits& units,
                    const uint8_t* in, uint8_t* out, size_t bytes) {
        XtsMode<Representation, sizeof(BitslicedWord)>::template run<direction>(
            state_of(state), state_of(tweak_state), units, in, out, bytes);
    }
    template <Direction direction>
    static void xts_unit(const void* state, const void* tweak_state, const XtsUnits& units,
                         const uint8_t* in, uint8_t* out, size_t bytes) {
        XtsMode<Representation, sizeof(BitslicedWord)>::template unit<direction>(
            state_of(state), state_of(tweak_state), units, in, out, bytes);
    }

    // ---- GCM, SP 800-38D 7

    static void gcm_begin(const void* memory, const uint8_t* iv, size_t iv_bytes,
                          const uint8_t* aad, size_t aad_bytes, GcmState* run) {
        const State& state = state_of(memory);
        Block<4> sum{};
        if (iv_bytes == modes::Gcm::plain_iv_bytes) {
            store_block(run->counter0, modes::Gcm::pre_counter_block(iv));
        } else {
            Hash::absorb(state.hash, sum, iv, iv_bytes);
            absorb_lengths(state, sum, 0, iv_bytes);
            store_block(run->counter0, sum);
            sum = {};
        }
        if (aad_bytes != 0) Hash::absorb(state.hash, sum, aad, aad_bytes);
        store_block(run->sum, sum);
    }

    template <Direction direction>
    static void gcm_segment(const void* memory, GcmState* run, uint64_t first_block,
                            const uint8_t* in, uint8_t* out, size_t bytes) {
        const State& state = state_of(memory);
        const Block<4> j0 = load_block<4>(run->counter0);
        Block<4> sum = load_block<4>(run->sum);
        if constexpr (Representation::facts.has_gcm) {
            Representation::template gcm_blocks<direction>(state, state.hash, j0, sum, first_block,
                                                           in, out, bytes);
        } else {
            // Both passes over a segment stay within the L1 cache.
            constexpr size_t segment_bytes = 8192;
            while (bytes != 0) {
                const size_t n = bytes < segment_bytes ? bytes : segment_bytes;
                if (direction == Direction::decrypt) Hash::absorb(state.hash, sum, in, n);
                sweep_blocks<modes::Gcm, direction>(state, j0, first_block, in, out, n);
                if (direction == Direction::encrypt) Hash::absorb(state.hash, sum, out, n);
                in += n, out += n, bytes -= n, first_block += n / 16;
            }
        }
        store_block(run->sum, sum);
    }

    static void gcm_combine(const void* state, uint8_t sum[16], const uint8_t part[16],
                            uint64_t block_count) {
        Block<4> s = load_block<4>(sum);
        Hash::combine(state_of(state).hash, s, load_block<4>(part), block_count);
        store_block(sum, s);
    }

    static void gcm_finish(const void* memory, const GcmState* run, uint64_t aad_bytes,
                           uint64_t text_bytes, uint8_t tag[16]) {
        const State& state = state_of(memory);
        Block<4> sum = load_block<4>(run->sum);
        absorb_lengths(state, sum, aad_bytes, text_bytes);
        store_block(tag, sum ^ encrypt_one<Representation>(state, load_block<4>(run->counter0)));
    }

    static void absorb_lengths(const State& state, Block<4>& sum, uint64_t aad_bytes,
                               uint64_t text_bytes) {
        uint8_t lengths[16];
        store_block(lengths, macs::ghash::length_block(aad_bytes, text_bytes));
        Hash::absorb(state.hash, sum, lengths, sizeof lengths);
    }

    // ---- batch

    // Processes messages that all have the same key.
    template <class Mode, Direction direction>
    static uint64_t sweep_batch(const void* state, const warpseal_batch& batch, uint64_t first,
                                uint64_t count) {
        for (uint64_t i = first; i < first + count; ++i) {
            const Message m = message_of(batch, i);
            sweep<Mode, direction>(state, m.iv, 0, m.in, m.out, m.bytes);
            if (batch.statuses) batch.statuses[i] = WARPSEAL_OK;
        }
        return 0;
    }

    template <Direction direction>
    static uint64_t gcm_batch(const void* state, const warpseal_batch& batch, uint64_t first,
                              uint64_t count) {
        uint64_t failed = 0;
        for (uint64_t i = first; i < first + count; ++i) {
            const Message m = message_of(batch, i);
            GcmState run;
            gcm_begin(state, m.iv, batch.iv_bytes, batch.aad + i * batch.aad_stride,
                      batch.aad_bytes, &run);
            gcm_segment<direction>(state, &run, 0, m.in, m.out, m.bytes);
            Secret<16> tag;
            gcm_finish(state, &run, batch.aad_bytes, m.bytes, tag.data());
            failed += settle_tag(direction, batch, i, load_block<4>(tag.data()), m.out, m.bytes);
        }
        return failed;
    }

    template <class Mode>
    static uint64_t chain_batch(const void* state, const warpseal_batch& batch, uint64_t first,
                                uint64_t count) {
        using Supply = TextSupply<Text::words>;
        Supply supply{batch};
        SerialModes<Representation, Mode, Supply>::run(state_of(state), supply, first, count);
        return 0;
    }

    template <Direction direction>
    static uint64_t cmac_batch(const void* state, const warpseal_batch& batch, uint64_t first,
                               uint64_t count) {
        using Supply = CmacSupply<Text::words>;
        SecretOf<Text> encrypted_zero;
        encrypted_zero.value = encrypt_one<Representation>(state_of(state), {});
        Supply supply{batch, direction, encrypted_zero.value};
        SerialModes<Representation, macs::CbcMac, Supply>::run(state_of(state), supply, first,
                                                               count);
        return supply.failed;
    }

    template <Direction direction>
    static uint64_t ccm_batch(const void* state, const warpseal_batch& batch, uint64_t first,
                              uint64_t count) {
        using Supply = CcmSupply<Representation, sizeof(BitslicedWord)>;
        Supply supply{batch, direction, state_of(state)};
        SerialModes<Representation, macs::CbcMac, Supply>::run(state_of(state), supply, first,
                                                               count);
        return supply.failed;
    }

    // Stack depth of a call: what the representation states for itself, plus the buffers of the
    // mode functions.
    static constexpr size_t frames = 1536;
    static constexpr size_t sweep_stack =
        frames + Representation::facts.stack_bytes +
        sizeof(typename TileSweep<Representation, sizeof(BitslicedWord)>::Tile);
    static constexpr size_t xts_stack =
        frames + sweep_stack + sizeof(Tweaks<Representation, sizeof(BitslicedWord)>);
    template <size_t lanes>
    static constexpr size_t chain_stack = frames + sweep_stack + lanes*(2 * Text::bytes + 96);

    template <auto function, size_t stack_bytes = sweep_stack>
    static constexpr auto* zeroized = StackZeroizer<function, stack_bytes>::call;
    template <auto function>
    static constexpr auto* zeroized_small =
        SmallStackZeroizer<function, Representation::facts.small_stack_bytes>::call;
    template <class Mode>
    static constexpr bool counts = __is_same(Mode, modes::Ctr);
    // Functions of the backend interface that zeroize the stack. `Key` is a CipherEntry. It has the
    // representation's functions for small messages, and takes batches with a key for each message.
    template <class Key, class Mode, Direction direction>
    static void zeroized_sweep(const void* state, const uint8_t* iv, uint64_t first_block,
                               const uint8_t* in, uint8_t* out, size_t bytes) {
        if constexpr (Representation::facts.has_sweep) {
            constexpr auto* own = Key::SmallMessage::template sweep<Mode, direction>;
            constexpr size_t small_stack = counts<Mode> ? Representation::facts.small_stack_bytes
                                                        : Key::SmallMessage::sweep_stack_bytes;
            constexpr auto* small = SmallStackZeroizer<own, small_stack>::call;
            if (bytes <= Representation::facts.small_message_limit_bytes)
                return own(state, iv, first_block, in, out, bytes);
            if (!counts<Mode> || bytes < Representation::facts.small_stack_limit_bytes)
                return small(state, iv, first_block, in, out, bytes);
        }
        zeroized<sweep<Mode, direction>>(state, iv, first_block, in, out, bytes);
    }
    template <Direction direction>
    static void zeroized_gcm_segment(const void* state, GcmState* run, uint64_t first_block,
                                     const uint8_t* in, uint8_t* out, size_t bytes) {
        // Includes the vectors of the GHASH accumulator.
        constexpr size_t small_stack = 2 * Representation::facts.small_stack_bytes;
        const bool small = bytes < Representation::facts.small_stack_limit_bytes;
        (small ? SmallStackZeroizer<gcm_segment<direction>, small_stack>::call
               : zeroized<gcm_segment<direction>>)(state, run, first_block, in, out, bytes);
    }
    template <class Key, Direction direction>
    static void zeroized_xts(const void* state, const void* tweak_state, const XtsUnits& units,
                             const uint8_t* in, uint8_t* out, size_t bytes) {
        if constexpr (Representation::facts.has_xts) {
            if (bytes <= units.unit_bytes) {
                const bool small =
                    bytes <= Representation::facts.small_message_limit_bytes && bytes % 16 == 0;
                constexpr auto *some = Key::SmallMessage::template xts<direction>,
                               *all = zeroized_small<xts_unit<direction>>;
                return (small ? some : all)(state, tweak_state, units, in, out, bytes);
            }
        }
        zeroized<xts<direction>, xts_stack>(state, tweak_state, units, in, out, bytes);
    }
    template <class Key, auto function>
    static uint64_t zeroized_batch(const void* state, const warpseal_batch& batch, uint64_t first,
                                   uint64_t count) {
        constexpr size_t narrow = Representation::narrow_blocks, wide = Representation::wide_blocks;
        if (batch.keys)
            return zeroized<Key::own_keys, chain_stack<wide> + Key::own_keys_stack>(function, batch,
                                                                                    first, count);
        if (count <= narrow)
            return zeroized<function, chain_stack<narrow>>(state, batch, first, count);
        return zeroized<function, chain_stack<wide>>(state, batch, first, count);
    }
    // Variant of zeroized_batch for CCM. If the representation has its own loop over a message, no
    // buffers of the mode functions are on the stack.
    template <class Key, Direction direction>
    static uint64_t zeroized_ccm(const void* state, const warpseal_batch& batch, uint64_t first,
                                 uint64_t count) {
        if constexpr (Representation::facts.small_message_limit_bytes != 0) {
            constexpr auto* own = Key::SmallMessage::template ccm<direction>;
            if (batch.keys)
                return zeroized<Key::own_keys, frames + Key::own_keys_stack>(own, batch, first,
                                                                             count);
            if (count == 1)
                return SmallStackZeroizer<own, Representation::facts.small_stack_bytes>::call(
                    state, batch, first, count);
        }
        return zeroized_batch<Key, ccm_batch<direction>>(state, batch, first, count);
    }
    // Variant of zeroized_batch for serial modes without a tag: CBC and CFB encryption, OFB.
    template <class Key, class Mode>
    static uint64_t zeroized_chains(const void* state, const warpseal_batch& batch, uint64_t first,
                                    uint64_t count) {
        if constexpr (Representation::facts.small_message_limit_bytes != 0) {
            if (count == 1 && !batch.keys) {
                const Message m = message_of(batch, first);
                if (m.bytes % Text::bytes == 0) {
                    if (batch.statuses) batch.statuses[first] = WARPSEAL_OK;
                    Key::SmallMessage::template chain<Mode>(state, m.iv, m.in, m.out, m.bytes);
                    return 0;
                }
            }
        }
        return chains_by_representation<Key, chain_batch<Mode>>(state, batch, first, count);
    }
    // Not inlined, so that zeroized_chains needs no stack frame for it.
    template <class Key, auto function>
    __attribute__((noinline)) static uint64_t chains_by_representation(const void* state,
                                                                       const warpseal_batch& batch,
                                                                       uint64_t first,
                                                                       uint64_t count) {
        const bool small = Representation::facts.has_chain && count == 1 && !batch.keys;
        return (small ? zeroized_small<function> : zeroized_batch<Key, function>)(state, batch,
                                                                                  first, count);
    }

    template <class Key>
    static constexpr void describe(CpuCipher& c) {
        using modes::Ctr, modes::Ecb, modes::CbcDecryption, modes::CbcEncryption,
            modes::CfbDecryption, modes::CfbEncryption, modes::Ofb;
        constexpr Direction encrypt = Direction::encrypt, decrypt = Direction::decrypt;
        c.modes = 1u << WARPSEAL_ECB | 1u << WARPSEAL_CBC | 1u << WARPSEAL_CFB |
                  1u << WARPSEAL_OFB | 1u << WARPSEAL_CTR | 1u << WARPSEAL_CMAC;
        c.expand = zeroized_small<Key::expand>;
        c.sweep[WARPSEAL_ECB][0] = zeroized_sweep<Key, Ecb, encrypt>;
        c.sweep[WARPSEAL_ECB][1] = zeroized_sweep<Key, Ecb, decrypt>;
        c.sweep[WARPSEAL_CTR][0] = c.sweep[WARPSEAL_CTR][1] = zeroized_sweep<Key, Ctr, encrypt>;
        c.sweep[WARPSEAL_CBC][1] = zeroized_sweep<Key, CbcDecryption, decrypt>;
        c.sweep[WARPSEAL_CFB][1] = zeroized_sweep<Key, CfbDecryption, decrypt>;
        c.batch[WARPSEAL_CTR][0] = c.batch[WARPSEAL_CTR][1] =
            zeroized_batch<Key, sweep_batch<Ctr, encrypt>>;
        c.batch[WARPSEAL_CBC][0] = zeroized_chains<Key, CbcEncryption>;
        c.batch[WARPSEAL_CBC][1] = zeroized_batch<Key, sweep_batch<CbcDecryption, decrypt>>;
        c.batch[WARPSEAL_CFB][0] = zeroized_chains<Key, CfbEncryption>;
        c.batch[WARPSEAL_CFB][1] = zeroized_batch<Key, sweep_batch<CfbDecryption, decrypt>>;
        c.batch[WARPSEAL_OFB][0] = c.batch[WARPSEAL_OFB][1] = zeroized_chains<Key, Ofb>;
        c.batch[WARPSEAL_CMAC][0] = zeroized_batch<Key, cmac_batch<encrypt>>;
        c.batch[WARPSEAL_CMAC][1] = zeroized_batch<Key, cmac_batch<decrypt>>;
        if constexpr (has_long_blocks) {
            c.modes |= 1u << WARPSEAL_GCM | 1u << WARPSEAL_CCM | 1u << WARPSEAL_XTS;
            c.gcm_begin = zeroized_small<gcm_begin>;
            c.gcm_segment[0] = zeroized_gcm_segment<encrypt>;
            c.gcm_segment[1] = zeroized_gcm_segment<decrypt>;
            c.gcm_combine = zeroized_small<gcm_combine>;
            c.gcm_finish = zeroized_small<gcm_finish>;
            c.batch[WARPSEAL_GCM][0] = zeroized_batch<Key, gcm_batch<encrypt>>;
            c.batch[WARPSEAL_GCM][1] = zeroized_batch<Key, gcm_batch<decrypt>>;
            c.batch[WARPSEAL_CCM][0] = zeroized_ccm<Key, encrypt>;
            c.batch[WARPSEAL_CCM][1] = zeroized_ccm<Key, decrypt>;
            c.xts[0] = zeroized_xts<Key, encrypt>;
            c.xts[1] = zeroized_xts<Key, decrypt>;
        }
    }
};

}  // namespace
}  // namespace warpseal::cpu

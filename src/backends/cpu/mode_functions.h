// Mode functions on the CPU for any cipher in its representation: sweeps, XTS, GCM and batches.
#pragma once

#include "backends/cpu/block_functions.h"
#include "backends/cpu/parallel_modes.h"
#include "backends/cpu/serial_batches.h"
#include "backends/cpu/xts.h"
#include "macs/ghash.h"
#include "modes/gcm.h"

namespace warpseal::cpu {
namespace {

// Mode functions of a family. They leave secrets on the stack: the functions of CipherEntry, which
// call them, zeroize it.
template <class Family>
struct ModeFunctions {
    using Hash = typename Family::Functions::Hash;
    using Key = typename Family::Key;
    using Text = typename Family::Text;
    using Representation = typename Family::Representation;

    static const Key& key_of(const void* state) { return *static_cast<const Key*>(state); }

    // ---- sweep

    template <class Mode, Direction direction>
    static void sweep(const void* state, const uint8_t* iv, uint64_t first_block, const uint8_t* in,
                      uint8_t* out, size_t bytes) {
        Text first{};
        if constexpr (Mode::has_iv) first = load_block<Text::words>(iv);
        sweep_of<Family, Mode, direction>(key_of(state), first, first_block, in, out, bytes);
    }

    template <Direction direction>
    static void xts(const void* state, const void* tweak_state, const XtsUnits& units,
                    const uint8_t* in, uint8_t* out, size_t bytes) {
        XtsMode<Family>::template run<direction>(key_of(state), key_of(tweak_state), units, in, out,
                                                 bytes);
    }
    template <Direction direction>
    static void xts_unit(const void* state, const void* tweak_state, const XtsUnits& units,
                         const uint8_t* in, uint8_t* out, size_t bytes) {
        XtsMode<Family>::template unit<direction>(key_of(state), key_of(tweak_state), units, in,
                                                  out, bytes);
    }

    // ---- GCM, SP 800-38D 7

    static void gcm_begin(const void* state, const uint8_t* iv, size_t iv_bytes, const uint8_t* aad,
                          size_t aad_bytes, GcmState* run) {
        const Key& key = key_of(state);
        Block<4> sum{};
        if (iv_bytes == modes::Gcm::plain_iv_bytes) {
            store_block(run->counter0, modes::Gcm::pre_counter_block(iv));
        } else {
            Hash::absorb(key.hash, sum, iv, iv_bytes);
            absorb_lengths(key, sum, 0, iv_bytes);
            store_block(run->counter0, sum);
            sum = {};
        }
        if (aad_bytes != 0) Hash::absorb(key.hash, sum, aad, aad_bytes);
        store_block(run->sum, sum);
    }

    template <Direction direction>
    static void gcm_segment(const void* state, GcmState* run, uint64_t first_block,
                            const uint8_t* in, uint8_t* out, size_t bytes) {
        const Key& key = key_of(state);
        const Block<4> j0 = load_block<4>(run->counter0);
        Block<4> sum = load_block<4>(run->sum);
        if constexpr (Family::functions.gcm_blocks[0] != nullptr) {
            key.functions->gcm_blocks[static_cast<int>(direction)](key, key.hash, j0, sum,
                                                                   first_block, in, out, bytes);
        } else {
            // Both passes over a segment stay within the L1 cache.
            constexpr size_t segment_bytes = 8192;
            while (bytes != 0) {
                const size_t n = bytes < segment_bytes ? bytes : segment_bytes;
                if (direction == Direction::decrypt) Hash::absorb(key.hash, sum, in, n);
                sweep_of<Family, modes::Gcm, direction>(key, j0, first_block, in, out, n);
                if (direction == Direction::encrypt) Hash::absorb(key.hash, sum, out, n);
                in += n, out += n, bytes -= n, first_block += n / 16;
            }
        }
        store_block(run->sum, sum);
    }

    static void gcm_combine(const void* state, uint8_t sum[16], const uint8_t part[16],
                            uint64_t block_count) {
        Block<4> s = load_block<4>(sum);
        Hash::combine(key_of(state).hash, s, load_block<4>(part), block_count);
        store_block(sum, s);
    }

    static void gcm_finish(const void* state, const GcmState* run, uint64_t aad_bytes,
                           uint64_t text_bytes, uint8_t tag[16]) {
        const Key& key = key_of(state);
        Block<4> sum = load_block<4>(run->sum);
        absorb_lengths(key, sum, aad_bytes, text_bytes);
        store_block(tag, sum ^ encrypt_one<Family>(key, load_block<4>(run->counter0)));
    }

    static void absorb_lengths(const Key& key, Block<4>& sum, uint64_t aad_bytes,
                               uint64_t text_bytes) {
        uint8_t lengths[16];
        store_block(lengths, macs::ghash::length_block(aad_bytes, text_bytes));
        Hash::absorb(key.hash, sum, lengths, sizeof lengths);
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
        SerialModes<Family, Mode, Supply>::run(key_of(state), supply, first, count);
        return 0;
    }

    template <Direction direction>
    static uint64_t cmac_batch(const void* state, const warpseal_batch& batch, uint64_t first,
                               uint64_t count) {
        using Supply = CmacSupply<Text::words>;
        SecretOf<Text> encrypted_zero;
        encrypted_zero.value = encrypt_one<Family>(key_of(state), {});
        Supply supply{batch, direction, encrypted_zero.value};
        SerialModes<Family, macs::CbcMac, Supply>::run(key_of(state), supply, first, count);
        return supply.failed;
    }

    template <Direction direction>
    static uint64_t ccm_batch(const void* state, const warpseal_batch& batch, uint64_t first,
                              uint64_t count) {
        using Supply = CcmSupply<Family>;
        Supply supply{batch, direction, key_of(state)};
        SerialModes<Family, macs::CbcMac, Supply>::run(key_of(state), supply, first, count);
        return supply.failed;
    }

    // Stack depth of a call: what the representation states for itself, plus the buffers of the
    // mode functions.
    static constexpr size_t frames = 1536;
    static constexpr size_t sweep_stack_bytes =
        frames + Representation::stack_bytes + sizeof(typename TileSweep<Family>::Tile);
    static constexpr size_t xts_stack_bytes = frames + sweep_stack_bytes + sizeof(Tweaks<Family>);
    template <size_t lanes>
    static constexpr size_t chain_stack_bytes = frames + sweep_stack_bytes +
                                                lanes*(2 * Text::bytes + 96);
};

}  // namespace
}  // namespace warpseal::cpu

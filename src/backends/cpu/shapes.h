// The kernel shapes on a core, for any cipher in the form that the target gives it: the fold of GCM, batches, and the door made of them
// all.
#pragma once

#include "backends/cpu/called.h"
#include "backends/cpu/cleared.h"
#include "backends/cpu/serial.h"
#include "backends/cpu/sweep.h"
#include "backends/cpu/xts.h"
#include "core/table.h"
#include "macs/ghash.h"
#include "modes/gcm.h"

// Included after the target's header, which defines FormOf and Hash. Everything has internal linkage: each object keeps its own copies.
namespace warpseal::cpu {
namespace {

// The shapes over a Called form.
template <class Form>
struct Shapes {
    using Text = typename Form::Text;

    static constexpr bool has_long_blocks =
        Form::facts.block_bytes == 16;  // GCM, CCM and XTS: SP 800-38D 5.1, SP 800-38C 5.1, SP 800-38E 4

    struct NoHash {};
    struct State : Form::Schedule {
        alignas(64) std::conditional_t<has_long_blocks, Hash::Key, NoHash> hash;
    };
    static const State& state_of(const void* state) { return *static_cast<const State*>(state); }

    // ---- sweep

    template <class Mode, Direction direction>
    static void sweep_blocks(const State& state, const Text& iv, uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes) {
        sweep_of<Form, sizeof(PlaneWord), Mode, direction>(state, iv, first_block, in, out, bytes);
    }

    template <class Mode, Direction direction>
    static void sweep(const void* state, const uint8_t* iv, uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes) {
        Text first{};
        if constexpr (Mode::has_iv) first = load_block<Text::words>(iv);
        sweep_blocks<Mode, direction>(state_of(state), first, first_block, in, out, bytes);
    }

    template <Direction direction>
    static void xts(const void* state, const void* tweak_state, const XtsUnits& units, const uint8_t* in, uint8_t* out, size_t bytes) {
        XtsShape<Form, sizeof(PlaneWord)>::template run<direction>(state_of(state), state_of(tweak_state), units, in, out, bytes);
    }

    // ---- fold: GCM, SP 800-38D 7

    static void gcm_begin(const void* memory, const uint8_t* iv, size_t iv_bytes, const uint8_t* aad, size_t aad_bytes, GcmRun* run) {
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
    static void gcm_piece(const void* memory, GcmRun* run, uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes) {
        const State& state = state_of(memory);
        const Block<4> j0 = load_block<4>(run->counter0);
        Block<4> sum = load_block<4>(run->sum);
        if constexpr (Form::facts.has_fold) {
            Form::template fold<direction>(state, state.hash, j0, sum, first_block, in, out, bytes);
        } else {
            constexpr size_t stretch_bytes = 8192;  // both passes within the first cache
            while (bytes != 0) {
                const size_t n = bytes < stretch_bytes ? bytes : stretch_bytes;
                if (direction == Direction::decrypt) Hash::absorb(state.hash, sum, in, n);
                sweep_blocks<modes::Gcm, direction>(state, j0, first_block, in, out, n);
                if (direction == Direction::encrypt) Hash::absorb(state.hash, sum, out, n);
                in += n, out += n, bytes -= n, first_block += n / 16;
            }
        }
        store_block(run->sum, sum);
    }

    static void gcm_combine(const void* state, uint8_t sum[16], const uint8_t part[16], uint64_t block_count) {
        Block<4> s = load_block<4>(sum);
        Hash::combine(state_of(state).hash, s, load_block<4>(part), block_count);
        store_block(sum, s);
    }

    static void gcm_finish(const void* memory, const GcmRun* run, uint64_t aad_bytes, uint64_t text_bytes, uint8_t tag[16]) {
        const State& state = state_of(memory);
        Block<4> sum = load_block<4>(run->sum);
        absorb_lengths(state, sum, aad_bytes, text_bytes);
        store_block(tag, sum ^ encrypt_one<Form>(state, load_block<4>(run->counter0)));
    }

    static void absorb_lengths(const State& state, Block<4>& sum, uint64_t aad_bytes, uint64_t text_bytes) {
        uint8_t lengths[16];
        store_block(lengths, macs::ghash::length_block(aad_bytes, text_bytes));
        Hash::absorb(state.hash, sum, lengths, sizeof lengths);
    }

    // ---- batch

    // All messages under the same key.
    template <class Mode, Direction direction>
    static uint64_t sweep_batch(const void* state, const warpseal_batch& batch, uint64_t first, uint64_t count) {
        for (uint64_t i = first; i < first + count; ++i) {
            const Message m = message_of(batch, i);
            sweep<Mode, direction>(state, m.iv, 0, m.in, m.out, m.bytes);
            if (batch.statuses) batch.statuses[i] = WARPSEAL_OK;
        }
        return 0;
    }

    template <Direction direction>
    static uint64_t gcm_batch(const void* state, const warpseal_batch& batch, uint64_t first, uint64_t count) {
        uint64_t failed = 0;
        for (uint64_t i = first; i < first + count; ++i) {
            const Message m = message_of(batch, i);
            GcmRun run;
            gcm_begin(state, m.iv, batch.iv_bytes, batch.aad + i * batch.aad_stride, batch.aad_bytes, &run);
            gcm_piece<direction>(state, &run, 0, m.in, m.out, m.bytes);
            Secret<16> tag;
            gcm_finish(state, &run, batch.aad_bytes, m.bytes, tag.data());
            failed += settle_tag(direction, batch, i, load_block<4>(tag.data()), m.out, m.bytes);
        }
        return failed;
    }

    template <class Mode>
    static uint64_t chain_batch(const void* state, const warpseal_batch& batch, uint64_t first, uint64_t count) {
        using Supply = TextSupply<Text::words>;
        Supply supply{batch};
        ChainShape<Form, Mode, Supply>::run(state_of(state), supply, first, count);
        return 0;
    }

    template <Direction direction>
    static uint64_t cmac_batch(const void* state, const warpseal_batch& batch, uint64_t first, uint64_t count) {
        using Supply = CmacSupply<Text::words>;
        SecretOf<Text> encrypted_zero;
        encrypted_zero.value = encrypt_one<Form>(state_of(state), {});
        Supply supply{batch, direction, encrypted_zero.value};
        ChainShape<Form, macs::CbcMac, Supply>::run(state_of(state), supply, first, count);
        return supply.failed;
    }

    template <Direction direction>
    static uint64_t ccm_batch(const void* state, const warpseal_batch& batch, uint64_t first, uint64_t count) {
        using Supply = CcmSupply<Form, sizeof(PlaneWord)>;
        Supply supply{batch, direction, state_of(state), count == 1};
        ChainShape<Form, macs::CbcMac, Supply>::run(state_of(state), supply, first, count);
        return supply.failed;
    }

    // How deep calls go: what the form says of its own, under what the shapes keep there.
    static constexpr size_t frames = 1536;
    static constexpr size_t sweep_stack = frames + Form::facts.stack_bytes + sizeof(typename TileSweep<Form, sizeof(PlaneWord)>::Tile);
    static constexpr size_t xts_stack = frames + sweep_stack + sizeof(Tweaks<Form, sizeof(PlaneWord)>);
    template <size_t lanes>
    static constexpr size_t chain_stack = frames + sweep_stack + lanes*(2 * Text::bytes + 96);

    template <auto function, size_t stack_bytes = sweep_stack>
    static constexpr auto* cleared = Cleared<function, stack_bytes>::call;
    template <auto function>
    static constexpr auto* cleared_of_little = BrieflyCleared<function, Form::facts.little_stack_bytes>::call;
    // A form's own sweep without a counter works in registers.
    template <auto function>
    static constexpr auto* plain_cleared = Form::facts.has_sweep ? BrieflyCleared<function, 512>::call : cleared<function>;
    // A counter mode's text of any length; `little`, where it is brief.
    template <auto function, size_t little, class Place>
    static void cleared_by_length(const void* state, Place place, uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes) {
        const bool brief = bytes < Form::facts.brief_bytes;
        (brief ? BrieflyCleared<function, little>::call : cleared<function>)(state, place, first_block, in, out, bytes);
    }
    // `Key` takes batches that bring a key for each message.
    template <class Key, auto function>
    static uint64_t batch_cleared(const void* state, const warpseal_batch& batch, uint64_t first, uint64_t count) {
        constexpr size_t narrow = Form::narrow_blocks, wide = Form::wide_blocks;
        if (batch.keys) return cleared<Key::own_keys, chain_stack<wide> + Key::own_keys_stack>(function, batch, first, count);
        if (count <= narrow) return cleared<function, chain_stack<narrow>>(state, batch, first, count);
        return cleared<function, chain_stack<wide>>(state, batch, first, count);
    }
    // The same of CCM: where a form has its own loop over one message's text, nothing of the shapes' size is under it.
    template <class Key, auto function>
    static uint64_t ccm_cleared(const void* state, const warpseal_batch& batch, uint64_t first, uint64_t count) {
        const bool brief = Form::facts.has_ccm && count == 1 && !batch.keys;
        return (brief ? BrieflyCleared<function, 2 * Form::facts.little_stack_bytes>::call : batch_cleared<Key, function>)(state, batch,
                                                                                                                           first, count);
    }
    // Where a form has its own loop over one message, that works in registers.
    template <class Key, auto function>
    static uint64_t chains_cleared(const void* state, const warpseal_batch& batch, uint64_t first, uint64_t count) {
        const bool brief = Form::facts.has_chain && count == 1 && !batch.keys;
        return (brief ? cleared_of_little<function> : batch_cleared<Key, function>)(state, batch, first, count);
    }

    template <class Key>
    static constexpr void describe(CpuCipher& c) {
        using modes::Ctr, modes::Ecb, modes::CbcDecryption, modes::CbcEncryption, modes::CfbDecryption, modes::CfbEncryption, modes::Ofb;
        constexpr Direction encrypt = Direction::encrypt, decrypt = Direction::decrypt;
        c.modes =
            1u << WARPSEAL_ECB | 1u << WARPSEAL_CBC | 1u << WARPSEAL_CFB | 1u << WARPSEAL_OFB | 1u << WARPSEAL_CTR | 1u << WARPSEAL_CMAC;
        c.expand = cleared_of_little<Key::expand>;
        c.sweep[WARPSEAL_ECB][0] = plain_cleared<sweep<Ecb, encrypt>>;
        c.sweep[WARPSEAL_ECB][1] = plain_cleared<sweep<Ecb, decrypt>>;
        c.sweep[WARPSEAL_CTR][0] = c.sweep[WARPSEAL_CTR][1] =
            cleared_by_length<sweep<Ctr, encrypt>, Form::facts.little_stack_bytes, const uint8_t*>;
        c.sweep[WARPSEAL_CBC][1] = plain_cleared<sweep<CbcDecryption, decrypt>>;
        c.sweep[WARPSEAL_CFB][1] = plain_cleared<sweep<CfbDecryption, decrypt>>;
        c.batch[WARPSEAL_CTR][0] = c.batch[WARPSEAL_CTR][1] = batch_cleared<Key, sweep_batch<Ctr, encrypt>>;
        c.batch[WARPSEAL_CBC][0] = chains_cleared<Key, chain_batch<CbcEncryption>>;
        c.batch[WARPSEAL_CBC][1] = batch_cleared<Key, sweep_batch<CbcDecryption, decrypt>>;
        c.batch[WARPSEAL_CFB][0] = chains_cleared<Key, chain_batch<CfbEncryption>>;
        c.batch[WARPSEAL_CFB][1] = batch_cleared<Key, sweep_batch<CfbDecryption, decrypt>>;
        c.batch[WARPSEAL_OFB][0] = c.batch[WARPSEAL_OFB][1] = chains_cleared<Key, chain_batch<Ofb>>;
        c.batch[WARPSEAL_CMAC][0] = batch_cleared<Key, cmac_batch<encrypt>>;
        c.batch[WARPSEAL_CMAC][1] = batch_cleared<Key, cmac_batch<decrypt>>;
        if constexpr (has_long_blocks) {
            c.modes |= 1u << WARPSEAL_GCM | 1u << WARPSEAL_CCM | 1u << WARPSEAL_XTS;
            constexpr size_t piece_stack = 2 * Form::facts.little_stack_bytes;  // with the sum's vectors
            c.gcm_begin = cleared_of_little<gcm_begin>;
            c.gcm_piece[0] = cleared_by_length<gcm_piece<encrypt>, piece_stack, GcmRun*>;
            c.gcm_piece[1] = cleared_by_length<gcm_piece<decrypt>, piece_stack, GcmRun*>;
            c.gcm_combine = cleared_of_little<gcm_combine>;
            c.gcm_finish = cleared_of_little<gcm_finish>;
            c.batch[WARPSEAL_GCM][0] = batch_cleared<Key, gcm_batch<encrypt>>;
            c.batch[WARPSEAL_GCM][1] = batch_cleared<Key, gcm_batch<decrypt>>;
            c.batch[WARPSEAL_CCM][0] = ccm_cleared<Key, ccm_batch<encrypt>>;
            c.batch[WARPSEAL_CCM][1] = ccm_cleared<Key, ccm_batch<decrypt>>;
            c.xts[0] = cleared<xts<encrypt>, xts_stack>;
            c.xts[1] = cleared<xts<decrypt>, xts_stack>;
        }
    }
};

// What of the shapes differs from key size to key size: the state, and what takes a key.
template <class Cipher>
struct Keyed {
    using Form = typename FormOf<Cipher>::type;
    using AsCalled = CalledAs<Form, Cipher::block_bytes>;
    using Common = Shapes<AsCalled>;

    struct State : Common::State {
        alignas(64) typename Form::Schedule keys;
    };
    static constexpr typename AsCalled::Calls calls = CallsOf<Form, AsCalled, State>::make();

    static void expand(void* memory, const uint8_t* key) {
        State& state = *static_cast<State*>(memory);
        state.calls = &calls;
        Form::expand(state.keys, key);
        if constexpr (Common::has_long_blocks) {
            SecretOf<typename Common::Text> h;
            h.value = encrypt_one<AsCalled>(state, {});
            Hash::set(state.hash, h.value);
        }
    }

    // Each message through `work`, under its own key; adds up what comes back.
    static constexpr size_t own_keys_stack = Common::frames + sizeof(State);
    static uint64_t own_keys(CpuCipher::Batch work, const warpseal_batch& batch, uint64_t first, uint64_t count) {
        uint64_t failed = 0;
        SecretOf<State> own;
        for (uint64_t i = first; i < first + count; ++i) {
            expand(&own.value, batch.keys + i * Cipher::key_bytes);
            failed += work(&own.value, batch, i, 1);
        }
        return failed;
    }

    static bool weak(const uint8_t* key) { return Cipher::weak(key); }

    static constexpr CpuCipher describe() {
        CpuCipher c{};
        Common::template describe<Keyed>(c);
        c.name = Cipher::name;
        c.key_bytes = Cipher::key_bytes;
        c.block_bytes = Cipher::block_bytes;
        if constexpr (requires { Cipher::legacy; }) c.legacy = Cipher::legacy;
        if constexpr (requires(const uint8_t* key) { Cipher::weak(key); }) c.weak = weak;
        c.state_bytes = sizeof(State);
        c.form = Form::name;
        c.known = Cipher::known();
        return c;
    }
};

template <class Ciphers>
struct Set;
template <class... Cipher>
struct Set<List<Cipher...>> {
    static constexpr CpuCipher ciphers[] = {Keyed<Cipher>::describe()...};
};

template <class Ciphers>
constexpr CpuCipherSet set() {
    return {Set<Ciphers>::ciphers, sizeof Set<Ciphers>::ciphers / sizeof(CpuCipher)};
}

}  // namespace
}  // namespace warpseal::cpu

// Backend interface of the ciphers of one header. Each function calls a mode function, or a
// representation's own loop for a short message, and zeroizes the stack that the call used.
#pragma once

#include "backends/block_loops.h"
#include "backends/cpu/block_functions.h"
#include "backends/cpu/block_loops.h"
#include "backends/cpu/messages.h"
#include "backends/cpu/mode_functions.h"
#include "core/secret.h"

// All names have internal linkage: each object keeps its own copies.
namespace warpseal::cpu {
namespace {

// True if the representation has its own loops for all modes, which finish a message of up to
// small_message_limit_bytes in registers. The functions below call them directly: a mode function
// would take as long as such a message.
template <class Representation>
concept HasSmallMessages = requires {
    Representation::small_message_limit_bytes;
};

// Functions of one cipher. Those that depend on no key size are shared by its family.
template <class Family, class Cipher>
struct CipherEntry {
    using Key = ExpandedKey<typename Family::Target, Cipher>;
    using Representation = typename Key::Representation;
    using Modes = ModeFunctions<Family>;
    static constexpr size_t small_stack_bytes = Representation::small_stack_bytes;

    static const typename Representation::Schedule& schedule(const void* state) {
        return static_cast<const Key*>(state)->schedule;
    }

    // ---- keys

    static void expand(void* memory, const uint8_t* key) {
        Key& expanded = *static_cast<Key*>(memory);
        expanded.functions = &functions_of<Key>;
        Representation::expand(expanded.schedule, key);
        if constexpr (Family::Functions::has_long_blocks) {
            SecretOf<typename Family::Text> h;
            h.value = encrypt_one<Family>(expanded, {});
            Family::Functions::Hash::set(expanded.hash, h.value);
        }
    }

    // Runs `work` on each message under its own key. Returns the sum of its results.
    static uint64_t own_keys(CpuCipher::Batch work, const warpseal_batch& batch, uint64_t first,
                             uint64_t count) {
        uint64_t failed = 0;
        SecretOf<Key> own;
        for (uint64_t i = first; i < first + count; ++i) {
            expand(&own.value, batch.keys + i * Cipher::key_bytes);
            failed += work(&own.value, batch, i, 1);
        }
        return failed;
    }
    static constexpr size_t own_keys_stack_bytes = Modes::frames + sizeof(Key);

    static bool weak(const uint8_t* key) { return Cipher::weak(key); }

    // ---- sweep

    template <class Mode, Direction direction>
    static void sweep(const void* state, const uint8_t* iv, uint64_t first_block, const uint8_t* in,
                      uint8_t* out, size_t bytes) {
        if constexpr (HasSmallMessages<Representation>) {
            constexpr bool counts = __is_same(Mode, modes::Ctr);
            constexpr size_t stack_bytes =
                counts ? small_stack_bytes : Representation::sweep_stack_bytes;
            constexpr auto* loop = own_sweep<Mode, direction>;
            if (bytes <= Representation::small_message_limit_bytes)
                return loop(state, iv, first_block, in, out, bytes);
            if (!counts || bytes < Representation::small_stack_limit_bytes)
                return StackZeroizer<loop, stack_bytes>::call(state, iv, first_block, in, out,
                                                              bytes);
        }
        StackZeroizer<Modes::template sweep<Mode, direction>, Modes::sweep_stack_bytes>::call(
            state, iv, first_block, in, out, bytes);
    }
    template <class Mode, Direction direction>
    static void own_sweep(const void* state, const uint8_t* iv, uint64_t first_block,
                          const uint8_t* in, uint8_t* out, size_t bytes) {
        Block<4> first{};
        if constexpr (Mode::has_iv) first = load_block<4>(iv);
        Representation::template sweep<Mode, direction>(schedule(state), first, first_block, in,
                                                        out, bytes);
    }

    template <Direction direction>
    static void xts(const void* state, const void* tweak_state, const XtsUnits& units,
                    const uint8_t* in, uint8_t* out, size_t bytes) {
        if constexpr (HasSmallMessages<Representation>) {
            if (bytes <= units.unit_bytes) {
                const bool small =
                    bytes <= Representation::small_message_limit_bytes && bytes % 16 == 0;
                constexpr auto* all =
                    StackZeroizer<Modes::template xts_unit<direction>, small_stack_bytes>::call;
                return (small ? small_xts<direction> : all)(state, tweak_state, units, in, out,
                                                            bytes);
            }
        }
        StackZeroizer<Modes::template xts<direction>, Modes::xts_stack_bytes>::call(
            state, tweak_state, units, in, out, bytes);
    }
    // Processes at most small_message_limit_bytes of one data unit, in whole blocks.
    template <Direction direction>
    static void small_xts(const void* state, const void* tweak_state, const XtsUnits& units,
                          const uint8_t* in, uint8_t* out, size_t bytes) {
        Representation::template xts_small<direction>(schedule(state), schedule(tweak_state),
                                                      units.first, in, out, bytes);
    }

    // ---- batch

    template <auto function>
    static uint64_t batch(const void* state, const warpseal_batch& batch, uint64_t first,
                          uint64_t count) {
        constexpr size_t narrow_stack_bytes =
                             Modes::template chain_stack_bytes<Family::narrow_blocks>,
                         wide_stack_bytes = Modes::template chain_stack_bytes<Family::wide_blocks>;
        constexpr auto *narrow = StackZeroizer<function, narrow_stack_bytes>::call,
                       *wide = StackZeroizer<function, wide_stack_bytes>::call;
        constexpr auto* keys =
            StackZeroizer<own_keys, wide_stack_bytes + own_keys_stack_bytes>::call;
        if (batch.keys) return keys(function, batch, first, count);
        return (count <= Family::narrow_blocks ? narrow : wide)(state, batch, first, count);
    }

    template <Direction direction>
    static uint64_t ccm_batch(const void* state, const warpseal_batch& batch, uint64_t first,
                              uint64_t count) {
        if constexpr (HasSmallMessages<Representation>) {
            // No buffers of mode functions are on the stack.
            constexpr size_t stack_bytes = Modes::frames + own_keys_stack_bytes;
            constexpr auto* loop = own_ccm<direction>;
            if (batch.keys)
                return StackZeroizer<own_keys, stack_bytes>::call(loop, batch, first, count);
            if (count == 1)
                return StackZeroizer<loop, small_stack_bytes>::call(state, batch, first, count);
        }
        return CipherEntry::batch<Modes::template ccm_batch<direction>>(state, batch, first, count);
    }
    // Processes one message.
    template <Direction direction>
    static uint64_t own_ccm(const void* state, const warpseal_batch& batch, uint64_t i, uint64_t) {
        const Message m = message_of(batch, i);
        SecretOf<Block<4>> tag;
        Representation::template ccm<direction>(schedule(state),
                                                {m.iv, batch.iv_bytes, batch.tag_bytes,
                                                 batch.aad + i * batch.aad_stride, batch.aad_bytes},
                                                m.in, m.out, m.bytes, tag.value);
        return settle_tag(direction, batch, i, tag.value, m.out, m.bytes);
    }

    // Serial modes without a tag: CBC and CFB encryption, OFB.
    template <class Mode>
    static constexpr CpuCipher::Batch chain_entry() {
        if constexpr (HasSmallMessages<Representation>) return whole_blocks_or_chain_batch<Mode>;
        if constexpr (Family::functions.chains_of_one[0] != nullptr) return chain_batch<Mode>;
        return batch<Modes::template chain_batch<Mode>>;
    }
    template <class Mode>
    static uint64_t whole_blocks_or_chain_batch(const void* state, const warpseal_batch& batch,
                                                uint64_t first, uint64_t count) {
        if (count == 1 && !batch.keys) {
            const Message m = message_of(batch, first);
            if (m.bytes % 16 == 0) {
                if (batch.statuses) batch.statuses[first] = WARPSEAL_OK;
                Block<4> chained = load_block<4>(m.iv);
                Representation::template chain<Mode>(schedule(state), chained, m.in, m.out,
                                                     m.bytes / 16);
                return 0;
            }
        }
        return chain_batch<Mode>(state, batch, first, count);
    }
    // Not inlined, so that the function above needs no stack frame for it.
    template <class Mode>
    __attribute__((noinline)) static uint64_t chain_batch(const void* state,
                                                          const warpseal_batch& batch,
                                                          uint64_t first, uint64_t count) {
        constexpr auto* function = Modes::template chain_batch<Mode>;
        constexpr auto* alone = StackZeroizer<function, small_stack_bytes>::call;
        const bool one = count == 1 && !batch.keys;
        return (one ? alone : CipherEntry::batch<function>)(state, batch, first, count);
    }

    static constexpr CpuCipher describe();
};

template <class Family, Direction direction>
void gcm_segment(const void* state, GcmState* run, uint64_t first_block, const uint8_t* in,
                 uint8_t* out, size_t bytes) {
    using Modes = ModeFunctions<Family>;
    using Representation = typename Family::Representation;
    constexpr auto* function = Modes::template gcm_segment<direction>;
    if constexpr (HasSmallMessages<Representation>) {
        // Includes the vectors of the GHASH accumulator.
        constexpr size_t stack_bytes = 2 * Representation::small_stack_bytes;
        if (bytes < Representation::small_stack_limit_bytes)
            return StackZeroizer<function, stack_bytes>::call(state, run, first_block, in, out,
                                                              bytes);
    }
    StackZeroizer<function, Modes::sweep_stack_bytes>::call(state, run, first_block, in, out,
                                                            bytes);
}

template <class Family, class Cipher>
constexpr CpuCipher CipherEntry<Family, Cipher>::describe() {
    using modes::Ctr, modes::Ecb, modes::CbcDecryption, modes::CbcEncryption, modes::CfbDecryption,
        modes::CfbEncryption, modes::Ofb;
    constexpr Direction encrypt = Direction::encrypt, decrypt = Direction::decrypt;
    CpuCipher c{};
    c.name = Cipher::name;
    c.key_bytes = Cipher::key_bytes;
    c.block_bytes = Cipher::block_bytes;
    if constexpr (requires { Cipher::legacy; }) c.legacy = Cipher::legacy;
    if constexpr (requires(const uint8_t* key) { Cipher::weak(key); }) c.weak = weak;
    c.state_bytes = sizeof(Key);
    c.representation = Representation::name;
    c.known = Cipher::known();
    c.modes = 1u << WARPSEAL_ECB | 1u << WARPSEAL_CBC | 1u << WARPSEAL_CFB | 1u << WARPSEAL_OFB |
              1u << WARPSEAL_CTR | 1u << WARPSEAL_CMAC;
    c.expand = StackZeroizer<expand, small_stack_bytes>::call;
    c.sweep[WARPSEAL_ECB][0] = sweep<Ecb, encrypt>;
    c.sweep[WARPSEAL_ECB][1] = sweep<Ecb, decrypt>;
    c.sweep[WARPSEAL_CTR][0] = c.sweep[WARPSEAL_CTR][1] = sweep<Ctr, encrypt>;
    c.sweep[WARPSEAL_CBC][1] = sweep<CbcDecryption, decrypt>;
    c.sweep[WARPSEAL_CFB][1] = sweep<CfbDecryption, decrypt>;
    c.batch[WARPSEAL_CTR][0] = c.batch[WARPSEAL_CTR][1] =
        batch<Modes::template sweep_batch<Ctr, encrypt>>;
    c.batch[WARPSEAL_CBC][0] = chain_entry<CbcEncryption>();
    c.batch[WARPSEAL_CBC][1] = batch<Modes::template sweep_batch<CbcDecryption, decrypt>>;
    c.batch[WARPSEAL_CFB][0] = chain_entry<CfbEncryption>();
    c.batch[WARPSEAL_CFB][1] = batch<Modes::template sweep_batch<CfbDecryption, decrypt>>;
    c.batch[WARPSEAL_OFB][0] = c.batch[WARPSEAL_OFB][1] = chain_entry<Ofb>();
    c.batch[WARPSEAL_CMAC][0] = batch<Modes::template cmac_batch<encrypt>>;
    c.batch[WARPSEAL_CMAC][1] = batch<Modes::template cmac_batch<decrypt>>;
    if constexpr (Family::Functions::has_long_blocks) {
        c.modes |= 1u << WARPSEAL_GCM | 1u << WARPSEAL_CCM | 1u << WARPSEAL_XTS;
        c.gcm_begin = StackZeroizer<Modes::gcm_begin, small_stack_bytes>::call;
        c.gcm_segment[0] = gcm_segment<Family, encrypt>;
        c.gcm_segment[1] = gcm_segment<Family, decrypt>;
        c.gcm_combine = StackZeroizer<Modes::gcm_combine, small_stack_bytes>::call;
        c.gcm_finish = StackZeroizer<Modes::gcm_finish, small_stack_bytes>::call;
        c.batch[WARPSEAL_GCM][0] = batch<Modes::template gcm_batch<encrypt>>;
        c.batch[WARPSEAL_GCM][1] = batch<Modes::template gcm_batch<decrypt>>;
        c.batch[WARPSEAL_CCM][0] = ccm_batch<encrypt>;
        c.batch[WARPSEAL_CCM][1] = ccm_batch<decrypt>;
        c.xts[0] = xts<encrypt>;
        c.xts[1] = xts<decrypt>;
    }
    return c;
}

// The exports of one object.
template <class Target, class Ciphers>
struct Exports;
template <class Target, class First, class... Cipher>
struct Exports<Target, List<First, Cipher...>> {
    using Ciphers = Family<Target, First>;
    static_assert((Ciphers::template includes<Cipher>() && ...),
                  "ciphers of one header differ in key size only");
    static constexpr CpuCipher ciphers[] = {CipherEntry<Ciphers, First>::describe(),
                                            CipherEntry<Ciphers, Cipher>::describe()...};

    static constexpr const CpuBlockLoops* block_loops() {
        if constexpr (HasSmallMessages<typename Ciphers::Representation>) return all_block_loops;
        return nullptr;
    }
    static constexpr CpuBackend backend() {
        return {{ciphers, sizeof ciphers / sizeof *ciphers}, block_loops()};
    }

private:
    static constexpr CpuBlockLoops all_block_loops[] = {
        BlockLoops<ExpandedKey<Target, First>>::describe(),
        BlockLoops<ExpandedKey<Target, Cipher>>::describe()...};
};

}  // namespace
}  // namespace warpseal::cpu

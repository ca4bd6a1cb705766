// Backend interface of the ciphers of one header: the parts that differ between key sizes.
#pragma once

#include "backends/block_loops.h"
#include "backends/cpu/cipher_functions.h"
#include "backends/cpu/small_message.h"

// Include after the target's header, which defines RepresentationOf and Hash. All names have
// internal linkage: each object keeps its own copies.
namespace warpseal::cpu {
namespace {

// State, key expansion and small-message functions of one cipher. The latter call the
// representation directly, where calls through pointers would cost too much.
template <class Cipher>
struct CipherEntry {
    using Representation = typename RepresentationOf<Cipher>::type;
    using Table = KernelTableFor<Representation, Cipher::block_bytes>;
    using Common = CipherFunctions<Table>;

    struct State : Common::State {
        alignas(64) typename Representation::Schedule keys;
    };
    using SmallMessage = SmallMessageFunctions<Representation, State>;
    static constexpr typename Table::Kernels kernels =
        KernelsOf<Representation, Table, State>::make();

    static void expand(void* memory, const uint8_t* key) {
        State& state = *static_cast<State*>(memory);
        state.kernels = &kernels;
        Representation::expand(state.keys, key);
        if constexpr (Common::has_long_blocks) {
            SecretOf<typename Common::Text> h;
            h.value = encrypt_one<Table>(state, {});
            Hash::set(state.hash, h.value);
        }
    }

    // Runs `work` on each message under its own key. Returns the sum of its results.
    static constexpr size_t own_keys_stack = Common::frames + sizeof(State);
    static uint64_t own_keys(CpuCipher::Batch work, const warpseal_batch& batch, uint64_t first,
                             uint64_t count) {
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
        Common::template describe<CipherEntry>(c);
        c.name = Cipher::name;
        c.key_bytes = Cipher::key_bytes;
        c.block_bytes = Cipher::block_bytes;
        if constexpr (requires { Cipher::legacy; }) c.legacy = Cipher::legacy;
        if constexpr (requires(const uint8_t* key) { Cipher::weak(key); }) c.weak = weak;
        c.state_bytes = sizeof(State);
        c.representation = Representation::name;
        c.known = Cipher::known();
        return c;
    }

    static constexpr bool has_block_loops = Table::facts.small_message_limit_bytes != 0;
    static constexpr CpuBlockLoops describe_block_loops() {
        CpuBlockLoops loops{};
        if constexpr (has_block_loops) SmallMessage::describe(loops);
        return loops;
    }
};

template <class Ciphers>
struct Set;
template <class... Cipher>
struct Set<List<Cipher...>> {
    static constexpr CpuCipher ciphers[] = {CipherEntry<Cipher>::describe()...};
    static constexpr bool has_block_loops = (CipherEntry<Cipher>::has_block_loops && ...);
    static constexpr const CpuBlockLoops* loops() {
        if constexpr (has_block_loops) return all_block_loops;
        return nullptr;
    }

private:
    static constexpr CpuBlockLoops all_block_loops[] = {
        CipherEntry<Cipher>::describe_block_loops()...};
};

template <class Ciphers>
constexpr CpuBackend backend() {
    return {{Set<Ciphers>::ciphers, sizeof Set<Ciphers>::ciphers / sizeof(CpuCipher)},
            Set<Ciphers>::loops()};
}

}  // namespace
}  // namespace warpseal::cpu

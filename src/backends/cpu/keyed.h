// The ciphers of a header for the door: what of the shapes differs from key size to key size.
#pragma once

#include "backends/block_loops.h"
#include "backends/cpu/own_loops.h"
#include "backends/cpu/shapes.h"

// Included after the target's header, which defines FormOf and Hash. Everything has internal
// linkage: each object keeps its own copies.
namespace warpseal::cpu {
namespace {

// The state, what takes a key, and the form itself, where pointers to it would cost too much.
template <class Cipher>
struct Keyed {
    using Representation = typename FormOf<Cipher>::type;
    using AsCalled = CalledAs<Representation, Cipher::block_bytes>;
    using Common = Shapes<AsCalled>;

    struct State : Common::State {
        alignas(64) typename Representation::Schedule keys;
    };
    using Own = OwnLoops<Representation, State>;
    static constexpr typename AsCalled::Calls calls =
        CallsOf<Representation, AsCalled, State>::make();

    static void expand(void* memory, const uint8_t* key) {
        State& state = *static_cast<State*>(memory);
        state.calls = &calls;
        Representation::expand(state.keys, key);
        if constexpr (Common::has_long_blocks) {
            SecretOf<typename Common::Text> h;
            h.value = encrypt_one<AsCalled>(state, {});
            Hash::set(state.hash, h.value);
        }
    }

    // Each message through `work`, under its own key; adds up what comes back.
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
        Common::template describe<Keyed>(c);
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

    static constexpr bool has_loops = AsCalled::facts.few_bytes != 0;
    static constexpr CpuBlockLoops describe_loops() {
        CpuBlockLoops loops{};
        if constexpr (has_loops) Own::describe(loops);
        return loops;
    }
};

template <class Ciphers>
struct Set;
template <class... Cipher>
struct Set<List<Cipher...>> {
    static constexpr CpuCipher ciphers[] = {Keyed<Cipher>::describe()...};
    static constexpr bool has_loops = (Keyed<Cipher>::has_loops && ...);
    static constexpr const CpuBlockLoops* loops() {
        if constexpr (has_loops) return all_loops;
        return nullptr;
    }

private:
    static constexpr CpuBlockLoops all_loops[] = {Keyed<Cipher>::describe_loops()...};
};

template <class Ciphers>
constexpr CpuBackend backend() {
    return {{Set<Ciphers>::ciphers, sizeof Set<Ciphers>::ciphers / sizeof(CpuCipher)},
            Set<Ciphers>::loops()};
}

}  // namespace
}  // namespace warpseal::cpu

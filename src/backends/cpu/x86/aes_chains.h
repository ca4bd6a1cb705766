// AES in serial modes for several messages at once, to fill the pipeline that one message leaves
// idle.
#pragma once

#include "backends/cpu/block_functions.h"
#include "backends/cpu/x86/aes_chain.h"
#include "backends/cpu/x86/aes_rounds.h"

namespace warpseal::cpu {
namespace {

template <class Aes, class Mode>
struct AesChains {
    using W = typename Aes::W;
    using V = typename Aes::V;
    using Schedule = typename Aes::Schedule;
    static constexpr bool silent = AesChain<Aes, Mode>::silent;
    // Enough to fill the pipeline, but few enough that the messages' cache lines fit in the L1
    // cache.
    static constexpr int most_vectors = W::lanes == 4 ? 4 : Aes::at_once;
    static constexpr int most = most_vectors * W::lanes;

    // Processes `blocks` blocks of each of at most `most` messages.
    static void run(const Schedule& schedule, Chain* chains, int count, size_t blocks) {
        if (count <= 2 * W::lanes)
            some<2>(schedule, chains, count, blocks);
        else if (count <= 4 * W::lanes)
            some<4>(schedule, chains, count, blocks);
        else
            some<most_vectors>(schedule, chains, count, blocks);
    }

private:
    // Text of as many steps as a vector has blocks; each step is one block of each lane of n
    // vectors. Bytes, for W::load.
    template <int n>
    using Steps = uint8_t[W::lanes][n * W::bytes];

    // Processes n vectors. Lanes without a message repeat the work of the first; this is safe in
    // place, because all loads of a turn precede its stores.
    // Messages are read and written a vector at a time. Messages whose addresses share cache sets
    // then do not evict each other between steps.
    template <int n>
    static void some(const Schedule& schedule, Chain* chains, int count, size_t blocks) {
        constexpr int lanes = n * W::lanes;
        const uint8_t* in[lanes];
        uint8_t* out[lanes];
        alignas(64) Steps<n> text;
        for (int i = 0; i < lanes; ++i) {
            const Chain& chain = chains[i < count ? i : 0];
            in[i] = chain.in;
            out[i] = chain.out;
            memcpy(text[0] + 16 * i, chain.state, 16);
        }
        V s[n];
        for (int u = 0; u < n; ++u) s[u] = W::load(text[0] + u * W::bytes);
        for (size_t at = 0; at < 16 * blocks; at += W::bytes) {
            const size_t bytes = 16 * blocks - at < W::bytes ? 16 * blocks - at : W::bytes;
            turn<n>(text, [&](int i) {
                return bytes == W::bytes ? W::load(in[i] + at) : W::load_partial(in[i] + at, bytes);
            });
            for (size_t k = 0; k < bytes / 16; ++k) step<n>(schedule, s, text[k]);
            if constexpr (!silent)
                turn_back<n>(text, [&](int i, V v) {
                    bytes == W::bytes ? W::store(out[i] + at, v)
                                      : W::store_partial(out[i] + at, v, bytes);
                });
        }
        for (int u = 0; u < n; ++u) W::store(text[0] + u * W::bytes, s[u]);
        for (int i = 0; i < count; ++i) {
            memcpy(chains[i].state, text[0] + 16 * i, 16);
            chains[i].in += 16 * blocks;
            if constexpr (!silent) chains[i].out += 16 * blocks;
        }
        wipe(text, sizeof text);
    }

    // Processes one block of each lane, from input text to output text.
    template <int n>
    WARPSEAL_INLINE static void step(const Schedule& schedule, V (&s)[n], uint8_t* text) {
        constexpr Direction cipher_direction = Direction::encrypt;
        const V first_key = Aes::template key<cipher_direction>(schedule, 0),
                last_key = Aes::template key<cipher_direction>(schedule, Aes::rounds);
        V from[n];
        WARPSEAL_UNROLL
        for (int u = 0; u < n; ++u) {
            from[u] = W::load(text + u * W::bytes);
            s[u] = Mode::before(from[u], s[u]) ^ first_key;
        }
        Aes::template middle_rounds<cipher_direction>(schedule, s);
        WARPSEAL_UNROLL
        for (int u = 0; u < n; ++u) {
            const V given = W::encrypt_last(s[u], last_key);
            if constexpr (!silent) W::store(text + u * W::bytes, Mode::after(from[u], given));
            s[u] = Mode::next(from[u], given);
        }
    }

    // Convert between vectors of blocks of one message and vectors of one block of each message.
    template <int n, class Load>
    WARPSEAL_INLINE static void turn(Steps<n>& text, const Load& load) {
        for (int u = 0; u < n; ++u) {
            V v[W::lanes];
            for (int i = 0; i < W::lanes; ++i) v[i] = load(u * W::lanes + i);
            W::transpose(v);
            for (int k = 0; k < W::lanes; ++k) W::store(text[k] + u * W::bytes, v[k]);
        }
    }
    template <int n, class Store>
    WARPSEAL_INLINE static void turn_back(const Steps<n>& text, const Store& store) {
        for (int u = 0; u < n; ++u) {
            V v[W::lanes];
            for (int k = 0; k < W::lanes; ++k) v[k] = W::load(text[k] + u * W::bytes);
            W::transpose(v);
            for (int i = 0; i < W::lanes; ++i) store(u * W::lanes + i, v[i]);
        }
    }
};

}  // namespace
}  // namespace warpseal::cpu

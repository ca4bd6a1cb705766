// Serial modes (chain) on the CPU: each message is serial, and messages run side by side in the
// lanes of a representation.
#pragma once

#include "backends/cpu/block_functions.h"
#include "core/block.h"
#include "core/secret.h"

namespace warpseal::cpu {
namespace {

// A segment of one message. If it does not end with a whole block, the last block is padded with
// zeros.
struct Segment {
    const uint8_t* in;
    uint8_t* out;  // null if there is no output
    size_t bytes;
};

// `Supply` describes the messages:
//   Text begin(uint64_t message)
//       Returns the state for the first block.
//   bool segment(uint64_t message, int k, Segment&, uint8_t* own)
//       Returns segment k, or false if there is none. `own` is memory of own_bytes bytes, which
//       stays valid until the segment is done.
//   void end(uint64_t message, const Text& state)
template <class Family, class Mode, class Supply>
struct SerialModes {
    using Key = typename Family::Key;
    using Text = typename Family::Text;
    static constexpr size_t own_bytes = 32;

    // Processes messages [first, first + count) under one key.
    static void run(const Key& key, Supply& supply, uint64_t first, uint64_t count) {
        if constexpr (loop_of_one) {
            if (count == 1) return alone(key, supply, first);
        }
        if constexpr (loop_of_many) {
            side_by_side_in<Family::Representation::chains_at_once>(key, supply, first, count);
        } else if (count <= Family::narrow_blocks) {
            side_by_side_in<Family::narrow_blocks>(key, supply, first, count);
        } else {
            side_by_side_in<Family::wide_blocks>(key, supply, first, count);
        }
    }

private:
    // True if the representation has its own loops: for one message, and for the same number of
    // blocks of each of several messages.
    static constexpr bool loop_of_one = Family::functions.chains_of_one[0] != nullptr,
                          loop_of_many = Family::functions.chains_of_many[0] != nullptr;

    WARPSEAL_INLINE static Text load(const uint8_t* in, size_t bytes) {
        if (bytes >= Text::bytes) return load_block<Text::words>(in);
        Text text{};
        memcpy(text.word, in, bytes);
        return text;
    }
    WARPSEAL_INLINE static void store(uint8_t* out, const Text& text, size_t bytes) {
        memcpy(out, text.word, bytes < Text::bytes ? bytes : Text::bytes);
    }

    __attribute__((noinline)) static void alone(const Key& key, Supply& supply, uint64_t message) {
        SecretOf<uint8_t[own_bytes]> own;
        SecretOf<Text> state;
        state.value = supply.begin(message);
        Segment s;
        for (int k = 0; supply.segment(message, k, s, own.value); ++k) {
            const size_t blocks = s.bytes / Text::bytes, rest = s.bytes % Text::bytes;
            key.functions->template chain_of_one<Mode>()(key, state.value, s.in, s.out, blocks);
            if (rest == 0) continue;
            partial_block(key, state.value, s.in + blocks * Text::bytes,
                          s.out + (s.out ? blocks * Text::bytes : 0), rest);
        }
        supply.end(message, state.value);
    }

    // Processes a partial block.
    static void partial_block(const Key& key, Text& state, const uint8_t* in, uint8_t* out,
                              size_t bytes) {
        const Text data = load(in, bytes),
                   enciphered = encrypt_one<Family>(key, Mode::before(data, state));
        if constexpr (requires { Mode::after(data, enciphered); })
            store(out, Mode::after(data, enciphered), bytes);
        state = Mode::next(data, enciphered);
    }

    struct Lane {
        uint64_t message;
        int next;  // index of the next segment
        Segment now;
        uint8_t* own;
    };
    // Memory for `lanes` messages. A narrow run uses fewer lanes, and so has less to zeroize.
    template <size_t lanes>
    struct Buffers {
        alignas(64) uint8_t text[lanes * Text::bytes];
        uint8_t own[lanes][own_bytes];
        Text state[lanes];
        Lane lane[lanes];
    };
    struct Lanes {
        size_t count;
        uint8_t* text;
        uint8_t (*own)[own_bytes];
        Text* state;
        Lane* lane;
    };

    template <size_t lanes>
    static void side_by_side_in(const Key& key, Supply& supply, uint64_t first, uint64_t count) {
        static_assert(sizeof(Buffers<lanes>) <= lanes * (2 * Text::bytes + 96) + 64);
        SecretOf<Buffers<lanes>> buffers;
        auto& [text, own, state, lane] = buffers.value;
        side_by_side(key, supply, {lanes, text, own, state, lane}, first, count);
    }

    __attribute__((noinline)) static void side_by_side(const Key& key, Supply& supply,
                                                       const Lanes& lanes, uint64_t first,
                                                       uint64_t count) {
        const auto [lane_count, text, own, state, lane] = lanes;
        const uint64_t end = first + count;
        // Starts the first nonempty segment of the next message in lane i. Finishes empty messages.
        // Returns false if no message is left.
        const auto begin = [&](size_t i) {
            for (; first != end; supply.end(lane[i].message, state[i])) {
                lane[i].message = first++;
                lane[i].next = 0;
                state[i] = supply.begin(lane[i].message);
                if (segment(supply, lane[i])) return true;
            }
            return false;
        };
        size_t open = 0;
        for (; open < lane_count; ++open) {
            lane[open].own = own[open];
            if (!begin(open)) break;
        }
        while (open != 0) {
            if constexpr (loop_of_many)
                blocks_of_each(key, lanes, open);
            else
                block_of_each(key, lanes, open);
            for (size_t i = 0; i < open;) {
                if (lane[i].now.bytes != 0 || segment(supply, lane[i])) {
                    ++i;
                    continue;
                }
                supply.end(lane[i].message, state[i]);
                if (begin(i)) {
                    ++i;
                    continue;
                }
                --open;  // the last lane moves here
                lane[i] = lane[open];
                state[i] = state[open];
            }
        }
    }

    WARPSEAL_INLINE static void block_of_each(const Key& key, const Lanes& side, size_t open) {
        for (size_t i = 0; i < open; ++i) {
            const Segment& now = side.lane[i].now;
            store_block(side.text + i * Text::bytes,
                        Mode::before(load(now.in, now.bytes), side.state[i]));
        }
        encrypt(key, side.text, open);
        for (size_t i = 0; i < open; ++i) {
            Segment& now = side.lane[i].now;
            const Text data = load(now.in, now.bytes),
                       out = load_block<Text::words>(side.text + i * Text::bytes);
            if constexpr (requires { Mode::after(data, out); })
                store(now.out, Mode::after(data, out), now.bytes);
            side.state[i] = Mode::next(data, out);
            pass(now, now.bytes < Text::bytes ? now.bytes : Text::bytes);
        }
    }

    // Processes the largest number of whole blocks that all messages have. If that is 0, processes
    // the partial blocks one by one.
    static void blocks_of_each(const Key& key, const Lanes& side, size_t open) {
        size_t blocks = ~size_t{0};
        for (size_t i = 0; i < open; ++i) {
            const size_t has = side.lane[i].now.bytes / Text::bytes;
            blocks = has < blocks ? has : blocks;
        }
        if (blocks == 0) {
            for (size_t i = 0; i < open; ++i) {
                Segment& now = side.lane[i].now;
                if (now.bytes >= Text::bytes) continue;
                partial_block(key, side.state[i], now.in, now.out, now.bytes);
                pass(now, now.bytes);
            }
            return;
        }
        SecretOf<Chain[Family::Representation::chains_at_once]> chains;
        size_t filled = 0;  // at least one lane is open
        do {
            Chain& chain = chains.value[filled];
            chain.in = side.lane[filled].now.in;
            chain.out = side.lane[filled].now.out;
            store_block(chain.state, side.state[filled]);
        } while (++filled < open);
        key.functions->template chain_of_many<Mode>()(key, chains.value, static_cast<int>(open),
                                                      blocks);
        for (size_t i = 0; i < open; ++i) {
            side.state[i] = load_block<Text::words>(chains.value[i].state);
            pass(side.lane[i].now, blocks * Text::bytes);
        }
    }

    WARPSEAL_INLINE static void pass(Segment& now, size_t bytes) {
        now.in += bytes;
        if (now.out) now.out += bytes;
        now.bytes -= bytes;
    }

    WARPSEAL_INLINE static bool segment(Supply& supply, Lane& lane) {
        do {
            if (!supply.segment(lane.message, lane.next++, lane.now, lane.own)) return false;
        } while (lane.now.bytes == 0);
        return true;
    }

    WARPSEAL_INLINE static void encrypt(const Key& key, uint8_t* text, size_t open) {
        const typename Family::Functions& f = *key.functions;
        if constexpr (Family::functions.encrypt_one != nullptr) {
            if (open == 1) return f.encrypt_one(key, text, text);
        }
        if (open <= Family::narrow_blocks) return f.narrow[0](key, text, text);
        if constexpr (Family::functions.encrypt_state != nullptr) {
            // One state is enough, where a wide run has two.
            if (open <= Family::Representation::state_blocks)
                return f.encrypt_state(key, text, text);
        }
        f.wide[0](key, text, text);
    }
};

}  // namespace
}  // namespace warpseal::cpu

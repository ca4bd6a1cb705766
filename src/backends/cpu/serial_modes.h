// Serial modes (chain) on the CPU: each message is serial, and messages run side by side in the
// lanes of a representation.
#pragma once

#include "backends/cipher_backend.h"
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

// One of several messages in a representation's own loop: its next block, and the chaining state
// for that block.
struct Chain {
    const uint8_t* in;
    uint8_t* out;
    uint8_t state[16];
};

// Encrypts one block.
template <class Representation>
WARPSEAL_INLINE typename Representation::Text encrypt_one(
    const typename Representation::Schedule& schedule, const typename Representation::Text& block) {
    Secret<Representation::narrow_blocks * sizeof block> tile;
    store_block(tile.data(), block);
    if constexpr (Representation::facts.has_one)
        Representation::encrypt_one(schedule, tile.data(), tile.data());
    else
        Representation::template run<Direction::encrypt, Representation::narrow_blocks>(
            schedule, tile.data(), tile.data());
    return load_block<Representation::Text::words>(tile.data());
}

// `Supply` describes the messages:
//   Text begin(uint64_t message)
//       Returns the state for the first block.
//   bool segment(uint64_t message, int k, Segment&, uint8_t* own)
//       Returns segment k, or false if there is none. `own` is memory of own_bytes bytes, which
//       stays valid until the segment is done.
//   void end(uint64_t message, const Text& state)
template <class Representation, class Mode, class Supply>
struct SerialModes {
    using Schedule = typename Representation::Schedule;
    using Text = typename Representation::Text;
    static constexpr size_t own_bytes = 32;

    // Processes messages [first, first + count) under one key.
    static void run(const Schedule& schedule, Supply& supply, uint64_t first, uint64_t count) {
        if constexpr (own_block_loop) {
            if (count == 1) return alone(schedule, supply, first);
        }
        if constexpr (own_block_loops) {
            side_by_side_in<Representation::facts.chains_at_once>(schedule, supply, first, count);
        } else if (count <= Representation::narrow_blocks) {
            side_by_side_in<Representation::narrow_blocks>(schedule, supply, first, count);
        } else {
            side_by_side_in<Representation::wide_blocks>(schedule, supply, first, count);
        }
    }

private:
    // True if the representation has its own loops: `chain` for one message, `chains` for the same
    // number of blocks of each of several messages.
    static constexpr bool own_block_loop = Representation::facts.has_chain,
                          own_block_loops = Representation::facts.chains_at_once != 0;

    WARPSEAL_INLINE static Text load(const uint8_t* in, size_t bytes) {
        if (bytes >= Text::bytes) return load_block<Text::words>(in);
        Text text{};
        memcpy(text.word, in, bytes);
        return text;
    }
    WARPSEAL_INLINE static void store(uint8_t* out, const Text& text, size_t bytes) {
        memcpy(out, text.word, bytes < Text::bytes ? bytes : Text::bytes);
    }

    __attribute__((noinline)) static void alone(const Schedule& schedule, Supply& supply,
                                                uint64_t message) {
        SecretOf<uint8_t[own_bytes]> own;
        SecretOf<Text> state;
        state.value = supply.begin(message);
        Segment s;
        for (int k = 0; supply.segment(message, k, s, own.value); ++k) {
            const size_t blocks = s.bytes / Text::bytes, rest = s.bytes % Text::bytes;
            Representation::template chain<Mode>(schedule, state.value, s.in, s.out, blocks);
            if (rest == 0) continue;
            part(schedule, state.value, s.in + blocks * Text::bytes,
                 s.out + (s.out ? blocks * Text::bytes : 0), rest);
        }
        supply.end(message, state.value);
    }

    // Processes a partial block.
    static void part(const Schedule& schedule, Text& state, const uint8_t* in, uint8_t* out,
                     size_t bytes) {
        const Text data = load(in, bytes),
                   enciphered = encrypt_one<Representation>(schedule, Mode::before(data, state));
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
    static void side_by_side_in(const Schedule& schedule, Supply& supply, uint64_t first,
                                uint64_t count) {
        static_assert(sizeof(Buffers<lanes>) <= lanes * (2 * Text::bytes + 96) + 64);
        SecretOf<Buffers<lanes>> capacity;
        auto& [text, own, state, lane] = capacity.value;
        side_by_side(schedule, supply, {lanes, text, own, state, lane}, first, count);
    }

    __attribute__((noinline)) static void side_by_side(const Schedule& schedule, Supply& supply,
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
            if constexpr (own_block_loops)
                blocks_of_each(schedule, lanes, open);
            else
                block_of_each(schedule, lanes, open);
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

    WARPSEAL_INLINE static void block_of_each(const Schedule& schedule, const Lanes& side,
                                              size_t open) {
        for (size_t i = 0; i < open; ++i) {
            const Segment& now = side.lane[i].now;
            store_block(side.text + i * Text::bytes,
                        Mode::before(load(now.in, now.bytes), side.state[i]));
        }
        encrypt(schedule, side.text, open);
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
    static void blocks_of_each(const Schedule& schedule, const Lanes& side, size_t open) {
        size_t blocks = ~size_t{0};
        for (size_t i = 0; i < open; ++i) {
            const size_t has = side.lane[i].now.bytes / Text::bytes;
            blocks = has < blocks ? has : blocks;
        }
        if (blocks == 0) {
            for (size_t i = 0; i < open; ++i) {
                Segment& now = side.lane[i].now;
                if (now.bytes >= Text::bytes) continue;
                part(schedule, side.state[i], now.in, now.out, now.bytes);
                pass(now, now.bytes);
            }
            return;
        }
        SecretOf<Chain[Representation::facts.chains_at_once]> chains;
        size_t filled = 0;  // at least one lane is open
        do {
            Chain& chain = chains.value[filled];
            chain.in = side.lane[filled].now.in;
            chain.out = side.lane[filled].now.out;
            store_block(chain.state, side.state[filled]);
        } while (++filled < open);
        Representation::template chains<Mode>(schedule, chains.value, static_cast<int>(open),
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

    WARPSEAL_INLINE static void encrypt(const Schedule& schedule, uint8_t* text, size_t open) {
        if constexpr (Representation::facts.has_one) {
            if (open == 1) return Representation::encrypt_one(schedule, text, text);
        }
        if (open <= Representation::narrow_blocks)
            return Representation::template run<Direction::encrypt, Representation::narrow_blocks>(
                schedule, text, text);
        if constexpr (constexpr size_t state = Representation::facts.state_blocks; state != 0) {
            // One state is enough, where a wide run has two.
            if (open <= state)
                return Representation::template run<Direction::encrypt, state>(schedule, text,
                                                                               text);
        }
        Representation::template run<Direction::encrypt, Representation::wide_blocks>(schedule,
                                                                                      text, text);
    }
};

}  // namespace
}  // namespace warpseal::cpu

// AES as in FIPS 197, round by round and step by step, with any fork-join for each step. The plain
// cipher of P3's cores and of P5.
#pragma once

#include <cstring>
#include <vector>

#include "bench/papers/steps.h"
#include "core/bitsliced_byte.h"

namespace warpseal::papers {

// Runs a step on the calling thread only.
struct Alone {
    template <class Step>
    void run(const Step& step) {
        step(Share{});
    }
};

class PlainAes {
public:
    // `key` has 16 or 32 bytes.
    explicit PlainAes(const std::vector<uint8_t>& key)
        : rounds_(static_cast<int>(key.size()) / 4 + 6) {
        if (rounds_ == 10)
            expand<ciphers::aes::Aes<128>>(key);
        else
            expand<ciphers::aes::Aes<256>>(key);
    }

    int rounds() const { return rounds_; }
    const uint8_t* round_key(int round) const { return round_keys_ + 16 * round; }

    // Runs encryption of one block without SubBytes, ShiftRows and MixColumns.
    void add_round_keys(const uint8_t* in, uint8_t* out) const {
        State<1> state;
        load(state, in, 1, Share{});
        for (int round = 0; round <= rounds_; ++round) {
            add_round_key(state, round, Share{});
            asm volatile("" : : "r"(&state) : "memory");  // The XORs stay apart.
        }
        store(out, state, 1, Share{});
    }

    // Encrypts `states` blocks of 16 bytes, at most `count`. fork.run(step) calls step(share) on
    // each of its threads and joins them.
    template <int count, class Fork>
    void encrypt(const uint8_t* in, uint8_t* out, int states, Fork& fork) const {
        State<count> state;
        all_blocks<count>(fork, [&](Share share) { load(state, in, states, share); });
        all_blocks<count>(fork, [&](Share share) { add_round_key(state, 0, share); });
        for (int round = 1; round <= rounds_; ++round) {
            const bool last = round == rounds_;
            fork.run([&](Share share) { steps(state, share).sub_bytes(); });
            fork.run([&](Share share) { steps(state, share).shift_rows(); });
            if (!last)
                fork.run([&](Share share) {
                    steps(state, share).mix_columns();
                    if (count > 1) add_round_key(state, round, share);
                });
            if (last || count == 1)
                all_blocks<count>(fork, [&](Share share) { add_round_key(state, round, share); });
        }
        all_blocks<count>(fork, [&](Share share) { store(out, state, states, share); });
    }

    template <int count, class Fork>
    void decrypt(const uint8_t* in, uint8_t* out, int states, Fork& fork) const {
        State<count> state;
        all_blocks<count>(fork, [&](Share share) { load(state, in, states, share); });
        all_blocks<count>(fork, [&](Share share) { add_round_key(state, rounds_, share); });
        for (int round = rounds_ - 1; round >= 0; --round) {
            fork.run([&](Share share) { steps(state, share).inverse_shift_rows(); });
            fork.run([&](Share share) { steps(state, share).inverse_sub_bytes(); });
            if (round == 0 || count == 1)
                all_blocks<count>(fork, [&](Share share) { add_round_key(state, round, share); });
            if (round != 0)
                fork.run([&](Share share) {
                    if (count > 1) add_round_key(state, round, share);
                    steps(state, share).inverse_mix_columns();
                });
        }
        all_blocks<count>(fork, [&](Share share) { store(out, state, states, share); });
    }

private:
    template <class Cipher>
    void expand(const std::vector<uint8_t>& key) {
        uint32_t words[Cipher::schedule_words];
        Cipher::expand(words, key.data(), WordSubstitution{});
        std::memcpy(round_keys_, words, sizeof words);
    }

    template <int count>
    static Steps<count> steps(State<count>& state, Share share) {
        static NoCounter none;
        return {state, share, none};
    }

    // Work on a whole state; a single state is not worth a fork.
    template <int count, class Fork, class Work>
    static void all_blocks(Fork& fork, const Work& work) {
        if constexpr (count == 1)
            work(Share{});
        else
            fork.run(work);
    }
    template <int count>
    static void load(State<count>& state, const uint8_t* in, int states, Share share) {
        for (int b = share.begin(states); b < share.end(states); ++b)
            for (int i = 0; i < 16; ++i) state.cell[i % 4][i / 4].byte[b] = in[16 * b + i];
    }
    template <int count>
    static void store(uint8_t* out, const State<count>& state, int states, Share share) {
        for (int b = share.begin(states); b < share.end(states); ++b)
            for (int i = 0; i < 16; ++i) out[16 * b + i] = state.cell[i % 4][i / 4].byte[b];
    }

    // Runs on one thread for one state, as in the paper. For many states, threads divide the
    // columns.
    template <int count>
    void add_round_key(State<count>& state, int round, Share share) const {
        for (int column = share.begin(4); column < share.end(4); ++column)
            for (int row = 0; row < 4; ++row)
                state.cell[row][column] ^= round_keys_[16 * round + 4 * column + row];
    }

    const int rounds_;
    uint8_t round_keys_[15 * 16];
};

}  // namespace warpseal::papers

// P5's methods. All except the product's run the cipher of plain_aes.h with different fork-joins.
#include "bench/papers/methods.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "bench/papers/plain_aes.h"

namespace warpseal::papers {
namespace {

// Processes `count` states at a time.
template <int count, class Fork>
void in_tiles(const PlainAes& aes, Fork& fork, bool encrypts, const uint8_t* in, uint8_t* out,
              uint64_t blocks) {
    for (uint64_t done = 0; done < blocks; done += count) {
        const int states = static_cast<int>(std::min<uint64_t>(count, blocks - done));
        if (encrypts)
            aes.encrypt<count>(in + 16 * done, out + 16 * done, states, fork);
        else
            aes.decrypt<count>(in + 16 * done, out + 16 * done, states, fork);
    }
}

void require_ok(warpseal_status status) {
    if (status != WARPSEAL_OK)
        throw std::runtime_error(std::string("the product's call: ") +
                                 warpseal_status_text(status));
}

template <class Step>
uint64_t most_operations(int threads, const Step& step) {
    uint64_t most = 0;
    for (int thread = 0; thread < threads; ++thread) {
        State<1> state{};
        Counter counter;
        Steps<1, Counter> steps(state, {thread, threads}, counter);
        step(steps);
        most = std::max(most, counter.operations);
    }
    return most;
}

}  // namespace

Method serially(const std::vector<uint8_t>& key) {
    return [aes = PlainAes(key)](bool encrypts, const uint8_t* in, uint8_t* out, uint64_t blocks) {
        Alone alone;
        in_tiles<1>(aes, alone, encrypts, in, out, blocks);
    };
}

Method round_keys_alone(const std::vector<uint8_t>& key) {
    return [aes = PlainAes(key)](bool, const uint8_t* in, uint8_t* out, uint64_t blocks) {
        for (uint64_t block = 0; block < blocks; ++block)
            aes.add_round_keys(in + 16 * block, out + 16 * block);
    };
}

Method inside_one_state(const std::vector<uint8_t>& key, Team& team) {
    return [aes = PlainAes(key), &team](bool encrypts, const uint8_t* in, uint8_t* out,
                                        uint64_t blocks) {
        in_tiles<1>(aes, team, encrypts, in, out, blocks);
    };
}

Method inside_a_tile(const std::vector<uint8_t>& key, Team& team) {
    return [aes = PlainAes(key), &team](bool encrypts, const uint8_t* in, uint8_t* out,
                                        uint64_t blocks) {
        in_tiles<tile_states>(aes, team, encrypts, in, out, blocks);
    };
}

Method over_blocks(const std::vector<uint8_t>& key, Team& team) {
    return [aes = PlainAes(key), &team](bool encrypts, const uint8_t* in, uint8_t* out,
                                        uint64_t blocks) {
        team.run([&](Share share) {
            Alone alone;
            const auto thread = static_cast<uint64_t>(share.thread),
                       threads = static_cast<uint64_t>(share.threads);
            const uint64_t begin = blocks * thread / threads, end = blocks * (thread + 1) / threads;
            in_tiles<1>(aes, alone, encrypts, in + 16 * begin, out + 16 * begin, end - begin);
        });
    };
}

Method by_product(const std::vector<uint8_t>& key, warpseal_engine* engine) {
    warpseal_key* made = nullptr;
    require_ok(warpseal_key_create(engine, key.size() == 16 ? "aes-128" : "aes-256", key.data(),
                                   key.size(), &made));
    return [owned = std::shared_ptr<warpseal_key>(made, warpseal_key_destroy)](
               bool encrypts, const uint8_t* in, uint8_t* out, uint64_t blocks) {
        const auto call = encrypts ? warpseal_encrypt : warpseal_decrypt;
        require_ok(call(owned.get(), WARPSEAL_ECB, nullptr, 0, in, out, 16 * blocks));
    };
}

uint64_t differing_bytes(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
    const size_t common = std::min(a.size(), b.size());
    uint64_t differing = std::max(a.size(), b.size()) - common;
    for (size_t i = 0; i < common; ++i) differing += a[i] != b[i];
    return differing;
}

uint64_t differing_blocks(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
    uint64_t differing = 0;
    for (size_t at = 0; at < a.size(); at += 16) differing += std::memcmp(&a[at], &b[at], 16) != 0;
    return differing;
}

StepCounts count_operations(int threads) {
    using Counted = Steps<1, Counter>;
    return {most_operations(threads, [](Counted& steps) { steps.sub_bytes(); }),
            most_operations(threads, [](Counted& steps) { steps.shift_rows(); }),
            most_operations(threads, [](Counted& steps) { steps.mix_columns(); })};
}

}  // namespace warpseal::papers

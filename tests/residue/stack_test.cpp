// The stack after a backend call does not depend on key or text: spilled round keys, keystream and
// GHASH accumulators are zeroized, even after short calls that zeroize little.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/block_loops.h"
#include "engine/targets.h"
#include "support/random.h"
#include "support/stack.h"
#include "support/vectors.h"

namespace {

using namespace warpseal;

constexpr size_t most_bytes = 12304,
                 messages = 17;  // more than the lanes of a narrow run of bytes or words

// Memory of a call, at the same address for all contents. The IV is constant, as it is public.
struct Memory {
    alignas(64) uint8_t state[65536], tweak_state[65536];
    uint8_t key[32 * messages], iv[64] = {0xf1, 0x5c}, aad[300], in[messages * most_bytes],
                                out[messages * most_bytes], tags[16 * messages];
    int32_t statuses[messages];
    uint8_t feedback[16];
    GcmState run;

    void fill(const CpuCipher& cipher, size_t bytes, tests::Random& random) {
        random.fill(key, sizeof key), random.fill(aad, sizeof aad);
        for (size_t i = 0; i < messages; ++i) random.fill(in + i * most_bytes, bytes);
        random.fill(tags, sizeof tags), random.fill(run.counter0, 16), random.fill(run.sum, 16);
        std::memcpy(feedback, iv, sizeof feedback);
        cipher.expand(state, key);
        cipher.expand(tweak_state, key + 32);
    }
};

using Call = std::function<void(Memory&)>;
struct Named {
    std::string name;
    Call call;
};

warpseal_batch batch_of(Memory& m, warpseal_mode mode, const CpuCipher& cipher, size_t bytes,
                        bool own_keys) {
    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.iv_bytes = mode == WARPSEAL_GCM || mode == WARPSEAL_CCM ? 12 : cipher.block_bytes;
    batch.tag_bytes = mode == WARPSEAL_GCM || mode == WARPSEAL_CCM || mode == WARPSEAL_CMAC ? 8 : 0;
    batch.message_bytes = bytes;
    batch.ivs = m.iv;
    if (batch.tag_bytes != 0 && mode != WARPSEAL_CMAC) batch.aad = m.aad, batch.aad_bytes = 20;
    batch.in = m.in, batch.in_stride = most_bytes;
    batch.out = mode == WARPSEAL_CMAC ? nullptr : m.out, batch.out_stride = most_bytes;
    batch.tags = m.tags, batch.tag_stride = 16;
    batch.statuses = m.statuses;
    if (own_keys) batch.keys = m.key;
    return batch;
}

// Returns every backend function, on text of that length. No tag is right for any secrets: opening
// and verifying refuse.
std::vector<Named> calls(const CpuCipher& c, size_t bytes) {
    std::vector<Named> all;
    const size_t whole = bytes / c.block_bytes * c.block_bytes;
    all.push_back({"expand", [&c](Memory& m) { c.expand(m.state, m.key); }});
    for (int mode = 0; mode < WARPSEAL_MODE_COUNT; ++mode)
        for (int d = 0; d < direction_count; ++d) {
            const std::string name =
                std::string(warpseal_mode_name(static_cast<warpseal_mode>(mode))) +
                (d == 0 ? " encryption" : " decryption");
            const size_t n = mode == WARPSEAL_ECB || mode == WARPSEAL_CBC ? whole : bytes;
            if (const auto sweep = c.sweep[mode][d]) {
                all.push_back({name, [=](Memory& m) { sweep(m.state, m.iv, 0, m.in, m.out, n); }});
                all.push_back({name + " in place",
                               [=](Memory& m) { sweep(m.state, m.iv, 0, m.in, m.in, n); }});
            }
            const CpuBlockLoops* const loops = whole == 0 ? nullptr : cpu_block_loops(c);
            const size_t some = mode == WARPSEAL_CTR ? std::min<size_t>(whole, 8192) : whole;
            if (const auto blocks = loops == nullptr ? nullptr : loops->blocks[mode][d])
                for (const bool in_place : {false, true})
                    all.push_back(
                        {name + " of a message that goes on" + (in_place ? ", in place" : ""),
                         [=](Memory& m) {
                             blocks(m.state, m.feedback, m.in, in_place ? m.in : m.out, some);
                         }});
            if (const auto batch = c.batch[mode][d])
                for (const uint64_t count : {uint64_t{1}, uint64_t{3}, uint64_t{messages}})
                    for (const bool own_keys : {false, true})
                        all.push_back({name + " batch of " + std::to_string(count) +
                                           (own_keys ? ", own keys" : ""),
                                       [=, &c](Memory& m) {
                                           warpseal_batch b = batch_of(
                                               m, static_cast<warpseal_mode>(mode), c, n, own_keys);
                                           b.message_count = count;
                                           batch(m.state, b, 0, count);
                                       }});
        }
    for (int d = 0; d < direction_count; ++d) {
        if (c.gcm_segment[d] != nullptr)
            all.push_back({"gcm segment", [=, &c](Memory& m) {
                               c.gcm_segment[d](m.state, &m.run, 0, m.in, m.out, bytes);
                           }});
        if (c.xts[d] != nullptr && bytes >= 16)
            all.push_back({"xts", [=, &c](Memory& m) {
                               XtsUnits units = {{}, bytes};
                               c.xts[d](m.state, m.tweak_state, units, m.in, m.out, bytes);
                           }});
        if (c.xts[d] != nullptr && bytes >= 2 * 17)
            all.push_back(
                {"xts of many units", [=, &c](Memory& m) {
                     c.xts[d](m.state, m.tweak_state, {{}, 17}, m.in, m.out, bytes / 17 * 17);
                 }});
    }
    if (c.gcm_begin != nullptr) {
        all.push_back({"gcm begin", [=, &c](Memory& m) {
                           c.gcm_begin(m.state, m.iv, 12, m.in, bytes, &m.run);
                       }});
        all.push_back({"gcm begin, long iv", [=, &c](Memory& m) {
                           c.gcm_begin(m.state, m.iv, 60, m.in, bytes, &m.run);
                       }});
        all.push_back({"gcm finish",
                       [=, &c](Memory& m) { c.gcm_finish(m.state, &m.run, 1, bytes, m.tags); }});
        all.push_back({"gcm combine",
                       [=, &c](Memory& m) { c.gcm_combine(m.state, m.run.sum, m.iv, bytes); }});
    }
    return all;
}

class StackResidue : public testing::TestWithParam<Target> {};

TEST_P(StackResidue, DependsOnNoSecret) {
    const auto target = GetParam();
    if (tests::stacks_are_sanitized || !cpu_has(target))
        GTEST_SKIP() << (tests::stacks_are_sanitized ? "sanitizers" : "not on this machine");
    const auto memory = std::make_unique<Memory>();
    tests::Stack stack;
    tests::Random random(911);
    size_t compared = 0;
    std::vector<uint8_t> first;
    for (size_t i = 0; const CpuCipher* portable = cpu_cipher_at(i); ++i) {
        const CpuCipher* const cipher = cpu_cipher(target, portable->name);
        if (cipher == nullptr || !vectors::wanted(cipher->name)) continue;
        const bool aes =
            std::strncmp(cipher->name, "aes", 3) == 0;  // zeroizes least after short texts
        for (const size_t bytes :
             aes ? std::vector<size_t>{16, 21, 48, 64, 70, 300, 1024, 1029, 12288, 12301}
                 : std::vector<size_t>{16, 21, 300}) {
            if (target == Target::portable && bytes > 300) continue;
            for (const Named& named : calls(*cipher, bytes)) {
                const std::function<void()> call = [&] { named.call(*memory); };
                const auto same = [&] {
                    memory->fill(*cipher, bytes, random);
                    first = stack.after(call);
                    memory->fill(*cipher, bytes, random);
                    return first == stack.after(call);
                };
                // Runs twice: the dynamic linker saves registers when it resolves a function, at
                // its first call.
                ASSERT_TRUE(same() || same())
                    << cipher->name << ", " << named.name << ", " << bytes << " bytes";
                ++compared;
            }
        }
    }
    EXPECT_GT(compared, 100u);
}

INSTANTIATE_TEST_SUITE_P(Targets, StackResidue, testing::ValuesIn(cpu_targets_best_first),
                         [](const auto& info) { return target_name(info.param); });

}  // namespace

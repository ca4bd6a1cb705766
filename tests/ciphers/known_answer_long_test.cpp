// Slow known-answer tests: Monte Carlo runs and long messages, on every target, through the public
// C interface.
#include <openssl/sha.h>

#include <algorithm>
#include <cstring>

#include "known_answer.h"

namespace {

using vectors::Text;
using warpseal::Direction;

class LongAnswers : public tests::OnEachTarget {
protected:
    // Number of one-block calls of a Monte Carlo run; fewer where a block costs as much as hundreds
    // (a launch, or a bitsliced bundle).
    size_t steps() const {
        const std::string target = GetParam();
        return target == "cuda" ? 2000 : target == "portable" ? 10000 : 20000;
    }
};

Text xor_bytes(const Text& a, const Text& b) {
    Text out = a;
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<uint8_t>(out[i] ^ b[i]);
    return out;
}

void increment(Text& counter) {
    for (size_t i = counter.size(); i-- > 0 && ++counter[i] == 0;) {
    }
}

// One round, as tests/vectors/SOURCES.md describes it.
Text monte_carlo(const vectors::Chain& chain, const vectors::Round& round,
                 const warpseal_key* key) {
    const warpseal_mode mode = tests::mode_of(chain.mode);
    const auto call = chain.encrypt ? warpseal_encrypt : warpseal_decrypt;
    const bool chained = mode == WARPSEAL_CBC || mode == WARPSEAL_CFB;
    Text x = round.in, v = round.iv, y(x.size()), before;
    for (int i = 0; i < chain.internal; ++i) {
        if (call(key, mode, v.empty() ? nullptr : v.data(), v.size(), x.data(), y.data(),
                 y.size()) != WARPSEAL_OK)
            return {};
        const Text used = v;
        if (chained) v = chain.encrypt ? y : x;
        if (mode == WARPSEAL_OFB) v = xor_bytes(x, y);
        if (mode == WARPSEAL_CTR) increment(v);
        if (mode == WARPSEAL_ECB || mode == WARPSEAL_CTR)
            x = y;
        else if (chain.rule == "aesavs")
            x = i == 0 ? round.iv : before;
        else if (mode == WARPSEAL_CBC && !chain.encrypt)
            x = y;
        else if (mode == WARPSEAL_CFB && !chain.encrypt)
            x = xor_bytes(x, y);
        else
            x = used;
        before = y;
    }
    return y;
}

TEST_P(LongAnswers, MonteCarlo) {
    for (const vectors::Chain& chain : vectors::chains()) {
        SCOPED_TRACE(chain.cipher + "-" + chain.mode + ", " + chain.id);
        const size_t rounds = std::max<size_t>(1, steps() / static_cast<size_t>(chain.internal));
        const size_t stride = std::max<size_t>(1, chain.rounds.size() / rounds);
        for (size_t i = 0; i < chain.rounds.size(); i += stride) {
            const vectors::Round& round = chain.rounds[i];
            const targets::KeyHandle used =
                key(chain.cipher, tests::mode_of(chain.mode), round.key);
            ASSERT_EQ(monte_carlo(chain, round, used.get()), round.out) << "round " << i;
            count(chain.cipher, tests::mode_of(chain.mode),
                  chain.encrypt ? Direction::encrypt : Direction::decrypt);
        }
    }
}

Text sha256(const Text& text) {
    Text out(SHA256_DIGEST_LENGTH);
    SHA256(text.data(), text.size(), out.data());
    return out;
}

warpseal_status run(const vectors::Bulk& row, const warpseal_key* key, Direction direction,
                    const uint8_t* in, uint8_t* out, Text& tag) {
    const warpseal_mode mode = tests::mode_of(row.mode);
    const bool forward = direction == Direction::encrypt;
    if (mode == WARPSEAL_XTS)
        return (forward ? warpseal_xts_encrypt : warpseal_xts_decrypt)(
            key, row.iv.data(), row.unit_bytes != 0 ? row.unit_bytes : row.bytes, in, out,
            row.bytes);
    if (!tests::is_tagged(mode))
        return (forward ? warpseal_encrypt : warpseal_decrypt)(key, mode, row.iv.data(),
                                                               row.iv.size(), in, out, row.bytes);
    if (forward)
        return warpseal_seal_unsafe_iv(key, mode, row.iv.data(), row.iv.size(), row.aad.data(),
                                       row.aad.size(), in, out, row.bytes, tag.data(), tag.size());
    return warpseal_open(key, mode, row.iv.data(), row.iv.size(), row.aad.data(), row.aad.size(),
                         in, out, row.bytes, tag.data(), tag.size());
}

// Rows that are serial in one message are slow where a block costs as much as a bundle (64-bit
// blocks everywhere), or a launch has one thread. There a third of them runs; for 64-bit blocks
// another third on each next target. `warpseal vectors` takes them all.
TEST_P(LongAnswers, Bulk) {
    const std::string target = GetParam();
    const std::vector<warpseal_target_info> all = targets::all();
    const auto is_this = [&](const warpseal_target_info& info) { return info.name == target; };
    auto serial_rows = std::find_if(all.begin(), all.end(), is_this) - all.begin();
    for (const vectors::Bulk& row : vectors::bulk()) {
        const bool is_serial =
            row.mode == "ofb" || row.mode == "cbc" || row.mode.rfind("cfb", 0) == 0;
        const bool is_slow = target == "portable" || target == "cuda" || row.iv.size() == 8;
        if (is_serial && is_slow && serial_rows++ % 3 != 0) continue;
        SCOPED_TRACE(row.cipher + "-" + row.mode + ", " + row.id);
        const warpseal_mode mode = tests::mode_of(row.mode);
        const targets::KeyHandle used = key(row.cipher, mode, row.key);
        const Text pt = row.plaintext();
        ASSERT_EQ(sha256(pt), row.pt_sha256);
        Text out(pt.size(), 0xa5), tag(row.tag.size(), 0xa5);
        ASSERT_EQ(run(row, used.get(), Direction::encrypt, pt.data(), out.data(), tag),
                  WARPSEAL_OK);
        ASSERT_EQ(tag, row.tag);
        ASSERT_EQ(sha256(out), row.ct_sha256);
        EXPECT_EQ(std::memcmp(out.data(), row.ct_head.data(), row.ct_head.size()), 0);
        EXPECT_EQ(std::memcmp(out.data() + out.size() - row.ct_tail.size(), row.ct_tail.data(),
                              row.ct_tail.size()),
                  0);
        count(row.cipher, mode, Direction::encrypt);
        ASSERT_EQ(run(row, used.get(), Direction::decrypt, out.data(), out.data(), tag),
                  WARPSEAL_OK);
        ASSERT_TRUE(out == pt);
        count(row.cipher, mode, Direction::decrypt);
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, LongAnswers, tests::every_target(), tests::target_name);

}  // namespace

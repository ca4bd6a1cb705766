// Known answers: every row of tests/vectors on every target of this machine, both directions, through the public C interface.
#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <cstring>

#include "matrix.h"
#include "targets.h"
#include "vectors.h"
#include "warpseal/inner.h"

namespace {

using vectors::Row;
using vectors::Text;
using warpseal::Direction;

constexpr size_t smallest_public_tag = 12;

warpseal_mode mode_of(const std::string& name) {
    for (int m = 0; m < WARPSEAL_MODE_COUNT; ++m)
        if (name == warpseal_mode_name(static_cast<warpseal_mode>(m))) return static_cast<warpseal_mode>(m);
    throw std::runtime_error("vectors of a mode that the library does not have: " + name);
}

bool all_zero(const Text& text) {
    for (const uint8_t x : text)
        if (x != 0) return false;
    return true;
}

class KnownAnswers : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        for (const warpseal_target_info& target : targets::all()) {
            if (std::string(target.name) != GetParam()) continue;
            if (!target.usable) GTEST_SKIP() << "NOT RUN: " << target.reason;
            engine_ = targets::engine(target.name);
            ASSERT_TRUE(engine_);
            return;
        }
        FAIL() << "the library does not list this target";
    }
    void count(const std::string& cipher, warpseal_mode mode, Direction direction) { matrix::count(GetParam(), cipher, mode, direction); }

    // Both directions, each to a fresh buffer poisoned with `poison` and in place.
    void sweep_row(const Row& row, const warpseal_key* key, uint8_t poison) {
        const warpseal_mode mode = mode_of(row.mode);
        Text out(row.pt.size(), poison);
        ASSERT_EQ(warpseal_encrypt(key, mode, row.iv.data(), row.iv.size(), row.pt.data(), out.data(), out.size()), WARPSEAL_OK);
        EXPECT_EQ(out, row.ct);
        ASSERT_EQ(warpseal_decrypt(key, mode, row.iv.data(), row.iv.size(), out.data(), out.data(), out.size()), WARPSEAL_OK);
        EXPECT_EQ(out, row.pt);
        count(row.cipher, mode, Direction::encrypt);
        count(row.cipher, mode, Direction::decrypt);
    }

    // Policy: the public calls refuse short tags. The inner door computes them and must agree all the same.
    void gcm_row(const Row& row, const warpseal_key* key, uint8_t poison) {
        const bool is_public = row.tag.size() >= smallest_public_tag;
        const auto seal = is_public ? warpseal_seal_unsafe_iv : warpseal_inner_seal;
        const auto open = is_public ? warpseal_open : warpseal_inner_open;
        if (!is_public) refused_row(row, key, poison);
        if (row.valid) {
            Text ct(row.pt.size(), poison), tag(row.tag.size(), poison);
            ASSERT_EQ(seal(key, WARPSEAL_GCM, row.iv.data(), row.iv.size(), row.aad.data(), row.aad.size(), row.pt.data(), ct.data(),
                           ct.size(), tag.data(), tag.size()),
                      WARPSEAL_OK);
            EXPECT_EQ(ct, row.ct);
            EXPECT_EQ(tag, row.tag);
            count(row.cipher, WARPSEAL_GCM, Direction::encrypt);
        }
        Text pt(row.ct.size(), poison);
        const warpseal_status status = open(key, WARPSEAL_GCM, row.iv.data(), row.iv.size(), row.aad.data(), row.aad.size(), row.ct.data(),
                                            pt.data(), pt.size(), row.tag.data(), row.tag.size());
        if (row.valid) {
            ASSERT_EQ(status, WARPSEAL_OK);
            EXPECT_EQ(pt, row.pt);
        } else if (row.iv.empty()) {
            EXPECT_EQ(status, WARPSEAL_INVALID_ARGUMENT);
        } else {
            EXPECT_EQ(status, WARPSEAL_NOT_AUTHENTIC);
            EXPECT_TRUE(all_zero(pt));
        }
        count(row.cipher, WARPSEAL_GCM, Direction::decrypt);
    }

    void refused_row(const Row& row, const warpseal_key* key, uint8_t poison) {
        Text out(row.ct.size(), poison), tag(row.tag);
        EXPECT_EQ(warpseal_seal_unsafe_iv(key, WARPSEAL_GCM, row.iv.data(), row.iv.size(), row.aad.data(), row.aad.size(), row.ct.data(),
                                          out.data(), out.size(), tag.data(), tag.size()),
                  WARPSEAL_INVALID_ARGUMENT);
        EXPECT_EQ(warpseal_open(key, WARPSEAL_GCM, row.iv.data(), row.iv.size(), row.aad.data(), row.aad.size(), row.ct.data(), out.data(),
                                out.size(), tag.data(), tag.size()),
                  WARPSEAL_INVALID_ARGUMENT);
    }

    targets::EngineHandle engine_;
};

TEST_P(KnownAnswers, Rows) {
    size_t rows = 0;
    for (const Row& row : vectors::rows()) {
        SCOPED_TRACE(row.file + ", " + row.id);
        const targets::KeyHandle key = targets::key(engine_, row.cipher, row.key);
        ASSERT_TRUE(key);
        const uint8_t poison = rows++ % 2 == 0 ? 0xa5 : 0x5a;
        if (row.mode == "gcm")
            gcm_row(row, key.get(), poison);
        else
            sweep_row(row, key.get(), poison);
        if (HasFailure()) return;
    }
    std::printf("%s: %zu rows\n", GetParam(), rows);
}

// SP 800-38D rows of equal shape as batches, each message with a key of its own, valid and broken ones side by side.
TEST_P(KnownAnswers, RowsAsBatches) {
    std::map<std::tuple<std::string, size_t, size_t, size_t>, std::vector<Row>> groups;
    for (Row& row : vectors::rows())
        if (row.mode == "gcm" && row.tag.size() >= smallest_public_tag && !row.iv.empty())
            groups[{row.cipher, row.iv.size(), row.aad.size(), row.tag.size()}].push_back(std::move(row));
    for (const auto& [shape, rows] : groups) {
        const auto& [cipher, iv_bytes, aad_bytes, tag_bytes] = shape;
        SCOPED_TRACE(rows[0].file + ", " + rows[0].id + " and its like");
        const targets::KeyHandle any = targets::key(engine_, cipher, rows[0].key);
        Text keys, ivs, aad, tags, in;
        std::vector<uint64_t> lengths, offsets;
        for (const Row& row : rows) {
            keys.insert(keys.end(), row.key.begin(), row.key.end());
            ivs.insert(ivs.end(), row.iv.begin(), row.iv.end());
            aad.insert(aad.end(), row.aad.begin(), row.aad.end());
            tags.insert(tags.end(), row.tag.begin(), row.tag.end());
            offsets.push_back(in.size());
            lengths.push_back(row.ct.size());
            in.insert(in.end(), row.ct.begin(), row.ct.end());
        }
        in.push_back(0);  // a batch has pointers even if all its messages are empty
        Text out(in.size(), 0xa5);
        std::vector<int32_t> statuses(rows.size(), -1);
        warpseal_batch batch{};
        batch.struct_bytes = sizeof batch;
        batch.iv_bytes = static_cast<uint32_t>(iv_bytes);
        batch.tag_bytes = static_cast<uint32_t>(tag_bytes);
        batch.message_count = rows.size();
        batch.lengths = lengths.data();
        batch.keys = keys.data();
        batch.ivs = ivs.data();
        batch.iv_stride = iv_bytes;
        batch.aad = aad.data();
        batch.aad_bytes = aad_bytes;
        batch.aad_stride = aad_bytes;
        batch.in = in.data();
        batch.in_offsets = offsets.data();
        batch.out = out.data();
        batch.out_offsets = offsets.data();
        batch.tags = tags.data();
        batch.tag_stride = tag_bytes;
        batch.statuses = statuses.data();
        bool all_valid = true;
        for (const Row& row : rows) all_valid = all_valid && row.valid;
        ASSERT_EQ(warpseal_open_batch(any.get(), WARPSEAL_GCM, &batch), all_valid ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC);
        for (size_t i = 0; i < rows.size(); ++i) {
            const Text pt(out.begin() + static_cast<long>(offsets[i]), out.begin() + static_cast<long>(offsets[i] + lengths[i]));
            EXPECT_EQ(statuses[i], rows[i].valid ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC) << rows[i].id;
            EXPECT_EQ(pt, rows[i].valid ? rows[i].pt : Text(pt.size(), 0)) << rows[i].id;
            count(cipher, WARPSEAL_GCM, Direction::decrypt);
        }
        if (HasFailure()) return;
    }
}

TEST_P(KnownAnswers, MonteCarlo) {
    for (const vectors::Chain& chain : vectors::chains()) {
        SCOPED_TRACE(chain.id);
        ASSERT_EQ(chain.mode, "ecb");
        for (const vectors::Round& round : chain.rounds) {
            const targets::KeyHandle key = targets::key(engine_, chain.cipher, round.key);
            Text x = round.in;
            const auto step = chain.encrypt ? warpseal_encrypt : warpseal_decrypt;
            // Where one block costs as much as hundreds (a launch, a bundle of planes) a tenth of the rounds is enough.
            const bool slow = std::string(GetParam()) == "cuda" || std::string(GetParam()) == "portable";
            if (slow && (&round - chain.rounds.data()) % 10 != 0) continue;
            for (int i = 0; i < chain.inner; ++i)
                ASSERT_EQ(step(key.get(), WARPSEAL_ECB, nullptr, 0, x.data(), x.data(), x.size()), WARPSEAL_OK);
            ASSERT_EQ(x, round.out);
            count(chain.cipher, WARPSEAL_ECB, chain.encrypt ? Direction::encrypt : Direction::decrypt);
        }
    }
}

Text sha256(const Text& text) {
    Text out(SHA256_DIGEST_LENGTH);
    SHA256(text.data(), text.size(), out.data());
    return out;
}

TEST_P(KnownAnswers, Bulk) {
    for (const vectors::Bulk& row : vectors::bulk()) {
        SCOPED_TRACE(row.id);
        const targets::KeyHandle key = targets::key(engine_, row.cipher, row.key);
        const warpseal_mode mode = mode_of(row.mode);
        const Text pt = row.plaintext();
        ASSERT_EQ(sha256(pt), row.pt_sha256);
        Text out(pt.size(), 0xa5), tag(row.tag.size(), 0xa5);
        if (mode == WARPSEAL_GCM) {
            ASSERT_EQ(warpseal_seal_unsafe_iv(key.get(), mode, row.iv.data(), row.iv.size(), row.aad.data(), row.aad.size(), pt.data(),
                                              out.data(), out.size(), tag.data(), tag.size()),
                      WARPSEAL_OK);
            EXPECT_EQ(tag, row.tag);
        } else {
            ASSERT_EQ(warpseal_encrypt(key.get(), mode, row.iv.data(), row.iv.size(), pt.data(), out.data(), out.size()), WARPSEAL_OK);
        }
        ASSERT_EQ(sha256(out), row.ct_sha256);
        EXPECT_EQ(std::memcmp(out.data(), row.ct_head.data(), row.ct_head.size()), 0);
        EXPECT_EQ(std::memcmp(out.data() + out.size() - row.ct_tail.size(), row.ct_tail.data(), row.ct_tail.size()), 0);
        count(row.cipher, mode, Direction::encrypt);
        const warpseal_status status =
            mode == WARPSEAL_GCM ? warpseal_open(key.get(), mode, row.iv.data(), row.iv.size(), row.aad.data(), row.aad.size(), out.data(),
                                                 out.data(), out.size(), row.tag.data(), row.tag.size())
                                 : warpseal_decrypt(key.get(), mode, row.iv.data(), row.iv.size(), out.data(), out.data(), out.size());
        ASSERT_EQ(status, WARPSEAL_OK);
        ASSERT_TRUE(out == pt);
        count(row.cipher, mode, Direction::decrypt);
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, KnownAnswers, testing::Values("portable", "aesni", "vaes256", "vaes512", "cuda"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace

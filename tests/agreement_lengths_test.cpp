// Every length from 0 to 4096, in each mode and direction, on every target, between guard pages, in place and not: all equal the reference.
#include <gtest/gtest.h>

#include "matrix.h"
#include "paths.h"
#include "random.h"
#include "reference/gcm.h"
#include "reference/modes.h"

namespace {

using reference::Text;
using tests::Output;
using tests::Path;
using warpseal::Direction;

constexpr size_t longest = 4096;

class EveryLength : public testing::TestWithParam<warpseal_cipher_info> {
protected:
    void SetUp() override {
        key_ = random_.text(GetParam().key_bytes);
        twin_ = reference::cipher(GetParam().name, key_);
        ASSERT_TRUE(twin_) << "no reference twin of " << GetParam().name;
        paths_ = tests::paths(GetParam().name, key_);
        counts_.assign(2 * paths_.size(), 0);
    }
    void count(warpseal_mode mode) {
        for (size_t p = 0; p < paths_.size(); ++p)
            for (size_t d = 0; d < 2; ++d)
                matrix::count(paths_[p]->target(), GetParam().name, mode, static_cast<Direction>(d), counts_[2 * p + d]);
    }

    // Three runs of one case: to the right edge, to the left edge under another poison, and in place at alternate edges.
    template <class Work>
    void three_runs(const Path& path, const Text& in, const Text& expected, Direction direction, const Work& work) {
        const size_t n = in.size();
        const uint8_t* source = in_.put(true, in.data(), n);
        Output right(out_, out_.at_end(n), n, 0xa5);
        work(source, right.data());
        ASSERT_TRUE(right.equals(expected.data())) << path.target() << ", to another buffer";
        source = in_.put(false, in.data(), n);
        Output left(out_, out_.begin(), n, 0x5a);
        work(source, left.data());
        ASSERT_TRUE(left.equals(expected.data())) << path.target() << ", to another buffer at the start of a page";
        Output same(out_, out_.at(n % 2 == 0, n), n, 0xa5);
        same.load(in.data());
        work(same.data(), same.data());
        ASSERT_TRUE(same.equals(expected.data())) << path.target() << ", in place";
        for (size_t p = 0; p < paths_.size(); ++p)
            if (paths_[p].get() == &path) counts_[2 * p + static_cast<size_t>(direction)] += 3;
    }

    void sweep_case(warpseal_mode mode, const Text& iv, const Text& pt, const Text& ct) {
        const uint8_t* iv_at = mode == WARPSEAL_ECB ? nullptr : iv_.put(pt.size() % 2 == 0, iv.data(), iv.size());
        for (const auto& path : paths_)
            for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                const bool forward = direction == Direction::encrypt;
                three_runs(*path, forward ? pt : ct, forward ? ct : pt, direction,
                           [&](const uint8_t* in, uint8_t* out) { path->sweep(mode, direction, iv_at, 0, in, out, pt.size()); });
                if (HasFatalFailure()) return;
            }
    }

    // A quarter of the cases begin at a counter whose low 32 bits wrap within the message.
    Text gcm_iv(size_t bytes) {
        if (!random_.one_in(4)) return random_.text(12);
        Text counter0 = random_.text(16);
        for (size_t i = 12; i < 16; ++i) counter0[i] = 0xff;
        counter0[15] = static_cast<uint8_t>(255 - random_.below(bytes / 16 + 2));
        return reference::gcm_iv_for(*twin_, counter0);
    }

    void gcm_case(const Text& iv, const Text& aad, const Text& pt, const reference::Sealed& sealed) {
        const bool flush_end = pt.size() % 2 == 0;
        const uint8_t* iv_at = iv_.put(flush_end, iv.data(), iv.size());
        const uint8_t* aad_at = aad_.put(flush_end, aad.data(), aad.size());
        for (const auto& path : paths_) {
            for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                const bool forward = direction == Direction::encrypt;
                three_runs(*path, forward ? pt : sealed.ciphertext, forward ? sealed.ciphertext : pt, direction,
                           [&](const uint8_t* in, uint8_t* out) {
                               warpseal::GcmRun run;
                               path->gcm_begin(iv_at, iv.size(), aad_at, aad.size(), &run);
                               path->gcm_piece(direction, &run, 0, in, out, pt.size());
                               Text tag(16, 0xa5);
                               path->gcm_finish(&run, aad.size(), pt.size(), tag.data());
                               ASSERT_EQ(tag, sealed.tag) << path->target();
                           });
                if (HasFatalFailure()) return;
            }
            batch_of_one(*path, iv_at, iv.size(), aad_at, aad.size(), pt, sealed);
            if (HasFatalFailure()) return;
        }
    }

    // The same message as a batch of one: sealed, opened, and opened after one bit of it changed, which must wipe the output.
    void batch_of_one(const Path& path, const uint8_t* iv, size_t iv_bytes, const uint8_t* aad, size_t aad_bytes, const Text& pt,
                      const reference::Sealed& sealed) {
        const size_t n = pt.size();
        const size_t tag_bytes = 12 + n % 5;
        int32_t status = -1;
        warpseal_batch batch{};
        batch.struct_bytes = sizeof batch;
        batch.iv_bytes = static_cast<uint32_t>(iv_bytes);
        batch.tag_bytes = static_cast<uint32_t>(tag_bytes);
        batch.message_count = 1;
        batch.message_bytes = n;
        batch.ivs = iv;
        batch.aad = aad;
        batch.aad_bytes = aad_bytes;
        batch.statuses = &status;
        batch.in = in_.put(true, pt.data(), n);
        Output out(out_, out_.at_end(n), n, 0xa5);
        batch.out = out.data();
        batch.tags = tag_.at_end(tag_bytes);
        ASSERT_EQ(path.batch(WARPSEAL_GCM, Direction::encrypt, batch, 0, 1), 0u);
        ASSERT_TRUE(out.equals(sealed.ciphertext.data())) << path.target() << ", batch";
        ASSERT_EQ(std::memcmp(batch.tags, sealed.tag.data(), tag_bytes), 0) << path.target() << ", batch";
        ASSERT_EQ(status, WARPSEAL_OK);

        uint8_t* ciphertext = in_.put(true, sealed.ciphertext.data(), n);
        Output opened(out_, out_.at_end(n), n, 0x5a);
        ASSERT_EQ(path.batch(WARPSEAL_GCM, Direction::decrypt, batch, 0, 1), 0u);
        ASSERT_TRUE(opened.equals(pt.data())) << path.target() << ", batch";

        const size_t bit = random_.below(8 * (n + tag_bytes));
        uint8_t& changed = bit / 8 < n ? ciphertext[bit / 8] : batch.tags[bit / 8 - n];
        changed = static_cast<uint8_t>(changed ^ 1u << bit % 8);
        Output refused(out_, out_.at_end(n), n, 0xa5);
        ASSERT_EQ(path.batch(WARPSEAL_GCM, Direction::decrypt, batch, 0, 1), 1u) << path.target() << ": a changed bit went unnoticed";
        ASSERT_EQ(status, WARPSEAL_NOT_AUTHENTIC);
        ASSERT_TRUE(refused.equals(Text(n, 0).data())) << path.target() << ": not wiped";
        for (size_t p = 0; p < paths_.size(); ++p) {
            if (paths_[p].get() != &path) continue;
            counts_[2 * p] += 1;
            counts_[2 * p + 1] += 2;
        }
    }

    tests::Random random_{GetParam().key_bytes};
    Text key_;
    std::unique_ptr<reference::Cipher> twin_;
    std::vector<std::unique_ptr<Path>> paths_;
    std::vector<uint64_t> counts_;
    tests::Guarded in_{longest + 4096}, out_{longest + 4096}, iv_{64}, aad_{256}, tag_{16};
};

TEST_P(EveryLength, Ecb) {
    for (size_t n = 0; n <= longest; n += GetParam().block_bytes) {
        SCOPED_TRACE(n);
        const Text pt = random_.text(n);
        sweep_case(WARPSEAL_ECB, {}, pt, reference::ecb_encrypt(*twin_, pt));
        if (HasFatalFailure()) return;
    }
    count(WARPSEAL_ECB);
}

TEST_P(EveryLength, Ctr) {
    for (size_t n = 0; n <= longest; ++n) {
        SCOPED_TRACE(n);
        const Text pt = random_.text(n), iv = random_.counter(n / 16 + 1);
        sweep_case(WARPSEAL_CTR, iv, pt, reference::ctr(*twin_, iv, pt));
        if (HasFatalFailure()) return;
    }
    count(WARPSEAL_CTR);
}

TEST_P(EveryLength, Gcm) {
    for (size_t n = 0; n <= longest; ++n) {
        SCOPED_TRACE(n);
        const Text pt = random_.text(n), iv = gcm_iv(n), aad = random_.text(random_.length(256));
        gcm_case(iv, aad, pt, reference::gcm_seal(*twin_, iv, aad, pt));
        if (HasFatalFailure()) return;
    }
    count(WARPSEAL_GCM);
}

INSTANTIATE_TEST_SUITE_P(Ciphers, EveryLength, testing::ValuesIn(targets::ciphers()), [](const auto& info) {
    std::string name = info.param.name;
    for (char& c : name)
        if (c == '-') c = '_';
    return name;
});

}  // namespace

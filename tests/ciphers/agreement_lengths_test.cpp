// Every length from 0 to 4096 in every sweep, XTS and GCM, each direction and target, between guard
// pages. Outputs are poisoned with two values, or in place. All equal the reference.
#include <gtest/gtest.h>

#include "reference/gcm.h"
#include "reference/modes.h"
#include "reference/xts.h"
#include "support/matrix.h"
#include "support/paths.h"
#include "support/random.h"
#include "support/reference_cipher.h"

namespace {

using reference::Text;
using tests::Output;
using tests::Path;
using warpseal::Direction;

constexpr size_t longest = 4096;
constexpr size_t pool =
    16;  // texts and IVs to draw from, so that the reference sees the same blocks again

Text prefix(const Text& text, size_t bytes) {
    return Text(text.begin(), text.begin() + static_cast<long>(bytes));
}

class EveryLength : public testing::TestWithParam<warpseal_cipher_info> {
protected:
    void SetUp() override {
        key_ = random_.text(GetParam().key_bytes);
        reference_cipher_ = tests::make_reference_cipher(GetParam().name, key_);
        ASSERT_TRUE(reference_cipher_);
        paths_ = tests::paths(GetParam().name, key_);
        counts_.assign(2 * paths_.size(), 0);
        for (size_t i = 0; i < pool; ++i) {
            texts_.push_back(random_.text(longest));
            ivs_.push_back(random_.text(block()));
        }
    }
    size_t block() const { return GetParam().block_bytes; }
    bool lacks(warpseal_mode mode) const { return !targets::has(GetParam(), mode); }
    void count(warpseal_mode mode) {
        for (size_t p = 0; p < paths_.size(); ++p)
            for (size_t d = 0; d < 2; ++d)
                if (counts_[2 * p + d] != 0)
                    matrix::count(paths_[p]->target(), GetParam().name, mode,
                                  static_cast<Direction>(d), counts_[2 * p + d]);
    }

    // Runs one case three times: to the right edge, to the left edge with other poison, and in
    // place at alternate edges.
    template <class Work>
    void three_runs(const Path& path, const Text& in, const Text& expected, Direction direction,
                    const Work& work) {
        const size_t n = in.size();
        const uint8_t* source = in_.put(true, in.data(), n);
        Output right(out_, out_.at_end(n), n, 0xa5);
        work(source, right.data());
        ASSERT_TRUE(right.equals(expected.data())) << path.target() << ", to another buffer";
        source = in_.put(false, in.data(), n);
        Output left(out_, out_.begin(), n, 0x5a);
        work(source, left.data());
        ASSERT_TRUE(left.equals(expected.data()))
            << path.target() << ", to another buffer at the start of a page";
        Output same(out_, out_.at(n % 2 == 0, n), n, 0xa5);
        same.load(in.data());
        work(same.data(), same.data());
        ASSERT_TRUE(same.equals(expected.data())) << path.target() << ", in place";
        for (size_t p = 0; p < paths_.size(); ++p)
            if (paths_[p].get() == &path) counts_[2 * p + static_cast<size_t>(direction)] += 3;
    }

    // Runs the case on every path, in the directions that are sweeps there.
    void sweep_case(warpseal_mode mode, const Text& iv, const Text& pt, const Text& ct) {
        const uint8_t* iv_at =
            mode == WARPSEAL_ECB ? nullptr : iv_.put(pt.size() % 2 == 0, iv.data(), iv.size());
        for (const auto& path : paths_)
            for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                if (!path->sweeps(mode, direction)) continue;
                const bool forward = direction == Direction::encrypt;
                three_runs(*path, forward ? pt : ct, forward ? ct : pt, direction,
                           [&](const uint8_t* in, uint8_t* out) {
                               path->sweep(mode, direction, iv_at, 0, in, out, pt.size());
                           });
                if (HasFatalFailure()) return;
            }
    }
    // Checks that the backend offers these sweeps for every cipher that has the mode.
    void expect_sweep(warpseal_mode mode, bool both) {
        for (const auto& path : paths_) {
            EXPECT_TRUE(path->sweeps(mode, Direction::decrypt)) << path->target();
            EXPECT_TRUE(!both || path->sweeps(mode, Direction::encrypt)) << path->target();
        }
    }

    template <class Encrypt>
    void prefixes(warpseal_mode mode, size_t step, const Encrypt& encrypt) {
        std::vector<Text> out;
        for (size_t i = 0; i < pool; ++i) out.push_back(encrypt(ivs_[i], texts_[i]));
        for (size_t n = 0; n <= longest; n += step) {
            SCOPED_TRACE(n);
            const size_t i = n / step % pool;
            sweep_case(mode, ivs_[i], prefix(texts_[i], n), prefix(out[i], n));
            if (HasFatalFailure()) return;
        }
        count(mode);
    }

    // A quarter of the cases start at a counter whose low 32 bits wrap within the message.
    Text gcm_iv(size_t bytes) {
        if (!random_.one_in(4)) return prefix(ivs_[random_.below(pool)], 12);
        return reference::gcm_iv_for(
            *reference_cipher_,
            tests::Random::counter_before(ivs_[0], 4, random_.below(bytes / 16 + 2)));
    }

    void gcm_case(const Text& iv, const Text& aad, const Text& pt,
                  const reference::Sealed& sealed) {
        const bool flush_end = pt.size() % 2 == 0;
        const uint8_t* iv_at = iv_.put(flush_end, iv.data(), iv.size());
        const uint8_t* aad_at = aad_.put(flush_end, aad.data(), aad.size());
        for (const auto& path : paths_)
            for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                const bool forward = direction == Direction::encrypt;
                three_runs(*path, forward ? pt : sealed.ciphertext,
                           forward ? sealed.ciphertext : pt, direction,
                           [&](const uint8_t* in, uint8_t* out) {
                               warpseal::GcmState run;
                               path->gcm_begin(iv_at, iv.size(), aad_at, aad.size(), &run);
                               path->gcm_segment(direction, &run, 0, in, out, pt.size());
                               Text tag(16, 0xa5);
                               path->gcm_finish(&run, aad.size(), pt.size(), tag.data());
                               ASSERT_EQ(tag, sealed.tag) << path->target();
                           });
                if (HasFatalFailure()) return;
            }
    }

    void xts_case(const reference::Cipher& tweak, const Text& number, size_t unit_bytes,
                  const Text& pt) {
        const Text ct =
            reference::xts_units(*reference_cipher_, tweak, true, number, unit_bytes, pt);
        warpseal::XtsUnits units{{}, unit_bytes};
        std::copy(number.begin(), number.end(), units.first);
        for (const auto& path : paths_)
            for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                const bool forward = direction == Direction::encrypt;
                three_runs(*path, forward ? pt : ct, forward ? ct : pt, direction,
                           [&](const uint8_t* in, uint8_t* out) {
                               path->xts(direction, units, in, out, pt.size());
                           });
                if (HasFatalFailure()) return;
            }
    }
    std::unique_ptr<reference::Cipher> tweak() {
        const Text key = random_.text(GetParam().key_bytes);
        for (const auto& path : paths_) path->tweak(key);
        return tests::make_reference_cipher(GetParam().name, key);
    }

    tests::Random random_{std::hash<std::string>{}(GetParam().name)};
    tests::Guarded in_{longest}, out_{longest}, iv_{4096}, aad_{4096};
    Text key_;
    std::vector<Text> texts_, ivs_;
    std::unique_ptr<reference::Cipher> reference_cipher_;
    std::vector<std::unique_ptr<Path>> paths_;
    std::vector<uint64_t> counts_;
};

TEST_P(EveryLength, Ecb) {
    expect_sweep(WARPSEAL_ECB, true);
    prefixes(WARPSEAL_ECB, block(), [&](const Text&, const Text& text) {
        return reference::ecb_encrypt(*reference_cipher_, text);
    });
}

TEST_P(EveryLength, Cbc) {
    expect_sweep(WARPSEAL_CBC, false);
    prefixes(WARPSEAL_CBC, block(), [&](const Text& iv, const Text& text) {
        return reference::cbc_encrypt(*reference_cipher_, iv, text);
    });
}

TEST_P(EveryLength, Cfb) {
    expect_sweep(WARPSEAL_CFB, false);
    prefixes(WARPSEAL_CFB, 1, [&](const Text& iv, const Text& text) {
        return reference::cfb_encrypt(*reference_cipher_, iv, text);
    });
}

// Most counters carry out of their low 8, 32 or 64 bits, or all of them, within the message.
TEST_P(EveryLength, Ctr) {
    expect_sweep(WARPSEAL_CTR, true);
    static constexpr size_t ones[] = {0, 1, 4, 8, 16};
    for (size_t n = 0; n <= longest; ++n) {
        SCOPED_TRACE(n);
        const Text iv = tests::Random::counter_before(ivs_[0], std::min(block(), ones[n % 5]),
                                                      random_.below(n / block() + 2));
        const Text pt = prefix(texts_[n % pool], n);
        sweep_case(WARPSEAL_CTR, iv, pt, reference::ctr(*reference_cipher_, iv, pt));
        if (HasFatalFailure()) return;
    }
    count(WARPSEAL_CTR);
}

TEST_P(EveryLength, Gcm) {
    if (lacks(WARPSEAL_GCM)) return;
    for (size_t n = 0; n <= longest; ++n) {
        SCOPED_TRACE(n);
        const Text pt = prefix(texts_[n % pool], n), iv = gcm_iv(n),
                   aad = random_.text(random_.length(64));
        gcm_case(iv, aad, pt, reference::gcm_seal(*reference_cipher_, iv, aad, pt));
        if (HasFatalFailure()) return;
    }
    count(WARPSEAL_GCM);
}

TEST_P(EveryLength, XtsOfOneUnit) {
    if (lacks(WARPSEAL_XTS)) return;
    const auto tweak_reference = tweak();
    for (size_t n = 16; n <= longest; ++n) {
        SCOPED_TRACE(n);
        xts_case(*tweak_reference, ivs_[n % 4], n, prefix(texts_[n % 4], n));
        if (HasFatalFailure()) return;
    }
    count(WARPSEAL_XTS);
}

// Two units and a third that may be short, from unit numbers that carry far. Covers unit sizes up
// to 300 bytes and many above.
TEST_P(EveryLength, XtsOfManyUnits) {
    if (lacks(WARPSEAL_XTS)) return;
    const auto tweak_reference = tweak();
    static constexpr size_t ones[] = {1, 4, 8, 16};
    for (size_t unit = 16; unit <= longest / 2; unit += unit < 300 ? 1 : 61) {
        SCOPED_TRACE(unit);
        Text number(16, 0x33), pt = prefix(texts_[0], unit);
        for (size_t i = 0; i < ones[unit % 4]; ++i) number[i] = 0xff;
        pt.insert(pt.end(), pt.begin(), pt.end());
        const size_t last = std::min(longest - 2 * unit, 16 + random_.below(unit - 15));
        if (last >= 16)
            pt.insert(pt.end(), texts_[1].begin(), texts_[1].begin() + static_cast<long>(last));
        xts_case(*tweak_reference, number, unit, pt);
        if (HasFatalFailure()) return;
    }
    count(WARPSEAL_XTS);
}

INSTANTIATE_TEST_SUITE_P(Ciphers, EveryLength, testing::ValuesIn(targets::ciphers()),
                         [](const auto& info) {
                             std::string name = info.param.name;
                             for (char& c : name)
                                 if (c == '-') c = '_';
                             return name;
                         });

}  // namespace

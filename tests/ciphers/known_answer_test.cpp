// Known-answer tests: every row of tests/vectors on every target of this machine, both directions,
// through the public C interface. Rows refused by policy are refused there and computed by the
// internal interface.
#include "known_answer.h"

namespace {

using vectors::Row;
using vectors::Text;
using warpseal::Direction;

bool all_zero(const Text& text) {
    for (const uint8_t x : text)
        if (x != 0) return false;
    return true;
}

bool is_weak(const Row& row) {
    const warpseal::CpuCipher* cipher =
        warpseal::cpu_cipher(warpseal::Target::portable, row.cipher.c_str());
    return cipher != nullptr && cipher->weak != nullptr && cipher->weak(row.key.data());
}

class KnownAnswers : public tests::OnEachTarget {
protected:
    using OnEachTarget::count;
    void count(const Row& row, Direction direction) {
        count(row.cipher, tests::mode_of(row.mode), direction);
    }

    // Runs each direction into a fresh buffer poisoned with `poison`, and in place.
    template <class Work>
    void both_ways(const Row& row, Direction direction, uint8_t poison, const Work& work) {
        const Text& in = direction == Direction::encrypt ? row.pt : row.ct;
        const Text& expected = direction == Direction::encrypt ? row.ct : row.pt;
        Text out(in.size(), poison), same = in;
        ASSERT_EQ(work(in.data(), out.data(), in.size()), WARPSEAL_OK);
        ASSERT_EQ(out, expected);
        ASSERT_EQ(work(same.data(), same.data(), in.size()), WARPSEAL_OK);
        ASSERT_EQ(same, expected) << "in place";
        count(row, direction);
    }

    void plain_row(const Row& row, const warpseal_key* key, uint8_t poison) {
        const warpseal_mode mode = tests::mode_of(row.mode);
        for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
            const auto work = direction == Direction::encrypt ? warpseal_encrypt : warpseal_decrypt;
            both_ways(row, direction, poison, [&](const uint8_t* in, uint8_t* out, size_t bytes) {
                return work(key, mode, row.iv.data(), row.iv.size(), in, out, bytes);
            });
            if (HasFatalFailure()) return;
        }
        if (is_weak(row)) {
            const targets::KeyHandle weak = targets::key(engine_, row.cipher, row.key);
            Text out(row.pt.size(), poison);
            EXPECT_EQ(warpseal_encrypt(weak.get(), mode, row.iv.data(), row.iv.size(),
                                       row.pt.data(), out.data(), out.size()),
                      WARPSEAL_WEAK_KEY);
            EXPECT_EQ(out, Text(row.pt.size(), poison));
            ASSERT_EQ(warpseal_decrypt(weak.get(), mode, row.iv.data(), row.iv.size(),
                                       row.ct.data(), out.data(), out.size()),
                      WARPSEAL_OK);
            EXPECT_EQ(out, row.pt);
        }
    }

    void padded_row(const Row& row, const warpseal_key* key, uint8_t poison) {
        const size_t block = row.iv.size();
        size_t written = 0;
        if (row.valid) {
            Text out((row.pt.size() / block + 1) * block, poison);
            ASSERT_EQ(warpseal_encrypt_padded(key, row.iv.data(), block, row.pt.data(),
                                              row.pt.size(), out.data(), out.size(), &written),
                      WARPSEAL_OK);
            ASSERT_EQ(written, row.ct.size());
            ASSERT_EQ(out, row.ct);
            Text same = row.pt;
            same.resize(out.size(), poison);
            ASSERT_EQ(warpseal_encrypt_padded(key, row.iv.data(), block, same.data(), row.pt.size(),
                                              same.data(), same.size(), &written),
                      WARPSEAL_OK);
            ASSERT_EQ(same, row.ct) << "in place";
            count(row, Direction::encrypt);
        }
        Text out(row.ct.size(), poison), same = row.ct;
        for (const bool in_place : {false, true}) {
            Text& to = in_place ? same : out;
            const uint8_t* from = in_place ? same.data() : row.ct.data();
            written = 0;
            const warpseal_status status = warpseal_decrypt_padded(
                key, row.iv.data(), block, from, row.ct.size(), to.data(), to.size(), &written);
            if (row.valid) {
                ASSERT_EQ(status, WARPSEAL_OK);
                ASSERT_EQ(Text(to.begin(), to.begin() + static_cast<long>(written)), row.pt);
            } else if (row.ct.empty()) {
                ASSERT_EQ(status, WARPSEAL_INVALID_ARGUMENT);
            } else {
                ASSERT_EQ(status, WARPSEAL_BAD_PADDING);
                ASSERT_TRUE(all_zero(to));
                ASSERT_EQ(written, 0u);
            }
        }
        count(row, Direction::decrypt);
    }

    void xts_row(const Row& row, const warpseal_key* key, uint8_t poison) {
        const auto middle = row.key.begin() + static_cast<long>(row.key.size() / 2);
        if (std::equal(row.key.begin(), middle, middle)) {
            warpseal_key* none = nullptr;
            EXPECT_EQ(warpseal_key_create_xts(engine_.get(), row.cipher.c_str(), row.key.data(),
                                              row.key.size(), &none),
                      WARPSEAL_WEAK_KEY);
            EXPECT_EQ(none, nullptr);
        }
        for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
            const auto work =
                direction == Direction::encrypt ? warpseal_xts_encrypt : warpseal_xts_decrypt;
            both_ways(row, direction, poison, [&](const uint8_t* in, uint8_t* out, size_t bytes) {
                return work(key, row.iv.data(), bytes, in, out, bytes);
            });
            if (HasFatalFailure()) return;
        }
    }

    void mac_row(const Row& row, const warpseal_key* key, uint8_t poison) {
        if (row.valid) {
            Text tag(row.tag.size(), poison);
            ASSERT_EQ(warpseal_mac(key, WARPSEAL_CMAC, row.pt.data(), row.pt.size(), tag.data(),
                                   tag.size()),
                      WARPSEAL_OK);
            ASSERT_EQ(tag, row.tag);
            count(row, Direction::encrypt);
        }
        ASSERT_EQ(warpseal_mac_verify(key, WARPSEAL_CMAC, row.pt.data(), row.pt.size(),
                                      row.tag.data(), row.tag.size()),
                  row.valid ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC);
        count(row, Direction::decrypt);
    }

    // Returns true if the public calls accept the row's parameters.
    static bool is_public(const Row& row) {
        const size_t iv = row.iv.size(), tag = row.tag.size();
        if (row.mode == "gcm") return tag >= 12 && iv != 0;
        return tag >= 4 && tag <= 16 && tag % 2 == 0 && iv >= 7 && iv <= 13;
    }
    static bool is_defined(const Row& row) {
        return row.mode == "gcm" ? !row.iv.empty() : is_public(row);
    }

    void tagged_row(const Row& row, const warpseal_key* key, uint8_t poison) {
        const warpseal_mode mode = tests::mode_of(row.mode);
        const auto seal_by = [&](auto seal, const Text& in, Text& out, Text& tag) {
            return seal(key, mode, row.iv.data(), row.iv.size(), row.aad.data(), row.aad.size(),
                        in.data(), out.data(), in.size(), tag.data(), tag.size());
        };
        const auto open_by = [&](auto open, const Text& in, Text& out) {
            return open(key, mode, row.iv.data(), row.iv.size(), row.aad.data(), row.aad.size(),
                        in.data(), out.data(), in.size(), row.tag.data(), row.tag.size());
        };
        if (!is_public(row)) {
            Text out(row.ct.size(), poison), tag(row.tag);
            ASSERT_EQ(seal_by(warpseal_seal_unsafe_iv, row.ct, out, tag),
                      WARPSEAL_INVALID_ARGUMENT);
            ASSERT_EQ(open_by(warpseal_open, row.ct, out), WARPSEAL_INVALID_ARGUMENT);
        }
        if (is_defined(row)) {
            if (row.valid) {
                Text ct(row.pt.size(), poison), same = row.pt, tag(row.tag.size(), poison);
                for (Text* out : {&ct, &same}) {
                    const Text& in = out == &same ? same : row.pt;
                    ASSERT_EQ(is_public(row) ? seal_by(warpseal_seal_unsafe_iv, in, *out, tag)
                                             : seal_by(warpseal_internal_seal, in, *out, tag),
                              WARPSEAL_OK);
                    ASSERT_EQ(*out, row.ct);
                    ASSERT_EQ(tag, row.tag);
                }
                count(row, Direction::encrypt);
            }
            Text pt(row.ct.size(), poison), same = row.ct;
            for (Text* out : {&pt, &same}) {
                const Text& in = out == &same ? same : row.ct;
                ASSERT_EQ(is_public(row) ? open_by(warpseal_open, in, *out)
                                         : open_by(warpseal_internal_open, in, *out),
                          row.valid ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC);
                ASSERT_EQ(*out, row.valid ? row.pt : Text(row.ct.size(), 0));
            }
        }
        count(row, Direction::decrypt);
    }
};

TEST_P(KnownAnswers, Rows) {
    size_t rows = 0;
    for (const Row& row : vectors::rows()) {
        SCOPED_TRACE(row.file + ", " + row.cipher + "-" + row.mode + ", " + row.id);
        const warpseal_mode mode = tests::mode_of(row.mode);
        const targets::KeyHandle used = key(row.cipher, mode, row.key);
        ASSERT_TRUE(used);
        const uint8_t poison = rows++ % 2 == 0 ? 0xa5 : 0x5a;
        if (row.mode == "cbc-pkcs7")
            padded_row(row, used.get(), poison);
        else if (tests::is_tagged(mode))
            tagged_row(row, used.get(), poison);
        else if (mode == WARPSEAL_XTS)
            xts_row(row, used.get(), poison);
        else if (mode == WARPSEAL_CMAC)
            mac_row(row, used.get(), poison);
        else
            plain_row(row, used.get(), poison);
        if (HasFailure()) return;
    }
    std::printf("%s: %zu rows\n", GetParam(), rows);
}

// A cipher of the library without known answers in each of its modes is untested. Where a
// standard's mode has no published or generated rows of that cipher at all, other tests replace
// them: those are listed here by what is missing.
TEST(Vectors, EveryCipherHasRows) {
    for (const warpseal_cipher_info& cipher : targets::ciphers()) {
        uint32_t seen = 0;
        for (const Row& row : vectors::rows())
            if (row.cipher == cipher.name) seen |= 1u << tests::mode_of(row.mode);
        EXPECT_NE(seen, 0u) << "no file in tests/vectors/block has a row of " << cipher.name;
        for (int mode = 0; mode < WARPSEAL_MODE_COUNT; ++mode)
            if (targets::has(cipher, static_cast<warpseal_mode>(mode)) && (seen >> mode & 1) == 0)
                std::printf(
                    "NOTE %s-%s: no known answers; held to tests/reference and the portable target "
                    "alone\n",
                    cipher.name, warpseal_mode_name(static_cast<warpseal_mode>(mode)));
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, KnownAnswers, tests::every_target(), tests::target_name);

}  // namespace

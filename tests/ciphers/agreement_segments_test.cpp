// Random lengths, misalignments and segments. A message in any segments, from any block, equals the
// reference and libcrypto on every target.
#include <gtest/gtest.h>

#include "support/expected_output.h"
#include "support/matrix.h"
#include "support/paths.h"
#include "support/random.h"

namespace {

using reference::Text;
using tests::Output;
using tests::Path;
using warpseal::Direction;
using warpseal::GcmState;

constexpr size_t longest = size_t{1} << 18;
constexpr size_t longest_for_reference = size_t{1}
                                         << 14;  // limit where only the reference can check
constexpr size_t reference_limit =
    2048;  // libcrypto alone checks longer messages: it is faster than the reference

using Cipher = warpseal_cipher_info;

// Returns one of the ciphers that have the mode.
const Cipher& random_cipher(tests::Random& random, const std::vector<Cipher>& ciphers,
                            warpseal_mode mode) {
    for (;;)
        if (const Cipher& cipher = ciphers[random.below(ciphers.size())];
            targets::has(cipher, mode))
            return cipher;
}

bool any_has(const std::vector<Cipher>& ciphers, warpseal_mode mode) {
    for (const Cipher& cipher : ciphers)
        if (targets::has(cipher, mode)) return true;
    return false;
}

// Returns the counter advanced by `blocks`, modulo 2^(block bits).
Text advanced(Text counter, uint64_t blocks) {
    for (size_t i = counter.size(); i-- > 0;) {
        const uint64_t sum = counter[i] + (blocks & 0xff);
        counter[i] = static_cast<uint8_t>(sum);
        blocks = (blocks >> 8) + (sum >> 8);
    }
    return counter;
}

// Returns the number of the XTS unit `units` further on.
Text next_unit(Text number, uint64_t units) {
    std::reverse(number.begin(), number.end());
    number = advanced(number, units);
    std::reverse(number.begin(), number.end());
    return number;
}

// Returns cut positions from 0 to the end of the message, in whole blocks or units.
std::vector<size_t> cuts(tests::Random& random, size_t bytes, size_t block = 16) {
    std::vector<size_t> out{0};
    while (out.back() < bytes)
        out.push_back(std::min(
            bytes, out.back() + block * (1 + random.length(random.one_in(2) ? 64 : 4096))));
    return out;
}

struct Memory {
    tests::Guarded in{longest + 4096}, out{longest + 4096};
};

TEST(Segments, SweepsFromAnyBlockAtAnyAlignment) {
    tests::Random random(11);
    const std::vector<Cipher> all = targets::ciphers();
    static constexpr warpseal_mode modes[] = {WARPSEAL_CTR, WARPSEAL_ECB, WARPSEAL_CBC,
                                              WARPSEAL_CTR, WARPSEAL_CFB};
    Memory memory;
    for (size_t i = 0; i < 5 * 256; ++i) {
        const warpseal_mode mode = modes[i % 5];
        const Cipher& cipher = random_cipher(random, all, mode);
        const size_t block = cipher.block_bytes;
        const bool is_ctr = mode == WARPSEAL_CTR,
                   whole = mode == WARPSEAL_ECB || mode == WARPSEAL_CBC;
        const bool has_oracle =
            oracle::has(std::string(cipher.name) + "-" + warpseal_mode_name(mode));
        const size_t n = random.length(has_oracle ? longest : longest_for_reference) /
                         (whole ? block : 1) * (whole ? block : 1);
        const Text key = random.text(cipher.key_bytes), pt = random.text(n);
        const Text iv = is_ctr                 ? random.counter(n / block + 1, block)
                        : mode == WARPSEAL_ECB ? Text()
                                               : random.text(block);
        // Half of the CTR messages start at a later block of a longer one, some far beyond 2^32
        // blocks.
        const uint64_t first_block =
            !is_ctr || random.one_in(2) ? 0 : random.next() >> (1 + random.below(63));
        const tests::Message message{
            cipher.name, mode, key, is_ctr ? advanced(iv, first_block) : iv, {}, pt, 0, 0};
        const Text ct = tests::answer(message).text;
        ASSERT_TRUE(n > reference_limit || ct == tests::reference_answer(message).text);
        const size_t in_shift = i % 16,
                     out_shift = i / 16 % 16;  // all 256 alignment pairs, five times each
        for (const auto& path : tests::paths(cipher.name, key))
            for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                if (!path->sweeps(mode, direction)) continue;
                SCOPED_TRACE(path->target() + " " + cipher.name + "-" + warpseal_mode_name(mode) +
                             " case " + std::to_string(i));
                const Text& source = direction == Direction::encrypt ? pt : ct;
                const Text& expected = direction == Direction::encrypt ? ct : pt;
                if (n != 0) std::memcpy(memory.in.begin() + in_shift, source.data(), n);
                Output out(memory.out, memory.out.begin() + out_shift, n, i % 2 == 0 ? 0xa5 : 0x5a);
                const std::vector<size_t> cut = cuts(random, n, block);
                for (size_t c = 0; c + 1 < cut.size(); ++c) {
                    // CBC and CFB: the ciphertext block before the segment.
                    const uint8_t* before = iv.empty() ? nullptr
                                            : is_ctr || cut[c] == 0
                                                ? iv.data()
                                                : memory.in.begin() + in_shift + cut[c] - block;
                    path->sweep(mode, direction, before, first_block + cut[c] / block,
                                memory.in.begin() + in_shift + cut[c], out.data() + cut[c],
                                cut[c + 1] - cut[c]);
                }
                ASSERT_TRUE(out.equals(expected.data()));
                Output same(memory.out, memory.out.begin() + out_shift, n,
                            i % 2 == 0 ? 0x5a : 0xa5);
                same.load(source.data());
                path->sweep(mode, direction, iv.empty() ? nullptr : iv.data(), first_block,
                            same.data(), same.data(), n);
                ASSERT_TRUE(same.equals(expected.data()));
                matrix::count(path->target(), cipher.name, mode, direction, 2);
            }
    }
}

TEST(Segments, XtsFromAnyUnitAtAnyAlignment) {
    tests::Random random(14);
    const std::vector<Cipher> all = targets::ciphers();
    if (!any_has(all, WARPSEAL_XTS)) GTEST_SKIP() << "NOT RUN: no cipher here has XTS";
    Memory memory;
    for (size_t i = 0; i < 2 * 256; ++i) {
        const Cipher& cipher = random_cipher(random, all, WARPSEAL_XTS);
        const size_t unit =
            random.one_in(2) ? 16 + random.below(600) : size_t{16} << random.below(9);
        size_t n = 16 + random.length(longest_for_reference);
        if (n % unit != 0 && n % unit < 16) n -= n % unit;
        const Text key = random.text(2 * cipher.key_bytes), pt = random.text(n);
        Text number = random.text(16);
        for (size_t j = 0; j < 16 && !random.one_in(5); ++j)
            number[j] = 0xff;  // long carries, or wraparound
        number[0] = static_cast<uint8_t>(number[0] - random.below(4));
        const Text ct =
            tests::reference_answer({cipher.name, WARPSEAL_XTS, key, number, {}, pt, 0, unit}).text;
        const size_t in_shift = i % 16, out_shift = i / 16 % 16;
        for (const auto& path : tests::paths(cipher.name, key)) {
            path->tweak(Text(key.begin() + cipher.key_bytes, key.end()));
            for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                SCOPED_TRACE(path->target() + " " + cipher.name + " case " + std::to_string(i));
                const Text& source = direction == Direction::encrypt ? pt : ct;
                const Text& expected = direction == Direction::encrypt ? ct : pt;
                std::memcpy(memory.in.begin() + in_shift, source.data(), n);
                Output out(memory.out, memory.out.begin() + out_shift, n, i % 2 == 0 ? 0xa5 : 0x5a);
                const std::vector<size_t> cut = cuts(random, n, unit);
                for (size_t c = 0; c + 1 < cut.size(); ++c) {
                    warpseal::XtsUnits units{{}, unit};
                    const Text first = next_unit(number, cut[c] / unit);
                    std::copy(first.begin(), first.end(), units.first);
                    path->xts(direction, units, memory.in.begin() + in_shift + cut[c],
                              out.data() + cut[c], cut[c + 1] - cut[c]);
                }
                ASSERT_TRUE(out.equals(expected.data()));
                Output same(memory.out, memory.out.begin() + out_shift, n,
                            i % 2 == 0 ? 0x5a : 0xa5);
                same.load(source.data());
                warpseal::XtsUnits units{{}, unit};
                std::copy(number.begin(), number.end(), units.first);
                path->xts(direction, units, same.data(), same.data(), n);
                ASSERT_TRUE(same.equals(expected.data()));
                matrix::count(path->target(), cipher.name, WARPSEAL_XTS, direction, 2);
            }
        }
    }
}

class GcmSegments : public testing::Test {
protected:
    // Processes the message in segments. in_order: all in one run; otherwise one run each, combined
    // afterwards.
    static Text tag_of_segments(const Path& path, Direction direction, const GcmState& begun,
                                const std::vector<size_t>& cut, bool in_order, const uint8_t* in,
                                uint8_t* out, size_t aad_bytes) {
        GcmState run = begun;
        const size_t n = cut.back();
        for (size_t c = 0; c + 1 < cut.size(); ++c) {
            const size_t bytes = cut[c + 1] - cut[c];
            if (in_order) {
                path.gcm_segment(direction, &run, cut[c] / 16, in + cut[c], out + cut[c], bytes);
                continue;
            }
            GcmState segment = begun;
            std::memset(segment.sum, 0, sizeof segment.sum);
            path.gcm_segment(direction, &segment, cut[c] / 16, in + cut[c], out + cut[c], bytes);
            path.gcm_combine(run.sum, segment.sum, (bytes + 15) / 16);
        }
        Text tag(16, 0xa5);
        path.gcm_finish(&run, aad_bytes, n, tag.data());
        return tag;
    }
};

TEST_F(GcmSegments, InOrderAndCombined) {
    tests::Random random(12);
    const std::vector<Cipher> all = targets::ciphers();
    if (!any_has(all, WARPSEAL_GCM)) GTEST_SKIP() << "NOT RUN: no cipher here has GCM";
    Memory memory;
    for (size_t i = 0; i < 768; ++i) {
        const Cipher& cipher = random_cipher(random, all, WARPSEAL_GCM);
        const std::string name = cipher.name;
        const Text key = random.text(cipher.key_bytes);
        const auto reference_cipher = tests::make_reference_cipher(name, key);
        const size_t n =
            random.length(oracle::has(name + "-gcm") ? longest : longest_for_reference);
        Text iv = random.text(random.one_in(2) ? 12 : 1 + random.below(64));
        if (random.one_in(3)) {  // a J0 whose low 32 bits wrap within the message
            Text counter0 = random.text(16);
            const auto low = static_cast<uint32_t>(0 - random.below(n / 16 + 2));
            for (size_t b = 0; b < 4; ++b) counter0[15 - b] = static_cast<uint8_t>(low >> (8 * b));
            iv = reference::gcm_iv_for(*reference_cipher, counter0);
            ASSERT_EQ(reference::gcm_counter0(*reference_cipher, iv), counter0);
        }
        const Text aad = random.text(random.length(512)), pt = random.text(n);
        const auto [ct, expected_tag] =
            tests::answer({name, WARPSEAL_GCM, key, iv, aad, pt, 16, 0});
        if (n <= reference_limit) {
            const reference::Sealed sealed = reference::gcm_seal(*reference_cipher, iv, aad, pt);
            ASSERT_EQ(sealed.ciphertext, ct);
            ASSERT_EQ(sealed.tag, expected_tag);
        }
        const size_t in_shift = i % 16, out_shift = i / 16 % 16;
        for (const auto& path : tests::paths(name, key))
            for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                SCOPED_TRACE(path->target() + " " + name + " case " + std::to_string(i));
                const Text& source = direction == Direction::encrypt ? pt : ct;
                const Text& expected = direction == Direction::encrypt ? ct : pt;
                GcmState run;
                path->gcm_begin(iv.data(), iv.size(), aad.data(), aad.size(), &run);
                for (const bool in_order : {true, false}) {
                    if (n != 0) std::memcpy(memory.in.begin() + in_shift, source.data(), n);
                    Output out(memory.out, memory.out.begin() + out_shift, n,
                               in_order ? 0xa5 : 0x5a);
                    const Text tag =
                        tag_of_segments(*path, direction, run, cuts(random, n), in_order,
                                        memory.in.begin() + in_shift, out.data(), aad.size());
                    ASSERT_TRUE(out.equals(expected.data()));
                    ASSERT_EQ(tag, expected_tag);
                    Output same(memory.out, memory.out.begin() + out_shift, n, 0xa5);
                    same.load(source.data());
                    ASSERT_EQ(tag_of_segments(*path, direction, run, cuts(random, n), in_order,
                                              same.data(), same.data(), aad.size()),
                              expected_tag);
                    ASSERT_TRUE(same.equals(expected.data()));
                    matrix::count(path->target(), name, WARPSEAL_GCM, direction, 2);
                }
            }
    }
}

// Checks accumulator * H^n + segment for n up to 2^60: small powers against the reference, large
// ones by adding exponents.
TEST(GcmCombine, AnyPower) {
    tests::Random random(13);
    for (const Cipher& cipher : targets::ciphers()) {
        if (!targets::has(cipher, WARPSEAL_GCM)) continue;
        const std::string name = cipher.name;
        const Text key = random.text(cipher.key_bytes);
        const auto reference_cipher = tests::make_reference_cipher(name, key);
        for (const auto& path : tests::paths(name, key)) {
            for (uint64_t n = 0; n < 300; ++n) {
                Text sum = random.text(16);
                const Text segment = random.text(16);
                Text expected = reference::gcm_ghash(*reference_cipher, Text(16 * n, 0), sum);
                for (size_t b = 0; b < 16; ++b)
                    expected[b] = static_cast<uint8_t>(expected[b] ^ segment[b]);
                path->gcm_combine(sum.data(), segment.data(), n);
                ASSERT_EQ(sum, expected) << path->target() << " H^" << n;
            }
            for (int i = 0; i < 200; ++i) {
                const uint64_t a = random.next() >> (4 + random.below(60)),
                               b = random.next() >> (4 + random.below(60));
                const Text start = random.text(16), segment = random.text(16), zero(16, 0);
                Text once = start, twice = start;
                path->gcm_combine(once.data(), segment.data(), a + b);
                path->gcm_combine(twice.data(), zero.data(), a);
                path->gcm_combine(twice.data(), segment.data(), b);
                ASSERT_EQ(once, twice) << path->target() << " H^(" << a << " + " << b << ")";
            }
        }
    }
}

// The length block (SP 800-38D 7.1 step 5), also for more text than fits in memory.
TEST(GcmFinish, AnyLengths) {
    tests::Random random(15);
    for (const Cipher& cipher : targets::ciphers()) {
        if (!targets::has(cipher, WARPSEAL_GCM)) continue;
        const Text key = random.text(cipher.key_bytes);
        const auto reference_cipher = tests::make_reference_cipher(cipher.name, key);
        for (const auto& path : tests::paths(cipher.name, key))
            for (int i = 0; i < 100; ++i) {
                const uint64_t aad_bytes = random.next() >> (3 + random.below(61)),
                               text_bytes = random.next() >> (28 + random.below(36));
                const Text sum = random.text(16), counter0 = random.text(16);
                Text lengths(16), mask = counter0, tag(16);
                for (size_t b = 0; b < 8; ++b) {
                    lengths[7 - b] = static_cast<uint8_t>(8 * aad_bytes >> (8 * b));
                    lengths[15 - b] = static_cast<uint8_t>(8 * text_bytes >> (8 * b));
                }
                reference_cipher->encrypt(mask.data());
                Text expected = reference::gcm_ghash(*reference_cipher, lengths, sum);
                for (size_t b = 0; b < 16; ++b)
                    expected[b] = static_cast<uint8_t>(expected[b] ^ mask[b]);
                GcmState run;
                std::copy(counter0.begin(), counter0.end(), run.counter0);
                std::copy(sum.begin(), sum.end(), run.sum);
                path->gcm_finish(&run, aad_bytes, text_bytes, tag.data());
                ASSERT_EQ(tag, expected)
                    << path->target() << ", " << aad_bytes << " and " << text_bytes << " bytes";
            }
    }
}

}  // namespace

// Random lengths, misalignments and pieces: a message in any pieces, from any block, equals the reference and libcrypto on every target.
#include <gtest/gtest.h>

#include "matrix.h"
#include "oracle.h"
#include "paths.h"
#include "random.h"
#include "reference/gcm.h"
#include "reference/modes.h"

namespace {

using reference::Text;
using tests::Output;
using tests::Path;
using warpseal::Direction;
using warpseal::GcmRun;

constexpr size_t longest = size_t{1} << 18;
constexpr size_t reference_limit = 2048;  // longer messages are compared with libcrypto alone, which is faster than the twin

const std::string& random_cipher(tests::Random& random, const std::vector<std::string>& names) { return names[random.below(names.size())]; }

std::vector<std::string> names() {
    std::vector<std::string> out;
    for (const warpseal_cipher_info& cipher : targets::ciphers()) out.push_back(cipher.name);
    return out;
}

size_t key_bytes(const std::string& name) {
    for (const warpseal_cipher_info& cipher : targets::ciphers())
        if (name == cipher.name) return cipher.key_bytes;
    return 0;
}

// A counter some blocks further on, modulo 2^128.
Text advanced(Text counter, uint64_t blocks) {
    for (size_t i = 16; i-- > 0;) {
        const uint64_t sum = counter[i] + (blocks & 0xff);
        counter[i] = static_cast<uint8_t>(sum);
        blocks = (blocks >> 8) + (sum >> 8);
    }
    return counter;
}

// Where a message is cut: positions of whole blocks from 0 to its end.
std::vector<size_t> cuts(tests::Random& random, size_t bytes) {
    std::vector<size_t> out{0};
    while (out.back() < bytes) out.push_back(std::min(bytes, out.back() + 16 * (1 + random.length(random.one_in(2) ? 64 : 4096))));
    return out;
}

struct Memory {
    tests::Guarded in{longest + 4096}, out{longest + 4096};
};

TEST(Pieces, SweepsFromAnyBlockAtAnyAlignment) {
    tests::Random random(11);
    const std::vector<std::string> all = names();
    Memory memory;
    for (size_t i = 0; i < 1280; ++i) {
        const std::string name = random_cipher(random, all);
        const Text key = random.text(key_bytes(name));
        const bool is_ctr = !random.one_in(3);
        const warpseal_mode mode = is_ctr ? WARPSEAL_CTR : WARPSEAL_ECB;
        const size_t n = is_ctr ? random.length(longest) : random.length(longest) / 16 * 16;
        const Text pt = random.text(n);
        Text iv = is_ctr ? random.counter(n / 16 + 1) : Text();
        // Half of the messages begin at a later block of a longer one, some far beyond 2^32 blocks.
        const uint64_t first_block = random.one_in(2) ? 0 : random.next() >> (1 + random.below(63));
        const Text from = is_ctr ? advanced(iv, first_block) : iv;
        const Text ct = oracle::run(name + "-" + warpseal_mode_name(mode), true, key, from, {}, pt, nullptr);
        if (n <= reference_limit) {
            const auto twin = reference::cipher(name, key);
            ASSERT_EQ(ct, is_ctr ? reference::ctr(*twin, iv, pt, first_block) : reference::ecb_encrypt(*twin, pt));
        }
        const size_t in_shift = i % 16, out_shift = i / 16 % 16;  // all 256 pairs, five times over
        for (const auto& path : tests::paths(name, key))
            for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                SCOPED_TRACE(path->target() + " " + name + " case " + std::to_string(i));
                const Text& source = direction == Direction::encrypt ? pt : ct;
                const Text& expected = direction == Direction::encrypt ? ct : pt;
                if (n != 0) std::memcpy(memory.in.begin() + in_shift, source.data(), n);
                Output out(memory.out, memory.out.begin() + out_shift, n, i % 2 == 0 ? 0xa5 : 0x5a);
                const std::vector<size_t> cut = cuts(random, n);
                for (size_t c = 0; c + 1 < cut.size(); ++c)
                    path->sweep(mode, direction, is_ctr ? iv.data() : nullptr, first_block + cut[c] / 16,
                                memory.in.begin() + in_shift + cut[c], out.data() + cut[c], cut[c + 1] - cut[c]);
                ASSERT_TRUE(out.equals(expected.data()));
                Output whole(memory.out, memory.out.begin() + out_shift, n, i % 2 == 0 ? 0x5a : 0xa5);
                whole.load(source.data());
                path->sweep(mode, direction, is_ctr ? iv.data() : nullptr, first_block, whole.data(), whole.data(), n);
                ASSERT_TRUE(whole.equals(expected.data()));
                matrix::count(path->target(), name, mode, direction, 2);
            }
    }
}

class GcmPieces : public testing::Test {
protected:
    // The message cut up. in_order: pieces on one run; otherwise each on a run of its own, combined afterwards.
    static Text tag_of_pieces(const Path& path, Direction direction, const GcmRun& begun, const std::vector<size_t>& cut, bool in_order,
                              const uint8_t* in, uint8_t* out, size_t aad_bytes) {
        GcmRun run = begun;
        const size_t n = cut.back();
        for (size_t c = 0; c + 1 < cut.size(); ++c) {
            const size_t bytes = cut[c + 1] - cut[c];
            if (in_order) {
                path.gcm_piece(direction, &run, cut[c] / 16, in + cut[c], out + cut[c], bytes);
                continue;
            }
            GcmRun part = begun;
            std::memset(part.sum, 0, sizeof part.sum);
            path.gcm_piece(direction, &part, cut[c] / 16, in + cut[c], out + cut[c], bytes);
            path.gcm_combine(run.sum, part.sum, (bytes + 15) / 16);
        }
        Text tag(16, 0xa5);
        path.gcm_finish(&run, aad_bytes, n, tag.data());
        return tag;
    }
};

TEST_F(GcmPieces, InOrderAndCombined) {
    tests::Random random(12);
    const std::vector<std::string> all = names();
    Memory memory;
    for (size_t i = 0; i < 768; ++i) {
        const std::string name = random_cipher(random, all);
        const Text key = random.text(key_bytes(name));
        const auto twin = reference::cipher(name, key);
        const size_t n = random.length(longest);
        Text iv = random.text(random.one_in(2) ? 12 : 1 + random.below(64));
        if (random.one_in(3)) {  // a J0 whose low 32 bits wrap within the message
            Text counter0 = random.text(16);
            const auto low = static_cast<uint32_t>(0 - random.below(n / 16 + 2));
            for (size_t b = 0; b < 4; ++b) counter0[15 - b] = static_cast<uint8_t>(low >> (8 * b));
            iv = reference::gcm_iv_for(*twin, counter0);
            ASSERT_EQ(reference::gcm_counter0(*twin, iv), counter0);
        }
        const Text aad = random.text(random.length(512)), pt = random.text(n);
        Text expected_tag;
        const Text ct = oracle::run(name + "-gcm", true, key, iv, aad, pt, &expected_tag);
        if (n <= reference_limit) {
            const reference::Sealed sealed = reference::gcm_seal(*twin, iv, aad, pt);
            ASSERT_EQ(sealed.ciphertext, ct);
            ASSERT_EQ(sealed.tag, expected_tag);
        }
        const size_t in_shift = i % 16, out_shift = i / 16 % 16;
        for (const auto& path : tests::paths(name, key))
            for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                SCOPED_TRACE(path->target() + " " + name + " case " + std::to_string(i));
                const Text& source = direction == Direction::encrypt ? pt : ct;
                const Text& expected = direction == Direction::encrypt ? ct : pt;
                GcmRun run;
                path->gcm_begin(iv.data(), iv.size(), aad.data(), aad.size(), &run);
                for (const bool in_order : {true, false}) {
                    if (n != 0) std::memcpy(memory.in.begin() + in_shift, source.data(), n);
                    Output out(memory.out, memory.out.begin() + out_shift, n, in_order ? 0xa5 : 0x5a);
                    const Text tag = tag_of_pieces(*path, direction, run, cuts(random, n), in_order, memory.in.begin() + in_shift,
                                                   out.data(), aad.size());
                    ASSERT_TRUE(out.equals(expected.data()));
                    ASSERT_EQ(tag, expected_tag);
                    Output same(memory.out, memory.out.begin() + out_shift, n, 0xa5);
                    same.load(source.data());
                    ASSERT_EQ(tag_of_pieces(*path, direction, run, cuts(random, n), in_order, same.data(), same.data(), aad.size()),
                              expected_tag);
                    ASSERT_TRUE(same.equals(expected.data()));
                    matrix::count(path->target(), name, WARPSEAL_GCM, direction, 2);
                }
            }
    }
}

// sum * H^n + part for n up to 2^60: small powers against the reference, large ones by adding exponents.
TEST(GcmCombine, AnyPower) {
    tests::Random random(13);
    for (const std::string& name : names()) {
        const Text key = random.text(key_bytes(name));
        const auto twin = reference::cipher(name, key);
        for (const auto& path : tests::paths(name, key)) {
            for (uint64_t n = 0; n < 300; ++n) {
                Text sum = random.text(16);
                const Text part = random.text(16);
                Text expected = reference::gcm_ghash(*twin, Text(16 * n, 0), sum);
                for (size_t b = 0; b < 16; ++b) expected[b] = static_cast<uint8_t>(expected[b] ^ part[b]);
                path->gcm_combine(sum.data(), part.data(), n);
                ASSERT_EQ(sum, expected) << path->target() << " H^" << n;
            }
            for (int i = 0; i < 200; ++i) {
                const uint64_t a = random.next() >> (4 + random.below(60)), b = random.next() >> (4 + random.below(60));
                const Text start = random.text(16), part = random.text(16), zero(16, 0);
                Text once = start, twice = start;
                path->gcm_combine(once.data(), part.data(), a + b);
                path->gcm_combine(twice.data(), zero.data(), a);
                path->gcm_combine(twice.data(), part.data(), b);
                ASSERT_EQ(once, twice) << path->target() << " H^(" << a << " + " << b << ")";
            }
        }
    }
}

}  // namespace

// One message in segments: for every split the output equals that of the call for the whole
// message, on every target of this machine.
#include <algorithm>
#include <cstring>
#include <string>

#include "c_api/internal_stream.h"
#include "engine/calls.h"
#include "engine/calls/streaming.h"
#include "engine/fake_cores.h"
#include "support/fake_backend.h"
#include "support/stack.h"
#include "support/targets.h"

namespace {

using namespace warpseal;
using tests::Random;
using Text = std::vector<uint8_t>;

constexpr warpseal_mode modes[] = {WARPSEAL_ECB, WARPSEAL_CBC, WARPSEAL_CFB,
                                   WARPSEAL_OFB, WARPSEAL_CTR, WARPSEAL_GCM};
constexpr uint8_t poison = 0xc7;

struct Freed {
    void operator()(warpseal_internal_stream* message) const {
        warpseal_internal_stream_destroy(message);
    }
};
using Handle = std::unique_ptr<warpseal_internal_stream, Freed>;

Handle message(const targets::KeyHandle& key, warpseal_mode mode, bool decrypt) {
    warpseal_internal_stream* out = nullptr;
    EXPECT_EQ(warpseal_internal_stream_create(key.get(), mode, decrypt, &out), WARPSEAL_OK);
    return Handle(out);
}

// A text of one mode in either direction, from the calls for whole messages. Shorter texts have the
// same prefix, but another tag.
struct WholeMessage {
    warpseal_mode mode;
    size_t grain;  // of lengths and cuts
    Text iv, aad, plaintext, ciphertext;
    std::vector<Text> tags;  // by length

    WholeMessage(const targets::KeyHandle& key, const warpseal_cipher_info& cipher,
                 warpseal_mode with, size_t bytes, Random& random, bool all_tags)
        : mode(with), grain(mode == WARPSEAL_ECB || mode == WARPSEAL_CBC ? cipher.block_bytes : 1) {
        plaintext = random.text(bytes / grain * grain);
        ciphertext.resize(plaintext.size());
        if (mode == WARPSEAL_GCM) {
            iv = random.text(random.one_in(3) ? random.length(40) + 1 : 12);
            aad = random.text(random.length(random.one_in(2) ? 50 : 5000));
            tags.resize(plaintext.size() + 1, Text(16));
            for (size_t n = all_tags ? 0 : plaintext.size(); n <= plaintext.size(); ++n)
                EXPECT_EQ(warpseal_seal_unsafe_iv(key.get(), mode, iv.data(), iv.size(), aad.data(),
                                                  aad.size(), plaintext.data(), ciphertext.data(),
                                                  n, tags[n].data(), 16),
                          WARPSEAL_OK);
        } else {
            if (mode != WARPSEAL_ECB)
                iv = mode == WARPSEAL_CTR ? random.counter(9, cipher.block_bytes)
                                          : random.text(cipher.block_bytes);
            EXPECT_EQ(warpseal_encrypt(key.get(), mode, iv.data(), iv.size(), plaintext.data(),
                                       ciphertext.data(), plaintext.size()),
                      WARPSEAL_OK);
        }
    }
};

// Sends messages one after another through one handle: in segments that end at `cuts`, in place or
// into poisoned memory.
class Splitter {
public:
    Splitter(const targets::KeyHandle& key, const WholeMessage& whole, bool decrypt)
        : whole_(whole),
          decrypt_(decrypt),
          from_(decrypt ? whole.ciphertext : whole.plaintext),
          to_(decrypt ? whole.plaintext : whole.ciphertext),
          message_(message(key, whole.mode, decrypt)),
          memory_(from_.size() + 16) {}

    testing::AssertionResult holds(const std::vector<size_t>& cuts, bool in_place) {
        const size_t bytes = cuts.back();
        std::fill(memory_.begin(), memory_.end(), poison);
        if (in_place) std::copy_n(from_.begin(), bytes, memory_.begin());
        bool ok = warpseal_internal_stream_init(message_.get(), whole_.iv.data(),
                                                whole_.iv.size()) == WARPSEAL_OK;
        if (whole_.mode == WARPSEAL_GCM) {  // cut as the text is
            size_t at = 0;
            for (size_t i = 0; i <= cuts.size(); ++i) {
                const size_t end =
                    i == cuts.size() ? whole_.aad.size() : std::min(cuts[i], whole_.aad.size());
                ok &= warpseal_internal_stream_aad(message_.get(), whole_.aad.data() + at,
                                                   end - at) == WARPSEAL_OK;
                at = end;
            }
        }
        size_t at = 0;
        for (const size_t end : cuts) {
            const uint8_t* const in = in_place ? memory_.data() + at : from_.data() + at;
            ok &= warpseal_internal_stream_update(message_.get(), in, memory_.data() + at,
                                                  end - at) == WARPSEAL_OK;
            at = end;
        }
        ok &= std::equal(memory_.begin(), memory_.begin() + static_cast<std::ptrdiff_t>(bytes),
                         to_.begin());
        ok &= std::all_of(memory_.begin() + static_cast<std::ptrdiff_t>(bytes), memory_.end(),
                          [](uint8_t x) { return x == poison; });
        if (whole_.mode == WARPSEAL_GCM) ok &= ends_with(whole_.tags[bytes]);
        if (ok) return testing::AssertionSuccess();
        auto failure = testing::AssertionFailure()
                       << warpseal_mode_name(whole_.mode)
                       << (decrypt_ ? " decryption" : " encryption")
                       << (in_place ? " in place" : "") << ", segments that end at";
        for (const size_t cut : cuts) failure << " " << cut;
        return failure;
    }

private:
    bool ends_with(const Text& tag) {
        if (decrypt_)
            return warpseal_internal_stream_verify(message_.get(), tag.data(), 16) == WARPSEAL_OK;
        uint8_t got[16];
        return warpseal_internal_stream_tag(message_.get(), got, 16) == WARPSEAL_OK &&
               std::memcmp(got, tag.data(), 16) == 0;
    }

    const WholeMessage& whole_;
    const bool decrypt_;
    const Text &from_, &to_;
    const Handle message_;
    Text memory_;
};

bool has(const warpseal_cipher_info& cipher, warpseal_mode mode) {
    return targets::has(cipher, mode);
}

std::vector<std::string> usable_cores() {
    std::vector<std::string> names;
    for (const auto& target : targets::all())
        if (target.usable != 0 && std::strcmp(target.name, "cuda") != 0)
            names.push_back(target.name);
    return names;
}

// Blocks of 16 and of 8 bytes: every length up to five blocks, in every three segments, some of
// them empty.
TEST(StreamingContext, EveryCutOfShortMessages) {
    Random random(901);
    const auto engine = targets::engine("cpu");
    for (const auto& cipher : targets::ciphers()) {
        if (std::strcmp(cipher.name, "aes-128") != 0 && std::strcmp(cipher.name, "des-ede3") != 0)
            continue;
        const auto key = targets::key(engine, cipher.name, random.text(cipher.key_bytes));
        for (const warpseal_mode mode : modes) {
            if (!has(cipher, mode)) continue;
            const WholeMessage whole(key, cipher, mode, 5 * cipher.block_bytes, random, true);
            for (const bool decrypt : {false, true}) {
                Splitter cutter(key, whole, decrypt);
                for (size_t end = 0; end <= whole.plaintext.size(); end += whole.grain)
                    for (size_t second = 0; second <= end; second += whole.grain)
                        for (size_t first = 0; first <= second; first += whole.grain)
                            ASSERT_TRUE(
                                cutter.holds({first, second, end}, (first + second + end) % 2 == 0))
                                << cipher.name;
            }
        }
    }
}

class OnTarget : public testing::TestWithParam<std::string> {};

// All ciphers: every two segments of a short message, and random segments of long ones.
TEST_P(OnTarget, SplitsDoNotChangeTheOutput) {
    Random random(902);
    const auto engine = targets::engine(GetParam());
    const size_t longest = GetParam() == "portable" ? 1500 : 6000;
    for (const auto& cipher : targets::ciphers()) {
        const auto key = targets::key(engine, cipher.name, random.text(cipher.key_bytes));
        for (const warpseal_mode mode : modes) {
            if (!has(cipher, mode)) continue;
            const WholeMessage short_message(key, cipher, mode, 83, random, false),
                whole(key, cipher, mode, longest, random, false);
            for (const bool decrypt : {false, true}) {
                Splitter short_cutter(key, short_message, decrypt), cutter(key, whole, decrypt);
                const size_t end = short_message.plaintext.size();
                for (size_t first = 0; first <= end; first += short_message.grain)
                    ASSERT_TRUE(
                        short_cutter.holds({first, end}, first / short_message.grain % 2 == 0))
                        << cipher.name;
                for (int n = 0; n < 6; ++n) {
                    std::vector<size_t> cuts;
                    for (size_t at = 0; cuts.size() < 40 && at < whole.plaintext.size();
                         cuts.push_back(at))
                        at = std::min(whole.plaintext.size(),
                                      at + random.length(longest) / whole.grain * whole.grain);
                    cuts.push_back(whole.plaintext.size());
                    ASSERT_TRUE(cutter.holds(cuts, n % 2 == 0)) << cipher.name;
                }
            }
        }
    }
}

// Two segments past update() on either side of a carry out of the counter's last 32 bits, and
// across it.
TEST_P(OnTarget, LoopsOfCounterModeCarry) {
    Random random(908);
    const auto engine = targets::engine(GetParam());
    const auto key = targets::key(engine, "aes-128", random.text(16));
    const Text text = random.text(16 * 16);
    const Handle handle = message(key, WARPSEAL_CTR, false);
    for (size_t until_carry = 1; until_carry <= 8; ++until_carry) {
        const Text iv = Random::counter_before(random.text(16), 4, until_carry - 1);
        Text expected(text.size());
        ASSERT_EQ(warpseal_encrypt(key.get(), WARPSEAL_CTR, iv.data(), 16, text.data(),
                                   expected.data(), text.size()),
                  WARPSEAL_OK);
        for (size_t n = 16; n < text.size(); n += 16) {
            ASSERT_EQ(warpseal_internal_stream_init(handle.get(), iv.data(), 16), WARPSEAL_OK);
            const warpseal_internal_block_loop loop = warpseal_internal_stream_loop(handle.get());
            ASSERT_EQ(loop.most_bytes != 0, GetParam() != "portable");
            if (loop.most_bytes == 0) return;
            Text out = text;
            loop.run(loop.state, loop.feedback, out.data(), out.data(), n);
            loop.run(loop.state, loop.feedback, out.data() + n, out.data() + n, out.size() - n);
            ASSERT_EQ(out, expected)
                << until_carry << " blocks until the carry, the first segment of " << n << " bytes";
        }
    }
}

// Segments past update() and segments through it, in any order: one message.
TEST_P(OnTarget, LoopsAndUpdatesContinueEachOther) {
    Random random(904);
    const auto engine = targets::engine(GetParam());
    size_t direct = 0;
    for (const auto& cipher : targets::ciphers()) {
        if (std::strncmp(cipher.name, "aes", 3) != 0) continue;
        const auto key = targets::key(engine, cipher.name, random.text(cipher.key_bytes));
        for (const warpseal_mode mode : modes) {
            if (mode == WARPSEAL_GCM) continue;
            const WholeMessage whole(key, cipher, mode, 3000, random, false);
            for (const bool decrypt : {false, true})
                for (int round = 0; round < 8; ++round) {
                    const Text &from = decrypt ? whole.ciphertext : whole.plaintext,
                               &to = decrypt ? whole.plaintext : whole.ciphertext;
                    const Handle handle = message(key, mode, decrypt);
                    EXPECT_EQ(warpseal_internal_stream_loop(handle.get()).most_bytes, 0u)
                        << "no message is in progress";
                    ASSERT_EQ(warpseal_internal_stream_init(handle.get(), whole.iv.data(),
                                                            whole.iv.size()),
                              WARPSEAL_OK);
                    Text out = from;
                    for (size_t at = 0, n; at < out.size(); at += n) {
                        const warpseal_internal_block_loop loop =
                            warpseal_internal_stream_loop(handle.get());
                        const size_t most = std::min(loop.most_bytes, out.size() - at) / 16;
                        const bool past = most != 0 && !random.one_in(3);
                        n = past ? 16 * (1 + random.below(most))
                                 : std::min(out.size() - at,
                                            random.length(90) / whole.grain * whole.grain);
                        if (past && ++direct != 0) {
                            loop.run(loop.state, loop.feedback, out.data() + at, out.data() + at,
                                     n);
                        } else {
                            ASSERT_EQ(warpseal_internal_stream_update(handle.get(), out.data() + at,
                                                                      out.data() + at, n),
                                      WARPSEAL_OK);
                        }
                    }
                    ASSERT_TRUE(out == to) << cipher.name << " " << warpseal_mode_name(mode)
                                           << (decrypt ? " decryption" : " encryption");
                }
        }
    }
    EXPECT_EQ(direct != 0, GetParam() != "portable");
}

targets::KeyHandle xts_key(const targets::EngineHandle& engine, const char* cipher,
                           const Text& bytes) {
    warpseal_key* out = nullptr;
    EXPECT_EQ(warpseal_key_create_xts(engine.get(), cipher, bytes.data(), bytes.size(), &out),
              WARPSEAL_OK);
    return targets::KeyHandle(out);
}

// A caller on a fibre's stack does not check for free stack first.
TEST_P(OnTarget, SmallSegmentsUseLittleStack) {
    if (tests::stacks_are_sanitized) GTEST_SKIP() << "sanitizers";
    Random random(909);
    const auto engine = targets::engine(GetParam());
    tests::Stack stack;
    size_t shallow = 0;
    bool instructions = false;
    for (const auto& cipher : targets::ciphers()) {
        instructions |= GetParam() != "portable" && std::strncmp(cipher.name, "aes", 3) == 0;
        for (const warpseal_mode mode : {WARPSEAL_ECB, WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_OFB,
                                         WARPSEAL_CTR, WARPSEAL_GCM, WARPSEAL_XTS}) {
            if (!has(cipher, mode)) continue;
            const bool two_keys = mode == WARPSEAL_XTS;
            const Text bytes = random.text((two_keys ? 2 : 1) * cipher.key_bytes),
                       iv = random.text(16);
            const auto key = two_keys ? xts_key(engine, cipher.name, bytes)
                                      : targets::key(engine, cipher.name, bytes);
            for (const bool decrypt : {false, true}) {
                const Handle handle = message(key, mode, decrypt);
                const size_t most = warpseal_internal_stream_shallow_bytes(handle.get());
                Text text = random.text(most);
                const size_t iv_bytes = mode == WARPSEAL_ECB   ? 0
                                        : mode == WARPSEAL_GCM ? 12
                                                               : cipher.block_bytes;
                ASSERT_EQ(warpseal_internal_stream_init(handle.get(), iv.data(), iv_bytes),
                          WARPSEAL_OK);
                for (size_t n = 16; n <= most; n *= 2, ++shallow)
                    for (int i = 0; i < 2;
                         ++i) {  // the dynamic linker resolves a function at its first call
                        warpseal_status status = WARPSEAL_OK;
                        stack.after([&] {
                            status = warpseal_internal_stream_update(handle.get(), text.data(),
                                                                     text.data(), n);
                        });
                        ASSERT_EQ(status, WARPSEAL_OK);
                        ASSERT_TRUE(i == 0 || stack.deepest_bytes() < size_t{8} << 10)
                            << cipher.name << ", " << mode << ", " << n;
                    }
            }
        }
    }
    EXPECT_EQ(shallow != 0, instructions);
}

INSTANTIATE_TEST_SUITE_P(All, OnTarget, testing::ValuesIn(usable_cores()),
                         [](const auto& info) { return info.param; });

// ---- states

struct Aes {
    targets::EngineHandle engine = targets::engine("cpu");
    warpseal_cipher_info cipher = {};
    targets::KeyHandle key;
    explicit Aes(Random& random) {
        EXPECT_EQ(warpseal_cipher_at(0, &cipher), WARPSEAL_OK);
        key = targets::key(engine, cipher.name, random.text(cipher.key_bytes));
    }
};

// A clone and its original continue independently, and a finished context starts anew.
TEST(StreamingContext, AClonedContextIsIndependent) {
    Random random(903);
    const Aes aes(random);
    for (const warpseal_mode mode : modes) {
        const WholeMessage whole(aes.key, aes.cipher, mode, 700, random, true);
        const size_t end = whole.plaintext.size();
        for (const size_t cut :
             {size_t{0}, 5 * whole.grain, end / 2 / whole.grain * whole.grain, end}) {
            const Handle first = message(aes.key, mode, false);
            Text out(end), again(end);
            for (int round = 0; round < 2; ++round) {
                ASSERT_EQ(
                    warpseal_internal_stream_init(first.get(), whole.iv.data(), whole.iv.size()),
                    WARPSEAL_OK);
                if (mode == WARPSEAL_GCM) {
                    ASSERT_EQ(warpseal_internal_stream_aad(first.get(), whole.aad.data(),
                                                           whole.aad.size()),
                              WARPSEAL_OK);
                }
                ASSERT_EQ(warpseal_internal_stream_update(first.get(), whole.plaintext.data(),
                                                          out.data(), cut),
                          WARPSEAL_OK);
                warpseal_internal_stream* made = nullptr;
                ASSERT_EQ(warpseal_internal_stream_copy(first.get(), &made), WARPSEAL_OK);
                const Handle second(made);
                std::copy_n(out.begin(), cut, again.begin());
                const auto rest = [&](const Handle& it, Text& to) {
                    EXPECT_EQ(
                        warpseal_internal_stream_update(it.get(), whole.plaintext.data() + cut,
                                                        to.data() + cut, end - cut),
                        WARPSEAL_OK);
                    EXPECT_TRUE(to == whole.ciphertext) << warpseal_mode_name(mode) << " " << cut;
                    uint8_t tag[16];
                    if (mode == WARPSEAL_GCM &&
                        warpseal_internal_stream_tag(it.get(), tag, 16) == WARPSEAL_OK) {
                        EXPECT_EQ(std::memcmp(tag, whole.tags[end].data(), 16), 0);
                    }
                };
                rest(first, out);
                rest(second, again);
            }
        }
    }
}

TEST(StreamingContext, PositionAllowsResuming) {
    Random random(904);
    const Aes aes(random);
    for (const warpseal_mode mode : {WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_OFB, WARPSEAL_CTR}) {
        const WholeMessage whole(aes.key, aes.cipher, mode, 800, random, false);
        for (const bool decrypt : {false, true}) {
            const Handle it = message(aes.key, mode, decrypt),
                         next = message(aes.key, mode, decrypt);
            const Text &from = decrypt ? whole.ciphertext : whole.plaintext,
                       &to = decrypt ? whole.plaintext : whole.ciphertext;
            uint8_t iv[16];
            uint32_t used = 99;
            warpseal_internal_stream_position(it.get(), iv, &used);
            EXPECT_EQ(used, 0u);
            ASSERT_EQ(warpseal_internal_stream_init(it.get(), whole.iv.data(), 16), WARPSEAL_OK);
            Text out(800), rest(800);
            for (size_t at = 0; at < 700;) {
                const size_t n = whole.grain == 16 ? 16 * random.below(5) : random.below(70);
                ASSERT_EQ(
                    warpseal_internal_stream_update(it.get(), from.data() + at, out.data() + at, n),
                    WARPSEAL_OK);
                at += n;
                warpseal_internal_stream_position(it.get(), iv, &used);
                ASSERT_EQ(used, at % 16);
                for (size_t i = used; i < 16 && used != 0 && mode != WARPSEAL_CTR;
                     ++i)  // the rest of the keystream
                    ASSERT_EQ(whole.plaintext[at - used + i] ^ iv[i],
                              whole.ciphertext[at - used + i]);
                if (mode == WARPSEAL_CFB) {
                    ASSERT_EQ(std::memcmp(iv, whole.ciphertext.data() + at - used, used), 0);
                }
                if (used != 0 && mode != WARPSEAL_CTR) continue;
                const size_t begin = at + (16 - used) % 16;
                ASSERT_EQ(warpseal_internal_stream_init(next.get(), iv, 16), WARPSEAL_OK);
                ASSERT_EQ(warpseal_internal_stream_update(next.get(), from.data() + begin,
                                                          rest.data(), 800 - begin),
                          WARPSEAL_OK);
                ASSERT_EQ(std::memcmp(rest.data(), to.data() + begin, 800 - begin), 0)
                    << warpseal_mode_name(mode) << " " << at;
            }
        }
    }
}

TEST(StreamingContext, WrongCallsChangeNothing) {
    Random random(905);
    const Aes aes(random);
    const auto xts = [&] {
        warpseal_key* out = nullptr;
        EXPECT_EQ(
            warpseal_key_create_xts(aes.engine.get(), "aes-128", random.text(32).data(), 32, &out),
            WARPSEAL_OK);
        return targets::KeyHandle(out);
    }();
    constexpr warpseal_status invalid = WARPSEAL_INVALID_ARGUMENT, limit = WARPSEAL_LIMIT_EXCEEDED;
    warpseal_internal_stream* none = nullptr;
    EXPECT_EQ(warpseal_internal_stream_create(nullptr, WARPSEAL_CTR, 0, &none), invalid);
    EXPECT_EQ(warpseal_internal_stream_create(aes.key.get(), WARPSEAL_CTR, 0, nullptr), invalid);
    // Plain integers, as a C caller may pass: C++ has no enumeration objects outside the
    // enumeration's range.
    for (const int mode : {int{WARPSEAL_XTS}, int{WARPSEAL_CCM}, int{WARPSEAL_CMAC}, 99, -1})
        EXPECT_EQ(warpseal_internal_stream_create(aes.key.get(), static_cast<warpseal_mode>(mode),
                                                  0, &none),
                  invalid)
            << mode;
    EXPECT_EQ(warpseal_internal_stream_create(xts.get(), WARPSEAL_CTR, 0, &none), invalid);
    EXPECT_EQ(warpseal_internal_stream_create(targets::key(aes.engine, "des", random.text(8)).get(),
                                              WARPSEAL_GCM, 0, &none),
              WARPSEAL_UNSUPPORTED);
    EXPECT_EQ(none, nullptr);

    uint8_t iv[16] = {1}, in[64] = {2}, out[64], tag[16];
    for (const warpseal_mode mode : modes) {
        const Handle it = message(aes.key, mode, true);
        EXPECT_EQ(warpseal_internal_stream_update(it.get(), in, out, 16), invalid) << "not begun";
        EXPECT_EQ(warpseal_internal_stream_tag(it.get(), tag, 16), invalid);
        EXPECT_EQ(warpseal_internal_stream_init(it.get(), iv,
                                                mode == WARPSEAL_ECB   ? 16
                                                : mode == WARPSEAL_GCM ? 0
                                                                       : 12),
                  invalid);
        EXPECT_EQ(warpseal_internal_stream_init(it.get(), nullptr, mode == WARPSEAL_GCM ? 12 : 16),
                  invalid);
        EXPECT_EQ(warpseal_internal_stream_update(it.get(), in, out, 16), invalid) << "not begun";
        const size_t iv_bytes = mode == WARPSEAL_ECB ? 0 : mode == WARPSEAL_GCM ? 12 : 16;
        ASSERT_EQ(warpseal_internal_stream_init(it.get(), iv, iv_bytes), WARPSEAL_OK);
        EXPECT_EQ(warpseal_internal_stream_update(it.get(), nullptr, out, 16), invalid);
        EXPECT_EQ(warpseal_internal_stream_update(it.get(), in, nullptr, 16), invalid);
        EXPECT_EQ(warpseal_internal_stream_update(it.get(), out, out + 1, 32), invalid);
        EXPECT_EQ(warpseal_internal_stream_update(it.get(), out + 31, out, 32), invalid);
        EXPECT_EQ(warpseal_internal_stream_update(it.get(), nullptr, nullptr, 0), WARPSEAL_OK);
        if (mode == WARPSEAL_ECB || mode == WARPSEAL_CBC) {
            EXPECT_EQ(warpseal_internal_stream_update(it.get(), in, out, 17), invalid);
        }
        if (mode == WARPSEAL_GCM) continue;
        EXPECT_EQ(warpseal_internal_stream_aad(it.get(), in, 3), invalid);
        EXPECT_EQ(warpseal_internal_stream_tag(it.get(), tag, 16), invalid);
        EXPECT_EQ(warpseal_internal_stream_verify(it.get(), tag, 16), invalid);
    }

    const Handle sealer = message(aes.key, WARPSEAL_GCM, false),
                 opener = message(aes.key, WARPSEAL_GCM, true);
    const auto begin = [&] {
        for (const Handle* it : {&sealer, &opener})
            ASSERT_EQ(warpseal_internal_stream_init(it->get(), iv, 12), WARPSEAL_OK);
    };
    begin();
    EXPECT_EQ(warpseal_internal_stream_aad(sealer.get(), nullptr, 3), invalid);
    EXPECT_EQ(warpseal_internal_stream_aad(sealer.get(), in, size_t{1} << 61), limit);
    ASSERT_EQ(warpseal_internal_stream_aad(sealer.get(), in, 1), WARPSEAL_OK);
    EXPECT_EQ(warpseal_internal_stream_aad(sealer.get(), in, (size_t{1} << 61) - 1), limit);
    EXPECT_EQ(warpseal_internal_stream_aad(sealer.get(), in, SIZE_MAX), limit);
    EXPECT_EQ(warpseal_internal_stream_update(sealer.get(), out, out, (size_t{1} << 36) - 31),
              limit);
    ASSERT_EQ(warpseal_internal_stream_update(sealer.get(), in, out, 40), WARPSEAL_OK);
    EXPECT_EQ(warpseal_internal_stream_update(sealer.get(), out, out, (size_t{1} << 36) - 71),
              limit);
    EXPECT_EQ(warpseal_internal_stream_update(sealer.get(), out, out, SIZE_MAX), limit);
    EXPECT_EQ(warpseal_internal_stream_aad(sealer.get(), in, 1), invalid) << "after text";
    EXPECT_EQ(warpseal_internal_stream_tag(sealer.get(), tag, 0), invalid);
    EXPECT_EQ(warpseal_internal_stream_tag(sealer.get(), tag, 17), invalid);
    EXPECT_EQ(warpseal_internal_stream_tag(sealer.get(), nullptr, 16), invalid);
    EXPECT_EQ(warpseal_internal_stream_verify(sealer.get(), tag, 16), invalid) << "it seals";
    ASSERT_EQ(warpseal_internal_stream_tag(sealer.get(), tag, 16), WARPSEAL_OK)
        << "no wrong call changed the state";
    uint8_t expected[16];
    ASSERT_EQ(warpseal_seal_unsafe_iv(aes.key.get(), WARPSEAL_GCM, iv, 12, in, 1, in, out, 40,
                                      expected, 16),
              WARPSEAL_OK);
    EXPECT_EQ(std::memcmp(tag, expected, 16), 0);
    EXPECT_EQ(warpseal_internal_stream_tag(sealer.get(), tag, 16), invalid) << "once";
    EXPECT_EQ(warpseal_internal_stream_update(sealer.get(), in, out, 1), invalid);

    for (size_t tag_bytes = 1; tag_bytes <= 16; ++tag_bytes)
        for (size_t wrong = 0; wrong <= tag_bytes; ++wrong) {  // the last is right
            begin();
            ASSERT_EQ(warpseal_internal_stream_aad(opener.get(), in, 1), WARPSEAL_OK);
            ASSERT_EQ(warpseal_internal_stream_update(opener.get(), out, in + 20, 40), WARPSEAL_OK);
            std::memcpy(tag, expected, 16);
            if (wrong < 16) tag[wrong] ^= 0x10;
            EXPECT_EQ(warpseal_internal_stream_verify(opener.get(), tag, tag_bytes),
                      wrong == tag_bytes ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC);
            EXPECT_EQ(warpseal_internal_stream_verify(opener.get(), tag, tag_bytes), invalid)
                << "once";
        }
}

TEST(StreamingContext, WeakKeysDoNotEncrypt) {
    EngineOptions options;
    options.device = "portable";
    options.cuda = nullptr;
    options.cores = tests::choosy_cipher;
    std::unique_ptr<Engine> engine;
    ASSERT_EQ(Engine::create(options, engine), WARPSEAL_OK);
    std::unique_ptr<Key> key;
    ASSERT_EQ(engine->key("aes-256", {Text(32, 9).data(), 32}, key), WARPSEAL_OK);
    for (const warpseal_mode mode : modes) {
        std::unique_ptr<StreamingContext> it;
        EXPECT_EQ(StreamingContext::create(*engine, *key, mode, Direction::encrypt, it),
                  WARPSEAL_WEAK_KEY);
        EXPECT_EQ(StreamingContext::create(*engine, *key, mode, Direction::decrypt, it),
                  WARPSEAL_OK);
    }
}

// The mode's target and that of single blocks each have a self-test of their own.
TEST(StreamingContext, SingleBlocksHaveASelfTestOfTheirOwn) {
    Random random(907);
    const Text secret = random.text(32), iv = random.text(16), text = random.text(45);
    EngineOptions options;
    options.cuda = nullptr;
    options.cores = tests::machine_cipher;
    options.cores_have = tests::machine_has;
    for (const warpseal_mode mode : {WARPSEAL_CFB, WARPSEAL_OFB, WARPSEAL_CTR, WARPSEAL_GCM}) {
        tests::break_cores(Target::vaes512, tests::Break::sweep, WARPSEAL_ECB, Direction::encrypt);
        std::unique_ptr<Engine> engine;
        ASSERT_EQ(Engine::create(options, engine), WARPSEAL_OK);
        std::unique_ptr<Key> key, right_key;
        ASSERT_EQ(engine->key("aes-256", {secret.data(), 32}, key), WARPSEAL_OK);
        ASSERT_EQ(tests::cores().key("aes-256", {secret.data(), 32}, right_key), WARPSEAL_OK);
        std::unique_ptr<StreamingContext> it;
        ASSERT_EQ(StreamingContext::create(*engine, *key, mode, Direction::encrypt, it),
                  WARPSEAL_OK);
        Text got(45), right(45);
        uint8_t tag[16], right_tag[16] = {};
        const Bytes first{iv.data(), mode == WARPSEAL_GCM ? size_t{12} : 16};
        if (mode == WARPSEAL_GCM) {
            ASSERT_EQ(tests::cores().seal(*right_key, mode, first, {}, text.data(), right.data(),
                                          45, right_tag, 16),
                      WARPSEAL_OK);
        } else {
            ASSERT_EQ(tests::cores().message(*right_key, mode, Direction::encrypt, first,
                                             text.data(), right.data(), 45),
                      WARPSEAL_OK);
        }
        ASSERT_EQ(it->begin(first), WARPSEAL_OK);
        ASSERT_EQ(it->update(text.data(), got.data(), 45), WARPSEAL_OK);
        EXPECT_TRUE(got == right) << warpseal_mode_name(mode);
        if (mode == WARPSEAL_GCM) {
            ASSERT_EQ(it->tag(tag, 16), WARPSEAL_OK);
            EXPECT_EQ(std::memcmp(tag, right_tag, 16), 0);
        }
        tests::mend_cores();
        tests::break_all_cores(tests::Break::sweep, WARPSEAL_ECB, Direction::encrypt);
        std::unique_ptr<Engine> without;
        ASSERT_EQ(Engine::create(options, without), WARPSEAL_OK);
        std::unique_ptr<Key> unusable;
        ASSERT_EQ(without->key("aes-256", {secret.data(), 32}, unusable), WARPSEAL_OK);
        std::unique_ptr<StreamingContext> none;
        EXPECT_EQ(StreamingContext::create(*without, *unusable, mode, Direction::encrypt, none),
                  WARPSEAL_SELF_TEST_FAILED);
        tests::mend_cores();
    }
}

// ---- what a message leaves

// Access to the memory of a message. The rules for access do not apply to an explicit
// instantiation.
using Memory = std::pair<const uint8_t*, size_t>;
Memory memory_of(const StreamingContext& context);
template <class State>
Memory bytes_of(const State& state) {
    return {reinterpret_cast<const uint8_t*>(&state), sizeof state};
}
template <auto member>
struct MemoryOf {
    friend Memory memory_of(const StreamingContext& context) {
        return bytes_of((context.*member).value);
    }
};
template struct MemoryOf<&StreamingContext::state_>;

// Neither keystream nor text waits for the next message.
TEST(StreamingContext, AMessageLeavesNothingInItsMemory) {
    Random random(907);
    const Text secret = random.text(16), iv = random.text(16), text = random.text(1000);
    std::unique_ptr<Key> key;
    ASSERT_EQ(tests::cores().key("aes-128", {secret.data(), 16}, key), WARPSEAL_OK);
    for (const warpseal_mode mode : modes)
        for (const size_t bytes : {3, 16, 100, 600, 999}) {
            const bool gcm = mode == WARPSEAL_GCM, ecb = mode == WARPSEAL_ECB;
            const size_t some = ecb || mode == WARPSEAL_CBC ? bytes / 16 * 16 : bytes;
            std::unique_ptr<StreamingContext> it;
            ASSERT_EQ(StreamingContext::create(tests::cores(), *key, mode, Direction::encrypt, it),
                      WARPSEAL_OK);
            const auto [memory, size] = memory_of(*it);
            const auto is_clear = [&, at = memory, n = size] {
                return std::all_of(at, at + n, [](uint8_t byte) { return byte == 0; });
            };
            for (const bool by_tag : {true, false}) {
                if (by_tag && !gcm) continue;
                ASSERT_EQ(it->begin({iv.data(), ecb ? size_t{0} : gcm ? 12 : 16}), WARPSEAL_OK);
                if (gcm) {
                    ASSERT_EQ(it->aad({text.data(), 37}), WARPSEAL_OK);
                }
                Text out(some + 1);
                ASSERT_EQ(it->update(text.data(), out.data(), some), WARPSEAL_OK);
                EXPECT_TRUE(ecb || !is_clear()) << "the message is there until it ends";
                uint8_t tag[16];
                ASSERT_EQ(by_tag ? it->tag(tag, 16) : it->rekey(tests::cores(), *key), WARPSEAL_OK);
                EXPECT_TRUE(is_clear()) << warpseal_mode_name(mode) << " " << bytes;
            }
        }
}

// ---- large segments

// How much of it was processed is unknown, so no further segment may follow.
TEST(StreamingContext, ALargeSegmentThatFailsEndsTheMessage) {
    constexpr size_t large = size_t{9} << 20;
    const Text secret(16, 5), iv(16, 6);
    Text text(large);
    for (const warpseal_mode mode : {WARPSEAL_ECB, WARPSEAL_CTR, WARPSEAL_GCM}) {
        tests::Script script;
        script.wrong_host = UINT32_MAX;  // the self-test before the first call fails
        EngineOptions options;
        options.device = "cuda";
        options.cuda = tests::fake_backend(script);
        std::unique_ptr<Engine> engine;
        ASSERT_EQ(Engine::create(options, engine), WARPSEAL_OK);
        std::unique_ptr<Key> key;
        ASSERT_EQ(engine->key("aes-128", {secret.data(), 16}, key), WARPSEAL_OK);
        std::unique_ptr<StreamingContext> it;
        ASSERT_EQ(StreamingContext::create(*engine, *key, mode, Direction::encrypt, it),
                  WARPSEAL_OK);
        for (int round = 0; round < 2; ++round) {
            ASSERT_EQ(it->begin({iv.data(), mode == WARPSEAL_ECB   ? size_t{0}
                                            : mode == WARPSEAL_GCM ? 12
                                                                   : 16}),
                      WARPSEAL_OK);
            EXPECT_EQ(it->update(text.data(), text.data(), 32), WARPSEAL_OK);
            EXPECT_EQ(it->update(text.data(), text.data(), large), WARPSEAL_SELF_TEST_FAILED)
                << warpseal_mode_name(mode);
            EXPECT_EQ(it->update(text.data(), text.data(), 32), WARPSEAL_INVALID_ARGUMENT)
                << warpseal_mode_name(mode);
        }
    }
}

// Small and large segments in turn: the large ones are shared with a GPU, also one that is lost
// meanwhile.
TEST(StreamingContext, LargeSegmentsUseTheEnginesPath) {
    constexpr size_t large = (size_t{9} << 20) + 48,
                     cuts[] = {37, 37 + large, 37 + large + 100, 37 + 2 * large + 100};
    constexpr size_t bytes = 37 + 2 * large + 105;
    Random random(906);
    const Text secret = random.text(16), iv = random.text(16), text = random.text(bytes);
    for (const warpseal_mode mode : modes)
        for (const Direction direction : {Direction::encrypt, Direction::decrypt})
            for (const bool lost : {false, true}) {
                const bool whole = mode == WARPSEAL_ECB || mode == WARPSEAL_CBC,
                           in_place = direction == Direction::encrypt;
                const Bytes first{iv.data(), mode == WARPSEAL_ECB   ? size_t{0}
                                             : mode == WARPSEAL_GCM ? 12
                                                                    : 16};
                const size_t all = whole ? bytes / 16 * 16 : bytes;
                EngineOptions options;
                options.threads = 2;
                options.cuda = tests::fake_backend();
                options.speeds = [](int) { return Speed{2, 2}; };
                std::unique_ptr<Engine> engine;
                ASSERT_EQ(Engine::create(options, engine), WARPSEAL_OK);
                ASSERT_EQ(engine->cuda_device(), 0);
                std::unique_ptr<Key> key, core_key;
                ASSERT_EQ(engine->key("aes-128", {secret.data(), 16}, key), WARPSEAL_OK);
                ASSERT_EQ(tests::cores().key("aes-128", {secret.data(), 16}, core_key),
                          WARPSEAL_OK);
                Text right(all), got = in_place ? text : Text(bytes);
                uint8_t tag[16], got_tag[16];
                if (mode != WARPSEAL_GCM) {
                    ASSERT_EQ(tests::cores().message(*core_key, mode, direction, first, text.data(),
                                                     right.data(), all),
                              WARPSEAL_OK);
                } else {  // the keystream is the same either way; the tag covers the ciphertext
                    ASSERT_EQ(tests::cores().seal(*core_key, mode, first, {}, text.data(),
                                                  right.data(), all, tag, 16),
                              WARPSEAL_OK);
                    Text sealed(all);
                    if (direction == Direction::decrypt) {
                        ASSERT_EQ(tests::cores().seal(*core_key, mode, first, {}, right.data(),
                                                      sealed.data(), all, tag, 16),
                                  WARPSEAL_OK);
                    }
                }
                std::unique_ptr<StreamingContext> it;
                ASSERT_EQ(StreamingContext::create(*engine, *key, mode, direction, it),
                          WARPSEAL_OK);
                ASSERT_EQ(it->begin(first), WARPSEAL_OK);
                const uint64_t calls = tests::script().host_calls;
                size_t at = 0;
                const auto up_to = [&](size_t end) {
                    end = whole ? end / 16 * 16 : end;
                    ASSERT_EQ(
                        it->update((in_place ? got : text).data() + at, got.data() + at, end - at),
                        WARPSEAL_OK);
                    at = end;
                };
                for (const size_t cut : cuts) {
                    up_to(cut);
                    if (lost && at < large) tests::script().fail_at = tests::script().steps + 300;
                }
                up_to(bytes);
                got.resize(all);
                EXPECT_TRUE(got == right)
                    << warpseal_mode_name(mode) << static_cast<int>(direction) << lost;
                if (mode == WARPSEAL_GCM) {
                    ASSERT_EQ(it->tag(got_tag, 16), WARPSEAL_OK);
                    EXPECT_EQ(std::memcmp(got_tag, tag, 16), 0);
                }
                EXPECT_EQ(tests::script().host_calls != calls,
                          sweeps(mode, direction) || mode == WARPSEAL_GCM)
                    << warpseal_mode_name(mode);
                EXPECT_EQ(tests::script().lost,
                          lost && (sweeps(mode, direction) || mode == WARPSEAL_GCM))
                    << warpseal_mode_name(mode);
            }
}

}  // namespace

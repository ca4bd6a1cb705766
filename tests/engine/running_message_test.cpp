// One message in pieces: however it is cut, what comes out is what the call for the whole message gives, on every target of this machine.
#include <algorithm>
#include <cstring>
#include <string>

#include "engine/calls.h"
#include "engine/running_message.h"
#include "engine/scripted_cores.h"
#include "engine/scripted_door.h"
#include "targets.h"
#include "warpseal/inner_message.h"

namespace {

using namespace warpseal;
using tests::Random;
using Text = std::vector<uint8_t>;

constexpr warpseal_mode modes[] = {WARPSEAL_ECB, WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_OFB, WARPSEAL_CTR, WARPSEAL_GCM};
constexpr uint8_t poison = 0xc7;

struct Freed {
    void operator()(warpseal_inner_message* message) const { warpseal_inner_message_destroy(message); }
};
using Handle = std::unique_ptr<warpseal_inner_message, Freed>;

Handle message(const targets::KeyHandle& key, warpseal_mode mode, bool decrypt) {
    warpseal_inner_message* out = nullptr;
    EXPECT_EQ(warpseal_inner_message_create(key.get(), mode, decrypt, &out), WARPSEAL_OK);
    return Handle(out);
}

// A text of one mode either way, by the calls for whole messages. What is shorter begins alike, but for its tag.
struct Whole {
    warpseal_mode mode;
    size_t grain;  // of lengths and cuts
    Text iv, aad, plaintext, ciphertext;
    std::vector<Text> tags;  // by length

    Whole(const targets::KeyHandle& key, const warpseal_cipher_info& cipher, warpseal_mode with, size_t bytes, Random& random,
          bool all_tags)
        : mode(with), grain(mode == WARPSEAL_ECB || mode == WARPSEAL_CBC ? cipher.block_bytes : 1) {
        plaintext = random.text(bytes / grain * grain);
        ciphertext.resize(plaintext.size());
        if (mode == WARPSEAL_GCM) {
            iv = random.text(random.one_in(3) ? random.length(40) + 1 : 12);
            aad = random.text(random.length(50));
            tags.resize(plaintext.size() + 1, Text(16));
            for (size_t n = all_tags ? 0 : plaintext.size(); n <= plaintext.size(); ++n)
                EXPECT_EQ(warpseal_seal_unsafe_iv(key.get(), mode, iv.data(), iv.size(), aad.data(), aad.size(), plaintext.data(),
                                                  ciphertext.data(), n, tags[n].data(), 16),
                          WARPSEAL_OK);
        } else {
            if (mode != WARPSEAL_ECB) iv = mode == WARPSEAL_CTR ? random.counter(9, cipher.block_bytes) : random.text(cipher.block_bytes);
            EXPECT_EQ(warpseal_encrypt(key.get(), mode, iv.data(), iv.size(), plaintext.data(), ciphertext.data(), plaintext.size()),
                      WARPSEAL_OK);
        }
    }
};

// One message after the other through one handle: in pieces that end at `cuts`, in place or into memory that is poisoned before.
class Cutter {
public:
    Cutter(const targets::KeyHandle& key, const Whole& whole, bool decrypt)
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
        bool ok = warpseal_inner_message_begin(message_.get(), whole_.iv.data(), whole_.iv.size()) == WARPSEAL_OK;
        if (whole_.mode == WARPSEAL_GCM) {  // cut as the text is
            size_t at = 0;
            for (size_t i = 0; i <= cuts.size(); ++i) {
                const size_t end = i == cuts.size() ? whole_.aad.size() : std::min(cuts[i], whole_.aad.size());
                ok &= warpseal_inner_message_aad(message_.get(), whole_.aad.data() + at, end - at) == WARPSEAL_OK;
                at = end;
            }
        }
        size_t at = 0;
        for (const size_t end : cuts) {
            const uint8_t* const in = in_place ? memory_.data() + at : from_.data() + at;
            ok &= warpseal_inner_message_update(message_.get(), in, memory_.data() + at, end - at) == WARPSEAL_OK;
            at = end;
        }
        ok &= std::equal(memory_.begin(), memory_.begin() + static_cast<std::ptrdiff_t>(bytes), to_.begin());
        ok &= std::all_of(memory_.begin() + static_cast<std::ptrdiff_t>(bytes), memory_.end(), [](uint8_t x) { return x == poison; });
        if (whole_.mode == WARPSEAL_GCM) ok &= ends_with(whole_.tags[bytes]);
        if (ok) return testing::AssertionSuccess();
        auto failure = testing::AssertionFailure() << warpseal_mode_name(whole_.mode) << (decrypt_ ? " decryption" : " encryption")
                                                   << (in_place ? " in place" : "") << ", pieces that end at";
        for (const size_t cut : cuts) failure << " " << cut;
        return failure;
    }

private:
    bool ends_with(const Text& tag) {
        if (decrypt_) return warpseal_inner_message_verify(message_.get(), tag.data(), 16) == WARPSEAL_OK;
        uint8_t got[16];
        return warpseal_inner_message_tag(message_.get(), got, 16) == WARPSEAL_OK && std::memcmp(got, tag.data(), 16) == 0;
    }

    const Whole& whole_;
    const bool decrypt_;
    const Text &from_, &to_;
    const Handle message_;
    Text memory_;
};

bool has(const warpseal_cipher_info& cipher, warpseal_mode mode) { return targets::has(cipher, mode); }

std::vector<std::string> usable_cores() {
    std::vector<std::string> names;
    for (const auto& target : targets::all())
        if (target.usable != 0 && std::strcmp(target.name, "cuda") != 0) names.push_back(target.name);
    return names;
}

// Blocks of 16 and of 8 bytes: every length up to five blocks, in every three pieces, of which some are empty.
TEST(RunningMessage, EveryCutOfShortMessages) {
    Random random(901);
    const auto engine = targets::engine("cpu");
    for (const auto& cipher : targets::ciphers()) {
        if (std::strcmp(cipher.name, "aes-128") != 0 && std::strcmp(cipher.name, "des-ede3") != 0) continue;
        const auto key = targets::key(engine, cipher.name, random.text(cipher.key_bytes));
        for (const warpseal_mode mode : modes) {
            if (!has(cipher, mode)) continue;
            const Whole whole(key, cipher, mode, 5 * cipher.block_bytes, random, true);
            for (const bool decrypt : {false, true}) {
                Cutter cutter(key, whole, decrypt);
                for (size_t end = 0; end <= whole.plaintext.size(); end += whole.grain)
                    for (size_t second = 0; second <= end; second += whole.grain)
                        for (size_t first = 0; first <= second; first += whole.grain)
                            ASSERT_TRUE(cutter.holds({first, second, end}, (first + second + end) % 2 == 0)) << cipher.name;
            }
        }
    }
}

class OnTarget : public testing::TestWithParam<std::string> {};

// All ciphers: every two pieces of a short message, and random pieces of long ones.
TEST_P(OnTarget, CutsChangeNothing) {
    Random random(902);
    const auto engine = targets::engine(GetParam());
    const size_t longest = GetParam() == "portable" ? 3000 : 9000;
    for (const auto& cipher : targets::ciphers()) {
        const auto key = targets::key(engine, cipher.name, random.text(cipher.key_bytes));
        for (const warpseal_mode mode : modes) {
            if (!has(cipher, mode)) continue;
            const Whole brief(key, cipher, mode, 83, random, false), whole(key, cipher, mode, longest, random, false);
            for (const bool decrypt : {false, true}) {
                Cutter short_cutter(key, brief, decrypt), cutter(key, whole, decrypt);
                const size_t end = brief.plaintext.size();
                for (size_t first = 0; first <= end; first += brief.grain)
                    ASSERT_TRUE(short_cutter.holds({first, end}, first / brief.grain % 2 == 0)) << cipher.name;
                for (int n = 0; n < 8; ++n) {
                    std::vector<size_t> cuts;
                    for (size_t at = 0; cuts.size() < 40 && at < whole.plaintext.size(); cuts.push_back(at))
                        at = std::min(whole.plaintext.size(), at + random.length(longest) / whole.grain * whole.grain);
                    cuts.push_back(whole.plaintext.size());
                    ASSERT_TRUE(cutter.holds(cuts, n % 2 == 0)) << cipher.name;
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, OnTarget, testing::ValuesIn(usable_cores()), [](const auto& info) { return info.param; });

}  // namespace

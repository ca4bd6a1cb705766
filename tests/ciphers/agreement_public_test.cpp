// Whole messages through the public C interface on each target and on `auto`, with one thread and
// with many. All equal the reference.
#include <gtest/gtest.h>

#include <cstring>

#include "support/expected_output.h"
#include "support/matrix.h"
#include "support/random.h"
#include "support/targets.h"

namespace {

using reference::Text;
using targets::EngineHandle;
using targets::KeyHandle;
using warpseal::Direction;

struct Device {
    std::string name;
    EngineHandle engine;
};

std::vector<Device> devices() {
    std::vector<Device> out;
    for (const warpseal_target_info& target : targets::all()) {
        if (!target.usable) continue;
        for (const unsigned threads : {1u, 3u})
            out.push_back({target.name, targets::engine(target.name, threads)});
    }
    out.push_back({"auto", targets::engine("auto", 0)});
    return out;
}

constexpr size_t serial_longest =
    4096;  // modes serial in one message: slow where a block costs as much as a bundle

// Small lengths, and lengths that an engine splits; fewer of those where only the slow reference
// can check.
size_t length(tests::Random& random, bool has_oracle) {
    if (!has_oracle && !random.one_in(8)) return random.length(size_t{1} << 13);
    return random.one_in(8) ? (size_t{1} << 20) + random.below(size_t{has_oracle ? 3u : 1u} << 20)
                            : random.length(size_t{1} << 17);
}

bool has_oracle(const warpseal_cipher_info& cipher, warpseal_mode mode) {
    return mode < WARPSEAL_XTS &&
           oracle::has(std::string(cipher.name) + "-" + warpseal_mode_name(mode));
}

class Public : public testing::Test {
protected:
    void count(const Device& device, const std::string& cipher, warpseal_mode mode,
               Direction direction) {
        const char* target = device.name == "auto" ? nullptr : device.name.c_str();
        if (target != nullptr) matrix::count(target, cipher, mode, direction);
    }
    const warpseal_cipher_info& cipher_with(tests::Random& random, warpseal_mode mode) const {
        for (;;)
            if (const warpseal_cipher_info& cipher = ciphers_[random.below(ciphers_.size())];
                targets::has(cipher, mode))
                return cipher;
    }
    bool any_has(warpseal_mode mode) const {
        for (const warpseal_cipher_info& cipher : ciphers_)
            if (targets::has(cipher, mode)) return true;
        return false;
    }
    std::vector<warpseal_cipher_info> ciphers_ = targets::ciphers();
    std::vector<Device> devices_ = devices();
};

TEST_F(Public, EncryptAndDecrypt) {
    tests::Random random(31);
    static constexpr warpseal_mode modes[] = {WARPSEAL_CTR, WARPSEAL_ECB, WARPSEAL_CBC,
                                              WARPSEAL_CFB, WARPSEAL_OFB, WARPSEAL_CTR};
    for (int i = 0; i < 240; ++i) {
        const warpseal_mode mode = modes[i % 6];
        const warpseal_cipher_info& cipher = cipher_with(random, mode);
        const size_t block = cipher.block_bytes,
                     whole = mode == WARPSEAL_ECB || mode == WARPSEAL_CBC ? block : 1;
        const size_t n = (mode == WARPSEAL_OFB ? random.length(serial_longest)
                                               : length(random, has_oracle(cipher, mode))) /
                         whole * whole;
        const bool encrypts = n <= serial_longest || (mode != WARPSEAL_CBC && mode != WARPSEAL_CFB);
        const Text key_bytes = random.text(cipher.key_bytes), pt = random.text(n);
        const Text iv = mode == WARPSEAL_ECB ? Text() : random.counter(n / block + 1, block);
        const Text ct = tests::answer({cipher.name, mode, key_bytes, iv, {}, pt, 0, 0}).text;
        for (const Device& device : devices_) {
            SCOPED_TRACE(device.name + " " + cipher.name + "-" + warpseal_mode_name(mode) +
                         " case " + std::to_string(i));
            const KeyHandle key = targets::key(device.engine, cipher.name, key_bytes);
            Text out(n + 16, 0xa5);
            if (encrypts) {
                ASSERT_EQ(warpseal_encrypt(key.get(), mode, iv.data(), iv.size(), pt.data(),
                                           out.data() + i % 16, n),
                          WARPSEAL_OK);
                count(device, cipher.name, mode, Direction::encrypt);
            } else {
                std::copy(ct.begin(), ct.end(), out.begin() + i % 16);
            }
            ASSERT_EQ(std::memcmp(out.data() + i % 16, ct.data(), n), 0);
            ASSERT_EQ(warpseal_decrypt(key.get(), mode, iv.data(), iv.size(), out.data() + i % 16,
                                       out.data() + i % 16, n),
                      WARPSEAL_OK);
            ASSERT_EQ(std::memcmp(out.data() + i % 16, pt.data(), n), 0);
            count(device, cipher.name, mode, Direction::decrypt);
        }
    }
}

TEST_F(Public, Xts) {
    if (!any_has(WARPSEAL_XTS)) GTEST_SKIP() << "NOT RUN: no cipher here has XTS";
    tests::Random random(33);
    for (int i = 0; i < 60; ++i) {
        const warpseal_cipher_info& cipher = cipher_with(random, WARPSEAL_XTS);
        const size_t unit =
            random.one_in(2) ? 16 + random.below(5000) : size_t{512} << random.below(5);
        size_t n = 16 + length(random, false);
        if (n % unit != 0 && n % unit < 16) n -= n % unit;
        const Text key_bytes = random.text(2 * cipher.key_bytes), pt = random.text(n);
        Text number = random.text(16);
        for (size_t j = 0; j < 16 && !random.one_in(5); ++j) number[j] = 0xff;
        const Text ct =
            tests::answer({cipher.name, WARPSEAL_XTS, key_bytes, number, {}, pt, 0, unit}).text;
        for (const Device& device : devices_) {
            SCOPED_TRACE(device.name + " " + cipher.name + " case " + std::to_string(i));
            warpseal_key* made = nullptr;
            ASSERT_EQ(warpseal_key_create_xts(device.engine.get(), cipher.name, key_bytes.data(),
                                              key_bytes.size(), &made),
                      WARPSEAL_OK);
            const KeyHandle key(made);
            Text out(n, 0xa5);
            ASSERT_EQ(
                warpseal_xts_encrypt(key.get(), number.data(), unit, pt.data(), out.data(), n),
                WARPSEAL_OK);
            ASSERT_TRUE(out == ct);
            ASSERT_EQ(
                warpseal_xts_decrypt(key.get(), number.data(), unit, out.data(), out.data(), n),
                WARPSEAL_OK);
            ASSERT_TRUE(out == pt);
            count(device, cipher.name, WARPSEAL_XTS, Direction::encrypt);
            count(device, cipher.name, WARPSEAL_XTS, Direction::decrypt);
        }
    }
}

TEST_F(Public, Mac) {
    if (!any_has(WARPSEAL_CMAC)) GTEST_SKIP() << "NOT RUN: no cipher here has CMAC";
    tests::Random random(34);
    for (int i = 0; i < 120; ++i) {
        const warpseal_cipher_info& cipher = cipher_with(random, WARPSEAL_CMAC);
        const Text key_bytes = random.text(cipher.key_bytes),
                   text = random.text(random.length(serial_longest));
        const size_t tag_bytes = 4 + random.below(cipher.block_bytes - 3);
        const Text tag =
            tests::answer({cipher.name, WARPSEAL_CMAC, key_bytes, {}, {}, text, tag_bytes, 0}).tag;
        for (const Device& device : devices_) {
            SCOPED_TRACE(device.name + " " + cipher.name + " case " + std::to_string(i));
            const KeyHandle key = targets::key(device.engine, cipher.name, key_bytes);
            Text got(tag_bytes + 1, 0x5a), changed = tag;
            ASSERT_EQ(warpseal_mac(key.get(), WARPSEAL_CMAC, text.data(), text.size(), got.data(),
                                   tag_bytes),
                      WARPSEAL_OK);
            ASSERT_EQ(std::memcmp(got.data(), tag.data(), tag_bytes), 0);
            ASSERT_EQ(got.back(), 0x5a);
            ASSERT_EQ(warpseal_mac_verify(key.get(), WARPSEAL_CMAC, text.data(), text.size(),
                                          tag.data(), tag_bytes),
                      WARPSEAL_OK);
            changed[random.below(tag_bytes)] ^= static_cast<uint8_t>(1u << random.below(8));
            ASSERT_EQ(warpseal_mac_verify(key.get(), WARPSEAL_CMAC, text.data(), text.size(),
                                          changed.data(), tag_bytes),
                      WARPSEAL_NOT_AUTHENTIC);
            count(device, cipher.name, WARPSEAL_CMAC, Direction::encrypt);
            count(device, cipher.name, WARPSEAL_CMAC, Direction::decrypt);
        }
    }
}

TEST_F(Public, SealAndOpen) {
    tests::Random random(32);
    for (int i = 0; i < 200; ++i) {
        const warpseal_mode mode = i % 5 == 0 ? WARPSEAL_CCM : WARPSEAL_GCM;
        if (!any_has(mode)) continue;
        const bool gcm = mode == WARPSEAL_GCM;
        const warpseal_cipher_info& cipher = cipher_with(random, mode);
        const size_t n = gcm ? length(random, has_oracle(cipher, mode))
                             : random.length(serial_longest),
                     tag_bytes = gcm ? 12 + random.below(5) : 4 + 2 * random.below(7);
        const Text key_bytes = random.text(cipher.key_bytes), pt = random.text(n),
                   aad = random.text(random.length(1 << 12));
        Text iv = random.text(!gcm               ? 7 + random.below(5)
                              : random.one_in(2) ? 12
                                                 : 1 + random.below(60));
        if (gcm && random.one_in(4)) {  // the 32-bit counter wraps within the message, also where
                                        // an engine splits it
            const Text counter0 =
                tests::Random::counter_before(random.text(16), 4, random.below(n / 16 + 2));
            iv = reference::gcm_iv_for(*tests::make_reference_cipher(cipher.name, key_bytes),
                                       counter0);
        }
        const auto [ct, tag] =
            tests::answer({cipher.name, mode, key_bytes, iv, aad, pt, tag_bytes, 0});
        for (const Device& device : devices_) {
            SCOPED_TRACE(device.name + " " + cipher.name + "-" + warpseal_mode_name(mode) +
                         " case " + std::to_string(i));
            const KeyHandle key = targets::key(device.engine, cipher.name, key_bytes);
            Text out(n, 0x5a), got(tag_bytes, 0x5a);
            ASSERT_EQ(warpseal_seal_unsafe_iv(key.get(), mode, iv.data(), iv.size(), aad.data(),
                                              aad.size(), pt.data(), out.data(), n, got.data(),
                                              tag_bytes),
                      WARPSEAL_OK);
            ASSERT_TRUE(out == ct);
            ASSERT_EQ(got, tag);
            ASSERT_EQ(warpseal_open(key.get(), mode, iv.data(), iv.size(), aad.data(), aad.size(),
                                    out.data(), out.data(), n, got.data(), tag_bytes),
                      WARPSEAL_OK);
            ASSERT_TRUE(out == pt);
            count(device, cipher.name, mode, Direction::encrypt);
            count(device, cipher.name, mode, Direction::decrypt);
            // A changed bit anywhere, including AAD and IV, is refused and the output is zeros.
            Text ct2 = ct, aad2 = aad, iv2 = iv, tag2 = got;
            Text* const parts[] = {&ct2, &aad2, &iv2, &tag2};
            Text& part = *parts[random.below(4)];
            if (part.empty()) continue;
            part[random.below(part.size())] ^= static_cast<uint8_t>(1u << random.below(8));
            ASSERT_EQ(warpseal_open(key.get(), mode, iv2.data(), iv2.size(), aad2.data(),
                                    aad2.size(), ct2.data(), out.data(), n, tag2.data(), tag_bytes),
                      WARPSEAL_NOT_AUTHENTIC);
            ASSERT_TRUE(out == Text(n, 0));
        }
    }
}

// The library draws the IV: it never repeats, and the sealed text opens under it.
TEST_F(Public, SealDrawsItsIv) {
    for (const Device& device : devices_)
        for (const warpseal_cipher_info& cipher : ciphers_) {
            if (!targets::has(cipher, WARPSEAL_GCM)) continue;
            const KeyHandle key =
                targets::key(device.engine, cipher.name, Text(cipher.key_bytes, 7));
            std::vector<Text> seen;
            for (int i = 0; i < 64; ++i) {
                Text iv(12, 0), tag(16), pt(33, 1), out(33);
                ASSERT_EQ(warpseal_seal(key.get(), WARPSEAL_GCM, iv.data(), nullptr, 0, pt.data(),
                                        out.data(), pt.size(), tag.data(), tag.size()),
                          WARPSEAL_OK);
                ASSERT_EQ(std::find(seen.begin(), seen.end(), iv), seen.end());
                seen.push_back(iv);
                ASSERT_EQ(warpseal_open(key.get(), WARPSEAL_GCM, iv.data(), iv.size(), nullptr, 0,
                                        out.data(), out.data(), out.size(), tag.data(), tag.size()),
                          WARPSEAL_OK);
                ASSERT_EQ(out, pt);
            }
        }
}

// `auto` must use an available target for every size.
TEST_F(Public, AutoPicksAUsableTarget) {
    const EngineHandle engine = targets::engine("auto", 0);
    for (const warpseal_cipher_info& cipher : ciphers_)
        for (const uint64_t bytes :
             {uint64_t{0}, uint64_t{16}, uint64_t{1} << 20, uint64_t{1} << 34}) {
            const std::string pick = warpseal_engine_pick(engine.get(), cipher.name, WARPSEAL_CTR,
                                                          bytes),
                              shared = "cuda+";
            const bool is_shared = pick.substr(0, shared.size()) == shared;
            const auto usable = [](const std::string& name) {
                for (const warpseal_target_info& target : targets::all())
                    if (name == target.name) return target.usable != 0;
                return false;
            };
            EXPECT_TRUE(is_shared ? usable("cuda") && usable(pick.substr(shared.size()))
                                  : usable(pick))
                << pick;
        }
}

}  // namespace

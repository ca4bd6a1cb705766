// Whole messages through the public C interface, on each target and on `auto`, with one thread and with many: all equal libcrypto.
#include <gtest/gtest.h>

#include <cstring>

#include "matrix.h"
#include "oracle.h"
#include "random.h"
#include "reference/gcm.h"
#include "targets.h"

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
        for (const unsigned threads : {1u, 3u}) out.push_back({target.name, targets::engine(target.name, threads)});
    }
    out.push_back({"auto", targets::engine("auto", 0)});
    return out;
}

// Small ones, and ones long enough that an engine cuts them up.
size_t length(tests::Random& random) {
    return random.one_in(8) ? (size_t{1} << 20) + random.below(size_t{3} << 20) : random.length(size_t{1} << 17);
}

class Public : public testing::Test {
protected:
    void count(const Device& device, const std::string& cipher, warpseal_mode mode, Direction direction) {
        const char* target = device.name == "auto" ? nullptr : device.name.c_str();
        if (target != nullptr) matrix::count(target, cipher, mode, direction);
    }
    std::vector<warpseal_cipher_info> ciphers_ = targets::ciphers();
    std::vector<Device> devices_ = devices();
};

TEST_F(Public, EncryptAndDecrypt) {
    tests::Random random(31);
    for (int i = 0; i < 160; ++i) {
        const warpseal_cipher_info& cipher = ciphers_[random.below(ciphers_.size())];
        const warpseal_mode mode = random.one_in(3) ? WARPSEAL_ECB : WARPSEAL_CTR;
        const size_t n = mode == WARPSEAL_ECB ? length(random) / cipher.block_bytes * cipher.block_bytes : length(random);
        const Text key_bytes = random.text(cipher.key_bytes), pt = random.text(n);
        const Text iv = mode == WARPSEAL_ECB ? Text() : random.counter(n / 16 + 1);
        const Text ct = oracle::run(std::string(cipher.name) + "-" + warpseal_mode_name(mode), true, key_bytes, iv, {}, pt, nullptr);
        for (const Device& device : devices_) {
            SCOPED_TRACE(device.name + " " + cipher.name + " case " + std::to_string(i));
            const KeyHandle key = targets::key(device.engine, cipher.name, key_bytes);
            Text out(n + 16, 0xa5);
            ASSERT_EQ(warpseal_encrypt(key.get(), mode, iv.data(), iv.size(), pt.data(), out.data() + i % 16, n), WARPSEAL_OK);
            ASSERT_EQ(std::memcmp(out.data() + i % 16, ct.data(), n), 0);
            ASSERT_EQ(warpseal_decrypt(key.get(), mode, iv.data(), iv.size(), out.data() + i % 16, out.data() + i % 16, n), WARPSEAL_OK);
            ASSERT_EQ(std::memcmp(out.data() + i % 16, pt.data(), n), 0);
            count(device, cipher.name, mode, Direction::encrypt);
            count(device, cipher.name, mode, Direction::decrypt);
        }
    }
}

TEST_F(Public, SealAndOpen) {
    tests::Random random(32);
    for (int i = 0; i < 160; ++i) {
        const warpseal_cipher_info& cipher = ciphers_[random.below(ciphers_.size())];
        const size_t n = length(random), tag_bytes = 12 + random.below(5);
        const Text key_bytes = random.text(cipher.key_bytes), pt = random.text(n), aad = random.text(random.length(1 << 12));
        Text iv = random.text(random.one_in(2) ? 12 : 1 + random.below(60));
        if (random.one_in(4)) {  // the 32-bit counter wraps within the message, also where an engine cuts it
            Text counter0 = random.text(16);
            const auto low = static_cast<uint32_t>(0 - random.below(n / 16 + 2));
            for (size_t b = 0; b < 4; ++b) counter0[15 - b] = static_cast<uint8_t>(low >> (8 * b));
            iv = reference::gcm_iv_for(*reference::cipher(cipher.name, key_bytes), counter0);
        }
        Text tag;
        const Text ct = oracle::run(std::string(cipher.name) + "-gcm", true, key_bytes, iv, aad, pt, &tag);
        for (const Device& device : devices_) {
            SCOPED_TRACE(device.name + " " + cipher.name + " case " + std::to_string(i));
            const KeyHandle key = targets::key(device.engine, cipher.name, key_bytes);
            Text out(n, 0x5a), got(tag_bytes, 0x5a);
            ASSERT_EQ(warpseal_seal_unsafe_iv(key.get(), WARPSEAL_GCM, iv.data(), iv.size(), aad.data(), aad.size(), pt.data(), out.data(),
                                              n, got.data(), tag_bytes),
                      WARPSEAL_OK);
            ASSERT_TRUE(out == ct);
            ASSERT_EQ(std::memcmp(got.data(), tag.data(), tag_bytes), 0);
            ASSERT_EQ(warpseal_open(key.get(), WARPSEAL_GCM, iv.data(), iv.size(), aad.data(), aad.size(), out.data(), out.data(), n,
                                    got.data(), tag_bytes),
                      WARPSEAL_OK);
            ASSERT_TRUE(out == pt);
            // One bit changed anywhere, the AAD and the IV included: refused, and nothing but zeros comes out.
            Text ct2 = ct, aad2 = aad, iv2 = iv, tag2 = got;
            Text* const parts[] = {&ct2, &aad2, &iv2, &tag2};
            Text& part = *parts[random.below(4)];
            if (part.empty()) continue;
            part[random.below(part.size())] ^= static_cast<uint8_t>(1u << random.below(8));
            ASSERT_EQ(warpseal_open(key.get(), WARPSEAL_GCM, iv2.data(), iv2.size(), aad2.data(), aad2.size(), ct2.data(), out.data(), n,
                                    tag2.data(), tag_bytes),
                      WARPSEAL_NOT_AUTHENTIC);
            ASSERT_TRUE(out == Text(n, 0));
            count(device, cipher.name, WARPSEAL_GCM, Direction::encrypt);
            count(device, cipher.name, WARPSEAL_GCM, Direction::decrypt);
        }
    }
}

// The library draws the IV: never the same twice, and what it seals opens under it.
TEST_F(Public, SealDrawsItsIv) {
    for (const Device& device : devices_)
        for (const warpseal_cipher_info& cipher : ciphers_) {
            const KeyHandle key = targets::key(device.engine, cipher.name, Text(cipher.key_bytes, 7));
            std::vector<Text> seen;
            for (int i = 0; i < 64; ++i) {
                Text iv(12, 0), tag(16), pt(33, 1), out(33);
                ASSERT_EQ(
                    warpseal_seal(key.get(), WARPSEAL_GCM, iv.data(), nullptr, 0, pt.data(), out.data(), pt.size(), tag.data(), tag.size()),
                    WARPSEAL_OK);
                ASSERT_EQ(std::find(seen.begin(), seen.end(), iv), seen.end());
                seen.push_back(iv);
                ASSERT_EQ(warpseal_open(key.get(), WARPSEAL_GCM, iv.data(), iv.size(), nullptr, 0, out.data(), out.data(), out.size(),
                                        tag.data(), tag.size()),
                          WARPSEAL_OK);
                ASSERT_EQ(out, pt);
            }
        }
}

// `auto` must use what the machine has, whatever the size.
TEST_F(Public, AutoPicksAUsableTarget) {
    const EngineHandle engine = targets::engine("auto", 0);
    for (const warpseal_cipher_info& cipher : ciphers_)
        for (const uint64_t bytes : {uint64_t{0}, uint64_t{16}, uint64_t{1} << 20, uint64_t{1} << 34}) {
            const std::string pick = warpseal_engine_pick(engine.get(), cipher.name, WARPSEAL_GCM, bytes);
            bool usable = false;
            for (const warpseal_target_info& target : targets::all()) usable = usable || (target.usable && pick == target.name);
            EXPECT_TRUE(usable) << pick;
        }
}

}  // namespace

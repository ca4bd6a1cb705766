// After a key is destroyed, no writable page of the process holds it, any of its round keys or its hash key.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "random.h"
#include "reference/cipher.h"
#include "targets.h"

namespace {

using vectors::Text;

// Everything secret is kept here xored with a mask, so that the search finds copies of the library's alone.
constexpr uint64_t mask = 0x5a5a5a5a5a5a5a5au;

struct Pattern {
    uint64_t low, high;  // 16 bytes, masked
};

Pattern pattern(const uint8_t* bytes) {
    Pattern p;
    std::memcpy(&p.low, bytes, 8);
    std::memcpy(&p.high, bytes + 8, 8);
    return {p.low ^ mask, p.high ^ mask};
}

// FIPS 197 5.2 a third time, and H: in a child, whose memory goes with it. The parent receives masked patterns only.
std::vector<Pattern> patterns(const std::string& cipher, const Text& masked_key) {
    int ends[2];
    if (pipe(ends) != 0) return {};
    const pid_t child = fork();
    if (child == 0) {
        Text key = masked_key;
        for (uint8_t& x : key) x = static_cast<uint8_t>(x ^ 0x5a);
        const auto twin = reference::cipher(cipher, key);
        std::vector<Pattern> found;
        for (const Text& round : twin->secrets()) found.push_back(pattern(round.data()));
        Text zero(16, 0);
        twin->encrypt(zero.data());
        found.push_back(pattern(zero.data()));
        const ssize_t bytes = static_cast<ssize_t>(found.size() * sizeof(Pattern));
        _exit(write(ends[1], found.data(), static_cast<size_t>(bytes)) == bytes ? 0 : 1);
    }
    close(ends[1]);
    std::vector<Pattern> out(64);
    const ssize_t got = read(ends[0], out.data(), out.size() * sizeof(Pattern));
    close(ends[0]);
    int status = 1;
    waitpid(child, &status, 0);
    out.resize(status == 0 && got > 0 ? static_cast<size_t>(got) / sizeof(Pattern) : 0);
    return out;
}

// How many times the patterns occur in the writable memory of this process.
size_t occurrences(const std::vector<Pattern>& patterns) {
    size_t hits = 0;
    std::FILE* maps = std::fopen("/proc/self/maps", "r");
    if (maps == nullptr) return SIZE_MAX;
    char line[512];
    while (std::fgets(line, sizeof line, maps) != nullptr) {
        uintptr_t begin = 0, end = 0;
        char access[8] = {};
        if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &begin, &end, access) != 3 || std::strncmp(access, "rw", 2) != 0) continue;
        if (end - begin > (size_t{1} << 30) || std::strstr(line, "[v") != nullptr) continue;
        for (const uint8_t* at = reinterpret_cast<const uint8_t*>(begin); at + 16 <= reinterpret_cast<const uint8_t*>(end); at += 4) {
            uint64_t low, high;
            std::memcpy(&low, at, 8);
            std::memcpy(&high, at + 8, 8);
            for (const Pattern& p : patterns)
                if ((low ^ mask) == p.low && (high ^ mask) == p.high) ++hits;
        }
    }
    std::fclose(maps);
    return hits;
}

class Residue : public testing::TestWithParam<const char*> {
protected:
    // One use of each mode; `bytes` large enough for several threads where the engine has them.
    static void use(const warpseal_key* key, size_t bytes) {
        Text text(bytes, 1), tag(16), iv(16, 2);
        ASSERT_EQ(warpseal_encrypt(key, WARPSEAL_CTR, iv.data(), 16, text.data(), text.data(), bytes), WARPSEAL_OK);
        ASSERT_EQ(warpseal_decrypt(key, WARPSEAL_ECB, nullptr, 0, text.data(), text.data(), bytes), WARPSEAL_OK);
        ASSERT_EQ(warpseal_seal_unsafe_iv(key, WARPSEAL_GCM, iv.data(), 7, nullptr, 0, text.data(), text.data(), bytes, tag.data(), 16), WARPSEAL_OK);
        tag[0] ^= 1;
        ASSERT_EQ(warpseal_open(key, WARPSEAL_GCM, iv.data(), 7, nullptr, 0, text.data(), text.data(), bytes, tag.data(), 16), WARPSEAL_NOT_AUTHENTIC);
    }
};

TEST_P(Residue, NoneAfterDestroy) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "NOT RUN: a sanitizer keeps freed memory";
#endif
    for (const warpseal_target_info& target : targets::all())
        if (std::string(target.name) == GetParam() && !target.usable) GTEST_SKIP() << "NOT RUN: " << target.reason;
    tests::Random random(71);
    for (const warpseal_cipher_info& cipher : targets::ciphers()) {
        Text masked = random.text(cipher.key_bytes);
        const std::vector<Pattern> secrets = patterns(cipher.name, masked);
        ASSERT_GE(secrets.size(), 12u);
        ASSERT_EQ(occurrences(secrets), 0u) << "before the key exists";
        const auto engine = targets::engine(GetParam(), 3);
        alignas(16) uint8_t bytes[64];
        for (size_t i = 0; i < masked.size(); ++i) bytes[i] = static_cast<uint8_t>(masked[i] ^ 0x5a);
        warpseal_key* key = nullptr;
        ASSERT_EQ(warpseal_key_create(engine.get(), cipher.name, bytes, masked.size(), &key), WARPSEAL_OK);
        warpseal_wipe(bytes, sizeof bytes);
        use(key, 4096);
        use(key, size_t{4} << 20);
        EXPECT_GE(occurrences(secrets), 5u) << "the search itself is blind";
        warpseal_key_destroy(key);
        EXPECT_EQ(occurrences(secrets), 0u) << cipher.name << " after the key is gone";
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, Residue, testing::Values("portable", "aesni", "vaes256", "vaes512", "cuda"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace

// After a key is destroyed, no writable page of the process holds it, any of its round keys or its
// hash key.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <set>

#include "backends/cipher_backend.h"
#include "reference/cipher.h"
#include "support/guard.h"
#include "support/random.h"
#include "support/residue.h"
#include "support/targets.h"

namespace {

using vectors::Text;

using residue::mask, residue::masked, residue::occurrences, residue::Patterns;

size_t different(const uint8_t* bytes, size_t n) {
    return std::set<uint8_t>(bytes, bytes + n).size();
}

// Adds a target's expanded key, in windows that do not occur by chance. Bitsliced words are all
// ones or all zeros: one bit each.
void add_state(Patterns& patterns, warpseal::Target target, const std::string& cipher,
               const Text& key) {
    const warpseal::CpuCipher* cpu = warpseal::cpu_cipher(target, cipher.c_str());
    if (cpu == nullptr || target == warpseal::Target::cuda) return;
    tests::Guarded memory(cpu->state_bytes);
    cpu->expand(memory.begin(), key.data());
    const uint8_t* state = memory.begin();
    const size_t end = cpu->state_bytes;
    size_t bitsliced =
        end;  // the start of the bitsliced keys: at a line of 64 bytes, up to the end
    while (bitsliced >= 64 && std::all_of(state + bitsliced - 64, state + bitsliced,
                                          [](uint8_t x) { return x == 0 || x == 0xff; }))
        bitsliced -= 64;
    if (end - bitsliced < 1024) bitsliced = end;
    size_t from = bitsliced;
    while (from < end && state[from] == 0)
        from += 8;  // a pattern that begins with zeros would be searched for everywhere
    for (size_t at = from; at + 1024 <= end; at += 1024)
        if (state[at] != 0) patterns.push_back(masked(state + at, 1024));
    for (size_t at = 0; at + 16 <= bitsliced; at += 16)
        if (different(state + at, 16) > 8) patterns.push_back(masked(state + at, 16));
    // The byte-sliced representation has each byte of a round key eight times.
    for (size_t at = 0; at + 64 <= bitsliced; at += 64)
        if (different(state + at, 64) > 5 && different(state + at, 8) == 1)
            patterns.push_back(masked(state + at, 64));
}

// Returns the key, its round keys, H, and the target's own representation of them. Computes them in
// a child, whose memory goes with it.
Patterns patterns(warpseal::Target target, const std::string& cipher, const Text& masked_key) {
    int ends[2];
    if (pipe(ends) != 0) return {};
    const pid_t child = fork();
    if (child == 0) {
        const Text key = masked(masked_key.data(), masked_key.size());
        Patterns found;
        if (const auto reference_cipher = reference::cipher(cipher, key)) {
            for (const Text& round : reference_cipher->secrets())
                found.push_back(masked(round.data(), round.size()));
            Text zero(16, 0);
            reference_cipher->encrypt(zero.data());
            found.push_back(masked(zero.data(), 16));
        } else {
            found.push_back(masked(key.data(), key.size()));
        }
        add_state(found, target, cipher, key);
        std::FILE* pipe = fdopen(ends[1], "w");
        for (const Text& pattern : found) {
            const size_t n = pattern.size();
            if (std::fwrite(&n, sizeof n, 1, pipe) != 1 ||
                std::fwrite(pattern.data(), n, 1, pipe) != 1)
                _exit(1);
        }
        _exit(std::fclose(pipe) == 0 ? 0 : 1);
    }
    close(ends[1]);
    Patterns out;
    std::FILE* pipe = fdopen(ends[0], "r");
    size_t n = 0;
    while (std::fread(&n, sizeof n, 1, pipe) == 1) {
        out.emplace_back(n);
        if (std::fread(out.back().data(), n, 1, pipe) != 1) break;
    }
    std::fclose(pipe);
    int status = 1;
    waitpid(child, &status, 0);
    return status == 0 ? out : Patterns();
}

class Residue : public testing::TestWithParam<const char*> {
protected:
    // Uses each mode once; `bytes` is large enough for several threads where the engine has them.
    static void use(const warpseal_key* key, const warpseal_cipher_info& cipher, size_t bytes) {
        Text text(bytes, 1), tag(16), iv(16, 2);
        for (const warpseal_mode mode : {WARPSEAL_CTR, WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_OFB}) {
            // A serial mode runs on one thread, whatever its size.
            const size_t encrypted = mode == WARPSEAL_CTR ? bytes : 4096,
                         decrypted = mode == WARPSEAL_OFB ? 4096 : bytes;
            ASSERT_EQ(warpseal_encrypt(key, mode, iv.data(), cipher.block_bytes, text.data(),
                                       text.data(), encrypted),
                      WARPSEAL_OK);
            ASSERT_EQ(warpseal_decrypt(key, mode, iv.data(), cipher.block_bytes, text.data(),
                                       text.data(), decrypted),
                      WARPSEAL_OK);
        }
        ASSERT_EQ(warpseal_decrypt(key, WARPSEAL_ECB, nullptr, 0, text.data(), text.data(), bytes),
                  WARPSEAL_OK);
        ASSERT_EQ(
            warpseal_mac(key, WARPSEAL_CMAC, text.data(), 4096, tag.data(), cipher.block_bytes),
            WARPSEAL_OK);
        if ((cipher.modes >> WARPSEAL_GCM & 1) == 0) return;
        ASSERT_EQ(warpseal_seal_unsafe_iv(key, WARPSEAL_GCM, iv.data(), 7, nullptr, 0, text.data(),
                                          text.data(), bytes, tag.data(), 16),
                  WARPSEAL_OK);
        tag[0] ^= 1;
        ASSERT_EQ(warpseal_open(key, WARPSEAL_GCM, iv.data(), 7, nullptr, 0, text.data(),
                                text.data(), bytes, tag.data(), 16),
                  WARPSEAL_NOT_AUTHENTIC);
    }

    // Runs both modes with the key passed in the batch, expanded by the backend.
    static void use_in_batch(const warpseal_key* key, uint32_t block_bytes,
                             const Text& masked_key) {
        constexpr size_t count = 8, bytes = 777;
        std::vector<uint8_t> keys(count * masked_key.size()), ivs(16, 3), text(count * bytes),
            tags(count * 16);
        std::vector<int32_t> statuses(count);
        for (size_t i = 0; i < keys.size(); ++i)
            keys[i] = static_cast<uint8_t>(masked_key[i % masked_key.size()] ^ mask);
        warpseal_batch batch{};
        batch.struct_bytes = sizeof batch;
        batch.iv_bytes = block_bytes;
        batch.message_count = count;
        batch.message_bytes = batch.in_stride = batch.out_stride = bytes;
        batch.keys = keys.data();
        batch.ivs = ivs.data();
        batch.in = batch.out = text.data();
        batch.statuses = statuses.data();
        EXPECT_EQ(warpseal_encrypt_batch(key, WARPSEAL_CTR, &batch), WARPSEAL_OK);
        if (block_bytes == 16) use_gcm_batch(key, batch, tags);
        warpseal_wipe(keys.data(), keys.size());
    }

    static void use_gcm_batch(const warpseal_key* key, warpseal_batch& batch,
                              std::vector<uint8_t>& tags) {
        batch.tags = tags.data();
        batch.tag_bytes = 16;
        batch.tag_stride = 16;
        EXPECT_EQ(warpseal_seal_batch_unsafe_iv(key, WARPSEAL_GCM, &batch), WARPSEAL_OK);
        EXPECT_EQ(warpseal_open_batch(key, WARPSEAL_GCM, &batch), WARPSEAL_OK);
    }
};

TEST_P(Residue, NoneAfterDestroy) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "NOT RUN: a sanitizer keeps freed memory";
#endif
    auto target = warpseal::Target::cuda;
    const std::vector<warpseal_target_info> all = targets::all();
    for (size_t i = 0; i < all.size(); ++i) {
        if (std::string(all[i].name) != GetParam()) continue;
        if (!all[i].usable) GTEST_SKIP() << "NOT RUN: " << all[i].reason;
        target = static_cast<warpseal::Target>(i);
    }
    tests::Random random(71);
    for (const warpseal_cipher_info& cipher : targets::ciphers()) {
        const bool reference_cipher =
            reference::cipher(cipher.name, Text(cipher.key_bytes)) != nullptr;
        if (target == warpseal::Target::cuda && (cipher.block_bytes == 8 || !reference_cipher)) {
            std::printf("NOT RUN %s on cuda: no patterns of its schedule there\n", cipher.name);
            continue;
        }
        const Text masked_key = random.text(cipher.key_bytes);
        const Patterns secrets = patterns(target, cipher.name, masked_key);
        // On a GPU: the key and AES-128's eleven round keys. Without a reference: the key and
        // bitsliced round keys, 1024 bytes each.
        ASSERT_GE(secrets.size(), !reference_cipher                  ? 8u
                                  : target == warpseal::Target::cuda ? 12u
                                                                     : 16u);
        ASSERT_EQ(occurrences(secrets), 0u) << "before the key exists";
        const auto engine = targets::engine(GetParam(), 3);
        alignas(16) uint8_t bytes[64];
        for (size_t i = 0; i < masked_key.size(); ++i)
            bytes[i] = static_cast<uint8_t>(masked_key[i] ^ mask);
        warpseal_key* key = nullptr;
        ASSERT_EQ(warpseal_key_create(engine.get(), cipher.name, bytes, masked_key.size(), &key),
                  WARPSEAL_OK);
        warpseal_wipe(bytes, sizeof bytes);
        use(key, cipher, 4096);
        use(key, cipher, size_t{4} << 20);
        use_in_batch(key, cipher.block_bytes, masked_key);
        EXPECT_GE(occurrences(secrets), 5u) << "the search itself is blind";
        warpseal_key_destroy(key);
        EXPECT_EQ(occurrences(secrets), 0u) << cipher.name << " after the key is gone";
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, Residue,
                         testing::Values("portable", "aesni", "avx2", "vaes256", "vaes512", "cuda"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace

// NTRU against the submission's known answers: its classic file, explicit coins, chosen
// ciphertexts, and thousands of operations by digest.
#include <openssl/sha.h>

#include "answer_files.h"
#include "support/drbg.h"
#include "support/kem_backends.h"

namespace {

using tests::Answer;
using vectors::from_hex;

class KemKnownAnswer : public tests::KemTest {};

// All counts of a file at once: a batch of keys, each with its own ciphertext.
TEST_P(KemKnownAnswer, ClassicFile) {
    const std::vector<Answer> all = tests::answers(set());
    ASSERT_EQ(all.size(), 25u);
    tests::Text keypair_coins, encapsulation_coins, publics, secrets, ciphertexts, shared;
    for (const Answer& answer : all) {
        tests::Drbg random(from_hex(answer.at("seed")));
        tests::append(keypair_coins, random.generate(backend().params().sample_coins()));
        tests::append(keypair_coins, random.generate(32));
        tests::append(encapsulation_coins,
                      random.generate(backend().params().encapsulation_coins()));
        tests::append(publics, from_hex(answer.at("pk")));
        tests::append(secrets, from_hex(answer.at("sk")));
        tests::append(ciphertexts, from_hex(answer.at("ct")));
        tests::append(shared, from_hex(answer.at("ss")));
    }
    const tests::Keys keys = backend().keypairs(keypair_coins);
    EXPECT_EQ(keys.failed, 0u);
    EXPECT_EQ(keys.publics, publics);
    EXPECT_EQ(keys.secrets, secrets);
    const tests::Encapsulated sent = backend().encapsulate(encapsulation_coins, publics);
    EXPECT_EQ(sent.failed, 0u);
    EXPECT_EQ(sent.ciphertexts, ciphertexts);
    EXPECT_EQ(sent.secrets, shared);
    EXPECT_EQ(backend().decapsulate(ciphertexts, secrets), shared);
}

TEST_P(KemKnownAnswer, ExplicitCoins) {
    const std::vector<Answer> all = tests::answers(set() + "-coins"),
                              classic = tests::answers(set());
    ASSERT_EQ(all.size(), 2u);
    for (const Answer& answer : all) {
        const Answer& expected = classic.at(std::stoul(answer.at("count")));
        const tests::Keys keys =
            backend().keypairs(from_hex(answer.at("keypair_coins") + answer.at("prf_key")));
        EXPECT_EQ(keys.publics, from_hex(expected.at("pk")));
        EXPECT_EQ(keys.secrets, from_hex(expected.at("sk")));
        EXPECT_EQ(keys.statuses, std::vector<int32_t>{WARPSEAL_OK});
        const tests::Encapsulated sent =
            backend().encapsulate(from_hex(answer.at("enc_coins")), keys.publics);
        EXPECT_EQ(sent.ciphertexts, from_hex(expected.at("ct")));
        EXPECT_EQ(sent.secrets, from_hex(expected.at("ss")));
        EXPECT_EQ(sent.statuses, std::vector<int32_t>{WARPSEAL_OK});
    }
}

TEST_P(KemKnownAnswer, ChosenCiphertexts) {
    const std::vector<Answer> classic = tests::answers(set());
    std::map<std::string, int> kinds;
    for (const Answer& answer : tests::answers(set() + "-decaps")) {
        const tests::Text sk = from_hex(classic.at(std::stoul(answer.at("count"))).at("sk")),
                          ct = from_hex(answer.at("ct"));
        EXPECT_EQ(backend().decapsulate(ct, sk), from_hex(answer.at("ss"))) << answer.at("kind");
        bool accepted = false;
        EXPECT_EQ(reference_ntru().decapsulate(ct, sk, &accepted), from_hex(answer.at("ss")))
            << answer.at("kind");
        EXPECT_EQ(accepted, answer.at("result") == "accept") << answer.at("kind");
        ++kinds[answer.at("kind")];
    }
    EXPECT_GE(kinds.size(), 8u);
}

std::string sha256(const tests::Text& text) {
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA256(text.data(), text.size(), digest);
    std::string out;
    for (const uint8_t byte : digest) {
        char hex[3];
        std::snprintf(hex, sizeof hex, "%02x", byte);
        out += hex;
    }
    return out;
}

// All 4,096 operations; 512 of them on the portable target under a sanitizer.
TEST_P(KemKnownAnswer, Bulk) {
    const auto& params = backend().params();
    const uint64_t most = fast() || many() ? 4096 : 512;
    uint64_t done = 0;
    for (const tests::BulkLine& line : tests::bulk_lines(set())) {
        if (done >= most) break;
        tests::Text keypair_coins, encapsulation_coins;
        for (uint64_t i = line.first; i < line.first + line.count; ++i) {
            const tests::Text coins = reference::ntru_bulk_coins(
                set(), i, params.keypair_coins() + params.encapsulation_coins());
            const auto cut = coins.begin() + static_cast<long>(params.keypair_coins());
            keypair_coins.insert(keypair_coins.end(), coins.begin(), cut);
            encapsulation_coins.insert(encapsulation_coins.end(), cut, coins.end());
        }
        const tests::Keys keys = backend().keypairs(keypair_coins);
        EXPECT_EQ(sha256(keys.publics), line.publics) << line.first;
        EXPECT_EQ(sha256(keys.secrets), line.secrets) << line.first;
        tests::Encapsulated sent = backend().encapsulate(encapsulation_coins, keys.publics);
        EXPECT_EQ(sha256(sent.ciphertexts), line.ciphertexts) << line.first;
        EXPECT_EQ(sha256(sent.secrets), line.shared) << line.first;
        EXPECT_EQ(backend().decapsulate(sent.ciphertexts, keys.secrets), sent.secrets)
            << line.first;
        for (size_t i = 0; i < line.count; ++i)
            sent.ciphertexts[i * params.ciphertext_bytes()] ^= 1;
        EXPECT_EQ(sha256(backend().decapsulate(sent.ciphertexts, keys.secrets)), line.rejected)
            << line.first;
        done += line.count;
    }
    EXPECT_EQ(done, most);
}

FOR_EACH_SET_AND_TARGET(KemKnownAnswer);

}  // namespace

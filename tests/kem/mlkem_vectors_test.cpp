// ML-KEM against published vectors. All rows of a file form one batch, so that refused items stand
// between good ones, and unlucky matrices between lucky ones.
#include <openssl/evp.h>

#include "support/kem_backends.h"
#include "support/vector_lines.h"

namespace {

using tests::Text;

constexpr int32_t refused = WARPSEAL_INVALID_ARGUMENT;

Text hex(const nlohmann::json& row, const char* name) {
    return vectors::from_hex(row.at(name).get<std::string>());
}
int32_t expected_status(const nlohmann::json& row) {
    return row.at("result") == "valid" ? int32_t{WARPSEAL_OK} : refused;
}

// SHAKE128 by libcrypto.
class Shake128 {
public:
    Shake128() { EXPECT_EQ(EVP_DigestInit_ex(context_.get(), EVP_shake128(), nullptr), 1); }
    void absorb(const Text& bytes) {
        EXPECT_EQ(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()), 1);
    }
    Text squeeze_all(size_t bytes) {
        Text out(bytes);
        EXPECT_EQ(EVP_DigestFinalXOF(context_.get(), out.data(), bytes), 1);
        return out;
    }

private:
    struct Delete {
        void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    };
    std::unique_ptr<EVP_MD_CTX, Delete> context_{EVP_MD_CTX_new()};
};

class MlKemVectors : public tests::KemTest {
protected:
    // Rows of SET-NAME.jsonl.gz whose fields have the set's lengths; no length is an argument here.
    std::vector<nlohmann::json> rows(const std::string& name) const {
        std::vector<nlohmann::json> out;
        for (const nlohmann::json& row :
             vectors::lines(vectors::folder() / "mlkem" / (set() + "-" + name + ".jsonl.gz")))
            if (row.value("reason", "").find("length") == std::string::npos) out.push_back(row);
        EXPECT_GT(out.size(), 50u);
        return out;
    }
    // True if thousands of items are feasible.
    bool large() const {
        return !tests::stacks_are_sanitized && GetParam().target != tests::device_code;
    }
    // Zeros for a refused item.
    static Text output(const nlohmann::json& row, const char* name, size_t bytes) {
        return expected_status(row) == WARPSEAL_OK ? hex(row, name) : Text(bytes, 0);
    }
};

TEST_P(MlKemVectors, KeyGeneration) {
    Text coins, publics, secrets;
    for (const nlohmann::json& row : rows("keygen")) {
        tests::append(coins, hex(row, "d"));
        tests::append(coins, hex(row, "z"));
        tests::append(publics, hex(row, "ek"));
        tests::append(secrets, hex(row, "dk"));
    }
    const tests::Keys keys = backend().keypairs(coins);
    EXPECT_EQ(keys.publics, publics);
    EXPECT_EQ(keys.secrets, secrets);
    EXPECT_EQ(keys.failed, 0u);
}

TEST_P(MlKemVectors, Encapsulation) {
    Text coins, publics, ciphertexts, secrets;
    std::vector<int32_t> statuses;
    for (const nlohmann::json& row : rows("encapsulate")) {
        tests::append(coins, hex(row, "m"));
        tests::append(publics, hex(row, "ek"));
        tests::append(ciphertexts, output(row, "c", backend().sizes().ciphertext_bytes()));
        tests::append(secrets, output(row, "k", 32));
        statuses.push_back(expected_status(row));
    }
    const tests::Encapsulated sent = backend().encapsulate(coins, publics);
    EXPECT_EQ(sent.statuses, statuses);
    EXPECT_EQ(sent.ciphertexts, ciphertexts);
    EXPECT_EQ(sent.secrets, secrets);
    EXPECT_EQ(sent.failed,
              static_cast<uint64_t>(std::count(statuses.begin(), statuses.end(), refused)));
    EXPECT_GT(sent.failed, 50u);
}

TEST_P(MlKemVectors, Decapsulation) {
    Text keys, ciphertexts, secrets;
    std::vector<int32_t> statuses;
    size_t rejected = 0;
    for (const nlohmann::json& row : rows("decapsulate")) {
        tests::append(keys, row.contains("dk") ? hex(row, "dk")
                                               : backend().keypairs(hex(row, "seed")).secrets);
        tests::append(ciphertexts, hex(row, "c"));
        tests::append(secrets, output(row, "k", 32));
        statuses.push_back(expected_status(row));
        rejected += row.value("implicit_rejection", false);
    }
    std::vector<int32_t> found;
    EXPECT_EQ(backend().decapsulate(ciphertexts, keys, &found), secrets);
    EXPECT_EQ(found, statuses);
    EXPECT_GT(rejected, 50u);
    EXPECT_GT(std::count(statuses.begin(), statuses.end(), refused), 5);
}

TEST_P(MlKemVectors, KeyChecks) {
    Text publics, secrets;
    std::vector<int32_t> of_publics, of_secrets;
    for (const nlohmann::json& row : rows("key-check")) {
        const bool is_public = row.contains("ek");
        tests::append(is_public ? publics : secrets, hex(row, is_public ? "ek" : "dk"));
        (is_public ? of_publics : of_secrets).push_back(expected_status(row));
    }
    const tests::Encapsulated sent =
        backend().encapsulate(Text(32 * of_publics.size(), 1), publics);
    EXPECT_EQ(sent.statuses, of_publics);
    std::vector<int32_t> found;
    backend().decapsulate(Text(of_secrets.size() * backend().sizes().ciphertext_bytes(), 1),
                          secrets, &found);
    EXPECT_EQ(found, of_secrets);
    EXPECT_GT(std::count(of_publics.begin(), of_publics.end(), refused), 100);
    EXPECT_GT(std::count(of_secrets.begin(), of_secrets.end(), refused), 10);
}

// Inputs and outputs of `count` operations of each kind; see tests/vectors/SOURCES.md.
class Operations {
public:
    Operations(const tests::Backend& backend, uint64_t count)
        : backend_(backend), count_(count), ciphertext_(backend.sizes().ciphertext_bytes()) {}

    void add_input(const Text& input) {
        const auto part = [&](size_t begin, size_t bytes) {
            const auto at = input.begin() + static_cast<long>(begin);
            return Text(at, at + static_cast<long>(bytes));
        };
        tests::append(seeds_, part(0, 64));
        tests::append(messages_, part(64, 32));
        tests::append(random_, part(96, ciphertext_));
    }
    void run() {
        keys = backend_.keypairs(seeds_);
        sent = backend_.encapsulate(messages_, keys.publics);
        EXPECT_EQ(backend_.decapsulate(sent.ciphertexts, keys.secrets), sent.secrets);
        of_random = backend_.decapsulate(random_, keys.secrets);
    }
    Text of_altered(uint64_t first) const {
        Text altered = sent.ciphertexts;
        for (uint64_t i = 0; i < count_; ++i)
            altered[i * ciphertext_ + (first + i) % ciphertext_] ^=
                static_cast<uint8_t>(1 << (first + i) % 8);
        return backend_.decapsulate(altered, keys.secrets);
    }
    tests::Encapsulated for_first_key() const {
        return backend_.encapsulate(
            messages_, tests::slice(keys.publics, 0, backend_.sizes().public_key_bytes()));
    }

    tests::Keys keys;
    tests::Encapsulated sent;
    Text of_random;

private:
    const tests::Backend& backend_;
    const uint64_t count_;
    const size_t ciphertext_;
    Text seeds_, messages_, random_;
};

TEST_P(MlKemVectors, DigestsOfBatches) {
    size_t checked = 0;
    for (const nlohmann::json& row : vectors::lines(vectors::folder() / "mlkem" / "bulk.jsonl")) {
        const uint64_t count = row.at("count"), first = row.value("first", uint64_t{0});
        if (row.at("set") != set() || row.at("operation") != "bulk") continue;
        if (count > 256 && !large()) continue;
        Operations all(backend(), count);
        for (uint64_t i = first; i < first + count; ++i) {
            Shake128 shake;
            Text label = hex(row, "seed");
            for (int byte = 0; byte < 8; ++byte)
                label.push_back(static_cast<uint8_t>(i >> (8 * byte)));
            shake.absorb(label);
            all.add_input(shake.squeeze_all(96 + backend().sizes().ciphertext_bytes()));
        }
        all.run();
        const auto same = [&](const char* name, const Text& got) {
            EXPECT_EQ(reference::sha3_256(got), hex(row, name)) << row.at("id") << name;
        };
        same("ek_sha3_256", all.keys.publics);
        same("dk_sha3_256", all.keys.secrets);
        same("c_sha3_256", all.sent.ciphertexts);
        same("k_sha3_256", all.sent.secrets);
        same("k_altered_sha3_256", all.of_altered(first));
        same("k_random_sha3_256", all.of_random);
        const tests::Encapsulated for_one = all.for_first_key();
        same("one_key_c_sha3_256", for_one.ciphertexts);
        same("one_key_k_sha3_256", for_one.secrets);
        ++checked;
    }
    EXPECT_GE(checked, large() ? 17u : 16u);
}

class MlKemAccumulated : public MlKemVectors {};

TEST_P(MlKemAccumulated, Digest) {
    if (!large()) GTEST_SKIP() << "NOT RUN: 10,000 operations take too long under a sanitizer";
    const size_t ciphertext = backend().sizes().ciphertext_bytes();
    size_t checked = 0;
    for (const nlohmann::json& row : vectors::lines(vectors::folder() / "mlkem" / "bulk.jsonl")) {
        if (row.at("set") != set() || row.at("operation") != "accumulated") continue;
        const uint64_t count = row.at("count"), together = many() ? 100 : 2500;
        const Text inputs = Shake128().squeeze_all(count * (96 + ciphertext));
        Shake128 seen;
        for (uint64_t first = 0; first < count; first += together) {
            Operations all(backend(), together);
            for (uint64_t i = first; i < first + together; ++i)
                all.add_input(tests::slice(inputs, i, 96 + ciphertext));
            all.run();
            for (uint64_t i = 0; i < together; ++i) {
                seen.absorb(
                    tests::slice(all.keys.publics, i, backend().sizes().public_key_bytes()));
                seen.absorb(
                    tests::slice(all.keys.secrets, i, backend().sizes().secret_key_bytes()));
                seen.absorb(tests::slice(all.sent.ciphertexts, i, ciphertext));
                seen.absorb(tests::slice(all.sent.secrets, i, 32));
                seen.absorb(tests::slice(all.of_random, i, 32));
            }
        }
        EXPECT_EQ(seen.squeeze_all(32), hex(row, "shake128"));
        ++checked;
    }
    EXPECT_EQ(checked, 1u);
}

INSTANTIATE_TEST_SUITE_P(All, MlKemVectors, testing::ValuesIn(tests::mlkem_test_cases(true)),
                         tests::name_of);
INSTANTIATE_TEST_SUITE_P(All, MlKemAccumulated, testing::ValuesIn(tests::mlkem_test_cases()),
                         tests::name_of);

}  // namespace

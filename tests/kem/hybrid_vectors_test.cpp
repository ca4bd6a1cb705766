// X25519, X25519MLKEM768 and X-Wing against published vectors, on every target. All rows of a file
// form one batch, so that refused items stand between good ones.
#include <openssl/evp.h>

#include "reference/hybrid.h"
#include "support/kem_backends.h"
#include "support/vector_lines.h"

namespace {

using nlohmann::json;
using tests::Text;

using warpseal::KemOperation;

constexpr int32_t refused = WARPSEAL_INVALID_ARGUMENT;
constexpr size_t point_bytes = 32;

Text hex(const json& row, const char* name) {
    return vectors::from_hex(row.at(name).get<std::string>());
}
int32_t expected_status(const json& row) {
    return row.at("result") == "valid" ? int32_t{WARPSEAL_OK} : refused;
}
// Zeros for a refused item.
Text output(const json& row, const char* name, size_t bytes) {
    return expected_status(row) == WARPSEAL_OK ? hex(row, name) : Text(bytes, 0);
}
std::vector<json> rows(const char* file, const char* operation = nullptr) {
    std::vector<json> out;
    for (const json& row : vectors::lines(vectors::folder() / file))
        if ((operation == nullptr || row.at("operation") == operation) &&
            row.value("reason", "").find("length") == std::string::npos)
            out.push_back(row);
    EXPECT_GT(out.size(), 10u) << file;
    return out;
}
// The input of item i: SHAKE128 of the row's seed and i, by libcrypto.
Text bulk_input(const json& row, uint64_t i, size_t bytes) {
    Text label = hex(row, "seed"), out(bytes);
    for (int byte = 0; byte < 8; ++byte) label.push_back(static_cast<uint8_t>(i >> (8 * byte)));
    EVP_MD_CTX* const context = EVP_MD_CTX_new();
    EXPECT_EQ(EVP_DigestInit_ex(context, EVP_shake128(), nullptr), 1);
    EXPECT_EQ(EVP_DigestUpdate(context, label.data(), label.size()), 1);
    EXPECT_EQ(EVP_DigestFinalXOF(context, out.data(), bytes), 1);
    EVP_MD_CTX_free(context);
    return out;
}
Text part(const Text& of, size_t begin, size_t bytes) {
    return Text(of.begin() + static_cast<long>(begin),
                of.begin() + static_cast<long>(begin + bytes));
}
// `count` scalars or points from number `begin` on.
Text items(const Text& of, size_t begin, size_t count) {
    return part(of, begin * point_bytes, count * point_bytes);
}
void expect_digest(const json& row, const char* name, const Text& got) {
    EXPECT_EQ(reference::sha3_256(got), hex(row, name)) << row.at("id") << " " << name;
}

class X25519Vectors : public tests::KemTest {};

TEST_P(X25519Vectors, BasePoint) {
    Text scalars, publics;
    for (const json& row : rows("x25519/keygen.jsonl")) {
        tests::append(scalars, hex(row, "private"));
        tests::append(publics, hex(row, "public"));
    }
    const tests::Keys keys = backend().keypairs(scalars);
    EXPECT_EQ(keys.publics, publics);
    EXPECT_EQ(keys.secrets, scalars);
    EXPECT_EQ(keys.failed, 0u);
    // Few at a time, as small batches take another path.
    for (size_t begin = 0, count = 1; count <= 4; begin += count++)
        EXPECT_EQ(backend().keypairs(items(scalars, begin, count)).publics,
                  items(publics, begin, count))
            << count;
}

TEST_P(X25519Vectors, GivenPoints) {
    Text scalars, points, shared;
    std::vector<int32_t> statuses;
    for (const json& row : rows("x25519/dh.jsonl.gz")) {
        if (row.contains("iterations")) continue;
        tests::append(scalars, hex(row, "private"));
        tests::append(points, hex(row, "public"));
        tests::append(shared, output(row, "shared", point_bytes));
        statuses.push_back(expected_status(row));
    }
    EXPECT_GT(statuses.size(), 400u);
    EXPECT_GT(std::count(statuses.begin(), statuses.end(), refused), 20);
    std::vector<int32_t> found;
    EXPECT_EQ(backend().decapsulate(points, scalars, &found), shared);
    EXPECT_EQ(found, statuses);

    Text publics = backend().keypairs(scalars).publics;
    for (size_t i = 0; i < statuses.size(); ++i)
        if (statuses[i] != WARPSEAL_OK)
            std::fill_n(publics.begin() + static_cast<long>(i * point_bytes), point_bytes, 0);
    const tests::Encapsulated sent = backend().encapsulate(scalars, points);
    EXPECT_EQ(sent.secrets, shared);
    EXPECT_EQ(sent.ciphertexts, publics);
    EXPECT_EQ(sent.statuses, statuses);
    // Few at a time, as small batches take another path. Each call of the others takes long.
    const bool on_cores = backend().cpu() != nullptr;
    for (size_t at = 0, few = 1; at + few <= statuses.size(); at += few, few = few % 3 + 1) {
        if (!on_cores && at % 7 != 0) continue;
        EXPECT_EQ(backend().decapsulate(items(points, at, few), items(scalars, at, few), &found),
                  items(shared, at, few))
            << at;
        EXPECT_TRUE(
            std::equal(found.begin(), found.end(), statuses.begin() + static_cast<long>(at)))
            << at;
    }
}

// RFC 7748, section 5.2.
TEST_P(X25519Vectors, Iterations) {
    size_t checked = 0;
    for (const json& row : rows("x25519/dh.jsonl.gz")) {
        const uint64_t iterations = row.value("iterations", uint64_t{0});
        if (iterations == 0 || (iterations > 1 && !many())) continue;
        // Seven copies, so that all lanes of a vector work.
        Text scalars, points;
        for (int i = 0; i < 7; ++i) {
            tests::append(scalars, hex(row, "private"));
            tests::append(points, hex(row, "public"));
        }
        for (uint64_t i = 0; i < iterations; ++i) {
            const Text shared = backend().decapsulate(points, scalars);
            points = std::exchange(scalars, shared);
        }
        for (size_t i = 0; i < 7; ++i)
            EXPECT_EQ(tests::slice(scalars, i, point_bytes), hex(row, "shared")) << row.at("id");
        ++checked;
    }
    EXPECT_EQ(checked, many() ? 1u : 0u);
}

TEST_P(X25519Vectors, DigestsOfBatches) {
    for (const json& row : rows("x25519/bulk.jsonl")) {
        const uint64_t count = row.at("count"), first = row.at("first");
        if (count > 256 && !many()) continue;
        Text scalars, points;
        for (uint64_t i = first; i < first + count; ++i) {
            const Text input = bulk_input(row, i, 2 * point_bytes);
            tests::append(scalars, part(input, 0, point_bytes));
            tests::append(points, part(input, point_bytes, point_bytes));
        }
        const Text publics = backend().keypairs(scalars).publics,
                   shared = backend().decapsulate(points, scalars);
        expect_digest(row, "public_sha3_256", publics);
        expect_digest(row, "shared_sha3_256", shared);
        for (size_t at = 0, few = 1; few <= 4 && at + few <= count; at += few++) {
            EXPECT_EQ(backend().keypairs(items(scalars, at, few)).publics, items(publics, at, few));
            EXPECT_EQ(backend().decapsulate(items(points, at, few), items(scalars, at, few)),
                      items(shared, at, few));
        }
        expect_digest(row, "one_key_shared_sha3_256",
                      backend().decapsulate(publics, tests::slice(scalars, 0, point_bytes)));
    }
}

// Coordinates at and around the limits of limbs, and all of them beyond p, equal the reference's.
TEST_P(X25519Vectors, EdgesEqualTheReference) {
    Text scalars, points, shared;
    for (int bit = 0; bit < 256; bit += 3)
        for (const int below : {0, 1}) {
            Text point(point_bytes, below != 0 ? 0xff : 0), scalar(point_bytes);
            point[static_cast<size_t>(bit) / 8] ^= static_cast<uint8_t>(1 << bit % 8);
            for (size_t i = 0; i < point_bytes; ++i)
                scalar[i] = static_cast<uint8_t>(17 * i + static_cast<size_t>(bit));
            const Text secret = reference::x25519(scalar, point);
            if (secret == Text(point_bytes, 0)) continue;
            tests::append(scalars, scalar);
            tests::append(points, point);
            tests::append(shared, secret);
        }
    EXPECT_EQ(backend().decapsulate(points, scalars), shared);
}

INSTANTIATE_TEST_SUITE_P(All, X25519Vectors,
                         testing::ValuesIn(tests::hybrid_test_cases({"x25519"}, true)),
                         tests::name_of);

using X25519Alone = X25519Vectors;

// Iterations of RFC 7748, section 5.2, each alone. WARPSEAL_ITERATIONS=1000000 for a million, which
// take a minute.
TEST_P(X25519Alone, Iterations) {
    const char* const given = std::getenv("WARPSEAL_ITERATIONS");
    const bool million = given != nullptr && std::string(given) == "1000000";
    Text scalar(point_bytes), point;
    scalar[0] = 9;
    point = scalar;
    Text shared(point_bytes);
    warpseal_kem_batch one = backend().batch(1);
    Text memory(backend().cpu()->work_bytes(KemOperation::decapsulate, 1) + 64);
    void* const work = memory.data() + 64 - reinterpret_cast<uintptr_t>(memory.data()) % 64;
    for (int i = 0; i < (million ? 1'000'000 : 1000); ++i) {
        one.secret_keys = scalar.data();
        one.ciphertexts = point.data();
        one.shared_secrets = shared.data();
        ASSERT_EQ(
            backend().cpu()->run[static_cast<int>(KemOperation::decapsulate)](one, 0, 1, work), 0u);
        std::swap(point, scalar);
        std::swap(scalar, shared);
    }
    EXPECT_EQ(scalar,
              vectors::from_hex(
                  million ? "7c3911e0ab2586fd864497297e575e6f3bc601c0883c30df5f4dd2d24f665424"
                          : "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"));
}

INSTANTIATE_TEST_SUITE_P(All, X25519Alone, testing::Values(tests::TestCase{"x25519", "portable"}),
                         tests::name_of);

class TlsHybridVectors : public tests::KemTest {};

// Each side of every exchange, and every share that a side must refuse.
TEST_P(TlsHybridVectors, Exchanges) {
    Text keys_coins, coins, client_shares, server_shares, secrets;
    for (const json& row : rows("mlkem/tls-groups.jsonl.gz", "tls-exchange")) {
        if (row.at("set") != "X25519MLKEM768") continue;
        for (const char* name : {"client_d", "client_z", "client_private"})
            tests::append(keys_coins, hex(row, name));
        for (const char* name : {"server_m", "server_private"})
            tests::append(coins, hex(row, name));
        tests::append(client_shares, hex(row, "client_share"));
        tests::append(server_shares, hex(row, "server_share"));
        tests::append(secrets, hex(row, "secret"));
    }
    ASSERT_FALSE(secrets.empty());
    const tests::Keys keys = backend().keypairs(keys_coins);
    EXPECT_EQ(keys.publics, client_shares);
    const tests::Encapsulated sent = backend().encapsulate(coins, keys.publics);
    EXPECT_EQ(sent.ciphertexts, server_shares);
    EXPECT_EQ(sent.secrets, secrets);
    EXPECT_EQ(backend().decapsulate(server_shares, keys.secrets), secrets);
}

TEST_P(TlsHybridVectors, RefusedShares) {
    size_t checked = 0;
    for (const json& row : rows("mlkem/tls-groups.jsonl.gz", "tls-server")) {
        if (row.at("set") != "X25519MLKEM768") continue;
        Text share = hex(row, "client_share"), coins = hex(row, "server_m");
        if (share.size() != backend().sizes().public_key_bytes()) continue;
        tests::append(coins, hex(row, "server_private"));
        const tests::Encapsulated sent = backend().encapsulate(coins, share);
        EXPECT_EQ(sent.statuses, std::vector<int32_t>{expected_status(row)}) << row.at("id");
        EXPECT_EQ(sent.secrets, output(row, "secret", 64));
        EXPECT_EQ(sent.ciphertexts, Text(backend().sizes().ciphertext_bytes(), 0));
        ++checked;
    }
    EXPECT_GT(checked, 3u);
}

TEST_P(TlsHybridVectors, Answers) {
    size_t checked = 0, bad = 0;
    for (const json& row : rows("mlkem/tls-groups.jsonl.gz", "tls-client")) {
        if (row.at("set") != "X25519MLKEM768") continue;
        const Text share = hex(row, "server_share");
        if (share.size() != backend().sizes().ciphertext_bytes()) continue;
        Text coins;
        for (const char* name : {"client_d", "client_z", "client_private"})
            tests::append(coins, hex(row, name));
        std::vector<int32_t> found;
        EXPECT_EQ(backend().decapsulate(share, backend().keypairs(coins).secrets, &found),
                  output(row, "secret", 64))
            << row.at("id");
        EXPECT_EQ(found, std::vector<int32_t>{expected_status(row)}) << row.at("id");
        ++checked;
        bad += expected_status(row) == refused;
    }
    EXPECT_GT(checked, 3u);
    EXPECT_GT(bad, 1u);
}

INSTANTIATE_TEST_SUITE_P(All, TlsHybridVectors,
                         testing::ValuesIn(tests::hybrid_test_cases({"x25519mlkem768"}, true)),
                         tests::name_of);

class XWingVectors : public tests::KemTest {};

TEST_P(XWingVectors, KeyGeneration) {
    Text seeds, publics;
    for (const json& row : rows("xwing/keygen.jsonl")) {
        tests::append(seeds, hex(row, "seed"));
        tests::append(publics, hex(row, "ek"));
    }
    const tests::Keys keys = backend().keypairs(seeds);
    EXPECT_EQ(keys.publics, publics);
    EXPECT_EQ(keys.secrets, seeds);
}

TEST_P(XWingVectors, Encapsulation) {
    Text coins, publics, ciphertexts, secrets;
    std::vector<int32_t> statuses;
    for (const json& row : rows("xwing/encapsulate.jsonl.gz")) {
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
    EXPECT_GT(sent.failed, 10u);
}

TEST_P(XWingVectors, Decapsulation) {
    Text seeds, ciphertexts, secrets;
    std::vector<int32_t> statuses;
    for (const json& row : rows("xwing/decapsulate.jsonl.gz")) {
        tests::append(seeds, hex(row, "seed"));
        tests::append(ciphertexts, hex(row, "c"));
        tests::append(secrets, output(row, "k", 32));
        statuses.push_back(expected_status(row));
    }
    std::vector<int32_t> found;
    EXPECT_EQ(backend().decapsulate(ciphertexts, seeds, &found), secrets);
    EXPECT_EQ(found, statuses);
    EXPECT_GT(std::count(statuses.begin(), statuses.end(), refused), 5);
}

TEST_P(XWingVectors, DigestsOfBatches) {
    const size_t bytes = backend().sizes().ciphertext_bytes();
    for (const json& row : rows("xwing/bulk.jsonl")) {
        const uint64_t count = row.at("count"), first = row.at("first");
        if (count > 256 && !many()) continue;
        Text seeds, coins, random;
        for (uint64_t i = first; i < first + count; ++i) {
            const Text input = bulk_input(row, i, 96 + bytes);
            tests::append(seeds, part(input, 0, 32));
            tests::append(coins, part(input, 32, 64));
            tests::append(random, part(input, 96, bytes));
        }
        const tests::Keys keys = backend().keypairs(seeds);
        const tests::Encapsulated sent = backend().encapsulate(coins, keys.publics);
        EXPECT_EQ(backend().decapsulate(sent.ciphertexts, seeds), sent.secrets);
        Text altered = sent.ciphertexts;
        for (uint64_t i = 0; i < count; ++i)
            altered[i * bytes + (first + i) % bytes] ^= static_cast<uint8_t>(1 << (first + i) % 8);
        expect_digest(row, "ek_sha3_256", keys.publics);
        expect_digest(row, "c_sha3_256", sent.ciphertexts);
        expect_digest(row, "k_sha3_256", sent.secrets);
        expect_digest(row, "k_altered_sha3_256", backend().decapsulate(altered, seeds));
        expect_digest(row, "k_random_sha3_256", backend().decapsulate(random, seeds));
    }
}

INSTANTIATE_TEST_SUITE_P(All, XWingVectors,
                         testing::ValuesIn(tests::hybrid_test_cases({"x-wing"}, true)),
                         tests::name_of);

}  // namespace

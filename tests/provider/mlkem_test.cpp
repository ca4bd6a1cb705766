// ML-KEM in the provider: every published row of its TLS groups and of its keys in DER (RFC 9935),
// through EVP.
#include <gtest/gtest.h>
#include <openssl/decoder.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <thread>

#include "encodings.h"
#include "library.h"
#include "support/vector_lines.h"

namespace {

using namespace tests;
using nlohmann::json;

constexpr size_t point_bytes = 32;

Bytes hex(const json& row, const char* name) {
    return vectors::from_hex(row.at(name).get<std::string>());
}
Bytes joined(Bytes a, const Bytes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}
std::vector<json> rows(const char* file) {
    return vectors::lines(vectors::folder() / "mlkem" / file);
}
Bytes octets(EVP_PKEY* key, const char* name) {
    size_t bytes = 0;
    if (EVP_PKEY_get_octet_string_param(key, name, nullptr, 0, &bytes) != 1) return {};
    Bytes out(bytes);
    EVP_PKEY_get_octet_string_param(key, name, out.data(), bytes, &bytes);
    return out;
}

OSSL_PARAM octet_string(const char* name, const Bytes& bytes) {
    return OSSL_PARAM_construct_octet_string(name, const_cast<uint8_t*>(bytes.data()),
                                             bytes.size());
}
// Makes a key of the parts that are not empty; null if the parts are refused.
Key made_of(const Library& library, const std::string& name, const Bytes& seed,
            const Bytes& secret_key, const Bytes& share) {
    std::vector<OSSL_PARAM> params;
    if (!seed.empty()) params.push_back(octet_string("seed", seed));
    if (!secret_key.empty()) params.push_back(octet_string(OSSL_PKEY_PARAM_PRIV_KEY, secret_key));
    if (!share.empty()) params.push_back(octet_string(OSSL_PKEY_PARAM_PUB_KEY, share));
    params.push_back(OSSL_PARAM_END);
    const KeyContext context(EVP_PKEY_CTX_new_from_name(library.context(), name.c_str(), our_own));
    EVP_PKEY* key = nullptr;
    if (!context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
        EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_KEYPAIR, params.data()) != 1)
        return nullptr;
    return Key(key);
}

const std::map<std::string, std::string> mlkem_half = {{"X25519MLKEM768", "MLKEM768"},
                                                       {"SecP256r1MLKEM768", "MLKEM768"},
                                                       {"SecP384r1MLKEM1024", "MLKEM1024"}};

// The client's key of a row: from its seed, or from the secret keys of both halves.
Key client_key(const Library& library, const json& row, const Bytes& share) {
    const std::string group = row.at("set");
    const Bytes seed = joined(hex(row, "client_d"), hex(row, "client_z"));
    const auto half = mlkem_half.find(group);
    if (half == mlkem_half.end()) return made_of(library, group, seed, {}, {});
    const Key mlkem = made_of(library, half->second, seed, {}, {});
    const Bytes first = octets(mlkem.get(), OSSL_PKEY_PARAM_PRIV_KEY),
                scalar = hex(row, "client_private");
    return made_of(library, group, {},
                   group[0] == 'X' ? joined(first, scalar) : joined(scalar, first), share);
}

TEST(MlKemGroups, AnswerEveryExchangeOfTheVectors) {
    const Library library;
    size_t checked = 0;
    for (const json& row : rows("tls-groups.jsonl.gz")) {
        if (row.at("operation") != "tls-exchange") continue;
        const Bytes share = hex(row, "client_share");
        const Key key = client_key(library, row, share);
        ASSERT_NE(key, nullptr) << row.at("id");
        EXPECT_EQ(encoded_public_key(key.get()), share) << row.at("id");
        EXPECT_EQ(decapsulate(library, key.get(), hex(row, "server_share")), hex(row, "secret"))
            << row.at("id");
        EXPECT_TRUE(works(library, key.get())) << row.at("id");
        ++checked;
    }
    EXPECT_EQ(checked, 38u);
}

// What a server's libssl calls with a client's share.
TEST(MlKemGroups, RefuseEveryBadShareOfTheVectors) {
    const Library library;
    size_t checked = 0;
    for (const json& row : rows("tls-groups.jsonl.gz")) {
        if (row.at("operation") != "tls-server") continue;
        const std::string group = row.at("set");
        const KeyContext maker(
            EVP_PKEY_CTX_new_from_name(library.context(), group.c_str(), our_own));
        EVP_PKEY* empty = nullptr;
        ASSERT_EQ(EVP_PKEY_paramgen_init(maker.get()), 1);
        ASSERT_EQ(EVP_PKEY_paramgen(maker.get(), &empty), 1);
        const Key key(empty);
        const Bytes share = hex(row, "client_share");
        EXPECT_NE(EVP_PKEY_set1_encoded_public_key(key.get(), share.data(), share.size()), 1)
            << row.at("id");
        EXPECT_TRUE(encapsulate(library, key.get()).secret.empty()) << row.at("id");
        ++checked;
    }
    EXPECT_EQ(checked, 38u);
    ERR_clear_error();
}

TEST(MlKemGroups, TakeOrRefuseEveryAnswerOfTheVectors) {
    const Library library;
    std::map<std::string, Bytes> shares;  // of clients, by their seed
    for (const json& row : rows("tls-groups.jsonl.gz"))
        if (row.at("operation") == "tls-exchange")
            shares[row.at("set").get<std::string>() + row.at("client_d").get<std::string>()] =
                hex(row, "client_share");
    size_t valid = 0, invalid = 0;
    for (const json& row : rows("tls-groups.jsonl.gz")) {
        if (row.at("operation") != "tls-client") continue;
        const auto share =
            shares.find(row.at("set").get<std::string>() + row.at("client_d").get<std::string>());
        if (share == shares.end()) continue;  // its exchange is not among the rows
        const Key key = client_key(library, row, share->second);
        ASSERT_NE(key, nullptr) << row.at("id");
        const Bytes secret = decapsulate(library, key.get(), hex(row, "server_share"));
        if (row.at("result") == "valid") {
            EXPECT_EQ(secret, hex(row, "secret")) << row.at("id");
            ++valid;
        } else {
            EXPECT_TRUE(secret.empty()) << row.at("id");
            ++invalid;
        }
    }
    EXPECT_GE(valid, 3u);
    EXPECT_GE(invalid, 10u);
    ERR_clear_error();
}

// ---- keys in files (RFC 9935)

Key decoded(const Library& library, const Bytes& der, const char* structure, int selection) {
    EVP_PKEY* key = nullptr;
    OSSL_DECODER_CTX* const context = OSSL_DECODER_CTX_new_for_pkey(
        &key, "DER", structure, nullptr, selection, library.context(), our_own);
    const unsigned char* at = der.data();
    size_t bytes = der.size();
    if (OSSL_DECODER_from_data(context, &at, &bytes) != 1) key = nullptr;
    OSSL_DECODER_CTX_free(context);
    return Key(key);
}

// The value of the setting, until the end of the scope.
struct Environment {
    explicit Environment(const char* value) {
        if (const char* const one = std::getenv("WARPSEAL_MLKEM")) before = one;
        setenv("WARPSEAL_MLKEM", value, 1);
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;
    ~Environment() {
        before ? setenv("WARPSEAL_MLKEM", before->c_str(), 1) : unsetenv("WARPSEAL_MLKEM");
    }
    std::optional<std::string> before;
};

TEST(MlKemKeys, AreReadInEveryFormOfTheVectors) {
    const Library library;
    size_t valid = 0, invalid = 0;
    for (const json& row : rows("der.jsonl.gz")) {
        if (row.at("result") == "either") continue;
        const bool is_private = row.at("operation") == "decode-private";
        // libcrypto cuts a SubjectPublicKeyInfo out of its input before the provider sees it.
        if (!is_private && row.value("comment", "") == "bytes after the structure") continue;
        const Key key = decoded(library, hex(row, "der"),
                                is_private ? "PrivateKeyInfo" : "SubjectPublicKeyInfo",
                                is_private ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY);
        const bool is_own =
            key != nullptr &&
            EVP_PKEY_is_a(key.get(),
                          ("ML-KEM-" + row.at("set").get<std::string>().substr(7)).c_str()) == 1;
        EXPECT_EQ(is_own, row.at("result") == "valid") << row.at("id");
        if (row.at("result") != "valid") {
            ++invalid;
            continue;
        }
        ++valid;
        EXPECT_EQ(octets(key.get(), OSSL_PKEY_PARAM_PUB_KEY), hex(row, "ek")) << row.at("id");
        if (!is_private) continue;
        EXPECT_EQ(octets(key.get(), OSSL_PKEY_PARAM_PRIV_KEY), hex(row, "dk")) << row.at("id");
        if (row.contains("seed")) {
            EXPECT_EQ(octets(key.get(), "seed"), hex(row, "seed"));
        }
    }
    EXPECT_EQ(valid, 41u);
    EXPECT_EQ(invalid, 44u);
    ERR_clear_error();
}

// A key with a seed is written as the seed, another one as the expanded key.
TEST(MlKemKeys, AreWrittenAsTheVectorsAre) {
    const Library library;
    size_t checked = 0;
    for (const json& row : rows("der.jsonl.gz")) {
        if (row.at("result") != "valid" || row.value("form", "") == "both") continue;
        const bool is_private = row.at("operation") == "decode-private";
        const Bytes der = hex(row, "der");
        const Key key =
            decoded(library, der, is_private ? "PrivateKeyInfo" : "SubjectPublicKeyInfo",
                    is_private ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY);
        ASSERT_NE(key, nullptr) << row.at("id");
        EXPECT_EQ(encoded(key.get(), formats[is_private ? 2 : 0]), der) << row.at("id");
        ++checked;
    }
    EXPECT_EQ(checked, 32u);
}

TEST(MlKemKeys, KeepTheirSeed) {
    const Library library;
    for (const char* name : {"ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"}) {
        const Key key = library.generate(name), other = library.generate(name);
        ASSERT_TRUE(key && other);
        const Bytes seed = octets(key.get(), "seed"),
                    secret = octets(key.get(), OSSL_PKEY_PARAM_PRIV_KEY),
                    share = octets(key.get(), OSSL_PKEY_PARAM_PUB_KEY);
        EXPECT_EQ(seed.size(), 64u);
        EXPECT_NE(seed, octets(other.get(), "seed"));
        const Key same = made_of(library, name, seed, {}, {});
        ASSERT_TRUE(same);
        EXPECT_EQ(octets(same.get(), OSSL_PKEY_PARAM_PRIV_KEY), secret);
        const Key copy(EVP_PKEY_dup(key.get()));
        EXPECT_EQ(octets(copy.get(), "seed"), seed);
        // Parts that do not belong together are refused.
        EXPECT_TRUE(made_of(library, name, seed, secret, share));
        EXPECT_FALSE(made_of(library, name, octets(other.get(), "seed"), secret, share));
        EXPECT_FALSE(made_of(library, name, octets(other.get(), "seed"), {}, share));
        EXPECT_FALSE(
            made_of(library, name, {}, secret, octets(other.get(), OSSL_PKEY_PARAM_PUB_KEY)));
        for (const size_t bytes : {size_t{1}, size_t{32}, size_t{63}, size_t{65}})
            EXPECT_FALSE(made_of(library, name, Bytes(bytes, 1), {}, {})) << bytes;
        // The secret key alone has its public key, but no seed.
        const Key alone = made_of(library, name, {}, secret, {});
        ASSERT_TRUE(alone);
        EXPECT_EQ(octets(alone.get(), OSSL_PKEY_PARAM_PUB_KEY), share);
        EXPECT_TRUE(octets(alone.get(), "seed").empty());
        Bytes damaged = secret;
        damaged[secret.size() - 40] ^= 1;  // the hash of the public key
        EXPECT_FALSE(made_of(library, name, {}, damaged, {}));
    }
    ERR_clear_error();
}

// ---- keys that are used again

// Requests that the provider's batcher has done.
uint64_t requests(const Library& library) {
    std::string text(size_t{1} << 16, '\0');
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string("warpseal-metrics", text.data(), text.size()),
        OSSL_PARAM_construct_end()};
    EXPECT_EQ(OSSL_PROVIDER_get_params(library.provider(), params), 1);
    std::istringstream lines(text.c_str());
    uint64_t sum = 0;
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("warpseal_kem_requests_total{"))
            sum += std::stoull(line.substr(line.rfind(' ')));
    return sum;
}

// The first request of each kind goes through the batcher, the others do not: the key is prepared.
TEST(MlKemReuse, GivesTheSecretsOfTheKey) {
    const Library library;
    for (const char* const group : {"MLKEM512", "MLKEM768", "MLKEM1024", "X25519MLKEM768",
                                    "SecP256r1MLKEM768", "SecP384r1MLKEM1024"}) {
        const Key key = library.generate(group), other = library.generate(group);
        ASSERT_TRUE(key && other);
        const uint64_t before = requests(library);
        std::vector<Encapsulated> sent;
        for (int i = 0; i < 4; ++i) {
            sent.push_back(encapsulate(library, key.get()));
            ASSERT_FALSE(sent.back().secret.empty());
        }
        EXPECT_EQ(requests(library) - before, 1u) << group;
        for (const Encapsulated& one : sent)
            EXPECT_EQ(decapsulate(library, key.get(), one.ciphertext), one.secret) << group;
        EXPECT_EQ(requests(library) - before, 2u) << group;
        for (size_t i = 1; i < sent.size(); ++i) EXPECT_NE(sent[i].secret, sent[0].secret);
        // A ciphertext of another key gives another secret. A copy is a key of its own.
        const Encapsulated theirs = encapsulate(library, other.get());
        EXPECT_NE(decapsulate(library, key.get(), theirs.ciphertext), theirs.secret);
        const Key copy(EVP_PKEY_dup(key.get()));
        EXPECT_EQ(decapsulate(library, copy.get(), sent[0].ciphertext), sent[0].secret);
        EXPECT_EQ(decapsulate(library, copy.get(), sent[3].ciphertext), sent[3].secret);
    }
    // Without ML-KEM nothing is prepared.
    const Key ntru = library.generate("ntru_hps2048509");
    const uint64_t before = requests(library);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(works(library, ntru.get()));
    EXPECT_EQ(requests(library) - before, 6u);
}

// A key that takes another share forgets what was prepared.
TEST(MlKemReuse, EndsWithANewShare) {
    const Library library;
    for (const char* const group : {"MLKEM768", "X25519MLKEM768"}) {
        const Key one = library.generate(group), other = library.generate(group);
        const KeyContext maker(EVP_PKEY_CTX_new_from_name(library.context(), group, our_own));
        EVP_PKEY* empty = nullptr;
        ASSERT_EQ(EVP_PKEY_paramgen_init(maker.get()), 1);
        ASSERT_EQ(EVP_PKEY_paramgen(maker.get(), &empty), 1);
        const Key server(empty);
        for (const Key* client : {&one, &other, &one})
            for (int i = 0; i < 3; ++i) {
                const Bytes share = encoded_public_key(client->get());
                if (i == 0) {
                    ASSERT_EQ(
                        EVP_PKEY_set1_encoded_public_key(server.get(), share.data(), share.size()),
                        1);
                }
                const Encapsulated sent = encapsulate(library, server.get());
                EXPECT_EQ(decapsulate(library, client->get(), sent.ciphertext), sent.secret)
                    << group << " " << i;
            }
    }
}

// Threads meet at the second use of a key.
TEST(MlKemReuse, ServesManyThreads) {
    const Library library;
    for (int round = 0; round < 10; ++round) {
        const Key key = library.generate("X25519MLKEM768");
        ASSERT_TRUE(works(library, key.get()));
        std::atomic<int> right{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 6; ++i)
            threads.emplace_back([&] {
                for (int use = 0; use < 5; ++use) right += works(library, key.get());
            });
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(right, 30);
    }
}

// ---- shares

Bytes with_point(Bytes share, const Bytes& point) {
    std::copy(point.begin(), point.end(), share.end() - point_bytes);
    return share;
}
bool takes(EVP_PKEY* key, const Bytes& share) {
    return EVP_PKEY_set1_encoded_public_key(key, share.data(), share.size()) == 1;
}

// The provider knows the points of low order by their coordinates. Each published row of X25519
// whose result is zero has one of them, and the others have none.
TEST(MlKemShares, WithAPointOfLowOrderAreRefused) {
    const Library library;
    const Key key = library.generate("X25519MLKEM768");
    ASSERT_TRUE(key);
    const Bytes share = encoded_public_key(key.get());
    size_t low = 0, others = 0;
    for (const json& row : vectors::lines(vectors::folder() / "x25519" / "dh.jsonl.gz")) {
        const Bytes point = hex(row, "public");
        if (point.size() != point_bytes) continue;
        const bool valid = row.at("result") == "valid";
        EXPECT_EQ(takes(key.get(), with_point(share, point)), valid) << row.at("id");
        ++(valid ? others : low);
    }
    EXPECT_GT(low, 20u);
    EXPECT_GT(others, 300u);
    ERR_clear_error();
}

TEST(MlKemShares, WithACoefficientOutOfRangeAreRefused) {
    const Library library;
    for (const auto& [name, at_first, coefficients] :
         {std::tuple<const char*, size_t, size_t>{"X25519MLKEM768", 0, 768},
          {"SecP256r1MLKEM768", 65, 768},
          {"SecP384r1MLKEM1024", 97, 1024},
          {"MLKEM512", 0, 512},
          {"MLKEM768", 0, 768},
          {"MLKEM1024", 0, 1024}}) {
        const Key key = library.generate(name);
        ASSERT_TRUE(key) << name;
        const Bytes share = encoded_public_key(key.get());
        for (size_t i = 0; i < coefficients; i += i == 0 || i + 2 >= coefficients ? 1 : 85)
            for (const unsigned value : {3328u, 3329u, 4095u}) {
                Bytes changed = share;
                uint8_t* const at = &changed[at_first + i / 2 * 3];
                if (i % 2 == 0) {
                    at[0] = static_cast<uint8_t>(value);
                    at[1] = static_cast<uint8_t>((at[1] & 0xf0) | value >> 8);
                } else {
                    at[1] = static_cast<uint8_t>((at[1] & 0x0f) | (value & 15) << 4);
                    at[2] = static_cast<uint8_t>(value >> 4);
                }
                EXPECT_EQ(takes(key.get(), changed), value < 3329) << name << i << ' ' << value;
            }
    }
    ERR_clear_error();
}

// ---- the setting

size_t offered(const char* setting) {
    const Environment set(setting);
    const Library library;
    const std::vector<std::string> groups = library.groups();
    const bool has_groups =
        std::find(groups.begin(), groups.end(), "X25519MLKEM768") != groups.end();
    for (const char* name : {"ML-KEM-768", "MLKEM768", "id-alg-ml-kem-768",
                             "2.16.840.1.101.3.4.4.2", "X25519MLKEM768"})
        EXPECT_EQ(library.generate(name) != nullptr, has_groups) << setting << ' ' << name;
    ERR_clear_error();
    return groups.size();
}

TEST(MlKemSetting, SaysWhetherTheNamesAreProvided) {
    EXPECT_EQ(offered("always"), 24u);
    EXPECT_EQ(offered("never"), 18u);
    EXPECT_EQ(offered("auto"), 24u);
    const Environment wrong("maybe");
    EXPECT_THROW(Library(), std::runtime_error);
    ERR_clear_error();
}

}  // namespace

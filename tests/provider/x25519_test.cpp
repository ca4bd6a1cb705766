// X25519 in the provider, selected by a property query: every published row, keys of every origin,
// and files, beside OpenSSL's own.
#include <gtest/gtest.h>
#include <openssl/decoder.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <tuple>

#include "encodings.h"
#include "functions.h"
#include "library.h"
#include "support/vector_lines.h"

namespace {

using namespace tests;
using nlohmann::json;

constexpr size_t key_bytes = 32;
constexpr char name[] = "X25519";
constexpr char stock[] = "provider=default";

Bytes hex(const json& row, const char* field) {
    return vectors::from_hex(row.at(field).get<std::string>());
}
std::string provider_of(const EVP_PKEY* key) {
    const OSSL_PROVIDER* const provider = key == nullptr ? nullptr : EVP_PKEY_get0_provider(key);
    return provider == nullptr ? "none" : OSSL_PROVIDER_get0_name(provider);
}
Key generate(const Library& library, const char* query) {
    return Key(EVP_PKEY_Q_keygen(library.context(), query, name));
}
Key secret_key(const Library& library, const char* query, const Bytes& scalar) {
    return Key(EVP_PKEY_new_raw_private_key_ex(library.context(), name, query, scalar.data(),
                                               scalar.size()));
}
Key public_key(const Library& library, const char* query, const Bytes& point) {
    return Key(
        EVP_PKEY_new_raw_public_key_ex(library.context(), name, query, point.data(), point.size()));
}
Bytes raw_public(EVP_PKEY* key) {
    Bytes out(key_bytes);
    size_t bytes = out.size();
    return EVP_PKEY_get_raw_public_key(key, out.data(), &bytes) == 1 ? out : Bytes();
}
Bytes raw_secret(EVP_PKEY* key) {
    Bytes out(key_bytes);
    size_t bytes = out.size();
    return EVP_PKEY_get_raw_private_key(key, out.data(), &bytes) == 1 ? out : Bytes();
}

// ---- agreement

TEST(X25519, AgreesAsTheVectorsSay) {
    const Library library;
    size_t valid = 0, invalid = 0;
    for (const json& row : vectors::lines(vectors::folder() / "x25519" / "dh.jsonl.gz")) {
        // Each result is the next scalar, and each scalar the next point.
        Bytes scalar = hex(row, "private"), point = hex(row, "public"), secret;
        for (int i = row.value("iterations", 1); i > 0; --i) {
            const Key own = secret_key(library, our_own, scalar),
                      peer = public_key(library, our_own, point);
            ASSERT_EQ(provider_of(own.get()), "warpseal") << row.at("id");
            secret = peer ? agreed(library, own.get(), peer.get()) : Bytes();
            point = scalar;
            scalar = secret;
        }
        if (row.at("result") == "valid") {
            EXPECT_EQ(secret, hex(row, "shared")) << row.at("id");
            ++valid;
        } else {
            EXPECT_TRUE(secret.empty()) << row.at("id");
            ++invalid;
        }
    }
    EXPECT_GT(valid, 400u);
    EXPECT_GT(invalid, 30u);
    ERR_clear_error();
}

// A peer's key or our own may be of either provider; the query says which one agrees.
TEST(X25519, AgreesWithKeysOfOpenSsl) {
    const Library library;
    for (int i = 0; i < 20; ++i) {
        const Key ours = generate(library, our_own), theirs = generate(library, stock);
        ASSERT_EQ(provider_of(ours.get()), "warpseal");
        ASSERT_EQ(provider_of(theirs.get()), "default");
        const Bytes secret = agreed(library, theirs.get(), ours.get(), stock);
        ASSERT_EQ(secret.size(), key_bytes);
        for (const char* query : {our_own, stock, "?provider=warpseal"}) {
            EXPECT_EQ(agreed(library, ours.get(), theirs.get(), query), secret) << query;
            EXPECT_EQ(agreed(library, theirs.get(), ours.get(), query), secret) << query;
        }
    }
}

TEST(X25519, IsRefusedWithoutBothKeysOrRoom) {
    const Library library;
    const Key own = generate(library, our_own), peer = generate(library, our_own);
    const KeyContext context = library.on(own.get());
    Bytes secret(key_bytes, 7);
    size_t bytes = secret.size();
    ASSERT_EQ(EVP_PKEY_derive_init(context.get()), 1);
    EXPECT_NE(EVP_PKEY_derive(context.get(), secret.data(), &bytes), 1);
    ASSERT_EQ(EVP_PKEY_derive_set_peer(context.get(), peer.get()), 1);
    bytes = key_bytes - 1;
    EXPECT_NE(EVP_PKEY_derive(context.get(), secret.data(), &bytes), 1);
    EXPECT_EQ(secret, Bytes(key_bytes, 7));
    bytes = key_bytes;
    EXPECT_EQ(EVP_PKEY_derive(context.get(), secret.data(), &bytes), 1);
    // The peer's key may be freed before; a copy of the context agrees too.
    const KeyContext copy(EVP_PKEY_CTX_dup(context.get()));
    Bytes same(key_bytes);
    ASSERT_TRUE(copy);
    EXPECT_EQ(EVP_PKEY_derive(copy.get(), same.data(), &bytes), 1);
    EXPECT_EQ(same, secret);
    const Key alone = public_key(library, our_own, raw_public(own.get()));
    EXPECT_TRUE(agreed(library, alone.get(), peer.get()).empty());
    const Key other = library.generate("ntru_hps2048509");
    EXPECT_NE(EVP_PKEY_derive_set_peer(context.get(), other.get()), 1);
    ERR_clear_error();
}

// Keys of other groups do not reach our functions through EVP.
TEST(X25519, RefusesKeysOfAnotherGroup) {
    const Library library;
    const Functions group(library.provider(), OSSL_OP_KEYMGMT, "ntru_hps2048509"),
        agreement(library.provider(), OSSL_OP_KEYEXCH, name);
    void* const provider = OSSL_PROVIDER_get0_provider_ctx(library.provider());
    void* const generation = group.get<OSSL_FUNC_keymgmt_gen_init_fn>(OSSL_FUNC_KEYMGMT_GEN_INIT)(
        provider, OSSL_KEYMGMT_SELECT_KEYPAIR, nullptr);
    void* const key =
        group.get<OSSL_FUNC_keymgmt_gen_fn>(OSSL_FUNC_KEYMGMT_GEN)(generation, nullptr, nullptr);
    ASSERT_NE(key, nullptr);
    void* const context =
        agreement.get<OSSL_FUNC_keyexch_newctx_fn>(OSSL_FUNC_KEYEXCH_NEWCTX)(provider);
    const auto begin = agreement.get<OSSL_FUNC_keyexch_init_fn>(OSSL_FUNC_KEYEXCH_INIT);
    const auto set_peer = agreement.get<OSSL_FUNC_keyexch_set_peer_fn>(OSSL_FUNC_KEYEXCH_SET_PEER);
    EXPECT_NE(begin(context, key, nullptr), 1);
    EXPECT_NE(begin(context, nullptr, nullptr), 1);
    EXPECT_NE(set_peer(context, key), 1);
    EXPECT_NE(set_peer(context, nullptr), 1);
    agreement.get<OSSL_FUNC_keyexch_freectx_fn>(OSSL_FUNC_KEYEXCH_FREECTX)(context);
    group.get<OSSL_FUNC_keymgmt_free_fn>(OSSL_FUNC_KEYMGMT_FREE)(key);
    group.get<OSSL_FUNC_keymgmt_gen_cleanup_fn>(OSSL_FUNC_KEYMGMT_GEN_CLEANUP)(generation);
    ERR_clear_error();
}

// ---- keys

TEST(X25519Keys, AreImportedAndExported) {
    const Library library;
    const Key key = generate(library, our_own);
    const Bytes point = raw_public(key.get()), scalar = raw_secret(key.get());
    ASSERT_EQ(point.size(), key_bytes);
    ASSERT_EQ(scalar.size(), key_bytes);
    // The scalar alone gives the pair, also at OpenSSL.
    EXPECT_EQ(raw_public(secret_key(library, our_own, scalar).get()), point);
    EXPECT_EQ(raw_public(secret_key(library, stock, scalar).get()), point);
    EXPECT_EQ(EVP_PKEY_eq(key.get(), secret_key(library, stock, scalar).get()), 1);
    EXPECT_NE(EVP_PKEY_eq(key.get(), generate(library, our_own).get()), 1);
    EXPECT_EQ(encoded_public_key(key.get()), point);
    const Key copy(EVP_PKEY_dup(key.get()));
    EXPECT_EQ(raw_secret(copy.get()), scalar);
    EXPECT_EQ(provider_of(copy.get()), "warpseal");
    EXPECT_EQ(EVP_PKEY_get_bits(key.get()), 253);
    EXPECT_EQ(EVP_PKEY_get_security_bits(key.get()), 128);
    EXPECT_EQ(EVP_PKEY_get_size(key.get()), static_cast<int>(key_bytes));
    EXPECT_EQ(EVP_PKEY_get_id(key.get()), EVP_PKEY_X25519);
    EXPECT_EQ(EVP_PKEY_pairwise_check(library.on(key.get()).get()), 1);
    // Parameters alone have no key.
    const Key parameters(EVP_PKEY_new());
    ASSERT_EQ(EVP_PKEY_copy_parameters(parameters.get(), key.get()), 1);
    EXPECT_TRUE(raw_public(parameters.get()).empty());
    ERR_clear_error();
}

TEST(X25519Keys, OfParts) {
    const Library library;
    const Key key = generate(library, our_own), other = generate(library, our_own);
    const auto made_of = [&](const Bytes& scalar, const Bytes& point) {
        OSSL_PARAM params[] = {
            OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PRIV_KEY,
                                              const_cast<uint8_t*>(scalar.data()), scalar.size()),
            OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY,
                                              const_cast<uint8_t*>(point.data()), point.size()),
            OSSL_PARAM_construct_end()};
        const KeyContext context(EVP_PKEY_CTX_new_from_name(library.context(), name, our_own));
        EVP_PKEY* made = nullptr;
        EXPECT_EQ(EVP_PKEY_fromdata_init(context.get()), 1);
        const bool done = EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_KEYPAIR, params) == 1;
        EVP_PKEY_free(made);
        return done;
    };
    const Bytes scalar = raw_secret(key.get()), point = raw_public(key.get());
    EXPECT_TRUE(made_of(scalar, point));
    EXPECT_FALSE(made_of(scalar, raw_public(other.get())));
    for (const size_t bytes : {size_t{0}, size_t{1}, key_bytes - 1, key_bytes + 1}) {
        EXPECT_FALSE(made_of(Bytes(bytes, 1), point)) << bytes;
        EXPECT_FALSE(made_of(scalar, Bytes(bytes == 0 ? 2 : bytes, 9))) << bytes;
        EXPECT_FALSE(secret_key(library, our_own, Bytes(bytes, 1))) << bytes;
        EXPECT_FALSE(public_key(library, our_own, Bytes(bytes, 9))) << bytes;
    }
    ERR_clear_error();
}

// libssl makes these calls with a peer's share, on both sides.
TEST(X25519Keys, TakeNoShareOfLowOrderOrAnotherLength) {
    const Library library;
    const Key key = generate(library, our_own);
    size_t refused = 0;
    for (const json& row : vectors::lines(vectors::folder() / "x25519" / "dh.jsonl.gz")) {
        const Bytes point = hex(row, "public");
        const bool valid = row.at("result") == "valid";
        EXPECT_EQ(EVP_PKEY_set1_encoded_public_key(key.get(), point.data(), point.size()) == 1,
                  valid)
            << row.at("id");
        refused += valid ? 0 : 1;
    }
    EXPECT_GT(refused, 30u);
    ERR_clear_error();
}

// HPKE derives a pair from keying material; a random pair instead would be wrong.
TEST(X25519Keys, AreNotDerivedFromKeyingMaterial) {
    const Library library;
    const KeyContext context(EVP_PKEY_CTX_new_from_name(library.context(), name, our_own));
    uint8_t material[32] = {1};
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_octet_string("dhkem-ikm", material, sizeof material),
        OSSL_PARAM_construct_end()};
    ASSERT_EQ(EVP_PKEY_keygen_init(context.get()), 1);
    EXPECT_NE(EVP_PKEY_CTX_set_params(context.get(), params), 1);
    EXPECT_EQ(EVP_PKEY_CTX_set_group_name(context.get(), "x25519"), 1);
    EXPECT_NE(EVP_PKEY_CTX_set_group_name(context.get(), "x448"), 1);
    ERR_clear_error();
}

// ---- files (RFC 8410)

Key read(const Library& library, const Bytes& text, const Format& format, const char* query) {
    EVP_PKEY* key = nullptr;
    OSSL_DECODER_CTX* const context = OSSL_DECODER_CTX_new_for_pkey(
        &key, format.type, format.structure, nullptr, format.selection, library.context(), query);
    const unsigned char* at = text.data();
    size_t bytes = text.size();
    if (OSSL_DECODER_from_data(context, &at, &bytes) != 1) key = nullptr;
    OSSL_DECODER_CTX_free(context);
    return Key(key);
}

TEST(X25519Files, AreThoseOfOpenSsl) {
    const Library library;
    const Key ours = generate(library, our_own);
    const Key theirs = secret_key(library, stock, raw_secret(ours.get()));
    for (const Format& format : formats) {
        const Bytes text = encoded(ours.get(), format);
        ASSERT_FALSE(text.empty()) << format.type << format.structure;
        EXPECT_EQ(text, encoded(theirs.get(), format)) << format.type << format.structure;
        EXPECT_EQ(encoded(ours.get(), {"TEXT", nullptr, format.selection}),
                  encoded(theirs.get(), {"TEXT", nullptr, format.selection}));
    }
}

// Before OpenSSL 3.5 its decoders alone read files, whatever the query; a context for the key with
// a query takes it to ours.
TEST(X25519Files, AreReadUnderEveryQuery) {
    const Library library;
    const bool selects = OPENSSL_version_major() > 3 || OPENSSL_version_minor() >= 5;
    const Key key = generate(library, our_own), peer = generate(library, our_own);
    const Bytes secret = agreed(library, key.get(), peer.get());
    for (const Format& format : formats)
        for (const auto& [query, provider] :
             {std::tuple{static_cast<const char*>(nullptr), "default"},
              {our_own, selects ? "warpseal" : "default"},
              {"?provider=warpseal", selects ? "warpseal" : "default"},
              {stock, "default"}}) {
            const Key found = read(library, encoded(key.get(), format), format, query);
            EXPECT_EQ(provider_of(found.get()), provider) << format.type << format.structure;
            EXPECT_EQ(raw_public(found.get()), raw_public(key.get()));
            if (format.selection != EVP_PKEY_KEYPAIR) continue;
            EXPECT_EQ(agreed(library, found.get(), peer.get()), secret);
        }
}

TEST(X25519Files, AreEncrypted) {
    const Library library;
    const Key key = generate(library, our_own);
    char passphrase[] = "secret";
    BIO* const file = BIO_new(BIO_s_mem());
    EVP_CIPHER* const cipher = EVP_CIPHER_fetch(library.context(), "AES-256-CBC", stock);
    EXPECT_EQ(
        PEM_write_bio_PrivateKey_ex(file, key.get(), cipher, reinterpret_cast<uint8_t*>(passphrase),
                                    6, nullptr, nullptr, library.context(), our_own),
        1);
    const char* text = nullptr;
    const long bytes = BIO_get_mem_data(file, &text);
    EXPECT_TRUE(std::string(text, static_cast<size_t>(bytes))
                    .starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----"));
    const Key read(
        PEM_read_bio_PrivateKey_ex(file, nullptr, nullptr, passphrase, library.context(), our_own));
    EXPECT_EQ(raw_secret(read.get()), raw_secret(key.get()));
    EVP_CIPHER_free(cipher);
    BIO_free(file);
}

TEST(X25519Files, ThatAreDamagedAreRefused) {
    const Library library;
    const Key key = generate(library, our_own);
    for (const Format& format : formats) {
        if (std::string(format.type) != "DER") continue;
        const Bytes whole = encoded(key.get(), format);
        for (size_t bytes = 0; bytes < whole.size(); ++bytes)
            EXPECT_FALSE(read(library,
                              Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(bytes)),
                              format, our_own))
                << bytes;
        for (size_t at = 0; at + key_bytes < whole.size(); ++at) {
            Bytes changed = whole;
            changed[at] ^= 0x40;
            const Key found = read(library, changed, format, our_own);
            EXPECT_FALSE(found && EVP_PKEY_is_a(found.get(), name) == 1 &&
                         provider_of(found.get()) == "warpseal")
                << at;
        }
    }
    ERR_clear_error();
}

// ---- OpenSSL's own stays the one without a query

class X25519BesideOpenSsl : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(X25519BesideOpenSsl, IsChosenByPropertyOnly) {
    const std::unique_ptr<OSSL_LIB_CTX, Free> context(OSSL_LIB_CTX_new());
    ASSERT_EQ(OSSL_PROVIDER_set_default_search_path(context.get(), WARPSEAL_MODULES), 1);
    const auto [first, second] = GetParam();
    const std::unique_ptr<OSSL_PROVIDER, Free> one(OSSL_PROVIDER_load(context.get(), first)),
        two(OSSL_PROVIDER_load(context.get(), second));
    ASSERT_TRUE(one && two);
    const auto generated = [&](const char* query) {
        return provider_of(Key(EVP_PKEY_Q_keygen(context.get(), query, name)).get());
    };
    const auto agrees = [&](const char* query) {
        EVP_KEYEXCH* const method = EVP_KEYEXCH_fetch(context.get(), name, query);
        const std::string found =
            method == nullptr ? "none" : OSSL_PROVIDER_get0_name(EVP_KEYEXCH_get0_provider(method));
        EVP_KEYEXCH_free(method);
        return found;
    };
    for (int round = 0; round < 2; ++round) {
        for (const char* query : {static_cast<const char*>(nullptr), "", stock}) {
            EXPECT_EQ(generated(query), "default") << (query == nullptr ? "no query" : query);
            EXPECT_EQ(agrees(query), "default") << (query == nullptr ? "no query" : query);
        }
        for (const char* query : {our_own, "?provider=warpseal"}) {
            EXPECT_EQ(generated(query), "warpseal") << query;
            EXPECT_EQ(agrees(query), "warpseal") << query;
        }
    }
    const Key raw(EVP_PKEY_new_raw_private_key_ex(context.get(), name, nullptr,
                                                  Bytes(key_bytes, 5).data(), key_bytes));
    EXPECT_EQ(provider_of(raw.get()), "default");
}

INSTANTIATE_TEST_SUITE_P(Orders, X25519BesideOpenSsl,
                         testing::Values(std::tuple{"default", "warpseal"},
                                         std::tuple{"warpseal", "default"}));

}  // namespace

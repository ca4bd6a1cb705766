// Key encapsulation with wrong lengths, keys and calls: each is refused, writes nothing out of
// bounds, and leaves the key usable.
#include <gtest/gtest.h>
#include <openssl/core.h>
#include <openssl/core_dispatch.h>

#include <cstring>

#include "functions.h"
#include "library.h"

namespace {

using namespace tests;

constexpr uint8_t canary = 0xA5;

class Kem : public testing::TestWithParam<std::string> {
protected:
    Kem()
        : key_(library_.generate(GetParam())),
          context_(library_.on(key_.get())),
          made_(encapsulate(library_, key_.get())) {}

    Library library_;
    Key key_;
    KeyContext context_;
    Encapsulated made_;
};

TEST_P(Kem, ATooSmallBufferIsRefusedAndNotOverrun) {
    ASSERT_EQ(EVP_PKEY_encapsulate_init(context_.get(), nullptr), 1);
    const size_t whole = made_.ciphertext.size(), all = made_.secret.size();
    ASSERT_NE(all, 0u);
    for (const auto& [some, secret_bytes] : {std::pair<size_t, size_t>{0, all},
                                             {1, all},
                                             {whole - 1, all},
                                             {whole, 0},
                                             {whole, 1},
                                             {whole, all - 1},
                                             {0, 0}}) {
        const std::unique_ptr<uint8_t[]> ciphertext(new uint8_t[some]),
            secret(new uint8_t[secret_bytes]);
        size_t said = some, said_secret = secret_bytes;
        EXPECT_NE(EVP_PKEY_encapsulate(context_.get(), ciphertext.get(), &said, secret.get(),
                                       &said_secret),
                  1)
            << some << ' ' << secret_bytes;
    }
    ASSERT_EQ(EVP_PKEY_decapsulate_init(context_.get(), nullptr), 1);
    for (const size_t bytes : {size_t{0}, size_t{1}, all - 1}) {
        const std::unique_ptr<uint8_t[]> secret(new uint8_t[bytes]);
        size_t said = bytes;
        EXPECT_NE(EVP_PKEY_decapsulate(context_.get(), secret.get(), &said, made_.ciphertext.data(),
                                       whole),
                  1)
            << bytes;
    }
    EXPECT_TRUE(works(library_, key_.get()));
}

TEST_P(Kem, ABufferOfZeroBytesIsHandled) {
    ASSERT_EQ(EVP_PKEY_encapsulate_init(context_.get(), nullptr), 1);
    size_t bytes = 0;
    EVP_PKEY_encapsulate(context_.get(), nullptr, &bytes, nullptr, nullptr);
    EVP_PKEY_encapsulate(context_.get(), nullptr, nullptr, nullptr, &bytes);
    EVP_PKEY_encapsulate(context_.get(), nullptr, nullptr, nullptr, nullptr);
    Bytes ciphertext(made_.ciphertext.size()), secret(made_.secret.size());
    EVP_PKEY_encapsulate(context_.get(), ciphertext.data(), nullptr, secret.data(), nullptr);
    ASSERT_EQ(EVP_PKEY_decapsulate_init(context_.get(), nullptr), 1);
    EVP_PKEY_decapsulate(context_.get(), secret.data(), nullptr, ciphertext.data(),
                         ciphertext.size());
    EVP_PKEY_decapsulate(context_.get(), secret.data(), &bytes, nullptr, ciphertext.size());
    ERR_clear_error();
    EXPECT_TRUE(works(library_, key_.get()));
}

TEST_P(Kem, CiphertextsOfEveryWrongLengthAreRefused) {
    ASSERT_EQ(EVP_PKEY_decapsulate_init(context_.get(), nullptr), 1);
    Bytes longer = made_.ciphertext;
    longer.resize(longer.size() + 64, canary);
    for (size_t length = 0; length <= longer.size(); ++length) {
        if (length == made_.ciphertext.size()) continue;
        const Bytes exact(longer.begin(), longer.begin() + static_cast<std::ptrdiff_t>(length));
        Bytes secret(made_.secret.size(), canary);
        size_t bytes = secret.size();
        EXPECT_NE(
            EVP_PKEY_decapsulate(context_.get(), secret.data(), &bytes, exact.data(), exact.size()),
            1)
            << length;
    }
    ERR_clear_error();
    EXPECT_EQ(decapsulate(library_, key_.get(), made_.ciphertext), made_.secret);
}

TEST_P(Kem, CiphertextsOfOneFlippedByteGiveAnotherSecretOrNone) {
    for (size_t at = 0; at < made_.ciphertext.size(); at += at % 64 == 0 ? 1 : 23) {
        Bytes flipped = made_.ciphertext;
        flipped[at] ^= static_cast<uint8_t>(1 << at % 8);
        // X25519 ignores the highest bit of a point (RFC 7748, 5).
        if (GetParam().starts_with("x25519") && at == 31) flipped[at] ^= 1 | 1 << at % 8;
        if (GetParam() == "X25519MLKEM768" && at + 1 == flipped.size())
            flipped[at] = made_.ciphertext[at] ^ 1;
        EXPECT_NE(decapsulate(library_, key_.get(), flipped), made_.secret) << at;
    }
    ERR_clear_error();
}

TEST_P(Kem, KeysThatLackWhatACallNeedsAreRefused) {
    const KeyContext maker(
        EVP_PKEY_CTX_new_from_name(library_.context(), GetParam().c_str(), our_own));
    EVP_PKEY* empty = nullptr;
    ASSERT_EQ(EVP_PKEY_paramgen_init(maker.get()), 1);
    ASSERT_EQ(EVP_PKEY_paramgen(maker.get(), &empty), 1);
    const Key parameters(empty);
    EXPECT_TRUE(encapsulate(library_, parameters.get()).secret.empty());
    EXPECT_TRUE(decapsulate(library_, parameters.get(), made_.ciphertext).empty());
    const Bytes share = encoded_public_key(key_.get());
    ASSERT_EQ(EVP_PKEY_set1_encoded_public_key(parameters.get(), share.data(), share.size()), 1);
    const Encapsulated through = encapsulate(library_, parameters.get());
    EXPECT_EQ(decapsulate(library_, key_.get(), through.ciphertext), through.secret);
    EXPECT_TRUE(decapsulate(library_, parameters.get(), made_.ciphertext).empty());
    ERR_clear_error();
}

TEST_P(Kem, TwoKeysAreNotEqualAndACopyIs) {
    const Key other = library_.generate(GetParam()), copy(EVP_PKEY_dup(key_.get()));
    ASSERT_TRUE(other);
    ASSERT_TRUE(copy);
    EXPECT_EQ(EVP_PKEY_eq(key_.get(), copy.get()), 1);
    EXPECT_NE(EVP_PKEY_eq(key_.get(), other.get()), 1);
    EXPECT_EQ(decapsulate(library_, copy.get(), made_.ciphertext), made_.secret);
    EXPECT_NE(decapsulate(library_, other.get(), made_.ciphertext), made_.secret);
}

INSTANTIATE_TEST_SUITE_P(Groups, Kem, testing::ValuesIn(Library().groups()),
                         [](const auto& one) { return one.param; });

// A key pair made by the key management itself: EVP never mixes groups, so this bypasses it.
class RawKey {
public:
    RawKey(const Library& library, const std::string& group)
        : functions_(library.provider(), OSSL_OP_KEYMGMT, group) {
        void* const context = OSSL_PROVIDER_get0_provider_ctx(library.provider());
        void* const maker = functions_.get<OSSL_FUNC_keymgmt_gen_init_fn>(
            OSSL_FUNC_KEYMGMT_GEN_INIT)(context, OSSL_KEYMGMT_SELECT_KEYPAIR, nullptr);
        data_ = functions_.get<OSSL_FUNC_keymgmt_gen_fn>(OSSL_FUNC_KEYMGMT_GEN)(maker, nullptr,
                                                                                nullptr);
        functions_.get<OSSL_FUNC_keymgmt_gen_cleanup_fn>(OSSL_FUNC_KEYMGMT_GEN_CLEANUP)(maker);
    }
    RawKey(const RawKey&) = delete;
    RawKey& operator=(const RawKey&) = delete;
    ~RawKey() { functions_.get<OSSL_FUNC_keymgmt_free_fn>(OSSL_FUNC_KEYMGMT_FREE)(data_); }
    void* data() const { return data_; }
    const Functions& functions() const { return functions_; }

private:
    Functions functions_;
    void* data_;
};

TEST(KeysOfAnotherGroup, AreRefusedByEachKem) {
    const Library library;
    const std::vector<std::string> groups = library.groups();
    std::vector<std::unique_ptr<RawKey>> keys;
    for (const std::string& group : groups)
        keys.push_back(std::make_unique<RawKey>(library, group));
    for (size_t i = 0; i < groups.size(); ++i) {
        const Functions kem(library.provider(), OSSL_OP_KEM, groups[i]);
        void* const context = kem.get<OSSL_FUNC_kem_newctx_fn>(OSSL_FUNC_KEM_NEWCTX)(
            OSSL_PROVIDER_get0_provider_ctx(library.provider()));
        ASSERT_NE(context, nullptr);
        const auto encapsulate_init =
            kem.get<OSSL_FUNC_kem_encapsulate_init_fn>(OSSL_FUNC_KEM_ENCAPSULATE_INIT);
        const auto decapsulate_init =
            kem.get<OSSL_FUNC_kem_decapsulate_init_fn>(OSSL_FUNC_KEM_DECAPSULATE_INIT);
        for (size_t j = 0; j < groups.size(); ++j) {
            EXPECT_EQ(encapsulate_init(context, keys[j]->data(), nullptr) == 1, i == j)
                << groups[i] << ' ' << groups[j];
            EXPECT_EQ(decapsulate_init(context, keys[j]->data(), nullptr) == 1, i == j)
                << groups[i] << ' ' << groups[j];
        }
        kem.get<OSSL_FUNC_kem_freectx_fn>(OSSL_FUNC_KEM_FREECTX)(context);
    }
    ERR_clear_error();
}

TEST(KeysOfAnotherGroup, AreNotEqual) {
    const Library library;
    const std::vector<std::string> groups = library.groups();
    const RawKey one(library, groups[0]);
    const auto match = one.functions().get<OSSL_FUNC_keymgmt_match_fn>(OSSL_FUNC_KEYMGMT_MATCH);
    for (size_t i = 1; i < groups.size(); ++i) {
        const RawKey other(library, groups[i]);
        EXPECT_NE(match(one.data(), other.data(), OSSL_KEYMGMT_SELECT_KEYPAIR), 1) << groups[i];
        EXPECT_NE(match(one.data(), other.data(), OSSL_KEYMGMT_SELECT_PUBLIC_KEY), 1) << groups[i];
        EXPECT_NE(match(one.data(), other.data(), OSSL_KEYMGMT_SELECT_ALL_PARAMETERS), 1)
            << groups[i];
    }
}

// NTRU's half comes first, and has its secret when the classical one fails: the output must not
// keep it.
TEST(KemFailure, LeavesNoSecret) {
    const Library library;
    for (const std::string& group : library.groups()) {
        const size_t share = group.starts_with("x25519") ? 32
                             : group.starts_with("p256") ? 65
                             : group.starts_with("p384") ? 97
                             : group.starts_with("p521") ? 133
                                                         : 0;
        if (share == 0) continue;
        const Key key = library.generate(group);
        Encapsulated made = encapsulate(library, key.get());
        ASSERT_FALSE(made.secret.empty());
        // A point of low order, or off the curve.
        std::fill_n(made.ciphertext.begin() + (share == 32 ? 0 : 1), share == 32 ? 32 : share - 1,
                    uint8_t{0});
        const KeyContext context = library.on(key.get());
        Bytes secret(made.secret.size(), canary);
        size_t bytes = secret.size();
        ASSERT_EQ(EVP_PKEY_decapsulate_init(context.get(), nullptr), 1);
        EXPECT_NE(EVP_PKEY_decapsulate(context.get(), secret.data(), &bytes, made.ciphertext.data(),
                                       made.ciphertext.size()),
                  1);
        EXPECT_EQ(secret, Bytes(secret.size(), 0)) << group;
        if (share != 32) continue;  // a point off the curve is refused as a key
        Bytes bad = encoded_public_key(key.get()), ciphertext(made.ciphertext.size());
        std::fill_n(bad.begin(), 32, uint8_t{0});
        ASSERT_EQ(EVP_PKEY_set1_encoded_public_key(key.get(), bad.data(), bad.size()), 1) << group;
        const KeyContext sender = library.on(key.get());
        size_t ciphertext_bytes = ciphertext.size();
        secret.assign(secret.size(), canary);
        ASSERT_EQ(EVP_PKEY_encapsulate_init(sender.get(), nullptr), 1);
        EXPECT_NE(EVP_PKEY_encapsulate(sender.get(), ciphertext.data(), &ciphertext_bytes,
                                       secret.data(), &bytes),
                  1);
        EXPECT_EQ(secret, Bytes(secret.size(), 0)) << group;
    }
    ERR_clear_error();
}

TEST(KemBeforeInit, IsRefused) {
    const Library library;
    for (const std::string& group : library.groups()) {
        const Functions kem(library.provider(), OSSL_OP_KEM, group);
        void* const context = kem.get<OSSL_FUNC_kem_newctx_fn>(OSSL_FUNC_KEM_NEWCTX)(
            OSSL_PROVIDER_get0_provider_ctx(library.provider()));
        Bytes text(4096), secret(4096);
        size_t bytes = text.size(), secret_bytes = secret.size();
        EXPECT_NE(kem.get<OSSL_FUNC_kem_encapsulate_fn>(OSSL_FUNC_KEM_ENCAPSULATE)(
                      context, text.data(), &bytes, secret.data(), &secret_bytes),
                  1);
        EXPECT_NE(kem.get<OSSL_FUNC_kem_decapsulate_fn>(OSSL_FUNC_KEM_DECAPSULATE)(
                      context, secret.data(), &secret_bytes, text.data(), 699),
                  1);
        EXPECT_NE(kem.get<OSSL_FUNC_kem_encapsulate_init_fn>(OSSL_FUNC_KEM_ENCAPSULATE_INIT)(
                      context, nullptr, nullptr),
                  1);
        kem.get<OSSL_FUNC_kem_freectx_fn>(OSSL_FUNC_KEM_FREECTX)(context);
        kem.get<OSSL_FUNC_kem_freectx_fn>(OSSL_FUNC_KEM_FREECTX)(nullptr);
    }
    ERR_clear_error();
}

// ---- halves of two pairs

Bytes octets(EVP_PKEY* key, const char* name) {
    size_t bytes = 0;
    EXPECT_EQ(EVP_PKEY_get_octet_string_param(key, name, nullptr, 0, &bytes), 1) << name;
    Bytes out(bytes);
    EXPECT_EQ(EVP_PKEY_get_octet_string_param(key, name, out.data(), out.size(), &bytes), 1);
    return out;
}

// Returns true if a key of these halves can be made and libcrypto's check accepts it.
bool is_pair(const Library& library, const std::string& group, Bytes share, Bytes secret_key) {
    const KeyContext making(EVP_PKEY_CTX_new_from_name(library.context(), group.c_str(), our_own));
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, share.data(), share.size()),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PRIV_KEY, secret_key.data(),
                                          secret_key.size()),
        OSSL_PARAM_construct_end()};
    EVP_PKEY* made = nullptr;
    if (EVP_PKEY_fromdata_init(making.get()) != 1 ||
        EVP_PKEY_fromdata(making.get(), &made, EVP_PKEY_KEYPAIR, params) != 1)
        return false;
    const Key key(made);
    return EVP_PKEY_pairwise_check(library.on(key.get()).get()) == 1;
}

TEST(KeyPairs, HalvesOfTwoAreRefusedByTheCheck) {
    const Library library;
    for (const std::string& group : library.groups()) {
        const Key one = library.generate(group), other = library.generate(group);
        const Bytes share = octets(one.get(), OSSL_PKEY_PARAM_PUB_KEY);
        EXPECT_TRUE(is_pair(library, group, share, octets(one.get(), OSSL_PKEY_PARAM_PRIV_KEY)))
            << group;
        EXPECT_FALSE(is_pair(library, group, share, octets(other.get(), OSSL_PKEY_PARAM_PRIV_KEY)))
            << group;
    }
    ERR_clear_error();
}

}  // namespace

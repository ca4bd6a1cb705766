// Keys that a cipher's context draws (EVP_CIPHER_CTX_rand_key).
#include "cipher.h"

namespace {

using namespace tests;

TEST(CipherKey, IsDrawnWithOddParity) {
    for (const char* name :
         {"DES-CBC", "DES-EDE-CBC", "DES-EDE3-CBC", "DES-EDE3-OFB", "AES-256-CTR"}) {
        const Cipher mine = our_cipher(name);
        Evp one(mine.get());
        ASSERT_TRUE(one.init(true, nullptr, nullptr));
        Bytes key(key_bytes(mine)), again(key.size());
        ASSERT_EQ(EVP_CIPHER_CTX_rand_key(one.get(), key.data()), 1) << name;
        ASSERT_EQ(EVP_CIPHER_CTX_rand_key(one.get(), again.data()), 1);
        EXPECT_NE(key, again);
        if (name[0] != 'D') continue;
        for (const uint8_t byte : key) EXPECT_EQ(__builtin_popcount(byte) % 2, 1) << name;
    }
}

// Like OpenSSL: only DES and Triple DES have it. A size too small for a key is refused.
TEST(CipherKey, IsDrawnIntoALargeEnoughBuffer) {
    for (const std::string& name : our_ciphers()) {
        const Cipher mine = our_cipher(name);
        const bool drawn = name.starts_with("DES");
        const OSSL_PARAM* const listed = EVP_CIPHER_gettable_ctx_params(mine.get());
        EXPECT_EQ(OSSL_PARAM_locate_const(listed, OSSL_CIPHER_PARAM_RANDOM_KEY) != nullptr, drawn)
            << name;
        for (const size_t bytes :
             {size_t{0}, size_t{1}, key_bytes(mine) - 1, key_bytes(mine), key_bytes(mine) + 8}) {
            Evp one(mine.get());
            ASSERT_TRUE(one.init(true, nullptr, nullptr));
            Bytes buffer(key_bytes(mine) + 16, 0xa5);
            OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_RANDOM_KEY,
                                                                     buffer.data(), bytes),
                                   OSSL_PARAM_construct_end()};
            const bool answered = EVP_CIPHER_CTX_get_params(one.get(), params) == 1;
            // EVP_CIPHER_CTX_rand_key passes a size of 0.
            const bool capacity = bytes == 0 || bytes >= key_bytes(mine);
            EXPECT_EQ(answered, !drawn || capacity) << name << " " << bytes;
            EXPECT_EQ(buffer == Bytes(buffer.size(), 0xa5), !drawn || !capacity)
                << name << " " << bytes;
            EXPECT_EQ(OSSL_PARAM_modified(params) != 0, drawn) << name << " " << bytes;
        }
    }
    ERR_clear_error();
}

}  // namespace

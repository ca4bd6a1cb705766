// An allocation fails while a context gets its next key: it then has no key, and the next init sets
// one.
#include <cerrno>
#include <cstring>

#include "cipher.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {
thread_local long requests = 0, refused = -1;  // of the calling thread; negative: none is refused
}

extern "C" void* __libc_malloc(size_t bytes);
// Replaces the C library's, for the module and libcrypto too.
extern "C" void* malloc(size_t bytes) {
    if (refused >= 0 && requests++ == refused) {
        errno = ENOMEM;
        return nullptr;
    }
    return __libc_malloc(bytes);
}

namespace {

using tests::Bytes;

class RefusedMemory : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        cipher_ = EVP_CIPHER_fetch(tests::ours().context(), GetParam(), tests::our_own);
    }
    void TearDown() override { EVP_CIPHER_free(cipher_); }
    Bytes key(uint8_t seed) const {
        Bytes bytes(static_cast<size_t>(EVP_CIPHER_get_key_length(cipher_)));
        for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(seed + 7 * i);
        return bytes;
    }
    bool init(EVP_CIPHER_CTX* context, const Bytes& key, bool named) const {
        return EVP_EncryptInit_ex2(context, named ? cipher_ : nullptr, key.data(), iv_.data(),
                                   nullptr) == 1;
    }
    // Returns an empty text on failure.
    Bytes text(EVP_CIPHER_CTX* context) const {
        Bytes out(96);
        int bytes = 0;
        const bool given = EVP_EncryptUpdate(context, out.data(), &bytes, in_.data(),
                                             static_cast<int>(in_.size())) == 1;
        out.resize(given ? static_cast<size_t>(bytes) : 0);
        return out;
    }

    EVP_CIPHER* cipher_ = nullptr;
    const Bytes iv_ = Bytes(16, 9), in_ = Bytes(64, 3);
};

TEST_P(RefusedMemory, LeavesNoKeyBehind) {
    ASSERT_NE(cipher_, nullptr);
    const Bytes first = key(1), second = key(2);
    EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
    ASSERT_TRUE(init(context, second, true));
    const Bytes right = text(context);
    ASSERT_EQ(right.size(), in_.size());
    EVP_CIPHER_CTX_free(context);
    int failures = 0;
    for (long number = 0;; ++number) {
        context = EVP_CIPHER_CTX_new();
        ASSERT_TRUE(init(context, first, true));
        (void)text(context);
        requests = 0, refused = number;
        const bool given = init(context, second, false);
        const bool reached = requests > number;
        refused = -1;
        const Bytes after = text(context);
        if (given)
            EXPECT_EQ(after, right) << number;
        else
            EXPECT_TRUE(after.empty()) << "request " << number << ": text under a discarded key";
        failures += given ? 0 : 1;
        ASSERT_TRUE(init(context, second, false)) << number;
        EXPECT_EQ(text(context), right) << number;
        EVP_CIPHER_CTX_free(context);
        ERR_clear_error();
        if (!reached) break;
    }
    EXPECT_GT(failures, 0) << "nothing was refused";
}

INSTANTIATE_TEST_SUITE_P(Ciphers, RefusedMemory,
                         testing::Values("AES-128-CTR", "AES-256-CBC", "AES-128-GCM",
                                         "ARIA-256-CFB", "CAMELLIA-128-OFB", "AES-256-XTS",
                                         "AES-192-ECB", "DES-EDE3-CBC"));

}  // namespace

#endif

// EVP ciphers for tests: a self-freeing context, contexts of this provider and of OpenSSL's, and
// messages in segments.
#pragma once

#include <gtest/gtest.h>

#include "library.h"
#include "support/random.h"

namespace tests {

struct FreeCipher {
    void operator()(EVP_CIPHER* cipher) const { EVP_CIPHER_free(cipher); }
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER, FreeCipher>;

// OpenSSL's default and legacy providers alone.
class Stock {
public:
    Stock() : context_(OSSL_LIB_CTX_new()) {
        default_ = OSSL_PROVIDER_load(context_.get(), "default");
        legacy_ = OSSL_PROVIDER_load(context_.get(), "legacy");
        if (default_ == nullptr || legacy_ == nullptr)
            throw std::runtime_error("OpenSSL's own providers cannot be loaded");
    }
    ~Stock() {
        OSSL_PROVIDER_unload(legacy_);
        OSSL_PROVIDER_unload(default_);
    }
    OSSL_LIB_CTX* context() const { return context_.get(); }

private:
    std::unique_ptr<OSSL_LIB_CTX, Free> context_;
    OSSL_PROVIDER *default_ = nullptr, *legacy_ = nullptr;
};

// Never destroyed: libcrypto cleans up when the program ends.
inline const Library& ours() {
    static const Library& library = *new Library;
    return library;
}
inline const Stock& stock() {
    static const Stock& library = *new Stock;
    return library;
}

inline Cipher our_cipher(const std::string& name) {
    return Cipher(EVP_CIPHER_fetch(ours().context(), name.c_str(), our_own));
}
inline Cipher stock_cipher(const std::string& name) {
    ERR_set_mark();
    Cipher found(EVP_CIPHER_fetch(stock().context(), name.c_str(), nullptr));
    ERR_pop_to_mark();
    return found;
}

inline std::vector<std::string> our_ciphers() {
    std::vector<std::string> names;
    EVP_CIPHER_do_all_provided(
        ours().context(),
        [](EVP_CIPHER* cipher, void* out) {
            if (EVP_CIPHER_get0_provider(cipher) == ours().provider())
                static_cast<std::vector<std::string>*>(out)->emplace_back(
                    EVP_CIPHER_get0_name(cipher));
        },
        &names);
    std::sort(names.begin(), names.end());
    return names;
}

class Evp {
public:
    explicit Evp(const EVP_CIPHER* cipher) : context_(EVP_CIPHER_CTX_new()), cipher_(cipher) {}
    Evp(const Evp& from) : context_(EVP_CIPHER_CTX_new()), cipher_(from.cipher_) {
        if (EVP_CIPHER_CTX_copy(context_.get(), from.get()) != 1)
            throw std::runtime_error("no copy");
    }
    EVP_CIPHER_CTX* get() const { return context_.get(); }
    const EVP_CIPHER* cipher() const { return cipher_; }

    bool init(bool encrypt, const uint8_t* key, const uint8_t* iv,
              const OSSL_PARAM params[] = nullptr) {
        return EVP_CipherInit_ex2(get(), cipher_, key, iv, encrypt ? 1 : 0, params) == 1;
    }
    // All other arguments are null.
    bool more(const uint8_t* key, const uint8_t* iv) {
        return EVP_CipherInit_ex2(get(), nullptr, key, iv, -1, nullptr) == 1;
    }
    bool turn(bool encrypt) {
        return EVP_CipherInit_ex2(get(), nullptr, nullptr, nullptr, encrypt ? 1 : 0, nullptr) == 1;
    }
    bool pad(bool on) { return EVP_CIPHER_CTX_set_padding(get(), on) == 1; }
    bool control(int what, size_t bytes, void* data) {
        return EVP_CIPHER_CTX_ctrl(get(), what, static_cast<int>(bytes), data) > 0;
    }

    bool aad(const uint8_t* data, size_t bytes) {
        int out = 0;
        return EVP_CipherUpdate(get(), nullptr, &out, data, static_cast<int>(bytes)) == 1;
    }
    bool update(const uint8_t* in, size_t bytes, uint8_t* out, size_t* made) {
        int out_bytes = 0;
        const bool done =
            EVP_CipherUpdate(get(), out, &out_bytes, in, static_cast<int>(bytes)) == 1;
        *made = static_cast<size_t>(out_bytes);
        return done;
    }
    bool final(uint8_t* out, size_t* made) {
        int out_bytes = 0;
        const bool done = EVP_CipherFinal_ex(get(), out, &out_bytes) == 1;
        *made = static_cast<size_t>(out_bytes);
        return done;
    }

    // Processes text in segments of any size, some of them in place. Returns false if a call
    // failed.
    bool text(const Bytes& in, Bytes& out, Random* random) {
        out.assign(in.size() + EVP_MAX_BLOCK_LENGTH, 0);
        size_t done = 0, made = 0, n = 0;
        while (done < in.size()) {
            size_t segment = random == nullptr ? in.size()
                                               : std::min(in.size() - done,
                                                          random->one_in(3) ? random->length(300)
                                                                            : random->length(40));
            const bool in_place = random != nullptr && random->one_in(2);
            if (in_place)
                std::copy_n(in.begin() + static_cast<ptrdiff_t>(done), segment,
                            out.begin() + static_cast<ptrdiff_t>(made));
            if (!update(in_place ? out.data() + made : in.data() + done, segment, out.data() + made,
                        &n))
                return false;
            done += segment;
            made += n;
        }
        if (!final(out.data() + made, &n)) return false;
        out.resize(made + n);
        return true;
    }

private:
    std::unique_ptr<EVP_CIPHER_CTX, FreeCipher> context_;
    const EVP_CIPHER* cipher_;
};

inline size_t key_bytes(const Cipher& cipher) {
    return static_cast<size_t>(EVP_CIPHER_get_key_length(cipher.get()));
}
inline size_t iv_bytes(const Cipher& cipher) {
    return static_cast<size_t>(EVP_CIPHER_get_iv_length(cipher.get()));
}
inline int mode(const Cipher& cipher) { return EVP_CIPHER_get_mode(cipher.get()); }
inline bool authenticated(const Cipher& cipher) {
    return mode(cipher) == EVP_CIPH_GCM_MODE || mode(cipher) == EVP_CIPH_CCM_MODE;
}

}  // namespace tests

// ECB and CBC for EVP: input of any size, PKCS#7 padding, and records up to TLS 1.2.
#pragma once

#include "provider/cipher_context.h"

namespace warpseal::provider {

class BlockCipher : public DirectContext {
public:
    using DirectContext::DirectContext;

    bool init(bool decrypt, const uint8_t* key, size_t key_bytes, const uint8_t* iv,
              size_t iv_bytes, const OSSL_PARAM params[]);
    bool update(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in, size_t bytes);
    bool final(uint8_t* out, size_t* out_bytes, size_t capacity);
    // Processes whole blocks without buffering.
    bool cipher(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in, size_t bytes);

    bool get(OSSL_PARAM params[]);
    bool set(const OSSL_PARAM params[]);
    // `random_key`: the list includes OSSL_CIPHER_PARAM_RANDOM_KEY.
    static const OSSL_PARAM* gettable(bool random_key);
    static const OSSL_PARAM* settable();
    void settle() { go_directly(passes()); }

private:
    static constexpr size_t longest_mac = 64;

    // Returns true if whole blocks can be processed directly: nothing is buffered, and nothing
    // must be.
    bool passes() const {
        return tls_version_ == 0 && buffered_bytes_ == 0 && !(decrypt_ && padding_);
    }
    bool ready() { return in_progress_ || begin(iv_, algorithm_.iv_bytes()); }
    // Common part of all updates.
    bool assemble(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in,
                  size_t bytes);
    // Processes `whole` bytes of the buffered bytes followed by the input.
    bool join(const uint8_t* in, size_t bytes, uint8_t* out, size_t whole);
    bool unpad(size_t* text_bytes) const;
    bool record(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in, size_t bytes);
    bool close_record(uint8_t* record, size_t bytes, size_t* text_bytes);

    bool padding_ = true;
    // When decrypting with padding, this can be a whole block, which may be the last.
    size_t buffered_bytes_ = 0;
    uint8_t buffered_[longest_block] = {};
    // Zeros until an IV is set, as in OpenSSL, whose KDFs rely on it.
    uint8_t iv_[longest_block] = {};
    uint8_t updated_iv_[longest_block] = {};

    unsigned tls_version_ = 0;  // 0: not records
    size_t tls_mac_bytes_ = 0;
    uint8_t tls_mac_[longest_mac] = {};
};

}  // namespace warpseal::provider

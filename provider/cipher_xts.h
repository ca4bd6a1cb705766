// XTS for EVP: each update is one data unit, whose number is the IV.
#pragma once

#include "provider/cipher_context.h"

namespace warpseal::provider {

class XtsCipher : public MessageContext {
public:
    using MessageContext::MessageContext;

    bool init(bool decrypt, const uint8_t* key, size_t key_bytes, const uint8_t* iv,
              size_t iv_bytes, const OSSL_PARAM params[]);
    bool update(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in, size_t bytes);
    bool final(uint8_t* out, size_t* out_bytes, size_t capacity);
    bool cipher(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in, size_t bytes) {
        return update(out, out_bytes, capacity, in, bytes);
    }

    bool get(OSSL_PARAM params[]);
    bool set(const OSSL_PARAM params[]);
    static const OSSL_PARAM* gettable();
    static const OSSL_PARAM* settable();

private:
    bool ready();

    bool has_iv_ = false;
    uint8_t iv_[longest_block] = {};
};

}  // namespace warpseal::provider

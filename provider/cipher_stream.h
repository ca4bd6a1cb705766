// CFB, OFB and CTR for EVP: any number of bytes; the state is an IV and a number, both readable and
// settable.
#pragma once

#include "provider/cipher_context.h"

namespace warpseal::provider {

class StreamCipher : public DirectContext {
public:
    using DirectContext::DirectContext;

    bool init(bool decrypt, const uint8_t* key, size_t key_bytes, const uint8_t* iv,
              size_t iv_bytes, const OSSL_PARAM params[]);
    bool update(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in, size_t bytes);
    bool final(uint8_t* out, size_t* out_bytes, size_t capacity);
    bool cipher(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in, size_t bytes) {
        return update(out, out_bytes, capacity, in, bytes);
    }

    bool get(OSSL_PARAM params[]);
    bool set(const OSSL_PARAM params[]);
    // `random_key`: the list includes OSSL_CIPHER_PARAM_RANDOM_KEY.
    static const OSSL_PARAM* gettable(bool random_key);
    static const OSSL_PARAM* settable();

private:
    bool ready();
    // Moves the position of the message to state_ and used_.
    void suspend();
    size_t resume(const uint8_t* in, uint8_t* out, size_t bytes);

    bool has_iv_ = false;
    uint8_t iv_[longest_block] = {};
    // Position of the next byte if no message is in progress, in the form of
    // warpseal_internal_stream_position.
    uint8_t state_[longest_block] = {};
    uint32_t used_ = 0;
};

}  // namespace warpseal::provider

// CFB, OFB and CTR as EVP has them: any number of bytes, and a state of an IV and a number that can
// be read and set.
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
    // random_key: OSSL_CIPHER_PARAM_RANDOM_KEY is one of them.
    static const OSSL_PARAM* gettable(bool random_key);
    static const OSSL_PARAM* settable();

private:
    bool ready();
    // Where the message stands, from now on in state_ and used_ alone.
    void halt();
    size_t resume(const uint8_t* in, uint8_t* out, size_t bytes);

    bool has_iv_ = false;
    uint8_t iv_[longest_block] = {};
    // What goes on from here, unless a message is under way: as warpseal_internal_stream_position
    // has it.
    uint8_t state_[longest_block] = {};
    uint32_t used_ = 0;
};

}  // namespace warpseal::provider

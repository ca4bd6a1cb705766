// CFB, OFB and CTR for EVP (provider-cipher(7), EVP_EncryptInit(3)).
#include "provider/cipher_stream.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <algorithm>
#include <cstring>

namespace warpseal::provider {

bool StreamCipher::init(bool decrypt, const uint8_t* key, size_t key_bytes, const uint8_t* iv,
                        size_t iv_bytes, const OSSL_PARAM params[]) {
    if (iv != nullptr) {
        if (iv_bytes != algorithm_.block_bytes) return started(fail(Reason::wrong_iv, "length"));
        std::memcpy(iv_, iv, iv_bytes);
        has_iv_ = true;
    } else if (algorithm_.mode == WARPSEAL_CTR) {
        suspend();  // CTR continues with the next block; the other modes restart.
    }
    if (iv != nullptr || algorithm_.mode != WARPSEAL_CTR) std::memcpy(state_, iv_, sizeof state_);
    used_ = 0;
    return started(set_direction_and_key(decrypt, key, key_bytes) && set(params));
}

bool StreamCipher::update(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in,
                          size_t bytes) {
    *out_bytes = 0;
    if (capacity < bytes) return fail(Reason::wrong_length, "no room for the output");
    if ((in == nullptr || out == nullptr) && bytes != 0)
        return fail(Reason::wrong_parameter, "no input or output");
    if (!in_progress_) {
        if (!ready()) return false;
        if (used_ != 0) {
            in = moved_apart(in, out, bytes);
            const size_t done = resume(in, out, bytes);
            if (used_ != 0) {  // not at the end of the block
                *out_bytes = bytes;
                return true;
            }
            if (!begin(state_, algorithm_.block_bytes) || !run(in + done, out + done, bytes - done))
                return false;
            *out_bytes = bytes;
            return true;
        }
    }
    if (!run(in, out, bytes)) return false;
    *out_bytes = bytes;
    return true;
}

// In the middle of a block (used_ is not 0), a message is needed only from the next block on. CTR
// is the exception, because its state contains no keystream.
bool StreamCipher::ready() {
    const size_t block = algorithm_.block_bytes;
    if (message_ == nullptr) return fail(Reason::no_key);
    if (!has_iv_) return fail(Reason::wrong_iv, "there is none");
    if (used_ == 0) return begin(state_, block);
    if (algorithm_.mode != WARPSEAL_CTR) return true;
    uint8_t before[longest_block], skipped[longest_block] = {};
    std::memcpy(before, state_, block);
    for (size_t i = block; i-- > 0 && before[i]-- == 0;) {
    }
    const size_t skip = used_;
    used_ = 0;
    const bool stands = begin(before, block) && run(skipped, skipped, skip);
    warpseal_wipe(skipped, sizeof skipped);
    return stands;
}

size_t StreamCipher::resume(const uint8_t* in, uint8_t* out, size_t bytes) {
    const size_t count = std::min<size_t>(bytes, algorithm_.block_bytes - used_);
    for (size_t i = 0; i < count; ++i) {
        const uint8_t given = in[i], made = static_cast<uint8_t>(given ^ state_[used_ + i]);
        if (algorithm_.mode == WARPSEAL_CFB) state_[used_ + i] = decrypt_ ? given : made;
        out[i] = made;
    }
    used_ = static_cast<uint32_t>((used_ + count) % algorithm_.block_bytes);
    return count;
}

bool StreamCipher::final(uint8_t*, size_t* out_bytes, size_t) {
    *out_bytes = 0;
    return message_ != nullptr || fail(Reason::no_key);
}

void StreamCipher::suspend() {
    if (in_progress_) warpseal_internal_stream_position(message_.get(), state_, &used_);
    in_progress_ = false;
}

const OSSL_PARAM* StreamCipher::gettable(bool random_key) {
    static const OSSL_PARAM params[] = {
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_RANDOM_KEY, nullptr, 0),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, nullptr),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_IVLEN, nullptr),
        OSSL_PARAM_uint(OSSL_CIPHER_PARAM_PADDING, nullptr),
        OSSL_PARAM_uint(OSSL_CIPHER_PARAM_NUM, nullptr),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_IV, nullptr, 0),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_UPDATED_IV, nullptr, 0),
        OSSL_PARAM_END};
    return random_key ? params : params + 1;
}

bool StreamCipher::get(OSSL_PARAM params[]) {
    uint32_t used = used_;
    if (in_progress_) warpseal_internal_stream_position(message_.get(), state_, &used);
    return (write_number(params, OSSL_CIPHER_PARAM_KEYLEN, algorithm_.key_bytes) &&
            write_number(params, OSSL_CIPHER_PARAM_IVLEN, algorithm_.block_bytes) &&
            write_number(params, OSSL_CIPHER_PARAM_PADDING, 1) &&
            write_number(params, OSSL_CIPHER_PARAM_NUM, used) &&
            write_bytes(params, OSSL_CIPHER_PARAM_IV, iv_, algorithm_.block_bytes) &&
            write_bytes(params, OSSL_CIPHER_PARAM_UPDATED_IV, state_, algorithm_.block_bytes) &&
            write_random_key(params, algorithm_)) ||
           fail(Reason::wrong_parameter);
}

const OSSL_PARAM* StreamCipher::settable() {
    static const OSSL_PARAM params[] = {OSSL_PARAM_uint(OSSL_CIPHER_PARAM_PADDING, nullptr),
                                        OSSL_PARAM_uint(OSSL_CIPHER_PARAM_NUM, nullptr),
                                        OSSL_PARAM_END};
    return params;
}

bool StreamCipher::set(const OSSL_PARAM params[]) {
    if (params == nullptr) return true;
    if (const OSSL_PARAM* const given = find_param(params, OSSL_CIPHER_PARAM_NUM)) {
        size_t used;
        if (!read_number(*given, &used) || used >= algorithm_.block_bytes)
            return fail(Reason::wrong_parameter, OSSL_CIPHER_PARAM_NUM);
        suspend();
        used_ = static_cast<uint32_t>(used);
    }
    return true;
}

}  // namespace warpseal::provider

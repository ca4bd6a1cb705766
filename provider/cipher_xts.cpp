// XTS for EVP (provider-cipher(7), EVP_EncryptInit(3), IEEE 1619).
#include "provider/cipher_xts.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <cstring>

namespace warpseal::provider {

bool XtsCipher::init(bool decrypt, const uint8_t* key, size_t key_bytes, const uint8_t* iv,
                     size_t iv_bytes, const OSSL_PARAM params[]) {
    if (iv != nullptr) {
        if (iv_bytes != sizeof iv_) return started(fail(Reason::wrong_iv, "length"));
        std::memcpy(iv_, iv, sizeof iv_);
        has_iv_ = true;
    }
    return started(set_direction_and_key(decrypt, key, key_bytes) && set(params));
}

bool XtsCipher::update(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in,
                       size_t bytes) {
    *out_bytes = 0;
    if (!in_progress_ && !ready()) return false;
    if (in == nullptr || out == nullptr || capacity < bytes || bytes == 0)
        return fail(Reason::wrong_length, "of the data unit");
    if (!run(in, out, bytes)) return false;
    *out_bytes = bytes;
    return true;
}

bool XtsCipher::ready() {
    return has_iv_ ? begin(iv_, sizeof iv_) : fail(Reason::wrong_iv, "there is none");
}

bool XtsCipher::final(uint8_t*, size_t* out_bytes, size_t) {
    *out_bytes = 0;
    return key_ != nullptr || fail(Reason::no_key);
}

const OSSL_PARAM* XtsCipher::gettable() {
    static const OSSL_PARAM params[] = {
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, nullptr),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_IVLEN, nullptr),
        OSSL_PARAM_uint(OSSL_CIPHER_PARAM_PADDING, nullptr),
        OSSL_PARAM_uint(OSSL_CIPHER_PARAM_NUM, nullptr),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_IV, nullptr, 0),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_UPDATED_IV, nullptr, 0),
        OSSL_PARAM_END};
    return params;
}

bool XtsCipher::get(OSSL_PARAM params[]) {
    return (write_number(params, OSSL_CIPHER_PARAM_KEYLEN, algorithm_.key_bytes) &&
            write_number(params, OSSL_CIPHER_PARAM_IVLEN, sizeof iv_) &&
            write_number(params, OSSL_CIPHER_PARAM_PADDING, 1) &&
            write_number(params, OSSL_CIPHER_PARAM_NUM, 0) &&
            write_bytes(params, OSSL_CIPHER_PARAM_IV, iv_, sizeof iv_) &&
            write_bytes(params, OSSL_CIPHER_PARAM_UPDATED_IV, iv_, sizeof iv_)) ||
           fail(Reason::wrong_parameter);
}

const OSSL_PARAM* XtsCipher::settable() {
    static const OSSL_PARAM params[] = {OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, nullptr),
                                        OSSL_PARAM_END};
    return params;
}

bool XtsCipher::set(const OSSL_PARAM params[]) {
    if (params == nullptr) return true;
    const OSSL_PARAM* const given = find_param(params, OSSL_CIPHER_PARAM_KEYLEN);
    size_t bytes;
    return given == nullptr || (read_number(*given, &bytes) && bytes == algorithm_.key_bytes) ||
           fail(Reason::wrong_parameter, OSSL_CIPHER_PARAM_KEYLEN);
}

}  // namespace warpseal::provider

// CCM for EVP (provider-cipher(7), EVP_EncryptInit(3), SP 800-38C), and records as libssl requests
// them.
#include "provider/cipher_ccm.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <cstring>

#include "c_api/internal.h"

namespace warpseal::provider {

// Keeps a tag that was set before the IV.
bool CcmCipher::init(bool decrypt, const uint8_t* key, size_t key_bytes, const uint8_t* iv,
                     size_t iv_bytes, const OSSL_PARAM params[]) {
    if (decrypt != decrypt_) has_tag_ = false;
    decrypt_ = decrypt;
    if (iv != nullptr) {
        if (iv_bytes != iv_bytes_) return started(fail(Reason::wrong_iv, "length"));
        std::memcpy(iv_, iv, iv_bytes);
        has_fixed_part_ = false;
        reset_message();
        has_iv_ = true;
        if (!decrypt) has_tag_ = false;
    }
    return started((key == nullptr || set_key(key, key_bytes)) && set(params));
}

bool CcmCipher::update(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in,
                       size_t bytes) {
    *out_bytes = 0;
    if (record_head_.pending) return record(out, out_bytes, capacity, in, bytes);
    if (in == nullptr && out != nullptr) return final(out, out_bytes, capacity);
    if (key_ == nullptr) return fail(Reason::no_key);
    if (!has_iv_) return fail(Reason::wrong_iv, "there is none, or it is used");
    if (out == nullptr) {
        if (in == nullptr) {
            text_bytes_ = bytes;
        } else if (!add_aad(in, bytes)) {
            return false;
        }
    } else {
        if (capacity < bytes) return fail(Reason::wrong_length, "no room for the output");
        if (!text(out, in, bytes)) return false;
    }
    *out_bytes = bytes;
    return true;
}

bool CcmCipher::add_aad(const uint8_t* aad, size_t bytes) {
    if (bytes == 0) return true;
    if (!text_bytes_) return fail(Reason::wrong_length, "of the text comes first");
    if (has_aad_) return fail(Reason::wrong_length, "additional data must come in one call");
    aad_.assign(aad, aad + bytes);
    has_aad_ = true;
    return true;
}

// Processes the whole message. This uses up the IV even if the tag is not read yet, whereas OpenSSL
// permits sealing again until then.
bool CcmCipher::text(uint8_t* out, const uint8_t* in, size_t bytes) {
    if (text_bytes_ && *text_bytes_ != bytes)
        return fail(Reason::wrong_length, "not the length that was given");
    if (decrypt_ && !has_tag_) return fail(Reason::not_authentic, "there is no tag");
    in = moved_apart(in, out, bytes);
    const uint8_t* const aad = has_aad_ ? aad_.data() : nullptr;
    const size_t aad_bytes = has_aad_ ? aad_.size() : 0;
    if (decrypt_) {
        done_ = passed(warpseal_internal_open(key_.get(), WARPSEAL_CCM, iv_, iv_bytes_, aad,
                                              aad_bytes, in, out, bytes, tag_, tag_bytes_));
        has_tag_ = false;
    } else {
        done_ = has_tag_ =
            passed(warpseal_internal_seal(key_.get(), WARPSEAL_CCM, iv_, iv_bytes_, aad, aad_bytes,
                                          in, out, bytes, tag_, tag_bytes_));
    }
    text_bytes_.reset();
    has_iv_ = has_aad_ = false;
    return done_;
}

void CcmCipher::reset_message() {
    done_ = false;
    text_bytes_.reset();
    has_aad_ = false;
}

// A message without text has no update call for text, so its tag is computed or checked here.
bool CcmCipher::final(uint8_t*, size_t* out_bytes, size_t) {
    *out_bytes = 0;
    if (key_ == nullptr) return fail(Reason::no_key);
    if (done_) return true;
    if (!has_iv_) return fail(Reason::wrong_iv, "there is none, or it is used");
    uint8_t nothing = 0;
    return text(&nothing, &nothing, 0);
}

bool CcmCipher::cipher(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in,
                       size_t bytes) {
    return update(out, out_bytes, capacity, in, bytes);
}

bool CcmCipher::set_tag(const OSSL_PARAM& given) {
    const size_t bytes = given.data_size;
    if (given.data_type != OSSL_PARAM_OCTET_STRING || bytes < 4 || bytes > longest_tag ||
        bytes % 2 != 0)
        return fail(Reason::wrong_parameter, given.key);
    if (given.data != nullptr) {
        if (!decrypt_) return fail(Reason::wrong_parameter, "sealing makes its tag");
        std::memcpy(tag_, given.data, bytes);
        has_tag_ = true;
    } else if (bytes != tag_bytes_) {
        has_tag_ = false;
    }
    tag_bytes_ = bytes;
    return true;
}

// The explicit part of the nonce is the record number.
bool CcmCipher::record(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in,
                       size_t bytes) {
    record_head_.pending = false;
    if (key_ == nullptr) return fail(Reason::no_key);
    if (!has_fixed_part_) return fail(Reason::wrong_iv, "no part of it is fixed");
    if (in == nullptr || in != out || capacity < bytes ||
        bytes < RecordHead::explicit_bytes + tag_bytes_ ||
        iv_bytes_ != fixed_bytes + RecordHead::explicit_bytes)
        return fail(Reason::operation_failed, "not a record");
    const size_t text_bytes = bytes - RecordHead::explicit_bytes - tag_bytes_;
    if (text_bytes != record_head_.text_bytes()) return fail(Reason::wrong_length, "of the record");
    if (!decrypt_) std::memcpy(out, record_head_.data, RecordHead::explicit_bytes);
    std::memcpy(iv_ + fixed_bytes, in, RecordHead::explicit_bytes);
    uint8_t* const text = out + RecordHead::explicit_bytes;
    const warpseal_status status =
        decrypt_ ? warpseal_internal_open(key_.get(), WARPSEAL_CCM, iv_, iv_bytes_,
                                          record_head_.data, RecordHead::bytes, text, text,
                                          text_bytes, text + text_bytes, tag_bytes_)
                 : warpseal_internal_seal(key_.get(), WARPSEAL_CCM, iv_, iv_bytes_,
                                          record_head_.data, RecordHead::bytes, text, text,
                                          text_bytes, text + text_bytes, tag_bytes_);
    if (!passed(status)) return false;
    *out_bytes = decrypt_ ? text_bytes : bytes;
    return true;
}

const OSSL_PARAM* CcmCipher::gettable() {
    static const OSSL_PARAM params[] = {
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, nullptr),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_IVLEN, nullptr),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_AEAD_TAGLEN, nullptr),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_IV, nullptr, 0),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_UPDATED_IV, nullptr, 0),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, nullptr, 0),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_AEAD_TLS1_AAD_PAD, nullptr),
        OSSL_PARAM_END};
    return params;
}

bool CcmCipher::get(OSSL_PARAM params[]) {
    return write_requested(params, [this](OSSL_PARAM& wanted) { return get_param(wanted); });
}

bool CcmCipher::get_param(OSSL_PARAM& wanted) {
    if (named(wanted, OSSL_CIPHER_PARAM_IVLEN))
        return given(wanted, write_param(wanted, iv_bytes_));
    if (named(wanted, OSSL_CIPHER_PARAM_KEYLEN))
        return given(wanted, write_param(wanted, algorithm_.key_bytes));
    if (named(wanted, OSSL_CIPHER_PARAM_AEAD_TAG)) return write_tag(wanted);
    if (named(wanted, OSSL_CIPHER_PARAM_AEAD_TAGLEN))
        return given(wanted, write_param(wanted, tag_bytes_));
    if (named(wanted, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD_PAD))
        return given(wanted, write_param(wanted, record_head_.tail_bytes));
    if (named(wanted, OSSL_CIPHER_PARAM_IV) || named(wanted, OSSL_CIPHER_PARAM_UPDATED_IV))
        return given(wanted, write_param(wanted, iv_, iv_bytes_));
    return true;
}

bool CcmCipher::write_tag(OSSL_PARAM& wanted) {
    if (decrypt_ || !has_tag_) return fail(Reason::wrong_parameter, "there is no tag");
    if (wanted.data != nullptr && wanted.data_size != tag_bytes_)
        return fail(Reason::wrong_length, "of the tag");
    if (!given(wanted, write_param(wanted, tag_, tag_bytes_))) return false;
    if (wanted.data != nullptr) has_tag_ = false;
    return true;
}

const OSSL_PARAM* CcmCipher::settable() {
    static const OSSL_PARAM params[] = {
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_AEAD_IVLEN, nullptr),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, nullptr, 0),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_AAD, nullptr, 0),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED, nullptr, 0), OSSL_PARAM_END};
    return params;
}

bool CcmCipher::set(const OSSL_PARAM params[]) {
    if (params == nullptr) return true;
    if (const OSSL_PARAM* const given = find_param(params, OSSL_CIPHER_PARAM_AEAD_TAG);
        given && !set_tag(*given))
        return false;
    if (const OSSL_PARAM* const given = find_param(params, OSSL_CIPHER_PARAM_AEAD_IVLEN)) {
        size_t bytes;
        if (!read_number(*given, &bytes) || bytes < 7 || bytes > longest_iv)
            return fail(Reason::wrong_iv, "length");
        if (bytes != iv_bytes_) has_iv_ = false;  // The given IV is neither truncated nor padded.
        iv_bytes_ = bytes;
    }
    if (const OSSL_PARAM* const given = find_param(params, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD);
        given && !read_record_head(*given, tag_bytes_, record_head_))
        return false;
    if (const OSSL_PARAM* const given = find_param(params, OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED)) {
        if (given->data_type != OSSL_PARAM_OCTET_STRING || given->data == nullptr ||
            given->data_size != fixed_bytes)
            return fail(Reason::wrong_iv, given->key);
        std::memcpy(iv_, given->data, fixed_bytes);
        has_fixed_part_ = true;
        has_iv_ = false;
    }
    return true;
}

}  // namespace warpseal::provider

// GCM for EVP (provider-cipher(7), EVP_EncryptInit(3), SP 800-38D), and records as libssl requests
// them.
#include "provider/cipher_gcm.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <algorithm>
#include <cstring>

#include "provider/stack.h"

namespace warpseal::provider {

bool GcmCipher::init(bool decrypt, const uint8_t* key, size_t key_bytes, const uint8_t* iv,
                     size_t iv_bytes, const OSSL_PARAM params[]) {
    // A computed tag is neither a tag to compare with nor the next message's tag. An IV that was in
    // use must not be used again.
    if (!decrypt || !decrypt_) tag_bytes_ = 0;
    if (iv_state_ == Iv::in_use) iv_state_ = Iv::used;
    // The rest of the IV was drawn for sealing, or received for opening.
    if (decrypt != decrypt_) iv_fixed_ = false;
    if (iv != nullptr) {
        if (iv_bytes == 0 || iv_bytes > longest_iv)
            return started(fail(Reason::wrong_iv, "length"));
        std::memcpy(iv_, iv, iv_bytes);
        iv_bytes_ = iv_bytes;
        iv_state_ = Iv::given;
        iv_spent_ = false;
    }
    return started(set_direction_and_key(decrypt, key, key_bytes) && set(params));
}

bool GcmCipher::update(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in,
                       size_t bytes) {
    *out_bytes = 0;
    if (record_head_.pending) return record(out, out_bytes, capacity, in, bytes);
    if (bytes == 0) return true;
    if (capacity < bytes) return fail(Reason::wrong_length, "no room for the output");
    if (!ready()) return false;
    if (out == nullptr ? !passed(warpseal_internal_stream_aad(message_.get(), in, bytes))
                       : !run(in, out, bytes))
        return false;
    *out_bytes = bytes;
    return true;
}

bool GcmCipher::final(uint8_t*, size_t* out_bytes, size_t) {
    *out_bytes = 0;
    if (record_head_.pending) return fail(Reason::operation_failed, "records have no end");
    if (decrypt_ && tag_bytes_ == 0) return fail(Reason::not_authentic, "there is no tag");
    if (!ready()) return false;
    iv_state_ = Iv::used;
    in_progress_ = false;
    if (decrypt_) return passed(warpseal_internal_stream_verify(message_.get(), tag_, tag_bytes_));
    tag_bytes_ = longest_tag;
    return passed(warpseal_internal_stream_tag(message_.get(), tag_, longest_tag));
}

// EVP_Cipher ends a message with an empty update.
bool GcmCipher::cipher(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in,
                       size_t bytes) {
    return in == nullptr ? final(out, out_bytes, capacity)
                         : update(out, out_bytes, capacity, in, bytes);
}

bool GcmCipher::ready() {
    if (in_progress_) return true;
    if (iv_state_ == Iv::none && !decrypt_ && !draw_iv()) return false;
    return begin_message();
}

bool GcmCipher::begin_message() {
    if (iv_state_ != Iv::given) return fail(Reason::wrong_iv, "there is none, or it is used");
    if (!begin(iv_, iv_bytes_)) return false;
    iv_state_ = Iv::in_use;
    iv_spent_ = true;
    return true;
}

bool GcmCipher::begin_counted() {
    bool begun = false;
    iv_state_ = Iv::given;
    if (!with_stack([&]() noexcept { begun = begin_message(); }))
        return fail(Reason::out_of_memory);
    return begun;
}

// Draws an IV (SP 800-38D 8.2.2).
bool GcmCipher::draw_iv() {
    if (iv_bytes_ < 12) return fail(Reason::wrong_iv, "too short to be drawn");
    if (!passed(warpseal_random(iv_, iv_bytes_))) return false;
    iv_state_ = Iv::given;
    iv_spent_ = false;
    return true;
}

// An IV of another length that was set before is neither truncated nor padded.
bool GcmCipher::set_iv_bytes(size_t bytes) {
    if (bytes == 0 || bytes > longest_iv) return fail(Reason::wrong_iv, "length");
    if (bytes == iv_bytes_) return true;
    iv_bytes_ = bytes;
    in_progress_ = false;
    iv_fixed_ = false;
    if (iv_state_ != Iv::none) iv_state_ = Iv::used;
    return true;
}

bool GcmCipher::fix_iv(const OSSL_PARAM& given) {
    if (given.data_type != OSSL_PARAM_OCTET_STRING || given.data == nullptr)
        return fail(Reason::wrong_parameter, given.key);
    // EVP_CTRL_GCM_SET_IV_FIXED with -1 restores a whole IV that was read before.
    const bool whole = given.data_size == SIZE_MAX;
    const size_t bytes = whole ? iv_bytes_ : given.data_size;
    if (iv_bytes_ < 12 || (!whole && (bytes < 4 || bytes > iv_bytes_ - RecordHead::explicit_bytes)))
        return fail(Reason::wrong_iv, given.key);
    std::memcpy(iv_, given.data, bytes);
    if (!whole && !decrypt_ && !passed(warpseal_random(iv_ + bytes, iv_bytes_ - bytes)))
        return false;
    iv_fixed_ = true;
    iv_spent_ = false;
    iv_state_ = Iv::given;
    in_progress_ = false;
    return true;
}

bool GcmCipher::count_iv(uint8_t* end, size_t bytes) {
    if (!iv_fixed_ || decrypt_) return fail(Reason::wrong_iv, "no part of it is fixed");
    if (bytes == 0 || bytes > iv_bytes_) bytes = iv_bytes_;
    if (iv_spent_) advance_iv();  // A message without a counted IV has used this one.
    if (!begin_counted()) return false;
    std::memcpy(end, iv_ + iv_bytes_ - bytes, bytes);
    advance_iv();
    return true;
}

void GcmCipher::advance_iv() {
    for (size_t i = iv_bytes_; i-- > iv_bytes_ - RecordHead::explicit_bytes && ++iv_[i] == 0;) {
    }
    iv_spent_ = false;
}

void GcmCipher::stop_counting() {
    if (!iv_fixed_ || decrypt_) return;
    iv_fixed_ = false;
    if (iv_state_ == Iv::given) iv_state_ = Iv::used;
}

bool GcmCipher::read_iv_end(const uint8_t* end, size_t bytes) {
    if (!iv_fixed_ || !decrypt_ || bytes > iv_bytes_)
        return fail(Reason::wrong_iv, "no part of it is fixed");
    std::memcpy(iv_ + iv_bytes_ - bytes, end, bytes);
    return begin_counted();
}

// SP 800-38D permits only these lengths, because shorter tags can be guessed.
bool GcmCipher::set_tag(const OSSL_PARAM& given) {
    const size_t bytes = given.data_size;
    if (given.data_type != OSSL_PARAM_OCTET_STRING || given.data == nullptr || !decrypt_ ||
        !(bytes == 4 || bytes == 8 || (bytes >= 12 && bytes <= longest_tag)))
        return fail(Reason::wrong_parameter, given.key);
    std::memcpy(tag_, given.data, bytes);
    tag_bytes_ = bytes;
    return true;
}

bool GcmCipher::record(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in,
                       size_t bytes) {
    record_head_.pending = false;
    if (in == nullptr || in != out || capacity < bytes ||
        bytes < RecordHead::explicit_bytes + longest_tag)
        return fail(Reason::operation_failed, "not a record");
    const size_t text_bytes = bytes - RecordHead::explicit_bytes - longest_tag;
    if (text_bytes != record_head_.text_bytes()) return fail(Reason::wrong_length, "of the record");
    if (!(decrypt_ ? read_iv_end(in, RecordHead::explicit_bytes)
                   : count_iv(out, RecordHead::explicit_bytes)))
        return false;
    const bool done = passed(warpseal_internal_stream_aad(message_.get(), record_head_.data,
                                                          RecordHead::bytes)) &&
                      (decrypt_ ? open_record(out + RecordHead::explicit_bytes, text_bytes)
                                : seal_record(out + RecordHead::explicit_bytes, text_bytes));
    iv_state_ = Iv::used;
    in_progress_ = false;
    if (done) *out_bytes = decrypt_ ? text_bytes : bytes;
    return done;
}

bool GcmCipher::seal_record(uint8_t* text, size_t bytes) {
    return run(text, text, bytes) &&
           passed(warpseal_internal_stream_tag(message_.get(), text + bytes, longest_tag));
}

bool GcmCipher::open_record(uint8_t* text, size_t bytes) {
    if (run(text, text, bytes) &&
        passed(warpseal_internal_stream_verify(message_.get(), text + bytes, longest_tag)))
        return true;
    warpseal_wipe(text, bytes);
    return false;
}

const OSSL_PARAM* GcmCipher::gettable() {
    static const OSSL_PARAM params[] = {
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, nullptr),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_IVLEN, nullptr),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_AEAD_TAGLEN, nullptr),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_IV, nullptr, 0),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_UPDATED_IV, nullptr, 0),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, nullptr, 0),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_AEAD_TLS1_AAD_PAD, nullptr),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_GET_IV_GEN, nullptr, 0),
        OSSL_PARAM_END};
    return params;
}

bool GcmCipher::get(OSSL_PARAM params[]) {
    return write_requested(params, [this](OSSL_PARAM& wanted) { return get_param(wanted); });
}

bool GcmCipher::get_param(OSSL_PARAM& wanted) {
    if (named(wanted, OSSL_CIPHER_PARAM_IVLEN))
        return given(wanted, write_param(wanted, iv_bytes_));
    if (named(wanted, OSSL_CIPHER_PARAM_KEYLEN))
        return given(wanted, write_param(wanted, algorithm_.key_bytes));
    if (named(wanted, OSSL_CIPHER_PARAM_AEAD_TAG)) return write_tag(wanted);
    if (named(wanted, OSSL_CIPHER_PARAM_AEAD_TAGLEN))
        return given(wanted, write_param(wanted, tag_bytes_ == 0 ? longest_tag : tag_bytes_));
    if (named(wanted, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD_PAD))
        return given(wanted, write_param(wanted, record_head_.tail_bytes));
    if (named(wanted, OSSL_CIPHER_PARAM_IV) || named(wanted, OSSL_CIPHER_PARAM_UPDATED_IV)) {
        if (iv_state_ == Iv::none && (decrypt_ || !draw_iv()))
            return fail(Reason::wrong_iv, "there is none");
        return given(wanted, write_param(wanted, iv_, iv_bytes_));
    }
    if (!named(wanted, OSSL_CIPHER_PARAM_AEAD_TLS1_GET_IV_GEN)) return true;
    if (wanted.data_type != OSSL_PARAM_OCTET_STRING || wanted.data == nullptr)
        return fail(Reason::wrong_parameter, wanted.key);
    return count_iv(static_cast<uint8_t*>(wanted.data), wanted.data_size);
}

bool GcmCipher::write_tag(OSSL_PARAM& wanted) const {
    if (decrypt_ || tag_bytes_ == 0) return fail(Reason::wrong_parameter, "there is no tag");
    if (wanted.data == nullptr) return given(wanted, write_param(wanted, tag_, tag_bytes_));
    if (wanted.data_size == 0 || wanted.data_size > longest_tag)
        return fail(Reason::wrong_length, "of the tag");
    return given(wanted, write_param(wanted, tag_, wanted.data_size));
}

const OSSL_PARAM* GcmCipher::settable() {
    static const OSSL_PARAM params[] = {
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_AEAD_IVLEN, nullptr),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, nullptr, 0),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_AAD, nullptr, 0),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED, nullptr, 0),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_SET_IV_INV, nullptr, 0),
        OSSL_PARAM_END};
    return params;
}

bool GcmCipher::set(const OSSL_PARAM params[]) {
    if (params == nullptr) return true;
    if (const OSSL_PARAM* const given = find_param(params, OSSL_CIPHER_PARAM_AEAD_TAG);
        given && !set_tag(*given))
        return false;
    if (const OSSL_PARAM* const given = find_param(params, OSSL_CIPHER_PARAM_AEAD_IVLEN)) {
        size_t bytes;
        if (!read_number(*given, &bytes)) return fail(Reason::wrong_parameter, given->key);
        if (!set_iv_bytes(bytes)) return false;
    }
    if (const OSSL_PARAM* const given = find_param(params, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD);
        given && !read_record_head(*given, longest_tag, record_head_))
        return false;
    if (const OSSL_PARAM* const given = find_param(params, OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED);
        given && !fix_iv(*given))
        return false;
    const OSSL_PARAM* const end = find_param(params, OSSL_CIPHER_PARAM_AEAD_TLS1_SET_IV_INV);
    if (end == nullptr) return true;
    if (end->data_type != OSSL_PARAM_OCTET_STRING || end->data == nullptr)
        return fail(Reason::wrong_parameter, end->key);
    return read_iv_end(static_cast<const uint8_t*>(end->data), end->data_size);
}

}  // namespace warpseal::provider

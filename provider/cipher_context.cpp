// Common parts of all EVP cipher contexts (provider-cipher(7)).
#include "provider/cipher_context.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <bit>
#include <new>

#include "c_api/internal.h"

namespace warpseal::provider {
namespace {

unsigned evp_mode(warpseal_mode mode) {
    switch (mode) {
        case WARPSEAL_ECB: return EVP_CIPH_ECB_MODE;
        case WARPSEAL_CBC: return EVP_CIPH_CBC_MODE;
        case WARPSEAL_CFB: return EVP_CIPH_CFB_MODE;
        case WARPSEAL_OFB: return EVP_CIPH_OFB_MODE;
        case WARPSEAL_CTR: return EVP_CIPH_CTR_MODE;
        case WARPSEAL_XTS: return EVP_CIPH_XTS_MODE;
        case WARPSEAL_GCM: return EVP_CIPH_GCM_MODE;
        case WARPSEAL_CCM: return EVP_CIPH_CCM_MODE;
        default: return EVP_CIPH_STREAM_CIPHER;
    }
}

template <size_t name_bytes>
bool write_flag(OSSL_PARAM params[], const char (&name)[name_bytes], bool value) {
    OSSL_PARAM* const wanted = find_param(params, name);
    return wanted == nullptr || OSSL_PARAM_set_int(wanted, value) != 0;
}

void set_odd_parity(uint8_t* key, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i)
        key[i] = static_cast<uint8_t>((key[i] & 0xfe) | (~std::popcount(key[i] & 0xfeu) & 1));
}

}  // namespace

const OSSL_PARAM* gettable_cipher_params(void*) {
    static const OSSL_PARAM params[] = {OSSL_PARAM_uint(OSSL_CIPHER_PARAM_MODE, nullptr),
                                        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, nullptr),
                                        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_IVLEN, nullptr),
                                        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_BLOCK_SIZE, nullptr),
                                        OSSL_PARAM_int(OSSL_CIPHER_PARAM_AEAD, nullptr),
                                        OSSL_PARAM_int(OSSL_CIPHER_PARAM_CUSTOM_IV, nullptr),
                                        OSSL_PARAM_int(OSSL_CIPHER_PARAM_CTS, nullptr),
                                        OSSL_PARAM_int(OSSL_CIPHER_PARAM_TLS1_MULTIBLOCK, nullptr),
                                        OSSL_PARAM_int(OSSL_CIPHER_PARAM_HAS_RAND_KEY, nullptr),
                                        OSSL_PARAM_END};
    return params;
}

bool get_cipher_params(const CipherAlgorithm& algorithm, OSSL_PARAM params[]) {
    const bool custom_iv = algorithm.authenticated() || algorithm.mode == WARPSEAL_XTS;
    return write_number(params, OSSL_CIPHER_PARAM_MODE, evp_mode(algorithm.mode)) &&
           write_number(params, OSSL_CIPHER_PARAM_KEYLEN, algorithm.key_bytes) &&
           write_number(params, OSSL_CIPHER_PARAM_IVLEN, algorithm.iv_bytes()) &&
           write_number(params, OSSL_CIPHER_PARAM_BLOCK_SIZE,
                        algorithm.whole_blocks() ? algorithm.block_bytes : 1) &&
           write_flag(params, OSSL_CIPHER_PARAM_AEAD, algorithm.authenticated()) &&
           write_flag(params, OSSL_CIPHER_PARAM_CUSTOM_IV, custom_iv) &&
           write_flag(params, OSSL_CIPHER_PARAM_CTS, false) &&
           write_flag(params, OSSL_CIPHER_PARAM_TLS1_MULTIBLOCK, false) &&
           write_flag(params, OSSL_CIPHER_PARAM_HAS_RAND_KEY, algorithm.parity);
}

bool write_param(OSSL_PARAM& wanted, size_t value) {
    return OSSL_PARAM_set_size_t(&wanted, value) != 0;
}

bool write_param(OSSL_PARAM& wanted, const void* bytes, size_t count) {
    if (wanted.data_type == OSSL_PARAM_OCTET_PTR)
        return OSSL_PARAM_set_octet_ptr(&wanted, bytes, count) != 0;
    return OSSL_PARAM_set_octet_string(&wanted, bytes, count) != 0;
}

bool read_number(const OSSL_PARAM& given, size_t* value) {
    return given.data != nullptr && OSSL_PARAM_get_size_t(&given, value) != 0;
}

bool write_random_key(OSSL_PARAM params[], const CipherAlgorithm& algorithm) {
    // For other ciphers, EVP_CIPHER_CTX_rand_key uses the random generator.
    if (!algorithm.parity) return true;
    OSSL_PARAM* const wanted = find_param(params, OSSL_CIPHER_PARAM_RANDOM_KEY);
    if (wanted == nullptr) return true;
    wanted->return_size = algorithm.key_bytes;
    if (wanted->data == nullptr) return true;
    // EVP_CIPHER_CTX_rand_key passes a size of 0 with a buffer that fits a key.
    if (wanted->data_type != OSSL_PARAM_OCTET_STRING ||
        (wanted->data_size != 0 && wanted->data_size < algorithm.key_bytes))
        return false;
    if (warpseal_random(wanted->data, algorithm.key_bytes) != WARPSEAL_OK) return false;
    set_odd_parity(static_cast<uint8_t*>(wanted->data), algorithm.key_bytes);
    return true;
}

void* CipherContext::operator new(size_t bytes) { return ::operator new(bytes); }

void* CipherContext::operator new(size_t bytes, const std::nothrow_t& or_null) noexcept {
    return ::operator new(bytes, or_null);
}

void CipherContext::operator delete(void* memory, size_t bytes) {
    warpseal_wipe(memory, bytes);
    ::operator delete(memory);
}

bool CipherContext::has_key(const uint8_t* key, size_t bytes) const {
    return key_ != nullptr && bytes == algorithm_.key_bytes &&
           warpseal_internal_key_made_of(key_.get(), key) != 0;
}

bool CipherContext::set_key(const uint8_t* key, size_t bytes) {
    return has_key(key, bytes) || make_key(key, bytes);
}

// Derives the key from the last key or from the engine's model key, so that their path selection is
// reused. A forked child has a different engine.
bool CipherContext::make_key(const uint8_t* key, size_t bytes) {
    const std::shared_ptr<const warpseal_key> last = std::move(key_);
    key_.reset();
    if (bytes != algorithm_.key_bytes) return fail(Reason::wrong_length, "of the key");
    warpseal_engine* const engine = provider_.engine();
    if (engine == nullptr) return false;
    warpseal_key* made = nullptr;
    const auto create =
        algorithm_.mode == WARPSEAL_XTS ? warpseal_key_create_xts : warpseal_key_create;
    const warpseal_key* const like =
        last != nullptr && engine == engine_ ? last.get() : provider_.model(algorithm_, decrypt_);
    const warpseal_status status = like != nullptr
                                       ? warpseal_internal_key_create_like(like, key, &made)
                                       : create(engine, algorithm_.cipher, key, bytes, &made);
    if (!passed(status)) return false;
    key_.reset(made, warpseal_key_destroy);
    engine_ = engine;
    return true;
}

bool CipherContext::read_record_head(const OSSL_PARAM& given, size_t tag_bytes,
                                     RecordHead& head) const {
    if (given.data_type != OSSL_PARAM_OCTET_STRING || given.data == nullptr ||
        given.data_size != RecordHead::bytes)
        return fail(Reason::wrong_parameter, given.key);
    std::memcpy(head.data, given.data, RecordHead::bytes);
    const size_t bytes = head.text_bytes(),
                 around = RecordHead::explicit_bytes + (decrypt_ ? tag_bytes : 0);
    if (bytes < around) return fail(Reason::wrong_length, "of the record");
    head.data[11] = static_cast<uint8_t>((bytes - around) >> 8);
    head.data[12] = static_cast<uint8_t>(bytes - around);
    head.tail_bytes = tag_bytes;
    head.pending = true;
    return true;
}

bool CipherContext::failed(warpseal_status status, SourceLocation where) const {
    if (status == WARPSEAL_NOT_AUTHENTIC) {
        raise(provider_, Reason::not_authentic, nullptr, where);
    } else {
        raise(provider_, status, where);
    }
    return false;
}

MessageContext::MessageContext(const MessageContext& other)
    : CipherContext(other), in_progress_(other.in_progress_) {
    if (other.message_ == nullptr) return;
    warpseal_internal_stream* copied = nullptr;
    if (warpseal_internal_stream_copy(other.message_.get(), &copied) != WARPSEAL_OK)
        throw std::bad_alloc();
    message_.reset(copied);
}

bool MessageContext::set_direction_and_key(bool decrypt, const uint8_t* key, size_t key_bytes) {
    in_progress_ = false;
    if (decrypt != decrypt_) message_.reset();
    decrypt_ = decrypt;
    if (key != nullptr && !has_key(key, key_bytes)) {
        // The message uses the old key. It returns to this context only after the new key is
        // set, even if creating the key throws.
        auto kept = std::move(message_);
        const warpseal_engine* const before = engine_;
        if (!make_key(key, key_bytes)) return false;
        if (kept != nullptr && engine_ == before) {
            if (!passed(warpseal_internal_stream_rekey(kept.get(), key_.get()))) return false;
            message_ = std::move(kept);
            return true;
        }
    }
    if (key_ == nullptr || message_ != nullptr) return true;
    warpseal_internal_stream* made = nullptr;
    if (!passed(warpseal_internal_stream_create(key_.get(), algorithm_.mode, decrypt, &made)))
        return false;
    message_.reset(made);
    shallow_bytes_ = warpseal_internal_stream_shallow_bytes(made);
    return true;
}

bool MessageContext::begin(const uint8_t* iv, size_t iv_bytes) {
    if (message_ == nullptr) return fail(Reason::no_key);
    in_progress_ = passed(warpseal_internal_stream_init(message_.get(), iv, iv_bytes));
    return in_progress_;
}

}  // namespace warpseal::provider

// ECB and CBC for EVP (provider-cipher(7), EVP_EncryptInit(3)), and records as libssl requests
// them.
#include "provider/cipher_block.h"

#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/prov_ssl.h>

#include <cstring>

#include "provider/cipher_record.h"

namespace warpseal::provider {
namespace {

// Up to this size, one call on a copy is cheaper than two calls without it.
constexpr size_t joined_bytes = 4096;

bool apart(const uint8_t* a, size_t a_bytes, const uint8_t* b, size_t b_bytes) {
    const auto from = reinterpret_cast<uintptr_t>(a), to = reinterpret_cast<uintptr_t>(b);
    return from + a_bytes <= to || to + b_bytes <= from;
}

}  // namespace

bool BlockCipher::init(bool decrypt, const uint8_t* key, size_t key_bytes, const uint8_t* iv,
                       size_t iv_bytes, const OSSL_PARAM params[]) {
    warpseal_wipe(buffered_, sizeof buffered_);
    buffered_bytes_ = 0;
    if (iv != nullptr && algorithm_.iv_bytes() != 0) {
        if (iv_bytes != algorithm_.iv_bytes()) return started(fail(Reason::wrong_iv, "length"));
        std::memcpy(iv_, iv, iv_bytes);
    }
    return started(set_direction_and_key(decrypt, key, key_bytes) && set(params));
}

bool BlockCipher::update(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in,
                         size_t bytes) {
    if (!in_progress_ || !passes() || bytes == 0 || (bytes & (algorithm_.block_bytes - 1)) != 0 ||
        capacity < bytes || in == nullptr || out == nullptr)
        return assemble(out, out_bytes, capacity, in, bytes);
    const bool done = run(in, out, bytes);
    *out_bytes = done ? bytes : 0;
    return done;
}

bool BlockCipher::assemble(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in,
                           size_t bytes) {
    *out_bytes = 0;
    if (!ready()) return false;
    if (tls_version_ != 0) return record(out, out_bytes, capacity, in, bytes);
    const size_t block = algorithm_.block_bytes, all = buffered_bytes_ + bytes;
    size_t whole = all & ~(block - 1);
    if (decrypt_ && padding_ && whole == all && whole != 0) whole -= block;
    if ((in == nullptr && bytes != 0) || (out == nullptr && (bytes != 0 || whole != 0)))
        return fail(Reason::wrong_parameter, "no input or output");
    if (all < bytes || capacity < whole)
        return fail(Reason::wrong_length, "no room for the output");
    const size_t left = all - whole;
    if (whole == 0) {
        if (bytes != 0) std::memcpy(buffered_ + buffered_bytes_, in, bytes);
        buffered_bytes_ = all;
        return true;
    }
    if (bytes == 0) {  // A block was buffered for its padding, and padding was then switched off.
        if (!run(buffered_, out, whole)) return false;
        buffered_bytes_ = 0;
        *out_bytes = whole;
        return true;
    }
    uint8_t rest[longest_block];  // Saved, because the output may overwrite it.
    if (left != 0) std::memcpy(rest, in + bytes - left, left);
    if (!(buffered_bytes_ == 0 ? run(in, out, whole) : join(in, bytes, out, whole))) return false;
    if (left != 0) std::memcpy(buffered_, rest, left);
    buffered_bytes_ = left;
    *out_bytes = whole;
    return true;
}

bool BlockCipher::join(const uint8_t* in, size_t bytes, uint8_t* out, size_t whole) {
    const size_t block = algorithm_.block_bytes;
    if (whole > joined_bytes && apart(in, bytes, out, whole)) {
        const size_t wanted = block - buffered_bytes_;
        std::memcpy(buffered_ + buffered_bytes_, in, wanted);
        return run(buffered_, out, block) && run(in + wanted, out + block, whole - block);
    }
    std::memmove(out + buffered_bytes_, in, whole - buffered_bytes_);
    std::memcpy(out, buffered_, buffered_bytes_);
    return run(out, out, whole);
}

bool BlockCipher::final(uint8_t* out, size_t* out_bytes, size_t capacity) {
    *out_bytes = 0;
    if (!ready()) return false;
    if (tls_version_ != 0) return fail(Reason::operation_failed, "records have no end");
    const size_t block = algorithm_.block_bytes;
    if (!decrypt_ && padding_ && capacity < block)
        return fail(Reason::wrong_length, "no room for the output");
    if (!decrypt_ && padding_) {
        std::memset(buffered_ + buffered_bytes_, static_cast<int>(block - buffered_bytes_),
                    block - buffered_bytes_);
        buffered_bytes_ = block;
    }
    if (!padding_ && buffered_bytes_ == 0) return true;
    if (buffered_bytes_ != block) return fail(Reason::wrong_length, "not whole blocks");
    if (!run(buffered_, buffered_, block)) return false;
    size_t text_bytes = block;
    const bool good = !decrypt_ || !padding_ || unpad(&text_bytes);
    const bool fits = text_bytes <= capacity;
    if (good && fits) {
        std::memcpy(out, buffered_, text_bytes);
        *out_bytes = text_bytes;
    }
    warpseal_wipe(buffered_, sizeof buffered_);
    buffered_bytes_ = 0;
    return good && (fits || fail(Reason::wrong_length, "no room for the output"));
}

// Runs in constant time, although the result reveals if the padding is valid. Callers must
// therefore authenticate the ciphertext first.
bool BlockCipher::unpad(size_t* text_bytes) const {
    const size_t block = algorithm_.block_bytes, padding = buffered_[block - 1];
    size_t wrong = mask_below(padding, 1) | mask_below(block, padding);
    for (size_t i = 0; i < block; ++i)
        wrong |= mask_below(i, padding) & (buffered_[block - 1 - i] ^ padding);
    if (wrong != 0) return fail(Reason::operation_failed, "bad decrypt: the padding is wrong");
    *text_bytes = block - padding;
    return true;
}

bool BlockCipher::cipher(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in,
                         size_t bytes) {
    *out_bytes = 0;
    if (!ready()) return false;
    if (bytes % algorithm_.block_bytes != 0 || capacity < bytes) return fail(Reason::wrong_length);
    if (!run(in, out, bytes)) return false;
    *out_bytes = bytes;
    return true;
}

// Processes one record per call: the text and its MAC. From TLS 1.1 on, an explicit IV block comes
// first, which only feeds the chain.
bool BlockCipher::record(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in,
                         size_t bytes) {
    const size_t block = algorithm_.block_bytes;
    if (in == nullptr || in != out || !padding_ || capacity < bytes)
        return fail(Reason::operation_failed, "not a record");
    if (decrypt_)
        return bytes % block == 0 && bytes != 0
                   ? run(in, out, bytes) && close_record(out, bytes, out_bytes)
                   : fail(Reason::wrong_length);
    const size_t padding = block - bytes % block;
    if (capacity - bytes < padding) return fail(Reason::wrong_length, "no room for the padding");
    std::memset(out + bytes, static_cast<int>(padding - 1), padding);
    if (!run(out, out, bytes + padding)) return false;
    *out_bytes = bytes + padding;
    return true;
}

// A record with a MAC never fails here: its MAC becomes random and the comparison fails. A record
// that libssl has already authenticated fails by its padding.
bool BlockCipher::close_record(uint8_t* record, size_t bytes, size_t* text_bytes) {
    const size_t iv_bytes = tls_version_ == TLS1_VERSION ? 0 : algorithm_.block_bytes;
    if (bytes < iv_bytes + tls_mac_bytes_ + 1) return fail(Reason::wrong_length, "of the record");
    record += iv_bytes;
    bytes -= iv_bytes;
    const RecordEnd end = find_record_end(record, bytes, tls_mac_bytes_);
    if (tls_mac_bytes_ == 0) {
        if (end.valid == 0) return fail(Reason::operation_failed, "the padding is wrong");
    } else {
        uint8_t random[longest_mac];
        if (!passed(warpseal_random(random, tls_mac_bytes_))) return false;
        copy_record_mac(record, bytes, end.text_bytes, tls_mac_, tls_mac_bytes_);
        for (size_t i = 0; i < tls_mac_bytes_; ++i)
            tls_mac_[i] =
                static_cast<uint8_t>((tls_mac_[i] & end.valid) | (random[i] & ~end.valid));
    }
    *text_bytes = end.text_bytes;
    return true;
}

const OSSL_PARAM* BlockCipher::gettable(bool random_key) {
    static const OSSL_PARAM params[] = {
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_RANDOM_KEY, nullptr, 0),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, nullptr),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_IVLEN, nullptr),
        OSSL_PARAM_uint(OSSL_CIPHER_PARAM_PADDING, nullptr),
        OSSL_PARAM_uint(OSSL_CIPHER_PARAM_NUM, nullptr),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_IV, nullptr, 0),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_UPDATED_IV, nullptr, 0),
        OSSL_PARAM_octet_ptr(OSSL_CIPHER_PARAM_TLS_MAC, nullptr, 0),
        OSSL_PARAM_END};
    return random_key ? params : params + 1;
}

bool BlockCipher::get(OSSL_PARAM params[]) {
    const size_t iv_bytes = algorithm_.iv_bytes();
    if (find_param(params, OSSL_CIPHER_PARAM_UPDATED_IV) != nullptr) {
        uint32_t used;
        std::memcpy(updated_iv_, iv_, sizeof updated_iv_);
        if (in_progress_) warpseal_internal_stream_position(message_.get(), updated_iv_, &used);
    }
    return (write_number(params, OSSL_CIPHER_PARAM_KEYLEN, algorithm_.key_bytes) &&
            write_number(params, OSSL_CIPHER_PARAM_IVLEN, iv_bytes) &&
            write_number(params, OSSL_CIPHER_PARAM_PADDING, padding_) &&
            write_number(params, OSSL_CIPHER_PARAM_NUM, 0) &&
            write_bytes(params, OSSL_CIPHER_PARAM_IV, iv_, iv_bytes) &&
            write_bytes(params, OSSL_CIPHER_PARAM_UPDATED_IV, updated_iv_, iv_bytes) &&
            write_bytes(params, OSSL_CIPHER_PARAM_TLS_MAC, tls_mac_, tls_mac_bytes_) &&
            write_random_key(params, algorithm_)) ||
           fail(Reason::wrong_parameter);
}

const OSSL_PARAM* BlockCipher::settable() {
    static const OSSL_PARAM params[] = {OSSL_PARAM_uint(OSSL_CIPHER_PARAM_PADDING, nullptr),
                                        OSSL_PARAM_uint(OSSL_CIPHER_PARAM_TLS_VERSION, nullptr),
                                        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_TLS_MAC_SIZE, nullptr),
                                        OSSL_PARAM_END};
    return params;
}

bool BlockCipher::set(const OSSL_PARAM params[]) {
    if (params == nullptr) return true;
    if (const OSSL_PARAM* const given = find_param(params, OSSL_CIPHER_PARAM_PADDING)) {
        size_t padding;
        if (!read_number(*given, &padding))
            return fail(Reason::wrong_parameter, OSSL_CIPHER_PARAM_PADDING);
        padding_ = padding != 0;
    }
    if (const OSSL_PARAM* const given = find_param(params, OSSL_CIPHER_PARAM_TLS_VERSION)) {
        size_t version;
        if (!read_number(*given, &version))
            return fail(Reason::wrong_parameter, OSSL_CIPHER_PARAM_TLS_VERSION);
        switch (version) {
            case 0:
            case TLS1_VERSION:
            case TLS1_1_VERSION:
            case TLS1_2_VERSION:
            case DTLS1_BAD_VER:
            case DTLS1_VERSION:
            case DTLS1_2_VERSION: tls_version_ = static_cast<unsigned>(version); break;
            default:
                // SSL 3 included: its padding is not authenticated.
                return fail(Reason::unsupported, "this version of TLS");
        }
    }
    if (const OSSL_PARAM* const given = find_param(params, OSSL_CIPHER_PARAM_TLS_MAC_SIZE)) {
        size_t bytes;
        if (!read_number(*given, &bytes) || bytes > longest_mac)
            return fail(Reason::wrong_parameter, OSSL_CIPHER_PARAM_TLS_MAC_SIZE);
        tls_mac_bytes_ = bytes;
    }
    return true;
}

}  // namespace warpseal::provider

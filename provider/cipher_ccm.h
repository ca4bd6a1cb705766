// CCM for EVP: messages whose text comes in one call and whose length is set before the AAD, and
// records of TLS 1.2 (RFC 6655).
#pragma once

#include <optional>
#include <vector>

#include "provider/cipher_context.h"

namespace warpseal::provider {

class CcmCipher : public CipherContext {
public:
    using CipherContext::CipherContext;

    bool init(bool decrypt, const uint8_t* key, size_t key_bytes, const uint8_t* iv,
              size_t iv_bytes, const OSSL_PARAM params[]);
    bool update(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in, size_t bytes);
    bool final(uint8_t* out, size_t* out_bytes, size_t capacity);
    bool cipher(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in, size_t bytes);

    bool get(OSSL_PARAM params[]);
    bool set(const OSSL_PARAM params[]);
    static const OSSL_PARAM* gettable();
    static const OSSL_PARAM* settable();

private:
    static constexpr size_t longest_iv = 13, longest_tag = 16, fixed_bytes = 4;

    bool add_aad(const uint8_t* aad, size_t bytes);
    bool text(uint8_t* out, const uint8_t* in, size_t bytes);
    void reset_message();
    bool get_param(OSSL_PARAM& wanted);
    bool write_tag(OSSL_PARAM& wanted);
    bool set_tag(const OSSL_PARAM& given);
    bool record(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in, size_t bytes);

    bool has_iv_ = false, has_tag_ = false, has_fixed_part_ = false;
    bool done_ = false;                     // A message was sealed, or was opened successfully.
    size_t iv_bytes_ = 7, tag_bytes_ = 12;  // default of OpenSSL
    std::optional<size_t> text_bytes_;
    bool has_aad_ = false;
    std::vector<uint8_t> aad_;  // The capacity is reused between messages.
    uint8_t iv_[longest_iv] = {};
    uint8_t tag_[longest_tag] = {};
    RecordHead record_head_;
};

}  // namespace warpseal::provider

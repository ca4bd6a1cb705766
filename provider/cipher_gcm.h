// GCM for EVP: AAD and text in several updates, with given, random or counted IVs, and records of
// TLS 1.2 (RFC 5288).
#pragma once

#include "provider/cipher_context.h"

namespace warpseal::provider {

class GcmCipher : public MessageContext {
public:
    using MessageContext::MessageContext;

    bool init(bool decrypt, const uint8_t* key, size_t key_bytes, const uint8_t* iv,
              size_t iv_bytes, const OSSL_PARAM params[]);
    bool update(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in, size_t bytes);
    bool final(uint8_t* out, size_t* out_bytes, size_t capacity);
    bool cipher(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in, size_t bytes);

    bool get(OSSL_PARAM params[]);
    bool set(const OSSL_PARAM params[]);
    static const OSSL_PARAM* gettable();
    static const OSSL_PARAM* settable();
    // Must be called for a copy, whose counted IVs would repeat those of the original.
    void stop_counting();

private:
    static constexpr size_t longest_iv = 128, longest_tag = 16;
    // State of the IV. An IV serves one message.
    enum class Iv : uint8_t { none, given, in_use, used };

    bool ready();
    bool begin_message();
    bool begin_counted();  // Called for a parameter, where the stack is not yet checked.
    bool draw_iv();
    bool set_iv_bytes(size_t bytes);
    bool get_param(OSSL_PARAM& wanted);
    bool write_tag(OSSL_PARAM& wanted) const;
    bool set_tag(const OSSL_PARAM& given);
    bool fix_iv(const OSSL_PARAM& given);
    // Writes the explicit nonce of TLS, which is the end of the IV, and advances the IV.
    bool count_iv(uint8_t* end, size_t bytes);
    void advance_iv();
    bool read_iv_end(const uint8_t* end, size_t bytes);
    bool record(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in, size_t bytes);
    bool seal_record(uint8_t* text, size_t bytes);
    bool open_record(uint8_t* text, size_t bytes);

    Iv iv_state_ = Iv::none;
    bool iv_fixed_ = false;
    bool iv_spent_ = false;  // A message has begun under the content of iv_.
    size_t iv_bytes_ = 12;
    size_t tag_bytes_ = 0;  // 0: no tag yet
    uint8_t iv_[longest_iv] = {};
    uint8_t tag_[longest_tag] = {};
    RecordHead record_head_;
};

}  // namespace warpseal::provider

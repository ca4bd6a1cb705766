// Common parts of all EVP cipher contexts: algorithm, key, and the parameters that every mode
// supports.
#pragma once

#include <openssl/core.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "c_api/internal_stream.h"
#include "provider/context.h"
#include "warpseal/warpseal.h"

namespace warpseal::provider {

inline constexpr size_t longest_block = 16;

// One cipher of the catalogue in one mode.
struct CipherAlgorithm {
    const char* cipher;
    warpseal_mode mode;
    size_t key_bytes;  // XTS: total of both keys
    size_t block_bytes;
    bool parity;    // each key byte ends with a parity bit
    size_t number;  // row in cipher_names

    // False for modes that take any number of bytes, which report a block size of one.
    bool whole_blocks() const { return mode == WARPSEAL_ECB || mode == WARPSEAL_CBC; }
    bool authenticated() const { return mode == WARPSEAL_GCM || mode == WARPSEAL_CCM; }
    size_t iv_bytes() const {
        return mode == WARPSEAL_ECB ? 0 : authenticated() ? 12 : block_bytes;
    }
};

// Implement OSSL_FUNC_CIPHER_GETTABLE_PARAMS and OSSL_FUNC_CIPHER_GET_PARAMS.
const OSSL_PARAM* gettable_cipher_params(void*);
bool get_cipher_params(const CipherAlgorithm& algorithm, OSSL_PARAM params[]);

// Returns true if `param` has this name. libcrypto requests several parameters for each message,
// one at a time. Most names already differ in the first one or two bytes, which makes a call too
// expensive. Does not read past the end of the name.
template <size_t bytes>
inline __attribute__((always_inline)) bool named(const OSSL_PARAM& param,
                                                 const char (&name)[bytes]) {
    return [&]<size_t... i>(std::index_sequence<i...>) {
        return ((param.key[i] == name[i]) && ...);
    }
    (std::make_index_sequence<bytes>());
}

// Same as OSSL_PARAM_locate.
template <class Param, size_t bytes>
inline __attribute__((always_inline)) Param* find_param(Param* params, const char (&name)[bytes]) {
    for (; params != nullptr && params->key != nullptr; ++params)
        if (named(*params, name)) return params;
    return nullptr;
}

// Calls `write` for each requested parameter in order. Stops and returns false when one fails.
template <class Write>
inline __attribute__((always_inline)) bool write_requested(OSSL_PARAM* params, const Write& write) {
    for (; params != nullptr && params->key != nullptr; ++params)
        if (!write(*params)) return false;
    return true;
}

// Return false if the parameter's type or size does not fit.
bool write_param(OSSL_PARAM& wanted, size_t value);
bool write_param(OSSL_PARAM& wanted, const void* bytes, size_t count);

// Set the parameter if it is requested.
template <size_t name_bytes>
bool write_number(OSSL_PARAM params[], const char (&name)[name_bytes], size_t value) {
    OSSL_PARAM* const wanted = find_param(params, name);
    return wanted == nullptr || write_param(*wanted, value);
}
template <size_t name_bytes>
bool write_bytes(OSSL_PARAM params[], const char (&name)[name_bytes], const void* bytes,
                 size_t count) {
    OSSL_PARAM* const wanted = find_param(params, name);
    return wanted == nullptr || write_param(*wanted, bytes, count);
}

// Reads a parameter. Returns false unless it is a nonnegative number.
bool read_number(const OSSL_PARAM& given, size_t* value);

// Implements EVP_CIPHER_CTX_rand_key for ciphers with key parity; as in OpenSSL, other ciphers do
// not need it.
bool write_random_key(OSSL_PARAM params[], const CipherAlgorithm& algorithm);

// Additional data of a TLS 1.2 record under an AEAD (RFC 5246 6.2.3.3), with the length of the
// text.
struct RecordHead {
    // `explicit_bytes` is the part of the nonce that precedes the text (RFC 5288 3, RFC 6655 3).
    static constexpr size_t bytes = 13, explicit_bytes = 8;
    uint8_t data[bytes] = {};
    bool pending = false;   // the record comes next
    size_t tail_bytes = 0;  // bytes that sealing appends to the text
    size_t text_bytes() const { return size_t{data[11]} << 8 | data[12]; }
};

class CipherContext {
public:
    CipherContext(const Context& provider, const CipherAlgorithm& algorithm)
        : provider_(provider), algorithm_(algorithm) {}
    // The context is zeroized on deletion, because it holds IVs, tags and partial blocks. Members
    // behind handles zeroize themselves.
    static void* operator new(size_t bytes);
    static void* operator new(size_t bytes, const std::nothrow_t& or_null) noexcept;
    static void operator delete(void* memory, size_t bytes);

    const Context& provider() const { return provider_; }
    // Updates of at most this size need no check of the stack.
    size_t shallow_bytes() const { return shallow_bytes_; }

protected:
    // Returns true if the context already has this key; many programs set the same key for each
    // message.
    bool has_key(const uint8_t* key, size_t bytes) const;
    // Sets a key. On failure, including a wrong length, the context has no key.
    bool set_key(const uint8_t* key, size_t bytes);
    // Creates a key that differs from the current one.
    bool make_key(const uint8_t* key, size_t bytes);
    bool fail(Reason reason, const char* detail = nullptr,
              SourceLocation where = SourceLocation::current()) const {
        raise(provider_, reason, detail, where);
        return false;
    }
    bool passed(warpseal_status status, SourceLocation where = SourceLocation::current()) const {
        return status == WARPSEAL_OK || failed(status, where);
    }
    bool given(const OSSL_PARAM& wanted, bool good) const {
        return good || fail(Reason::wrong_parameter, wanted.key);
    }
    // After a failed init the context has no key, so that nothing runs with half of the requested
    // parameters.
    bool started(bool good) {
        if (!good) key_.reset();
        return good;
    }
    // Reads the head from libssl. It contains the record's length, without the tag if the tag is
    // still to be computed.
    bool read_record_head(const OSSL_PARAM& given, size_t tag_bytes, RecordHead& head) const;
    // Moves input that partially overlaps the output into the output. Returns the location of the
    // input.
    static const uint8_t* moved_apart(const uint8_t* in, uint8_t* out, size_t bytes) {
        const auto from = reinterpret_cast<uintptr_t>(in), to = reinterpret_cast<uintptr_t>(out);
        if (from == to || from + bytes <= to || to + bytes <= from) return in;
        return static_cast<const uint8_t*>(std::memmove(out, in, bytes));
    }

    const Context& provider_;
    const CipherAlgorithm& algorithm_;
    std::shared_ptr<const warpseal_key> key_;
    const warpseal_engine* engine_ = nullptr;  // engine of the last key
    bool decrypt_ = false;
    size_t shallow_bytes_ = 0;

private:
    bool failed(warpseal_status status, SourceLocation where) const;
};

// Modes that process a message in several updates.
class MessageContext : public CipherContext {
public:
    using CipherContext::CipherContext;
    MessageContext(const MessageContext& other);

protected:
    bool started(bool good) {
        if (!good) {
            message_.reset();
            in_progress_ = false;
        }
        return CipherContext::started(good);
    }
    // Sets the direction and the key; a null `key` keeps the last one. Afterwards no message is in
    // progress.
    bool set_direction_and_key(bool decrypt, const uint8_t* key, size_t key_bytes);
    bool begin(const uint8_t* iv, size_t iv_bytes);
    bool run(const uint8_t* in, uint8_t* out, size_t bytes) {
        return passed(warpseal_internal_stream_update(message_.get(), moved_apart(in, out, bytes),
                                                      out, bytes));
    }

    struct End {
        void operator()(warpseal_internal_stream* message) const {
            warpseal_internal_stream_destroy(message);
        }
    };
    std::unique_ptr<warpseal_internal_stream, End> message_;
    bool in_progress_ = false;
};

// Modes without a tag. Short updates of whole blocks go directly to the block loop if nothing else
// has to be done.
class DirectContext : public MessageContext {
public:
    using MessageContext::MessageContext;
    DirectContext(const DirectContext& other) : MessageContext(other) {
        go_directly(other.loop_.most_bytes != 0);
    }

    // Returns false if nothing was done and the caller must use update().
    bool run_directly(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in,
                      size_t bytes) {
        const size_t from = reinterpret_cast<uintptr_t>(in), to = reinterpret_cast<uintptr_t>(out),
                     distance = from - to;
        if (bytes - 1 >= loop_.most_bytes || bytes % 16 != 0 || capacity < bytes || from == 0 ||
            to == 0)
            return false;
        if (distance != 0 && distance + bytes - 1 < 2 * bytes - 1) return false;  // partial overlap
        loop_.run(loop_.state, loop_.feedback, in, out, bytes);
        *out_bytes = bytes;
        return true;
    }
    // Must be called after every member except run_directly.
    void settle() { go_directly(true); }

protected:
    bool run(const uint8_t* in, uint8_t* out, size_t bytes) {
        whole_ = bytes % 16 == 0;
        return MessageContext::run(in, out, bytes);
    }
    void go_directly(bool may) {
        loop_ = may && in_progress_ && whole_ ? warpseal_internal_stream_loop(message_.get())
                                              : warpseal_internal_block_loop{};
    }

private:
    // True if the last update had whole blocks. For other callers, requesting the loop after each
    // update would be wasted.
    bool whole_ = true;
    // Valid until the message is used otherwise; all zero: none.
    warpseal_internal_block_loop loop_ = {};
};

}  // namespace warpseal::provider

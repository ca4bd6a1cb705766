// What the EVP contexts of all ciphers have in common: an algorithm, a key, and the parameters that
// every mode answers.
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

// One cipher in one mode, as the catalogue has it.
struct CipherAlgorithm {
    const char* cipher;
    warpseal_mode mode;
    size_t key_bytes;  // XTS: of both keys
    size_t block_bytes;
    bool parity;    // each byte of a key ends with a bit of parity
    size_t number;  // of its row in cipher_names

    // Modes that take any number of bytes call them blocks of one.
    bool whole_blocks() const { return mode == WARPSEAL_ECB || mode == WARPSEAL_CBC; }
    bool authenticated() const { return mode == WARPSEAL_GCM || mode == WARPSEAL_CCM; }
    size_t iv_bytes() const {
        return mode == WARPSEAL_ECB ? 0 : authenticated() ? 12 : block_bytes;
    }
};

// OSSL_FUNC_CIPHER_GETTABLE_PARAMS, OSSL_FUNC_CIPHER_GET_PARAMS.
const OSSL_PARAM* gettable_cipher_params(void*);
bool get_cipher_params(const CipherAlgorithm& algorithm, OSSL_PARAM params[]);

// libcrypto asks for one parameter after the other, several for each message, and most of the names
// that it could be are not its own: that shows within a byte or two, and no call is worth it.
// Behind a name's end nothing is read.
template <size_t bytes>
inline __attribute__((always_inline)) bool named(const OSSL_PARAM& param,
                                                 const char (&name)[bytes]) {
    return [&]<size_t... i>(std::index_sequence<i...>) {
        return ((param.key[i] == name[i]) && ...);
    }
    (std::make_index_sequence<bytes>());
}

// As OSSL_PARAM_locate.
template <class Param, size_t bytes>
inline __attribute__((always_inline)) Param* asked_for(Param* params, const char (&name)[bytes]) {
    for (; params != nullptr && params->key != nullptr; ++params)
        if (named(*params, name)) return params;
    return nullptr;
}

// Each of those that are asked for, in the order in which they are: until one cannot be answered.
template <class Answer>
inline __attribute__((always_inline)) bool answered(OSSL_PARAM* params, const Answer& answer) {
    for (; params != nullptr && params->key != nullptr; ++params)
        if (!answer(*params)) return false;
    return true;
}

// False if it cannot be given so.
bool give(OSSL_PARAM& wanted, size_t value);
bool give(OSSL_PARAM& wanted, const void* bytes, size_t count);

// Where one of them is asked for.
template <size_t name_bytes>
bool give_number(OSSL_PARAM params[], const char (&name)[name_bytes], size_t value) {
    OSSL_PARAM* const wanted = asked_for(params, name);
    return wanted == nullptr || give(*wanted, value);
}
template <size_t name_bytes>
bool give_bytes(OSSL_PARAM params[], const char (&name)[name_bytes], const void* bytes,
                size_t count) {
    OSSL_PARAM* const wanted = asked_for(params, name);
    return wanted == nullptr || give(*wanted, bytes, count);
}

// One that is set: false if it is not a number of 0 or more.
bool take_number(const OSSL_PARAM& given, size_t* value);

// Of EVP_CIPHER_CTX_rand_key: of ciphers whose keys have parity alone, as in OpenSSL.
bool give_random_key(OSSL_PARAM params[], const CipherAlgorithm& algorithm);

// The additional data of a record of TLS 1.2 under an AEAD (RFC 5246, 6.2.3.3), with the length of
// the text.
struct RecordHead {
    static constexpr size_t
        bytes = 13,
        explicit_bytes = 8;  // the latter: of the IV, before the text (RFC 5288, 3; RFC 6655, 3)
    uint8_t data[bytes] = {};
    bool waiting = false;   // for its record
    size_t tail_bytes = 0;  // what sealing adds behind the text
    size_t text_bytes() const { return size_t{data[11]} << 8 | data[12]; }
};

class CipherContext {
public:
    CipherContext(const Context& provider, const CipherAlgorithm& algorithm)
        : provider_(provider), algorithm_(algorithm) {}
    // IVs, tags and what waits for the rest of its block go with the context; handles wipe what is
    // theirs.
    static void* operator new(size_t bytes);
    static void* operator new(size_t bytes, const std::nothrow_t& or_null) noexcept;
    static void operator delete(void* memory, size_t bytes);

    const Context& provider() const { return provider_; }
    // Updates of no more bytes need no room on the stack to be looked for.
    size_t shallow_bytes() const { return shallow_bytes_; }

protected:
    // Many programs give the same key with each message.
    bool has_key(const uint8_t* key, size_t bytes) const;
    // A key of the right length for this algorithm. On failure there is none.
    bool set_key(const uint8_t* key, size_t bytes);
    bool make_key(const uint8_t* key, size_t bytes);  // which it does not have
    bool fail(Reason reason, const char* detail = nullptr, Place where = Place::here()) const {
        raise(provider_, reason, detail, where);
        return false;
    }
    bool passed(warpseal_status status, Place where = Place::here()) const {
        return status == WARPSEAL_OK || failed(status, where);
    }
    bool given(const OSSL_PARAM& wanted, bool good) const {
        return good || fail(Reason::wrong_parameter, wanted.key);
    }
    // After a failed start there is no key: nothing goes on under half of what was asked for.
    bool started(bool good) {
        if (!good) key_.reset();
        return good;
    }
    // As libssl gives it: with the length of the record, without its tag where that is still to be
    // made.
    bool take_record_head(const OSSL_PARAM& given, size_t tag_bytes, RecordHead& head) const;
    // Input that overlaps the output, but is not in the same place, moves into it. Returns where
    // the input is.
    static const uint8_t* moved_apart(const uint8_t* in, uint8_t* out, size_t bytes) {
        const auto from = reinterpret_cast<uintptr_t>(in), to = reinterpret_cast<uintptr_t>(out);
        if (from == to || from + bytes <= to || to + bytes <= from) return in;
        return static_cast<const uint8_t*>(std::memmove(out, in, bytes));
    }

    const Context& provider_;
    const CipherAlgorithm& algorithm_;
    std::shared_ptr<const warpseal_key> key_;
    const warpseal_engine* engine_ = nullptr;  // of the last key
    bool decrypt_ = false;
    size_t shallow_bytes_ = 0;

private:
    bool failed(warpseal_status status, Place where) const;
};

// Modes whose messages come in pieces.
class MessageContext : public CipherContext {
public:
    using CipherContext::CipherContext;
    MessageContext(const MessageContext& other);

protected:
    bool started(bool good) {
        if (!good) {
            message_.reset();
            under_way_ = false;
        }
        return CipherContext::started(good);
    }
    // From now on in this direction, under this key or, if null, the last one. No message is under
    // way then.
    bool aim(bool decrypt, const uint8_t* key, size_t key_bytes);
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
    bool under_way_ = false;
};

// Those without a tag. Short pieces of whole blocks go straight to what runs them, where nothing
// else is to be done.
class DirectContext : public MessageContext {
public:
    using MessageContext::MessageContext;
    DirectContext(const DirectContext& other) : MessageContext(other) {
        go_directly(other.loop_.most_bytes != 0);
    }

    // False: nothing was done, and it is for update().
    bool run_directly(uint8_t* out, size_t* out_bytes, size_t capacity, const uint8_t* in,
                      size_t bytes) {
        const size_t from = reinterpret_cast<uintptr_t>(in), to = reinterpret_cast<uintptr_t>(out),
                     distance = from - to;
        if (bytes - 1 >= loop_.most_bytes || bytes % 16 != 0 || capacity < bytes || from == 0 ||
            to == 0)
            return false;
        if (distance != 0 && distance + bytes - 1 < 2 * bytes - 1) return false;  // they overlap
        loop_.run(loop_.state, loop_.feedback, in, out, bytes);
        *out_bytes = bytes;
        return true;
    }
    // To follow any call but that one.
    void settle() { go_directly(true); }

protected:
    bool run(const uint8_t* in, uint8_t* out, size_t bytes) {
        whole_ = bytes % 16 == 0;
        return MessageContext::run(in, out, bytes);
    }
    void go_directly(bool may) {
        loop_ = may && under_way_ && whole_ ? warpseal_internal_stream_loop(message_.get())
                                            : warpseal_internal_block_loop{};
    }

private:
    bool whole_ = true;  // the last piece was of whole blocks: who gives others need not be asked
                         // for after each of them
    warpseal_internal_block_loop loop_ =
        {};  // holds while nothing else is done with the message; all zero: there is none
};

}  // namespace warpseal::provider

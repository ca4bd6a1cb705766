// A message with one cipher of each class of contexts: sealed, opened, copied, and begun again
// after a failure.
#include <openssl/core_names.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>

#include "loaded.h"
#include "provider_works.h"

namespace works {
namespace {

constexpr size_t bytes = 40000, tag_bytes = 16;
const uint8_t aad[20] = {1, 2, 3};

struct Message {
    std::array<uint8_t, bytes> text;
    uint8_t tag[tag_bytes];
};

struct Class {
    const char* name;
    size_t key_bytes, iv_bytes;
    bool has_tag, whole_message;  // CCM takes a message in one call, after its length
    bool is_known = false;        // true after a run without failures
    Message expected = {};
};
Class ctr{"AES-256-CTR", 32, 16, false, false}, cbc{"AES-256-CBC", 32, 16, false, false},
    ecb{"AES-256-ECB", 32, 0, false, false}, xts{"AES-256-XTS", 64, 16, false, true},
    gcm{"AES-256-GCM", 32, 12, true, false}, ccm{"AES-256-CCM", 32, 7, true, true};

// Static: the work's own memory is not refused, nor on a small stack.
Message sealed, copied, opened;

class Cipher {
public:
    Cipher(const Loaded& loaded, Class& type)
        : loaded_(loaded), type_(type), functions_(loaded.provider(), OSSL_OP_CIPHER, type.name) {}

    warpseal_status work();

private:
    template <class Function>
    Function* get(int id) const {
        return functions_.get<Function>(id);
    }
    void (*free() const)(void*) {
        return get<OSSL_FUNC_cipher_freectx_fn>(OSSL_FUNC_CIPHER_FREECTX);
    }
    warpseal_status init(void* context, bool decrypts) const;
    warpseal_status update(void* context, const uint8_t* in, size_t count, uint8_t* out) const;
    warpseal_status set_parameters(void* context, const uint8_t* tag) const;
    warpseal_status set_lengths(void* context) const;
    warpseal_status finish(void* context) const;
    warpseal_status get_tag(void* context, uint8_t* tag) const;
    warpseal_status seal(void* context, Message& out, bool once) const;
    warpseal_status open(void* context, const Message& in, Message& out) const;
    warpseal_status copy(const Object& from) const;
    void compare();
    void begin_again(void* context) const;

    const Loaded& loaded_;
    Class& type_;
    const Functions functions_;
};

warpseal_status Cipher::init(void* context, bool decrypts) const {
    const uint8_t* const iv = type_.iv_bytes == 0 ? nullptr : secret;
    const auto start = decrypts
                           ? get<OSSL_FUNC_cipher_decrypt_init_fn>(OSSL_FUNC_CIPHER_DECRYPT_INIT)
                           : get<OSSL_FUNC_cipher_encrypt_init_fn>(OSSL_FUNC_CIPHER_ENCRYPT_INIT);
    return checked(decrypts ? "cipher_decrypt_init" : "cipher_encrypt_init", {}, [&] {
        return status_of(start(context, secret, type_.key_bytes, iv, type_.iv_bytes, nullptr));
    });
}

// `out` may be null: for additional data, or a length.
warpseal_status Cipher::update(void* context, const uint8_t* in, size_t count, uint8_t* out) const {
    const auto call = get<OSSL_FUNC_cipher_update_fn>(OSSL_FUNC_CIPHER_UPDATE);
    size_t made = 0;
    return checked("cipher_update", {{out, out == nullptr ? 0 : count}},
                   [&] { return status_of(call(context, out, &made, count, in, count)); });
}

// No padding, or the tag to compare with.
warpseal_status Cipher::set_parameters(void* context, const uint8_t* tag) const {
    size_t none = 0;
    const OSSL_PARAM params[] = {
        tag != nullptr ? OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG,
                                                           const_cast<uint8_t*>(tag), tag_bytes)
                       : OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_PADDING, &none),
        OSSL_PARAM_END};
    const auto call = get<OSSL_FUNC_cipher_set_ctx_params_fn>(OSSL_FUNC_CIPHER_SET_CTX_PARAMS);
    return checked("cipher_set_ctx_params", {}, [&] { return status_of(call(context, params)); });
}

// CCM has the length of the tag before the message, and the message's before all data.
warpseal_status Cipher::set_lengths(void* context) const {
    if (!type_.has_tag || !type_.whole_message) return WARPSEAL_OK;
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, nullptr, tag_bytes),
        OSSL_PARAM_END};
    const auto call = get<OSSL_FUNC_cipher_set_ctx_params_fn>(OSSL_FUNC_CIPHER_SET_CTX_PARAMS);
    return Steps()
        .then("cipher_set_ctx_params", [&] { return status_of(call(context, params)); })
        .run([&] { return update(context, nullptr, bytes, nullptr); });
}

warpseal_status Cipher::finish(void* context) const {
    const auto call = get<OSSL_FUNC_cipher_final_fn>(OSSL_FUNC_CIPHER_FINAL);
    uint8_t rest[32];
    size_t made = 0;
    return checked("cipher_final", {{rest, sizeof rest}},
                   [&] { return status_of(call(context, rest, &made, sizeof rest)); });
}

warpseal_status Cipher::get_tag(void* context, uint8_t* tag) const {
    if (!type_.has_tag) return WARPSEAL_OK;
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, tag, tag_bytes),
        OSSL_PARAM_END};
    const auto call = get<OSSL_FUNC_cipher_get_ctx_params_fn>(OSSL_FUNC_CIPHER_GET_CTX_PARAMS);
    return checked("cipher_get_ctx_params", {{tag, tag_bytes}},
                   [&] { return status_of(call(context, params)); });
}

warpseal_status Cipher::seal(void* context, Message& out, bool once) const {
    const size_t first = type_.whole_message ? bytes : 16016;
    const auto cipher = get<OSSL_FUNC_cipher_cipher_fn>(OSSL_FUNC_CIPHER_CIPHER);
    size_t made = 0;
    Steps steps({init(context, false)});
    steps.run([&] { return set_lengths(context); });
    if (type_.has_tag) steps.run([&] { return update(context, aad, sizeof aad, nullptr); });
    if (!type_.has_tag) steps.run([&] { return set_parameters(context, nullptr); });
    if (once) {
        return steps.then("cipher_cipher", {{out.text.data(), bytes}}, [&] {
            return cipher(context, out.text.data(), &made, bytes, text, bytes) > 0
                       ? WARPSEAL_OK
                       : WARPSEAL_OUT_OF_MEMORY;
        });
    }
    return steps.run([&] { return update(context, text, first, out.text.data()); })
        .run([&] {
            return first == bytes
                       ? WARPSEAL_OK
                       : update(context, text + first, bytes - first, out.text.data() + first);
        })
        .run([&] { return finish(context); })
        .run([&] { return get_tag(context, out.tag); });
}

warpseal_status Cipher::open(void* context, const Message& in, Message& out) const {
    Steps steps({init(context, true)});
    if (type_.has_tag) steps.run([&] { return set_parameters(context, in.tag); });
    if (type_.has_tag && type_.whole_message)
        steps.run([&] { return update(context, nullptr, bytes, nullptr); });
    if (type_.has_tag) steps.run([&] { return update(context, aad, sizeof aad, nullptr); });
    if (!type_.has_tag) steps.run([&] { return set_parameters(context, nullptr); });
    return steps.run([&] { return update(context, in.text.data(), bytes, out.text.data()); })
        .run([&] { return finish(context); })
        .and_if_all_did([&] {
            if (!std::equal(out.text.begin(), out.text.end(), text))
                complain("cipher_update", "the text is another one");
        });
}

// A copy in the middle of a message goes on as the message would.
warpseal_status Cipher::copy(const Object& from) const {
    const auto duplicate = get<OSSL_FUNC_cipher_dupctx_fn>(OSSL_FUNC_CIPHER_DUPCTX);
    Steps steps({init(from.get(), false)});
    steps.run([&] { return set_lengths(from.get()); });
    if (type_.has_tag) steps.run([&] { return update(from.get(), aad, sizeof aad, nullptr); });
    return steps.run([&] {
        const Object made(
            "cipher_dupctx", [&] { return duplicate(from.get()); }, "cipher_freectx", free());
        return Steps({made.status})
            .run([&] { return update(made.get(), text, bytes, copied.text.data()); })
            .and_if_all_did([&] {
                if (copied.text != sealed.text) complain("cipher_dupctx", "another message");
            });
    });
}

void Cipher::compare() {
    if (!type_.is_known) type_.expected = sealed;
    type_.is_known = true;
    if (sealed.text != type_.expected.text) complain("cipher_update", "another ciphertext");
}

// After a failure a context either refuses, or is as good as new.
void Cipher::begin_again(void* context) const {
    if (seal(context, copied, false) != WARPSEAL_OK) return;
    if (copied.text != type_.expected.text)
        complain("cipher_encrypt_init", "another text after a failure");
}

warpseal_status Cipher::work() {
    const auto create = [&] {
        return get<OSSL_FUNC_cipher_newctx_fn>(OSSL_FUNC_CIPHER_NEWCTX)(loaded_.context());
    };
    const Object context("cipher_newctx", create, "cipher_freectx", free());
    if (context.status != WARPSEAL_OK) return context.status;
    const warpseal_status status =
        Steps()
            .run([&] { return seal(context.get(), sealed, false); })
            .and_if_all_did([&] { compare(); })
            .run([&] { return open(context.get(), sealed, opened); })
            .run([&] { return copy(context); })
            .run([&] { return type_.has_tag ? WARPSEAL_OK : seal(context.get(), copied, true); });
    if (status != WARPSEAL_OK) begin_again(context.get());
    return status;
}

warpseal_status of(Class& type) {
    const Loaded loaded;
    return loaded.status == WARPSEAL_OK ? Cipher(loaded, type).work() : loaded.status;
}

}  // namespace

warpseal_status cipher_ctr() { return of(ctr); }
warpseal_status cipher_cbc() { return of(cbc); }
warpseal_status cipher_ecb() { return of(ecb); }
warpseal_status cipher_xts() { return of(xts); }
warpseal_status cipher_gcm() { return of(gcm); }
warpseal_status cipher_ccm() { return of(ccm); }

}  // namespace works

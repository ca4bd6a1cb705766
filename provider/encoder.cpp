// Encodes keys of the groups' algorithms as DER, PEM and text (provider-encoder(7)).
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include "provider/algorithms.h"
#include "provider/encoding.h"
#include "provider/hybrid.h"
#include "provider/identifiers.h"
#include "provider/key.h"

namespace warpseal::provider {
namespace {

struct FreeCipher {
    void operator()(EVP_CIPHER* cipher) const { EVP_CIPHER_free(cipher); }
};
struct FreeInfo {
    void operator()(PKCS8_PRIV_KEY_INFO* info) const { PKCS8_PRIV_KEY_INFO_free(info); }
};
struct FreeSignature {
    void operator()(X509_SIG* sealed) const { X509_SIG_free(sealed); }
};
struct FreeBio {
    void operator()(BIO* bio) const { BIO_free(bio); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;

struct Encoder {
    const Context& context;
    std::unique_ptr<EVP_CIPHER, FreeCipher> cipher;  // null: private keys are not encrypted
};

void* create(void* context) {
    return new (std::nothrow) Encoder{*static_cast<const Context*>(context), nullptr};
}

void destroy(void* encoder) { delete static_cast<Encoder*>(encoder); }

// Context and query for the encryption of a file. What the module fetches from itself through a
// context of its own would keep it loaded for good, so there it takes other providers' only.
struct FileEncryption {
    explicit FileEncryption(const Context& context)
        : context(context.program() != nullptr ? context.program() : context.libctx()),
          query(context.program() != nullptr ? nullptr : not_us) {}
    EVP_CIPHER* fetch(const char* name, const char* wanted) const {
        if (query == nullptr || wanted == nullptr)
            return EVP_CIPHER_fetch(context, name, query == nullptr ? wanted : query);
        char both[512];
        const int bytes = snprintf(both, sizeof both, "%s,%s", wanted, query);
        return bytes < 0 || static_cast<size_t>(bytes) >= sizeof both
                   ? nullptr
                   : EVP_CIPHER_fetch(context, name, both);
    }

    OSSL_LIB_CTX* const context;
    const char* const query;
};

bool text_of(const OSSL_PARAM* param, const char*& text) {
    return param == nullptr || OSSL_PARAM_get_utf8_string_ptr(param, &text) != 0;
}

int set_params(void* data, const OSSL_PARAM params[]) {
    Encoder& encoder = *static_cast<Encoder*>(data);
    const OSSL_PARAM* const named =
        params == nullptr ? nullptr : OSSL_PARAM_locate_const(params, OSSL_ENCODER_PARAM_CIPHER);
    if (named == nullptr) return 1;
    const char *name = nullptr, *wanted = nullptr;
    if (!text_of(named, name) ||
        !text_of(OSSL_PARAM_locate_const(params, OSSL_ENCODER_PARAM_PROPERTIES), wanted))
        return 0;
    encoder.cipher.reset();
    if (name == nullptr || name[0] == '\0') return 1;
    encoder.cipher.reset(FileEncryption(encoder.context).fetch(name, wanted));
    return encoder.cipher != nullptr;
}

const OSSL_PARAM* settable_params(void*) {
    static const OSSL_PARAM params[] = {
        OSSL_PARAM_utf8_string(OSSL_ENCODER_PARAM_CIPHER, nullptr, 0),
        OSSL_PARAM_utf8_string(OSSL_ENCODER_PARAM_PROPERTIES, nullptr, 0), OSSL_PARAM_END};
    return params;
}

// ---- DER ----

bool write(const Context& context, OSSL_CORE_BIO* out, std::span<const uint8_t> bytes) {
    size_t done = 0;
    for (size_t put = 0;
         done < bytes.size() &&
         context.calls().write(out, bytes.data() + done, bytes.size() - done, &put) == 1 &&
         put > 0;)
        done += put;
    return done == bytes.size();
}

SecretBytes joined(std::span<const uint8_t> a, std::span<const uint8_t> b,
                   std::span<const uint8_t> c = {}) {
    SecretBytes made(a.size() + b.size() + c.size());
    if (made.empty()) return made;
    std::ranges::copy(c, std::ranges::copy(b, std::ranges::copy(a, made.data()).out).out);
    return made;
}

SecretBytes public_key_der(const Key& key) {
    return joined(public_key_beginning(index_of(key.group())), key.share());
}
// A key of ML-KEM is written as its seed where that is known, as RFC 9935 recommends. X25519 has
// the form of ML-KEM's expanded key (RFC 8410, section 7).
SecretBytes private_key_der(const Key& key) {
    const size_t group = index_of(key.group());
    if (!key.group().is_mlkem() && !key.group().is_x25519())
        return joined(private_key_beginning(group, PrivateForm::with_share), key.secret_key(),
                      key.share());
    if (key.seed().empty())
        return joined(private_key_beginning(group, PrivateForm::expanded), key.secret_key());
    return joined(private_key_beginning(group, PrivateForm::seed), key.seed());
}

// Returns an EncryptedPrivateKeyInfo (RFC 5208 6) with PBES2, as libcrypto does it.
SecretBytes sealed_der(const Encoder& encoder, const Key& key, OSSL_PASSPHRASE_CALLBACK* ask,
                       void* ask_user) {
    constexpr size_t longest_passphrase = 1024;
    SecretBytes passphrase(longest_passphrase);
    size_t passphrase_bytes = 0;
    if (passphrase.empty() || encoder.cipher == nullptr || ask == nullptr ||
        ask(reinterpret_cast<char*>(passphrase.data()), passphrase.size(), &passphrase_bytes,
            nullptr, ask_user) == 0 ||
        passphrase_bytes > longest_passphrase) {
        raise(encoder.context, Reason::operation_failed, "no passphrase, or no cipher");
        return {};
    }
    const FileEncryption files(encoder.context);
    const SecretBytes plain = private_key_der(key);
    const uint8_t* cursor = plain.data();
    const std::unique_ptr<PKCS8_PRIV_KEY_INFO, FreeInfo> info(
        d2i_PKCS8_PRIV_KEY_INFO(nullptr, &cursor, static_cast<long>(plain.size())));
    const std::unique_ptr<X509_SIG, FreeSignature> sealed(
        info == nullptr ? nullptr
                        : PKCS8_encrypt_ex(-1, encoder.cipher.get(),
                                           reinterpret_cast<const char*>(passphrase.data()),
                                           static_cast<int>(passphrase_bytes), nullptr, 0, 0,
                                           info.get(), files.context, files.query));
    const int bytes = sealed == nullptr ? 0 : i2d_X509_SIG(sealed.get(), nullptr);
    SecretBytes made(bytes > 0 ? static_cast<size_t>(bytes) : 0);
    uint8_t* end = made.data();
    if (made.empty() || i2d_X509_SIG(sealed.get(), &end) != bytes) {
        raise(encoder.context, Reason::operation_failed, "the key could not be encrypted");
        return {};
    }
    return made;
}

bool write_pem(const Context& context, OSSL_CORE_BIO* out, const char* label,
               std::span<const uint8_t> der) {
    const Bio bio(BIO_new_from_core_bio(context.libctx(), out));
    return bio != nullptr &&
           PEM_write_bio(bio.get(), label, "", der.data(), static_cast<long>(der.size())) > 0;
}

enum class Structure { public_key, private_key, sealed };
enum class Form { der, pem };

// Accepts only our own keys, not another provider's description of one.
const Key* own_key(const Encoder& encoder, const void* key, const OSSL_PARAM abstract[],
                   bool with_secret) {
    const Key* const own = abstract == nullptr ? static_cast<const Key*>(key) : nullptr;
    if (own != nullptr && own->has_public() && (!with_secret || own->has_secret())) return own;
    raise(encoder.context, with_secret ? Reason::no_secret_key : Reason::no_public_key);
    return nullptr;
}

template <Structure structure, Form form>
int encode(void* data, OSSL_CORE_BIO* out, const void* raw, const OSSL_PARAM abstract[], int,
           OSSL_PASSPHRASE_CALLBACK* ask, void* ask_user) {
    const Encoder& encoder = *static_cast<const Encoder*>(data);
    const Key* const key = own_key(encoder, raw, abstract, structure != Structure::public_key);
    if (key == nullptr) return 0;
    const bool seal = structure == Structure::sealed ||
                      (structure == Structure::private_key && encoder.cipher != nullptr);
    const SecretBytes der = structure == Structure::public_key ? public_key_der(*key)
                            : seal ? sealed_der(encoder, *key, ask, ask_user)
                                   : private_key_der(*key);
    if (der.empty()) return 0;
    if (form == Form::der) return write(encoder.context, out, der);
    return write_pem(encoder.context, out,
                     structure == Structure::public_key ? PEM_STRING_PUBLIC
                     : seal                             ? PEM_STRING_PKCS8
                                                        : PEM_STRING_PKCS8INF,
                     der);
}

// ---- text ----

// Prints fifteen bytes a line, as libcrypto does for its own keys.
bool print_bytes(BIO* out, const char* name, std::span<const uint8_t> bytes) {
    constexpr size_t in_line = 15;
    if (BIO_printf(out, "%s:", name) <= 0) return false;
    for (size_t i = 0; i < bytes.size(); ++i)
        if (BIO_printf(out, "%s%02x%s", i % in_line == 0 ? "\n    " : "", bytes[i],
                       i + 1 == bytes.size() ? "\n" : ":") <= 0)
            return false;
    return true;
}

int print(void* data, OSSL_CORE_BIO* to, const void* raw, const OSSL_PARAM abstract[],
          int selection, OSSL_PASSPHRASE_CALLBACK*, void*) {
    const Encoder& encoder = *static_cast<const Encoder*>(data);
    const bool with_secret = (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0;
    const Key* const key = own_key(encoder, raw, abstract, with_secret);
    const Bio out(key == nullptr ? nullptr : BIO_new_from_core_bio(encoder.context.libctx(), to));
    return out != nullptr &&
           BIO_printf(out.get(), "%s %s-Key:\n", key->group().name,
                      with_secret ? "Private" : "Public") > 0 &&
           (!with_secret || print_bytes(out.get(), "priv", key->secret_key())) &&
           print_bytes(out.get(), "pub", key->share());
}

// ---- dispatch ----

int public_key_fits(void*, int selection) {
    return selection == 0 || ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) == 0 &&
                              (selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) != 0);
}

int private_key_fits(void*, int selection) {
    return selection == 0 || (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0;
}

int text_fits(void*, int selection) {
    return selection == 0 || (selection & OSSL_KEYMGMT_SELECT_KEYPAIR) != 0;
}

template <Structure structure, Form form>
const OSSL_DISPATCH functions[] = {
    dispatch(OSSL_FUNC_ENCODER_NEWCTX, create),
    dispatch(OSSL_FUNC_ENCODER_FREECTX, destroy),
    dispatch(OSSL_FUNC_ENCODER_SET_CTX_PARAMS, set_params),
    dispatch(OSSL_FUNC_ENCODER_SETTABLE_CTX_PARAMS, settable_params),
    dispatch(OSSL_FUNC_ENCODER_DOES_SELECTION,
             structure == Structure::public_key ? public_key_fits : private_key_fits),
    dispatch(OSSL_FUNC_ENCODER_ENCODE, encode<structure, form>),
    {0, nullptr},
};

const OSSL_DISPATCH text_functions[] = {
    dispatch(OSSL_FUNC_ENCODER_NEWCTX, create),
    dispatch(OSSL_FUNC_ENCODER_FREECTX, destroy),
    dispatch(OSSL_FUNC_ENCODER_DOES_SELECTION, text_fits),
    dispatch(OSSL_FUNC_ENCODER_ENCODE, print),
    {0, nullptr},
};

struct Output {
    const char* properties;
    const OSSL_DISPATCH* functions;
};

constexpr Output outputs[] = {
    {"provider=warpseal,output=der,structure=SubjectPublicKeyInfo",
     functions<Structure::public_key, Form::der>},
    {"provider=warpseal,output=pem,structure=SubjectPublicKeyInfo",
     functions<Structure::public_key, Form::pem>},
    {"provider=warpseal,output=der,structure=PrivateKeyInfo",
     functions<Structure::private_key, Form::der>},
    {"provider=warpseal,output=pem,structure=PrivateKeyInfo",
     functions<Structure::private_key, Form::pem>},
    {"provider=warpseal,output=der,structure=EncryptedPrivateKeyInfo",
     functions<Structure::sealed, Form::der>},
    {"provider=warpseal,output=pem,structure=EncryptedPrivateKeyInfo",
     functions<Structure::sealed, Form::pem>},
    {"provider=warpseal,output=text", text_functions},
};

template <size_t... group>
constexpr auto every_algorithm(std::index_sequence<group...>) {
    constexpr const char* names[] = {algorithm_names<group>()...};
    std::array<OSSL_ALGORITHM, sizeof...(group) * std::size(outputs)> made{};
    for (size_t i = 0; i < made.size(); ++i) {
        const size_t number = i / std::size(outputs);
        const Output& output = outputs[i % std::size(outputs)];
        made[i] = {names[number], output.properties, output.functions, groups[number].name};
    }
    return made;
}

constexpr Tables tables(every_algorithm(std::make_index_sequence<groups.size()>()),
                        [](size_t entry) { return entry / std::size(outputs); });

}  // namespace

const OSSL_ALGORITHM* encoder_algorithms(Offer offer) { return tables[offer]; }

}  // namespace warpseal::provider

// Calls of libcrypto for RSA keys. Secret integers are passed in memory that is zeroized.
#include "cli/age/ssh/rsa.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <bit>
#include <new>

#include "cli/age/crypto.h"

namespace warpseal::cli::age {
namespace {

struct Delete {
    void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
    void operator()(BIO* input) const { BIO_free(input); }
    void operator()(BIGNUM* number) const { BN_clear_free(number); }
};
using Context = std::unique_ptr<EVP_PKEY_CTX, Delete>;

// Integers of OSSL_PARAM have the byte order of the machine.
Secret native_order(View integer) {
    Secret bytes(integer.begin(), integer.end());
    if (std::endian::native == std::endian::little) std::reverse(bytes.begin(), bytes.end());
    return bytes;
}

PrivateKey make_key(const RsaPublic& from, View private_exponent) {
    Secret modulus = native_order(from.modulus), exponent = native_order(from.exponent),
           secret = native_order(private_exponent);
    OSSL_PARAM integers[4] = {
        OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_RSA_N, modulus.data(), modulus.size()),
        OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_RSA_E, exponent.data(), exponent.size()),
        OSSL_PARAM_construct_end(), OSSL_PARAM_construct_end()};
    if (!secret.empty())
        integers[2] = OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_RSA_D, secret.data(), secret.size());
    const Context context(EVP_PKEY_CTX_new_from_name(libcrypto_context(), "RSA", nullptr));
    require_libcrypto(context && EVP_PKEY_fromdata_init(context.get()) == 1, "RSA");
    EVP_PKEY* key = nullptr;
    const int selection = secret.empty() ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR;
    if (EVP_PKEY_fromdata(context.get(), &key, selection, integers) != 1) take_errors();
    return {key, EVP_PKEY_free};
}

// The operation takes these for RSA-OAEP with SHA-256 in both of its places.
struct Oaep {
    explicit Oaep(View label)
        : parameters{
              OSSL_PARAM_construct_utf8_string(OSSL_ASYM_CIPHER_PARAM_PAD_MODE, mode, 0),
              OSSL_PARAM_construct_utf8_string(OSSL_ASYM_CIPHER_PARAM_OAEP_DIGEST, digest, 0),
              OSSL_PARAM_construct_utf8_string(OSSL_ASYM_CIPHER_PARAM_MGF1_DIGEST, digest, 0),
              OSSL_PARAM_construct_octet_string(OSSL_ASYM_CIPHER_PARAM_OAEP_LABEL,
                                                const_cast<uint8_t*>(label.data()), label.size()),
              OSSL_PARAM_construct_end()} {}
    char mode[5] = "oaep", digest[7] = "SHA256";
    OSSL_PARAM parameters[5];
};

Context operation(EVP_PKEY* key) {
    Context context(EVP_PKEY_CTX_new_from_pkey(libcrypto_context(), key, nullptr));
    require_libcrypto(context != nullptr, "RSA");
    return context;
}

Octets integer_of(EVP_PKEY* key, const char* name) {
    BIGNUM* number = nullptr;
    require_libcrypto(EVP_PKEY_get_bn_param(key, name, &number) == 1, "RSA");
    const std::unique_ptr<BIGNUM, Delete> owner(number);
    Octets bytes(static_cast<size_t>(BN_num_bytes(number)));
    BN_bn2bin(number, bytes.data());
    return bytes;
}

// Callback for libcrypto; `passphrase` is a View. Returns -1 if there is none.
int give_passphrase(char* to, int most, int, void* passphrase) {
    const View& its = *static_cast<const View*>(passphrase);
    if (its.empty() || its.size() > static_cast<size_t>(most)) return -1;
    std::copy(its.begin(), its.end(), to);
    return static_cast<int>(its.size());
}

}  // namespace

void take_errors() {
    bool out_of_memory = false;
    while (const unsigned long error = ERR_get_error())
        out_of_memory |= ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE;
    if (out_of_memory) throw std::bad_alloc();
}

size_t bits_of(View integer) {
    return integer.empty() ? 0 : 8 * (integer.size() - 1) + std::bit_width(unsigned{integer[0]});
}

bool is_plausible_rsa(View modulus, View exponent) {
    const bool is_odd = !modulus.empty() && !exponent.empty() && (modulus.back() & 1) != 0 &&
                        (exponent.back() & 1) != 0;
    return is_odd && bits_of(exponent) > 1 && bits_of(exponent) < bits_of(modulus);
}

PrivateKey rsa_private_key(const RsaPublic& key, View private_exponent) {
    return make_key(key, private_exponent);
}

PrivateKey pem_private_key(View text, View passphrase) {
    const std::unique_ptr<BIO, Delete> input(
        BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
    require_libcrypto(input != nullptr, "PEM");
    EVP_PKEY* const key = PEM_read_bio_PrivateKey_ex(input.get(), nullptr, give_passphrase,
                                                     &passphrase, libcrypto_context(), nullptr);
    if (key == nullptr) take_errors();
    ERR_clear_error();
    return {key, EVP_PKEY_free};
}

std::optional<RsaPublic> rsa_public_of(EVP_PKEY* key) {
    if (EVP_PKEY_is_a(key, "RSA") != 1) return std::nullopt;
    return RsaPublic{integer_of(key, OSSL_PKEY_PARAM_RSA_N),
                     integer_of(key, OSSL_PKEY_PARAM_RSA_E)};
}

std::optional<Secret> ed25519_seed_of(EVP_PKEY* key) {
    if (EVP_PKEY_is_a(key, "ED25519") != 1) return std::nullopt;
    Secret seed(key_bytes);
    size_t bytes = seed.size();
    require_libcrypto(EVP_PKEY_get_raw_private_key(key, seed.data(), &bytes) == 1, "Ed25519");
    return seed;
}

std::optional<Octets> rsa_seal(const RsaPublic& key, View label, View text) {
    const PrivateKey made = make_key(key, {});
    if (!made) return std::nullopt;
    const Context context = operation(made.get());
    const Oaep oaep(label);
    Octets sealed(key.modulus.size());
    size_t bytes = sealed.size();
    if (EVP_PKEY_encrypt_init_ex(context.get(), oaep.parameters) == 1 &&
        EVP_PKEY_encrypt(context.get(), sealed.data(), &bytes, text.data(), text.size()) == 1 &&
        bytes == sealed.size())
        return sealed;
    take_errors();
    return std::nullopt;
}

std::optional<Secret> rsa_open(EVP_PKEY* key, View label, View sealed) {
    const Context context = operation(key);
    const Oaep oaep(label);
    require_libcrypto(EVP_PKEY_decrypt_init_ex(context.get(), oaep.parameters) == 1, "RSA-OAEP");
    Secret text(static_cast<size_t>(EVP_PKEY_get_size(key)));
    size_t bytes = text.size();
    const bool opened =
        EVP_PKEY_decrypt(context.get(), text.data(), &bytes, sealed.data(), sealed.size()) == 1;
    if (!opened) {
        take_errors();
        return std::nullopt;
    }
    text.resize(bytes);
    return text;
}

}  // namespace warpseal::cli::age

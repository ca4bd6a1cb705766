// X25519 (RFC 7748) and ECDH over the NIST curves (RFC 8446 4.2.8.2, 7.4.2) for hybrids.
#include "provider/hybrid.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/params.h>

#include "provider/secret.h"

namespace warpseal::provider {
namespace {

constexpr uint8_t uncompressed = 4;

struct FreeContext {
    void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
};
using PkeyContext = std::unique_ptr<EVP_PKEY_CTX, FreeContext>;

struct FreeNumber {
    void operator()(BIGNUM* number) const { BN_clear_free(number); }
};
using Number = std::unique_ptr<BIGNUM, FreeNumber>;

bool is_curve(const Classical& classical) { return classical.curve != nullptr; }

// Returns the scalar in the native byte order of OSSL_PARAM; empty if memory is exhausted.
SecretBytes native(std::span<const uint8_t> scalar) {
    const Number number(BN_bin2bn(scalar.data(), static_cast<int>(scalar.size()), nullptr));
    SecretBytes made(scalar.size());
    if (number == nullptr || made.empty() ||
        BN_bn2nativepad(number.get(), made.data(), static_cast<int>(made.size())) < 0)
        return {};
    return made;
}

OSSL_PARAM octet_string(const char* name, std::span<const uint8_t> bytes) {
    return OSSL_PARAM_construct_octet_string(name, const_cast<uint8_t*>(bytes.data()),
                                             bytes.size());
}

// `scalar` may be empty.
Pkey read(const Context& context, const Classical& classical, std::span<const uint8_t> scalar,
          std::span<const uint8_t> share) {
    OSSL_PARAM params[4] = {octet_string(OSSL_PKEY_PARAM_PUB_KEY, share)};
    size_t count = 1;
    SecretBytes number;
    if (is_curve(classical))
        params[count++] = OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME,
                                                           const_cast<char*>(classical.curve), 0);
    if (!scalar.empty() && is_curve(classical)) {
        number = native(scalar);
        if (number.empty()) return nullptr;
        params[count++] =
            OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, number.data(), number.size());
    } else if (!scalar.empty()) {
        params[count++] = octet_string(OSSL_PKEY_PARAM_PRIV_KEY, scalar);
    }
    params[count] = OSSL_PARAM_construct_end();
    const PkeyContext reader(
        EVP_PKEY_CTX_new_from_name(context.libctx(), classical.algorithm, not_us));
    EVP_PKEY* key = nullptr;
    const int selection = scalar.empty() ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR;
    if (reader == nullptr || EVP_PKEY_fromdata_init(reader.get()) <= 0 ||
        EVP_PKEY_fromdata(reader.get(), &key, selection, params) <= 0)
        return nullptr;
    return Pkey(key);
}

bool all_zero(std::span<const uint8_t> bytes) {
    uint8_t seen = 0;
    for (const uint8_t byte : bytes) seen |= byte;
    return seen == 0;
}

}  // namespace

Pkey generate_classical(const Context& context, const Classical& classical) {
    Pkey made(
        is_curve(classical)
            ? EVP_PKEY_Q_keygen(context.libctx(), not_us, classical.algorithm, classical.curve)
            : EVP_PKEY_Q_keygen(context.libctx(), not_us, classical.algorithm));
    if (made == nullptr) raise(context, Reason::classical_failed, "no key pair");
    return made;
}

Pkey read_classical_share(const Context& context, const Classical& classical,
                          std::span<const uint8_t> share) {
    Pkey key;
    if (!is_curve(classical) || share[0] == uncompressed) key = read(context, classical, {}, share);
    if (key == nullptr)
        raise(context, Reason::bad_share, "the classical half is no point of its curve");
    return key;
}

Pkey read_classical_pair(const Context& context, const Classical& classical,
                         std::span<const uint8_t> scalar, std::span<const uint8_t> share) {
    Pkey key = read(context, classical, scalar, share);
    if (key == nullptr)
        raise(context, Reason::bad_encoding, "the classical halves are no keys of their curve");
    return key;
}

bool write_classical_share(const Context& context, const Classical& classical, EVP_PKEY* key,
                           std::span<uint8_t> share) {
    size_t written = 0;
    if (EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, share.data(),
                                        share.size(), &written) > 0 &&
        written == classical.share_bytes)
        return true;
    raise(context, Reason::classical_failed, "no share");
    return false;
}

bool write_scalar(const Context& context, const Classical& classical, EVP_PKEY* key,
                  std::span<uint8_t> scalar) {
    if (is_curve(classical)) {
        BIGNUM* found = BN_secure_new();
        const bool got = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &found) > 0;
        const Number number(found);
        if (got && BN_bn2binpad(number.get(), scalar.data(), static_cast<int>(scalar.size())) ==
                       static_cast<int>(scalar.size()))
            return true;
    } else {
        size_t written = scalar.size();
        if (EVP_PKEY_get_raw_private_key(key, scalar.data(), &written) > 0 &&
            written == scalar.size())
            return true;
    }
    raise(context, Reason::classical_failed, "no secret key");
    return false;
}

bool agree(const Context& context, const Classical& classical, EVP_PKEY* own, EVP_PKEY* peer,
           std::span<uint8_t> secret) {
    const PkeyContext exchange(EVP_PKEY_CTX_new_from_pkey(context.libctx(), own, not_us));
    size_t written = secret.size();
    if (exchange != nullptr && EVP_PKEY_derive_init(exchange.get()) > 0 &&
        EVP_PKEY_derive_set_peer(exchange.get(), peer) > 0 &&
        EVP_PKEY_derive(exchange.get(), secret.data(), &written) > 0 &&
        written == classical.secret_bytes && !all_zero(secret))
        return true;
    OPENSSL_cleanse(secret.data(), secret.size());
    raise(context, Reason::classical_failed, "no secret");
    return false;
}

bool is_classical_pair(const Context& context, const Classical& classical, EVP_PKEY* pair,
                       EVP_PKEY* share) {
    const Pkey other = generate_classical(context, classical);
    SecretBytes ours(classical.secret_bytes), theirs(classical.secret_bytes);
    return other != nullptr && !ours.empty() && !theirs.empty() &&
           agree(context, classical, pair, other.get(), ours) &&
           agree(context, classical, other.get(), share, theirs) &&
           CRYPTO_memcmp(ours.data(), theirs.data(), ours.size()) == 0;
}

}  // namespace warpseal::provider

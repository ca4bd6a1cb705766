// X25519 (RFC 7748) and ECDH over the NIST curves (RFC 8446 4.2.8.2, 7.4.2) beside NTRU.
#include "provider/hybrid.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/param_build.h>

#include "provider/secret.h"

namespace warpseal::provider {
namespace {

// Never ourselves, whatever the program prefers.
constexpr char not_us[] = "provider!=warpseal";
constexpr uint8_t uncompressed = 4;

struct FreeContext {
    void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
};
using PkeyContext = std::unique_ptr<EVP_PKEY_CTX, FreeContext>;

struct FreeNumber {
    void operator()(BIGNUM* number) const { BN_clear_free(number); }
};
using Number = std::unique_ptr<BIGNUM, FreeNumber>;

struct FreeBuild {
    void operator()(OSSL_PARAM_BLD* build) const { OSSL_PARAM_BLD_free(build); }
};
struct FreeParams {
    void operator()(OSSL_PARAM* params) const { OSSL_PARAM_free(params); }
};

bool is_curve(const Classical& classical) { return classical.curve != nullptr; }

// scalar may be empty.
Pkey read(const Context& context, const Classical& classical, std::span<const uint8_t> scalar, std::span<const uint8_t> share) {
    const std::unique_ptr<OSSL_PARAM_BLD, FreeBuild> build(OSSL_PARAM_BLD_new());
    Number number;
    bool told = build != nullptr && OSSL_PARAM_BLD_push_octet_string(build.get(), OSSL_PKEY_PARAM_PUB_KEY, share.data(), share.size()) != 0;
    if (told && is_curve(classical))
        told = OSSL_PARAM_BLD_push_utf8_string(build.get(), OSSL_PKEY_PARAM_GROUP_NAME, classical.curve, 0) != 0;
    if (told && !scalar.empty() && is_curve(classical)) {
        number.reset(BN_secure_new());
        told = number != nullptr && BN_bin2bn(scalar.data(), static_cast<int>(scalar.size()), number.get()) != nullptr &&
               OSSL_PARAM_BLD_push_BN_pad(build.get(), OSSL_PKEY_PARAM_PRIV_KEY, number.get(), scalar.size()) != 0;
    } else if (told && !scalar.empty()) {
        told = OSSL_PARAM_BLD_push_octet_string(build.get(), OSSL_PKEY_PARAM_PRIV_KEY, scalar.data(), scalar.size()) != 0;
    }
    const std::unique_ptr<OSSL_PARAM, FreeParams> params(told ? OSSL_PARAM_BLD_to_param(build.get()) : nullptr);
    const PkeyContext reader(EVP_PKEY_CTX_new_from_name(context.libctx(), classical.algorithm, not_us));
    EVP_PKEY* key = nullptr;
    const int selection = scalar.empty() ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR;
    if (params == nullptr || reader == nullptr || EVP_PKEY_fromdata_init(reader.get()) <= 0 ||
        EVP_PKEY_fromdata(reader.get(), &key, selection, params.get()) <= 0)
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
    Pkey made(is_curve(classical) ? EVP_PKEY_Q_keygen(context.libctx(), not_us, classical.algorithm, classical.curve)
                                  : EVP_PKEY_Q_keygen(context.libctx(), not_us, classical.algorithm));
    if (made == nullptr) raise(context, Reason::classical_failed, "no key pair");
    return made;
}

Pkey read_classical_share(const Context& context, const Classical& classical, std::span<const uint8_t> share) {
    Pkey key;
    if (!is_curve(classical) || share[0] == uncompressed) key = read(context, classical, {}, share);
    if (key == nullptr) raise(context, Reason::bad_share, "the classical half is no point of its curve");
    return key;
}

Pkey read_classical_pair(const Context& context, const Classical& classical, std::span<const uint8_t> scalar,
                         std::span<const uint8_t> share) {
    Pkey key = read(context, classical, scalar, share);
    if (key == nullptr) raise(context, Reason::bad_encoding, "the classical halves are no keys of their curve");
    return key;
}

bool write_classical_share(const Context& context, const Classical& classical, EVP_PKEY* key, std::span<uint8_t> share) {
    size_t written = 0;
    if (EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, share.data(), share.size(), &written) > 0 &&
        written == classical.share_bytes)
        return true;
    raise(context, Reason::classical_failed, "no share");
    return false;
}

bool write_scalar(const Context& context, const Classical& classical, EVP_PKEY* key, std::span<uint8_t> scalar) {
    if (is_curve(classical)) {
        BIGNUM* found = BN_secure_new();
        const bool got = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &found) > 0;
        const Number number(found);
        if (got && BN_bn2binpad(number.get(), scalar.data(), static_cast<int>(scalar.size())) == static_cast<int>(scalar.size()))
            return true;
    } else {
        size_t written = scalar.size();
        if (EVP_PKEY_get_raw_private_key(key, scalar.data(), &written) > 0 && written == scalar.size()) return true;
    }
    raise(context, Reason::classical_failed, "no secret key");
    return false;
}

bool agree(const Context& context, const Classical& classical, EVP_PKEY* own, EVP_PKEY* peer, std::span<uint8_t> secret) {
    const PkeyContext exchange(EVP_PKEY_CTX_new_from_pkey(context.libctx(), own, not_us));
    size_t written = secret.size();
    if (exchange != nullptr && EVP_PKEY_derive_init(exchange.get()) > 0 && EVP_PKEY_derive_set_peer(exchange.get(), peer) > 0 &&
        EVP_PKEY_derive(exchange.get(), secret.data(), &written) > 0 && written == classical.secret_bytes && !all_zero(secret))
        return true;
    OPENSSL_cleanse(secret.data(), secret.size());
    raise(context, Reason::classical_failed, "no secret");
    return false;
}

bool is_classical_pair(const Context& context, const Classical& classical, EVP_PKEY* pair, EVP_PKEY* share) {
    const Pkey other = generate_classical(context, classical);
    SecretBytes ours(classical.secret_bytes), theirs(classical.secret_bytes);
    return other != nullptr && !ours.empty() && !theirs.empty() && agree(context, classical, pair, other.get(), ours) &&
           agree(context, classical, other.get(), share, theirs) && CRYPTO_memcmp(ours.data(), theirs.data(), ours.size()) == 0;
}

}  // namespace warpseal::provider

// X25519 with HKDF as in age v1, X-Wing with HPKE in base mode (RFC 9180), and X25519 with NTRU.
#include "container/recipients/stanza.h"

#include "container/bytes.h"
#include "container/derive.h"
#include "container/random.h"

namespace warpseal::container {
namespace {

constexpr char x25519_info[] = "age-encryption.org/v1/X25519";
constexpr char hybrid_info[] = "age-encryption.org/mlkem768x25519";
constexpr char hpke_version[] = "HPKE-v1";
// KEM 0x647a (X-Wing), HKDF-SHA256 and ChaCha20-Poly1305.
constexpr char hpke_suite[] = "HPKE\x64\x7a\x00\x01\x00\x03";
static_assert(file_key_bytes + chacha_tag_bytes == wrapped_key_bytes);

// The key of the AEAD that wraps one file key, and its nonce.
struct WrapKey {
    Secret<32> key;
    Secret<chacha_nonce_bytes> nonce;
};

warpseal_kem_batch one_item() {
    warpseal_kem_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.count = 1;
    return batch;
}

// Inputs of a batch are not const, and not written.
uint8_t* input(const uint8_t* bytes) { return const_cast<uint8_t*>(bytes); }

warpseal_status kem(Engine& engine, KemOperation operation, RecipientType type,
                    const warpseal_kem_batch& batch) {
    return engine.kem(operation, form_of(type).kem_set, batch, random_bytes, KemSide::cores);
}

warpseal_status keypair(Engine& engine, RecipientType type, const uint8_t* coins,
                        uint8_t* public_key, uint8_t* secret_key) {
    warpseal_kem_batch batch = one_item();
    batch.public_keys = public_key;
    batch.secret_keys = secret_key;
    batch.coins = coins;
    return kem(engine, KemOperation::keypair, type, batch);
}
warpseal_status encapsulate(Engine& engine, RecipientType type, const uint8_t* public_key,
                            uint8_t* ciphertext, Secret<32>& shared) {
    warpseal_kem_batch batch = one_item();
    batch.public_keys = input(public_key);
    batch.ciphertexts = ciphertext;
    batch.shared_secrets = shared.data();
    return kem(engine, KemOperation::encapsulate, type, batch);
}
warpseal_status decapsulate(Engine& engine, RecipientType type, const uint8_t* secret_key,
                            const uint8_t* ciphertext, Secret<32>& shared) {
    warpseal_kem_batch batch = one_item();
    batch.secret_keys = input(secret_key);
    batch.ciphertexts = input(ciphertext);
    batch.shared_secrets = shared.data();
    return kem(engine, KemOperation::decapsulate, type, batch);
}

void derive_x25519(const Secret<32>& shared, const uint8_t* share, const uint8_t* public_key,
                   WrapKey& out) {
    uint8_t salt[64];
    memcpy(salt, share, 32);
    memcpy(salt + 32, public_key, 32);
    const Bytes input = {shared.data(), shared.size()}, info = text_bytes(x25519_info);
    Secret<hmac256_bytes> extracted;
    hmac256({salt, sizeof salt}, {&input, 1}, extracted.data());
    expand256({extracted.data(), extracted.size()}, {&info, 1}, out.key.data(), out.key.size());
}

void labeled_extract(Bytes salt, Bytes label, Bytes input, uint8_t out[hmac256_bytes]) {
    const Bytes parts[] = {text_bytes(hpke_version), text_bytes(hpke_suite), label, input};
    hmac256(salt, {parts, 4}, out);
}

void labeled_expand(Bytes key, Bytes label, Bytes context, uint8_t* out, size_t bytes) {
    uint8_t length[2];
    put16(length, bytes);
    const Bytes parts[] = {
        {length, sizeof length}, text_bytes(hpke_version), text_bytes(hpke_suite), label, context};
    expand256(key, {parts, 5}, out, bytes);
}

// HPKE's key schedule in base mode: mode 0, no pre-shared key, one message.
void derive_hybrid(const Secret<32>& shared, WrapKey& out) {
    uint8_t context[1 + 2 * hmac256_bytes] = {0};
    const uint8_t zeros[hmac256_bytes] = {};  // an empty salt
    const Bytes salt = {zeros, sizeof zeros};
    labeled_extract(salt, text_bytes("psk_id_hash"), {}, context + 1);
    labeled_extract(salt, text_bytes("info_hash"), text_bytes(hybrid_info),
                    context + 1 + hmac256_bytes);
    Secret<hmac256_bytes> secret;
    labeled_extract({shared.data(), shared.size()}, text_bytes("secret"), {}, secret.data());
    const Bytes key = {secret.data(), secret.size()}, whole = {context, sizeof context};
    labeled_expand(key, text_bytes("key"), whole, out.key.data(), out.key.size());
    labeled_expand(key, text_bytes("base_nonce"), whole, out.nonce.data(), out.nonce.size());
}

// X25519 has a nonce of zeros.
void derive(RecipientType type, const Secret<32>& shared, const uint8_t* share,
            const uint8_t* public_key, WrapKey& out) {
    if (type == RecipientType::x25519) return derive_x25519(shared, share, public_key, out);
    derive_hybrid(shared, out);
}

// X25519 with NTRU-HPS-4096-821. Public keys and shares have NTRU's part first.
constexpr RecipientType x25519 = RecipientType::x25519, ntru = RecipientType::ntru_x25519;
constexpr size_t ntru_part_bytes = 1230, ntru_secret_bytes = 1590, ntru_coins_bytes = 3927;
constexpr size_t ntru_whole_bytes = ntru_part_bytes + 32;
static_assert(form_of(ntru).public_bytes == ntru_whole_bytes &&
              form_of(ntru).share_bytes == ntru_whole_bytes);
constexpr char ntru_seed_label[] = "warpseal/ntru-x25519/seed/ntru/v1";
constexpr char scalar_seed_label[] = "warpseal/ntru-x25519/seed/x25519/v1";
constexpr char ntru_combiner_label[] = "warpseal/ntru-x25519/combiner/v1";
constexpr char ntru_wrap_label[] = "warpseal/ntru-x25519/wrap/v1";

struct NtruKeys {
    Secret<32> scalar;
    Secret<ntru_secret_bytes> ntru_secret;
    uint8_t public_key[ntru_whole_bytes];
};

warpseal_status expand_ntru_seed(Engine& engine, const uint8_t* seed, NtruKeys& out) {
    const Bytes key = {seed, recipient_secret_bytes}, first = text_bytes(ntru_seed_label),
                second = text_bytes(scalar_seed_label);
    Secret<ntru_coins_bytes> coins;
    Secret<32> scalar_coins;
    expand(key, {&first, 1}, coins.data(), coins.size());
    expand(key, {&second, 1}, scalar_coins.data(), scalar_coins.size());
    const warpseal_status status =
        keypair(engine, ntru, coins.data(), out.public_key, out.ntru_secret.data());
    if (status != WARPSEAL_OK) return status;
    return keypair(engine, x25519, scalar_coins.data(), out.public_key + ntru_part_bytes,
                   out.scalar.data());
}

// The key depends on both secrets, on all that was sent, and on the recipient. All lengths are
// fixed, so that the concatenation has one meaning.
void derive_ntru(const Secret<32>& ntru_shared, const Secret<32>& scalar_shared,
                 const uint8_t* share, const uint8_t* public_key, WrapKey& out) {
    const Bytes parts[] = {{ntru_shared.data(), ntru_shared.size()},
                           {scalar_shared.data(), scalar_shared.size()},
                           {share, ntru_whole_bytes},
                           {public_key, ntru_whole_bytes}};
    const Bytes label = text_bytes(ntru_wrap_label);
    Secret<hmac_bytes> combined;
    hmac(text_bytes(ntru_combiner_label), {parts, 4}, combined.data());
    expand({combined.data(), combined.size()}, {&label, 1}, out.key.data(), out.key.size());
}

warpseal_status wrap_ntru(Engine& engine, const uint8_t* public_key, uint8_t* share, WrapKey& by) {
    Secret<32> ntru_shared, scalar_shared;
    warpseal_status status = encapsulate(engine, ntru, public_key, share, ntru_shared);
    if (status != WARPSEAL_OK) return status;
    status = encapsulate(engine, x25519, public_key + ntru_part_bytes, share + ntru_part_bytes,
                         scalar_shared);
    if (status != WARPSEAL_OK) return status;
    derive_ntru(ntru_shared, scalar_shared, share, public_key, by);
    return WARPSEAL_OK;
}

warpseal_status unwrap_ntru(Engine& engine, const uint8_t* seed, const uint8_t* share,
                            WrapKey& by) {
    NtruKeys keys;
    Secret<32> ntru_shared, scalar_shared;
    warpseal_status status = expand_ntru_seed(engine, seed, keys);
    if (status != WARPSEAL_OK) return status;
    status = decapsulate(engine, ntru, keys.ntru_secret.data(), share, ntru_shared);
    if (status != WARPSEAL_OK) return status;
    status =
        decapsulate(engine, x25519, keys.scalar.data(), share + ntru_part_bytes, scalar_shared);
    if (status != WARPSEAL_OK) return status;
    derive_ntru(ntru_shared, scalar_shared, share, keys.public_key, by);
    return WARPSEAL_OK;
}

// The types of age.
warpseal_status wrap_as_age(Engine& engine, RecipientType type, const uint8_t* public_key,
                            uint8_t* share, WrapKey& by) {
    Secret<32> shared;
    const warpseal_status status = encapsulate(engine, type, public_key, share, shared);
    if (status != WARPSEAL_OK) return status;
    derive(type, shared, share, public_key, by);
    return WARPSEAL_OK;
}

warpseal_status unwrap_as_age(Engine& engine, RecipientType type, const uint8_t* secret_key,
                              const uint8_t* share, WrapKey& by) {
    Secret<32> shared;
    warpseal_status status = decapsulate(engine, type, secret_key, share, shared);
    if (status != WARPSEAL_OK) return status;
    uint8_t public_key[32];
    if (type == x25519) {
        status = recipient_public_key(engine, type, secret_key, public_key);
        if (status != WARPSEAL_OK) return status;
    }
    derive(type, shared, share, public_key, by);
    return WARPSEAL_OK;
}

}  // namespace

warpseal_status recipient_public_key(Engine& engine, RecipientType type, const uint8_t* secret_key,
                                     uint8_t* public_key) {
    if (type != ntru) {
        Secret<recipient_secret_bytes> copy;
        return keypair(engine, type, secret_key, public_key, copy.data());
    }
    NtruKeys keys;
    const warpseal_status status = expand_ntru_seed(engine, secret_key, keys);
    if (status == WARPSEAL_OK) memcpy(public_key, keys.public_key, sizeof keys.public_key);
    return status;
}

warpseal_status wrap_file_key(Engine& engine, RecipientType type, const uint8_t* public_key,
                              const Secret<file_key_bytes>& file_key, uint8_t* share,
                              uint8_t wrapped[wrapped_key_bytes]) {
    if (!start_sodium()) return WARPSEAL_NO_RANDOM;
    WrapKey by;
    const warpseal_status status = type == ntru ? wrap_ntru(engine, public_key, share, by)
                                                : wrap_as_age(engine, type, public_key, share, by);
    if (status != WARPSEAL_OK) return status;
    chacha_seal(by.key.data(), by.nonce.data(), file_key.data(), file_key.size(), wrapped);
    return WARPSEAL_OK;
}

warpseal_status unwrap_file_key(Engine& engine, RecipientType type, const uint8_t* secret_key,
                                const uint8_t* share, const uint8_t wrapped[wrapped_key_bytes],
                                Secret<file_key_bytes>& file_key) {
    if (!start_sodium()) return WARPSEAL_NO_RANDOM;
    WrapKey by;
    const warpseal_status status = type == ntru
                                       ? unwrap_ntru(engine, secret_key, share, by)
                                       : unwrap_as_age(engine, type, secret_key, share, by);
    if (status == WARPSEAL_INVALID_ARGUMENT) return WARPSEAL_NOT_AUTHENTIC;
    if (status != WARPSEAL_OK) return status;
    const bool opened =
        chacha_open(by.key.data(), by.nonce.data(), wrapped, wrapped_key_bytes, file_key.data());
    return opened ? WARPSEAL_OK : WARPSEAL_WRONG_KEY;
}

}  // namespace warpseal::container

// Key derivation with libsodium's HMAC and Argon2id.
#include "container/derive.h"

#include <sodium.h>

#include <atomic>
#include <mutex>

#include "platform/forks.h"

namespace warpseal::container {
namespace {

// libsodium's own lock is held only under this one, which no fork catches held.
WARPSEAL_AT_LOAD AtLoad<ForkMutex> starting_sodium;
constinit std::atomic<bool> sodium_started{false};

}  // namespace

bool start_sodium() {
    if (sodium_started.load(std::memory_order_acquire)) return true;
    const std::lock_guard lock(*starting_sodium);
    if (sodium_init() < 0) return false;
    sodium_started.store(true, std::memory_order_release);
    return true;
}

// Allocates nothing, takes no lock and cannot fail.
void hmac(Bytes key, Parts message, uint8_t mac[hmac_bytes]) {
    SecretOf<crypto_auth_hmacsha512_state> state;
    crypto_auth_hmacsha512_init(&state.value, key.data, key.size);
    for (size_t i = 0; i < message.count; ++i)
        crypto_auth_hmacsha512_update(&state.value, message.parts[i].data, message.parts[i].size);
    crypto_auth_hmacsha512_final(&state.value, mac);
}

void expand(Bytes key, Parts info, uint8_t* out, size_t out_bytes) {
    Secret<hmac_bytes> block;
    uint8_t number = 0;
    for (size_t done = 0; done < out_bytes;) {
        // T(n) = HMAC(key, T(n - 1) || info || n), with T(0) empty.
        Bytes parts[8];
        size_t count = 0;
        if (number > 0) parts[count++] = {block.data(), hmac_bytes};
        for (size_t i = 0; i < info.count; ++i) parts[count++] = info.parts[i];
        ++number;
        parts[count++] = {&number, 1};
        hmac(key, {parts, count}, block.data());
        const size_t take = out_bytes - done < hmac_bytes ? out_bytes - done : hmac_bytes;
        memcpy(out + done, block.data(), take);
        done += take;
    }
}

void hmac256(Bytes key, Parts message, uint8_t mac[hmac256_bytes]) {
    SecretOf<crypto_auth_hmacsha256_state> state;
    crypto_auth_hmacsha256_init(&state.value, key.data, key.size);
    for (size_t i = 0; i < message.count; ++i)
        if (message.parts[i].size != 0)
            crypto_auth_hmacsha256_update(&state.value, message.parts[i].data,
                                          message.parts[i].size);
    crypto_auth_hmacsha256_final(&state.value, mac);
}

void expand256(Bytes key, Parts info, uint8_t* out, size_t out_bytes) {
    const uint8_t number = 1;
    Bytes parts[8];
    for (size_t i = 0; i < info.count; ++i) parts[i] = info.parts[i];
    parts[info.count] = {&number, 1};
    Secret<hmac256_bytes> block;
    hmac256(key, {parts, info.count + 1}, block.data());
    memcpy(out, block.data(), out_bytes);
}

void chacha_seal(const uint8_t key[32], const uint8_t nonce[chacha_nonce_bytes],
                 const uint8_t* text, size_t bytes, uint8_t* out) {
    crypto_aead_chacha20poly1305_ietf_encrypt(out, nullptr, text, bytes, nullptr, 0, nullptr, nonce,
                                              key);
}

bool chacha_open(const uint8_t key[32], const uint8_t nonce[chacha_nonce_bytes],
                 const uint8_t* sealed, size_t bytes, uint8_t* out) {
    static_assert(chacha_nonce_bytes == crypto_aead_chacha20poly1305_ietf_NPUBBYTES);
    static_assert(chacha_tag_bytes == crypto_aead_chacha20poly1305_ietf_ABYTES);
    if (crypto_aead_chacha20poly1305_ietf_decrypt(out, nullptr, nullptr, sealed, bytes, nullptr, 0,
                                                  nonce, key) == 0)
        return true;
    wipe(out, bytes - chacha_tag_bytes);
    return false;
}

warpseal_status argon2id(Bytes passphrase, const uint8_t salt[argon2_salt_bytes], Argon2Cost cost,
                         Secret<32>& out) {
    static_assert(argon2_salt_bytes == crypto_pwhash_argon2id_SALTBYTES);
    if (!start_sodium()) return WARPSEAL_NO_RANDOM;  // the only reason for sodium_init() to fail
    const int failed = crypto_pwhash_argon2id(
        out.data(), out.size(), reinterpret_cast<const char*>(passphrase.data), passphrase.size,
        salt, cost.passes, size_t{cost.memory_kib} * 1024, crypto_pwhash_argon2id_ALG_ARGON2ID13);
    return failed == 0 ? WARPSEAL_OK : WARPSEAL_OUT_OF_MEMORY;
}

}  // namespace warpseal::container

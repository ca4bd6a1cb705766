// Calls of libcrypto. A library context of our own keeps openssl.cnf and its providers out.
#include "cli/age/crypto.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/kdf.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>

#include "cli/support/command.h"

namespace warpseal::cli::age {
namespace {

constexpr std::array<uint8_t, aead_nonce_bytes> zero_nonce{};
constexpr std::array<uint8_t, key_bytes> zero_salt{};

// Memory of the derivations of a run, whose files are worked on side by side. A derivation that
// needs all of it or more waits until no other is at work.
class DerivationMemory {
public:
    explicit DerivationMemory(uint64_t bytes) : bytes_(std::min(bytes, most_bytes)) {
        std::unique_lock lock(mutex_);
        released_.wait(lock, [this] { return used_bytes_ + bytes_ <= most_bytes; });
        used_bytes_ += bytes_;
    }
    ~DerivationMemory() {
        const std::lock_guard lock(mutex_);
        used_bytes_ -= bytes_;
        released_.notify_all();
    }
    DerivationMemory(const DerivationMemory&) = delete;
    DerivationMemory& operator=(const DerivationMemory&) = delete;

private:
    static constexpr uint64_t most_bytes = uint64_t{1} << 30;
    static inline std::mutex mutex_;
    static inline std::condition_variable released_;
    static inline uint64_t used_bytes_ = 0;
    const uint64_t bytes_;
};

const EVP_CIPHER* chacha20_poly1305() {
    static EVP_CIPHER* const cipher =
        EVP_CIPHER_fetch(libcrypto_context(), "ChaCha20-Poly1305", nullptr);
    require_libcrypto(cipher != nullptr, "ChaCha20-Poly1305");
    return cipher;
}

struct KeyDelete {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
};
using Key = std::unique_ptr<EVP_PKEY, KeyDelete>;

Key private_key(View bytes) {
    Key key(EVP_PKEY_new_raw_private_key_ex(libcrypto_context(), "X25519", nullptr, bytes.data(),
                                            bytes.size()));
    require_libcrypto(key != nullptr, "X25519");
    return key;
}

}  // namespace

OSSL_LIB_CTX* libcrypto_context() {
    static OSSL_LIB_CTX* const context = OSSL_LIB_CTX_new();
    return context;
}

void require_libcrypto(bool done, const char* what) {
    if (done) return;
    ERR_clear_error();
    throw Failure(ExitCode::error, std::string("libcrypto failed in ") + what + ".");
}

Secret random_secret(size_t bytes) {
    Secret out(bytes);
    if (warpseal_random(out.data(), out.size()) != WARPSEAL_OK)
        throw Failure(ExitCode::error, "the operating system's random source failed.");
    return out;
}

Secret hmac_sha256(View key, View data) {
    if (key.empty()) key = zero_salt;  // HMAC pads a key with zeros.
    Secret out(key_bytes);
    size_t written = 0;
    require_libcrypto(
        EVP_Q_mac(libcrypto_context(), "HMAC", nullptr, "SHA256", nullptr, key.data(), key.size(),
                  data.data(), data.size(), out.data(), out.size(), &written) != nullptr &&
            written == out.size(),
        "HMAC");
    return out;
}

Secret hkdf_sha256(View input, View salt, View info) {
    Secret block(info.begin(), info.end());
    block.push_back(1);
    return hmac_sha256(hmac_sha256(salt, input), block);
}

Secret x25519_public(View secret_key) {
    const Key key = private_key(secret_key);
    Secret out(key_bytes);
    size_t written = out.size();
    require_libcrypto(EVP_PKEY_get_raw_public_key(key.get(), out.data(), &written) == 1, "X25519");
    return out;
}

std::optional<Secret> x25519(View secret_key, View public_key) {
    const Key own = private_key(secret_key);
    const Key peer(EVP_PKEY_new_raw_public_key_ex(libcrypto_context(), "X25519", nullptr,
                                                  public_key.data(), public_key.size()));
    const std::unique_ptr<EVP_PKEY_CTX, KeyDelete> context(
        EVP_PKEY_CTX_new_from_pkey(libcrypto_context(), own.get(), nullptr));
    require_libcrypto(peer && context && EVP_PKEY_derive_init(context.get()) == 1 &&
                          EVP_PKEY_derive_set_peer(context.get(), peer.get()) == 1,
                      "X25519");
    Secret out(key_bytes);
    size_t written = out.size();
    if (EVP_PKEY_derive(context.get(), out.data(), &written) == 1) return out;
    ERR_clear_error();
    return std::nullopt;
}

Secret scrypt(View passphrase, View salt, unsigned log2_cost) {
    constexpr uint64_t block_size = 8, parallel = 1, spare = 1 << 20;
    const uint64_t cost = uint64_t{1} << log2_cost;
    const DerivationMemory memory(128 * block_size * cost);
    Secret out(key_bytes);
    if (EVP_PBE_scrypt_ex(reinterpret_cast<const char*>(passphrase.data()), passphrase.size(),
                          salt.data(), salt.size(), cost, block_size, parallel,
                          128 * block_size * (cost + parallel + 2) + spare, out.data(), out.size(),
                          libcrypto_context(), nullptr) == 1)
        return out;
    ERR_clear_error();
    throw Failure(ExitCode::error, "out of memory: the passphrase of this file needs " +
                                       human_bytes(128 * block_size * cost) + " for scrypt.");
}

Aead::Aead(View key) : context_(EVP_CIPHER_CTX_new()) {
    require_libcrypto(context_ && EVP_CipherInit_ex2(context_.get(), chacha20_poly1305(),
                                                     key.data(), nullptr, 1, nullptr) == 1,
                      "ChaCha20-Poly1305");
}

void Aead::seal(View nonce, View text, uint8_t* out) {
    EVP_CIPHER_CTX* const context = context_.get();
    int done = 0, rest = 0;
    require_libcrypto(
        EVP_CipherInit_ex2(context, nullptr, nullptr, nonce.data(), 1, nullptr) == 1 &&
            EVP_CipherUpdate(context, out, &done, text.data(), static_cast<int>(text.size())) ==
                1 &&
            EVP_CipherFinal_ex(context, out + done, &rest) == 1 &&
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tag_bytes, out + text.size()) == 1,
        "ChaCha20-Poly1305");
}

bool Aead::open(View nonce, View sealed, uint8_t* out) {
    EVP_CIPHER_CTX* const context = context_.get();
    const View text = sealed.first(sealed.size() - tag_bytes);
    std::array<uint8_t, tag_bytes> tag;
    std::copy(sealed.end() - tag_bytes, sealed.end(), tag.begin());
    int done = 0, rest = 0;
    require_libcrypto(
        EVP_CipherInit_ex2(context, nullptr, nullptr, nonce.data(), 0, nullptr) == 1 &&
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, tag_bytes, tag.data()) == 1 &&
            EVP_CipherUpdate(context, out, &done, text.data(), static_cast<int>(text.size())) == 1,
        "ChaCha20-Poly1305");
    if (EVP_CipherFinal_ex(context, out + done, &rest) == 1) return true;
    ERR_clear_error();
    return false;
}

Octets wrap_file_key(View key, View file_key) {
    Octets body(file_key.size() + tag_bytes);
    Aead(key).seal(zero_nonce, file_key, body.data());
    return body;
}

std::optional<Secret> unwrap_file_key(View key, View body) {
    Secret file_key(body.size() - tag_bytes);
    if (!Aead(key).open(zero_nonce, body, file_key.data())) return std::nullopt;
    return file_key;
}

bool equal(View one, View other) {
    return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace warpseal::cli::age

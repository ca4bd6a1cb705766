// Decrypts the secret part of OpenSSH's private keys (PROTOCOL.key of OpenSSH).
#include <openssl/err.h>

#include <algorithm>
#include <array>

#include "cli/age/crypto.h"
#include "cli/age/ssh/bcrypt.h"
#include "cli/age/ssh/keys.h"
#include "cli/age/ssh/wire.h"
#include "cli/support/command.h"
#include "cli/support/format.h"

namespace warpseal::cli::age {
namespace {

// A round takes some 5 ms for each 32 bytes. ssh-keygen takes 16 or 24 unless it is told otherwise.
constexpr uint32_t most_rounds = 65536;
constexpr size_t most_salt_bytes = 1024;

struct LockCipher {
    const char* name;       // OpenSSH's
    const char* libcrypto;  // libcrypto's
    size_t key_bytes, iv_bytes, tag_bytes;
};
constexpr LockCipher lock_ciphers[] = {
    {"aes256-ctr", "AES-256-CTR", 32, 16, 0},
    {"aes192-ctr", "AES-192-CTR", 24, 16, 0},
    {"aes128-ctr", "AES-128-CTR", 16, 16, 0},
    {"aes256-cbc", "AES-256-CBC", 32, 16, 0},
    {"aes192-cbc", "AES-192-CBC", 24, 16, 0},
    {"aes128-cbc", "AES-128-CBC", 16, 16, 0},
    {"aes256-gcm@openssh.com", "AES-256-GCM", 32, 12, 16},
    {"aes128-gcm@openssh.com", "AES-128-GCM", 16, 12, 16},
};

[[noreturn]] void throw_damaged_lock(const std::string& shown) {
    throw Failure(
        ExitCode::usage,
        cli::format("{} is a private key that is cut or damaged: take it from a backup.", shown));
}

const LockCipher& find_cipher(View name, const std::string& shown) {
    for (const LockCipher& cipher : lock_ciphers)
        if (is_text(name, cipher.name)) return cipher;
    throw Failure(ExitCode::unsupported,
                  cli::format("{} is encrypted by a cipher that is not supported: ssh-keygen -p -Z "
                              "aes256-ctr writes it with another.",
                              shown));
}

// Key and IV.
Secret derive(const LockedPart& part, View passphrase, size_t bytes,
              const std::function<void()>& between, const std::string& shown) {
    View salt;
    uint32_t rounds = 0;
    WireReader options(part.kdf_options);
    if (!is_text(part.kdf, "bcrypt"))
        throw Failure(ExitCode::unsupported,
                      cli::format("{} has a key derivation other than bcrypt, which is not "
                                  "supported: ssh-keygen -p writes it with bcrypt.",
                                  shown));
    if (!options.string(salt) || !options.number(rounds) || !options.rest().empty() ||
        salt.empty() || salt.size() > most_salt_bytes || rounds == 0)
        throw_damaged_lock(shown);
    if (rounds > most_rounds)
        throw Failure(ExitCode::limit_exceeded,
                      cli::format("{} asks for {} rounds of bcrypt, and the limit is {}: "
                                  "ssh-keygen -p -a {} writes it with fewer.",
                                  shown, rounds, most_rounds, most_rounds));
    return bcrypt_pbkdf(passphrase, salt, rounds, bytes, between);
}

struct DeleteContext {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
    void operator()(EVP_CIPHER* cipher) const { EVP_CIPHER_free(cipher); }
};

}  // namespace

std::optional<Secret> decrypt_secret_part(const LockedPart& part, View passphrase,
                                          const std::function<void()>& between,
                                          const std::string& shown) {
    const LockCipher& cipher = find_cipher(part.cipher, shown);
    if (part.tag.size() != cipher.tag_bytes || passphrase.empty()) throw_damaged_lock(shown);
    const Secret derived =
        derive(part, passphrase, cipher.key_bytes + cipher.iv_bytes, between, shown);
    const std::unique_ptr<EVP_CIPHER, DeleteContext> found(
        EVP_CIPHER_fetch(libcrypto_context(), cipher.libcrypto, nullptr));
    const std::unique_ptr<EVP_CIPHER_CTX, DeleteContext> context(EVP_CIPHER_CTX_new());
    require_libcrypto(found && context &&
                          EVP_DecryptInit_ex2(context.get(), found.get(), derived.data(),
                                              derived.data() + cipher.key_bytes, nullptr) == 1 &&
                          EVP_CIPHER_CTX_set_padding(context.get(), 0) == 1,
                      cipher.libcrypto);
    std::array<uint8_t, 16> tag{};
    std::copy(part.tag.begin(), part.tag.end(), tag.begin());
    if (cipher.tag_bytes != 0)
        require_libcrypto(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG,
                                              static_cast<int>(cipher.tag_bytes), tag.data()) == 1,
                          cipher.libcrypto);
    Secret secret(part.secret.size());
    int bytes = 0, last = 0;
    require_libcrypto(EVP_DecryptUpdate(context.get(), secret.data(), &bytes, part.secret.data(),
                                        static_cast<int>(part.secret.size())) == 1,
                      cipher.libcrypto);
    const bool verified = EVP_DecryptFinal_ex(context.get(), secret.data() + bytes, &last) == 1;
    if (!verified) ERR_clear_error();
    if (verified) return secret;
    if (cipher.tag_bytes == 0) throw_damaged_lock(shown);
    return std::nullopt;
}

}  // namespace warpseal::cli::age

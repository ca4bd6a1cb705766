// OpenSSL's side of a measurement: the same cipher, mode and direction through EVP, with the key
// schedule done beforehand.
#pragma once

#include "bench/bulk/yardsticks/yardstick.h"

struct evp_cipher_ctx_st;
struct evp_mac_ctx_st;

namespace warpseal::bench {

struct LibCrypto;

// OpenSSL chooses the instruction set.
class OpenSsl : public YardstickCipher {
public:
    // Uses the default and legacy providers of the libcrypto that the program is linked with.
    // Returns null if this OpenSSL lacks the cipher or the mode.
    static std::unique_ptr<OpenSsl> find(const BenchCase& what, const std::vector<uint8_t>& key);
    // The same of any libcrypto whose providers are loaded. `functions` must outlive the result;
    // `library` is its name for --against.
    static std::unique_ptr<OpenSsl> find_in(const LibCrypto& functions, const std::string& library,
                                            const BenchCase& what, const std::vector<uint8_t>& key);
    ~OpenSsl() override;

    bool set_key(const uint8_t* key) override;

protected:
    bool run_message(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes,
                     uint8_t* tag) override;
    bool run_mac(const uint8_t* in, size_t bytes, uint8_t* tag) override;

private:
    OpenSsl(const LibCrypto& functions, const std::string& library, const BenchCase& what,
            const std::string& cipher_name);
    bool set_up_ccm();
    const LibCrypto& crypto_;
    evp_cipher_ctx_st* cipher_ = nullptr;
    evp_mac_ctx_st* mac_ = nullptr;
};

// Loads the providers for the life of the process. The legacy provider and its ciphers may be
// missing. Throws Failure.
void load_providers(const LibCrypto& functions, bool with_legacy);

}  // namespace warpseal::bench

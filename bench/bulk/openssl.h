// OpenSSL's side of a measurement: the same cipher, mode and direction through EVP, with the key
// schedule done beforehand.
#pragma once

#include <memory>
#include <vector>

#include "bench/bulk/reference.h"

struct evp_cipher_ctx_st;
struct evp_mac_ctx_st;

namespace warpseal::bench {

// Uses OpenSSL's default and legacy providers. OpenSSL chooses the instruction set.
class OpenSsl : public Reference {
public:
    // Returns null if this OpenSSL lacks the cipher or the mode.
    static std::unique_ptr<OpenSsl> find(const BenchCase& what, const std::vector<uint8_t>& key);
    ~OpenSsl() override;

    bool set_key(const uint8_t* key) override;
    bool run(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes,
             uint8_t* tag) override;
    std::string name() const override { return "openssl " + name_; }
    const std::string& cipher_name() const { return name_; }  // OpenSSL's name

private:
    OpenSsl(const BenchCase& what, std::string name);
    bool run_message(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes,
                     uint8_t* tag);
    bool run_mac(const uint8_t* in, size_t bytes, uint8_t* tag);
    BenchCase what_;
    std::string name_;
    evp_cipher_ctx_st* cipher_ = nullptr;
    evp_mac_ctx_st* mac_ = nullptr;
};

// Returns OpenSSL's ECB of the cipher in that direction, or null if OpenSSL lacks it.
std::unique_ptr<OpenSsl> find_openssl_ecb(const BenchCase& what, const std::vector<uint8_t>& key,
                                          bool encrypt);

}  // namespace warpseal::bench

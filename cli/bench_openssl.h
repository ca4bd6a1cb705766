// OpenSSL's side of a measurement: the same cipher, mode and direction through EVP, its key set up beforehand.
#pragma once

#include <memory>
#include <vector>

#include "bench.h"

struct evp_cipher_ctx_st;

namespace warpseal::cli {

constexpr size_t bench_tag_bytes = 16;
constexpr size_t bench_nonce_bytes = 12;

// The IV of a mode as the bench uses it: block_bytes for CTR, 12 for GCM, 0 for ECB.
size_t bench_iv_bytes(const BenchCase& what);

class OpenSsl {
public:
    // Null where this OpenSSL has no such cipher and mode. Uses its default and legacy providers and its own choice of instructions.
    static std::unique_ptr<OpenSsl> find(const BenchCase& what, const std::vector<uint8_t>& key);

    // One message. GCM: writes the tag when sealing, checks it when opening. False: OpenSSL reported an error, or the tag is wrong.
    bool run(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes, uint8_t* tag);

private:
    struct Delete {
        void operator()(evp_cipher_ctx_st* context) const;
    };
    OpenSsl(const BenchCase& what, evp_cipher_ctx_st* context);
    BenchCase what_;
    std::unique_ptr<evp_cipher_ctx_st, Delete> context_;
};

// As find; throws BenchWrong: without a comparison there is no figure.
std::unique_ptr<OpenSsl> require_openssl(const BenchCase& what, const std::vector<uint8_t>& key);

std::string openssl_version();

}  // namespace warpseal::cli

// Header and key derivation of FLOE, by libcrypto.
#include "cli/foreign/floe.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <cstring>

#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

constexpr size_t digest_bytes = 48;

struct MacDelete {
    void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
    void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};

// HMAC-SHA-384 over several inputs.
class Hmac {
public:
    Hmac(const uint8_t* key, size_t key_bytes)
        : mac_(EVP_MAC_fetch(nullptr, "HMAC", nullptr)), context_(EVP_MAC_CTX_new(mac_.get())) {
        char digest[] = "SHA384";
        const OSSL_PARAM parameters[] = {
            OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
            OSSL_PARAM_construct_end()};
        require(context_ && EVP_MAC_init(context_.get(), key, key_bytes, parameters) == 1);
    }
    void update(const void* data, size_t bytes) {
        require(EVP_MAC_update(context_.get(), static_cast<const uint8_t*>(data), bytes) == 1);
    }
    void final(uint8_t* out) {
        size_t bytes = 0;
        require(EVP_MAC_final(context_.get(), out, &bytes, digest_bytes) == 1 &&
                bytes == digest_bytes);
    }

private:
    static void require(bool good) {
        if (!good) throw Failure(ExitCode::error, "libcrypto cannot compute HMAC-SHA-384.");
    }
    std::unique_ptr<EVP_MAC, MacDelete> mac_;
    std::unique_ptr<EVP_MAC_CTX, MacDelete> context_;
};

}  // namespace

void store_big_endian(uint8_t* to, uint64_t value, size_t bytes) {
    for (size_t i = bytes; i-- > 0; value >>= 8) to[i] = static_cast<uint8_t>(value);
}

uint64_t load_big_endian(const uint8_t* from, size_t bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; ++i) value = value << 8 | from[i];
    return value;
}

bool FloeHeader::is_likely(std::string_view start) {
    FloeHeader header;
    if (start.size() < parameter_bytes) return false;
    std::memcpy(header.bytes, start.data(), parameter_bytes);
    return header.refused_parameters().empty();
}

std::string FloeHeader::refused_parameters() const {
    if (bytes[0] != 0) return cli::format("its AEAD has number {}, and 0 is known", bytes[0]);
    if (bytes[1] != 0) return cli::format("its KDF has number {}, and 0 is known", bytes[1]);
    if (const uint64_t length = load_big_endian(bytes + 6, 4); length != iv_bytes)
        return cli::format("its IV has {} bytes, and {} are known", length, iv_bytes);
    const uint32_t segment = segment_bytes();
    if (segment < least_segment || segment > most_segment)
        return cli::format("its segments have {} bytes, and {} to {} are supported", segment,
                           least_segment, most_segment);
    return "";
}

void FloeHeader::set_parameters(uint32_t segment_bytes) {
    bytes[0] = bytes[1] = 0;
    store_big_endian(bytes + 2, segment_bytes, 4);
    store_big_endian(bytes + 6, iv_bytes, 4);
}

uint32_t FloeHeader::segment_bytes() const {
    return static_cast<uint32_t>(load_big_endian(bytes + 2, 4));
}

FloeKeys::FloeKeys(const uint8_t* key, const FloeHeader& header, const std::vector<uint8_t>& aad)
    : header_(header), aad_(aad) {
    message_key_.size = message_key_bytes;
    derive(key, key_bytes, "MESSAGE_KEY:", message_key_.data(), message_key_bytes);
    derive(key, key_bytes, "HEADER_TAG:", header_tag_, sizeof header_tag_);
}

bool FloeKeys::opens_header() const {
    return CRYPTO_memcmp(header_tag_, header_.bytes + FloeHeader::bound_bytes,
                         sizeof header_tag_) == 0;
}

SecretBytes FloeKeys::segment_key(uint64_t position) const {
    char purpose[4 + 8] = {'D', 'E', 'K', ':'};
    store_big_endian(reinterpret_cast<uint8_t*>(purpose) + 4,
                     position / FloeHeader::segments_per_key * FloeHeader::segments_per_key, 8);
    SecretBytes key;
    key.size = key_bytes;
    derive(message_key_.data(), message_key_bytes, {purpose, sizeof purpose}, key.data(), key.size);
    return key;
}

// HKDF-Expand (RFC 5869 2.3). No output is longer than the digest, so that one block is enough.
void FloeKeys::derive(const uint8_t* key, size_t bytes, std::string_view purpose, uint8_t* out,
                      size_t out_bytes) const {
    SecretBytes block;
    const uint8_t counter = 1;
    Hmac hmac(key, bytes);
    hmac.update(header_.bytes, FloeHeader::bound_bytes);
    hmac.update(purpose.data(), purpose.size());
    hmac.update(aad_.data(), aad_.size());
    hmac.update(&counter, sizeof counter);
    hmac.final(block.data());
    std::memcpy(out, block.data(), out_bytes);
}

}  // namespace warpseal::cli

// FLOE (C2SP FLOE.md): the header, and the keys that are derived from a key file's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/support/secrets.h"

namespace warpseal::cli {

// AES-256-GCM and HKDF-Expand with SHA-384, which are the only parameters.
struct FloeHeader {
    static constexpr size_t iv_bytes = 32, tag_bytes = 32, parameter_bytes = 10;
    static constexpr size_t bound_bytes = parameter_bytes + iv_bytes;  // all but the tag
    static constexpr size_t header_bytes = bound_bytes + tag_bytes;
    // Length field, nonce and tag around a segment's text.
    static constexpr uint32_t length_bytes = 4, nonce_bytes = 12, segment_tag_bytes = 16;
    static constexpr uint32_t segment_overhead = length_bytes + nonce_bytes + segment_tag_bytes;
    static constexpr uint32_t inner_length = 0xffffffff;  // of all segments but the last
    static constexpr uint32_t least_segment = segment_overhead + 1;
    static constexpr uint32_t most_segment = uint32_t{16} << 20;
    static constexpr uint64_t most_segments = uint64_t{1} << 40;
    static constexpr uint64_t segments_per_key = uint64_t{1} << 20;

    // Returns true if a file that begins with these bytes is probably FLOE.
    static bool is_likely(std::string_view start);
    // Returns why the parameters are not supported, or "".
    std::string refused_parameters() const;
    void set_parameters(uint32_t segment_bytes);
    uint32_t segment_bytes() const;

    uint8_t bytes[header_bytes] = {};
};

// Derives keys for one header and its AAD, both of which must outlive it.
class FloeKeys {
public:
    // `key` has 32 bytes, and is not needed after the call. The header's tag need not be set.
    FloeKeys(const uint8_t* key, const FloeHeader& header, const std::vector<uint8_t>& aad);
    const uint8_t* header_tag() const { return header_tag_; }
    // Compares in constant time.
    bool opens_header() const;
    // Returns the key of a segment, of 32 bytes.
    SecretBytes segment_key(uint64_t position) const;

private:
    static constexpr size_t key_bytes = 32, message_key_bytes = 48;
    void derive(const uint8_t* key, size_t bytes, std::string_view purpose, uint8_t* out,
                size_t out_bytes) const;
    const FloeHeader& header_;
    const std::vector<uint8_t>& aad_;
    SecretBytes message_key_;
    uint8_t header_tag_[FloeHeader::tag_bytes];
};

struct KeyHandleDelete {
    void operator()(warpseal_key* key) const { warpseal_key_destroy(key); }
};
using KeyHandle = std::unique_ptr<warpseal_key, KeyHandleDelete>;

void store_big_endian(uint8_t* to, uint64_t value, size_t bytes);
uint64_t load_big_endian(const uint8_t* from, size_t bytes);

}  // namespace warpseal::cli

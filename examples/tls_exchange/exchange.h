// Exchange in which the server decapsulates (docs/tls-exchange.md): its frames, and the keys that
// both sides derive.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "warpseal/kem.h"
#include "warpseal/warpseal.h"

namespace warpseal::tls {

using Bytes = std::span<const uint8_t>;

// ALPN protocol with its length byte.
inline constexpr char exchange_protocol[] = "\x13warpseal-exchange/1";

enum class FrameType : uint8_t {
    hello = 1,
    key = 2,
    ciphertext = 3,
    confirmation = 4,
    record = 5,
    last_record = 6,
    refusal = 7
};
enum class Refusal : uint8_t { failed = 1, busy = 2, no_common_set = 3 };

// Header: "WSX", version 1, type, set, and the body length in two bytes.
inline constexpr size_t header_bytes = 8, mac_bytes = 32, tag_bytes = 16, record_text_bytes = 16384;
inline constexpr size_t longest_body = record_text_bytes + tag_bytes;
using Header = std::array<uint8_t, header_bytes>;

struct Frame {
    FrameType type{};
    uint8_t set = 0;  // 0: none
    Header header{};  // as received
    std::vector<uint8_t> body;
};

// Thrown for an invalid or unexpected frame, or wrong contents. The other side learns only that the
// exchange failed.
struct ExchangeError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

Header frame_header(FrameType type, uint8_t set, size_t body_bytes);
void append_frame(std::vector<uint8_t>& out, FrameType type, uint8_t set, Bytes body);

// Splits a byte stream into frames. Holds at most one frame and one piece of input.
class FrameReader {
public:
    // Appends received bytes.
    void take(Bytes piece);
    // Returns false if more bytes are needed. Throws ExchangeError as soon as a header is invalid,
    // regardless of its length field.
    bool next(Frame& frame);
    bool empty() const { return at_ == buffer_.size(); }

private:
    std::vector<uint8_t> buffer_;
    size_t at_ = 0;
};

// Returns the set with that frame number, or null. Numbers start at 1, in the order of
// warpseal_kem_at and docs/tls-exchange.md.
const warpseal_kem_info* exchange_set(uint8_t number);
// Throws Failure (unsupported) if there is no such set.
uint8_t exchange_set_number(const std::string& name);
// Returns the numbers of the sets; no name means ntruhps4096821.
std::vector<uint8_t> exchange_set_numbers(const std::vector<std::string>& names);

// Key that is zeroized on destruction.
class SecretKey {
public:
    SecretKey() = default;
    SecretKey(SecretKey&& other) noexcept : bytes_(other.bytes_) { other.wipe(); }
    SecretKey& operator=(SecretKey&& other) noexcept {
        bytes_ = other.bytes_;
        if (this != &other) other.wipe();
        return *this;
    }
    ~SecretKey() { wipe(); }
    uint8_t* data() { return bytes_.data(); }
    const uint8_t* data() const { return bytes_.data(); }
    static constexpr size_t size() { return 32; }
    operator Bytes() const { return bytes_; }

private:
    void wipe() { warpseal_wipe(bytes_.data(), bytes_.size()); }
    std::array<uint8_t, 32> bytes_{};
};

using Mac = std::array<uint8_t, mac_bytes>;

// Keys of both sides after the ciphertext: a confirmation for each side and a key for each
// direction.
struct ExchangeKeys {
    Mac client_confirmation, server_confirmation;
    SecretKey client_data, server_data;
};

// Data that binds the secret to the connection (with the exporter) and to the frames.
struct Transcript {
    // Frames hello and key, then the ciphertext's header and body.
    std::vector<uint8_t> bytes;
    void add(const Frame& frame) { add(frame.header, frame.body); }
    void add(Bytes header, Bytes body) {
        bytes.insert(bytes.end(), header.begin(), header.end());
        bytes.insert(bytes.end(), body.begin(), body.end());
    }
};
ExchangeKeys derive_keys(const SecretKey& exporter, const SecretKey& shared_secret,
                         const Transcript& transcript, const char* set);
bool equal(Bytes a, Bytes b);  // constant time

}  // namespace warpseal::tls

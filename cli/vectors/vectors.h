// Checks of published test vectors against the engine: rows, results and the tested engine. Rows
// are data; each kind has one check.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "c_api/internal.h"
#include "cli/support/command.h"

namespace warpseal::cli {

using Octets = std::vector<uint8_t>;

constexpr size_t single_bytes = 8;  // DES key length; a TDEA key has three.

// A check throws one of these, or returns if the row passed.
struct RowFailed : std::runtime_error {
    using std::runtime_error::runtime_error;
};
struct RowSkipped : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Tally {
    uint64_t passed = 0, failed = 0, skipped = 0;
    std::map<std::string, uint64_t> reasons;  // reasons of skipped rows, with their numbers
    std::vector<std::string> failures;        // first few failures, each with the row's name
    void run(const std::string& row_name, const std::function<void()>& check);
    void add(const Tally& other);
};

struct KeyDelete {
    void operator()(warpseal_key* key) const { warpseal_key_destroy(key); }
};
using KeyHandle = std::unique_ptr<warpseal_key, KeyDelete>;

// Engine under test, with GPU memory if the user named the GPU.
class Tested {
public:
    Tested(warpseal_engine* engine, bool use_device_memory)
        : engine_(engine), use_device_memory_(use_device_memory) {}
    ~Tested();
    Tested(const Tested&) = delete;
    Tested& operator=(const Tested&) = delete;

    warpseal_engine* engine() const { return engine_; }
    bool has_device_memory() const { return use_device_memory_; }
    // Returns at least `bytes` bytes; the memory is kept between calls.
    uint8_t* device_memory(size_t bytes);
    warpseal_cipher_info cipher(const std::string& name) const;  // throws RowSkipped
    // throws RowSkipped
    warpseal_mode mode(const warpseal_cipher_info& cipher, const std::string& name) const;
    KeyHandle key_or_fail(const warpseal_cipher_info& cipher, const Octets& bytes) const;

    // provider_rows.cpp makes this library context of OpenSSL for the first row that needs one.
    std::shared_ptr<const void> provider;

private:
    warpseal_engine* engine_;
    bool use_device_memory_;
    uint8_t* device_memory_ = nullptr;
    size_t device_bytes_ = 0;
};

// Read fields of a row. A missing or malformed field throws RowSkipped.
Octets from_hex(std::string_view text, const char* what);
Octets hex_field(const nlohmann::json& row, const char* name);
Octets hex_field_or_empty(const nlohmann::json& row, const char* name);
std::string text_field(const nlohmann::json& row, const char* name);
uint64_t number_field(const nlohmann::json& row, const char* name);

void require(bool condition, const std::string& what);  // throws RowFailed
void require_status(warpseal_status status, warpseal_status expected, const std::string& what);
// Requires an error about the arguments, independent of the data.
void require_refused(warpseal_status status, const std::string& what);
void require_equal(const uint8_t* got, const Octets& expected, const std::string& what);
void require_wiped(const uint8_t* memory, size_t bytes, const std::string& what);

std::string digest_hex(const char* algorithm, const uint8_t* data, size_t bytes);
// Maximum size of a vector file, packed or unpacked. Larger than any known file, and bounds the
// memory that a hostile file can use.
inline constexpr size_t vectors_bytes_most = size_t{64} << 20;
// Unpacks gzip or zlib data. Throws std::runtime_error for damaged data, and Failure
// (limit_exceeded) if the result exceeds vectors_bytes_most.
Octets inflate_all(const uint8_t* data, size_t bytes);

// Key of a row. Keys that policy refuses for encryption go through the internal interface. The row
// checks that the public calls refuse them.
class RowKey {
public:
    // Fails the row if the library and the standards disagree about weak keys.
    RowKey(Tested& tested, const warpseal_cipher_info& cipher, warpseal_mode mode,
           const Octets& bytes);
    bool rejected() const { return rejected_; }  // true: the cipher accepts no key of this length
    bool weak() const { return internal_ != nullptr; }
    // Returns null if the public call refuses the key itself.
    const warpseal_key* open() const { return public_.get(); }
    const warpseal_key* encrypting() const { return weak() ? internal_.get() : public_.get(); }
    const warpseal_key* decrypting() const { return public_ ? public_.get() : internal_.get(); }
    const warpseal_key* for_direction(bool encrypt) const {
        return encrypt ? encrypting() : decrypting();
    }

private:
    KeyHandle public_, internal_;
    bool rejected_ = false;
};

// Checks a known answer: one message, both directions, every kind of call.
void check_message(Tested& tested, const nlohmann::json& row);
// Checks every round of a Monte Carlo chain.
void check_chain(Tested& tested, const nlohmann::json& row);
// Checks a long message given by its seed and hashes.
void check_bulk(Tested& tested, const nlohmann::json& row);
// Checks a C2SP chunked-encryption message. `aead` is the algorithm of its group.
void check_cobblestone(Tested& tested, const std::string& aead, const nlohmann::json& row);

// Reads a file, detects its kind from its content and checks every row.
Tally check_file(Tested& tested, const std::string& path);

}  // namespace warpseal::cli

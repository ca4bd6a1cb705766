// Published test vectors against the engine: what a row, a verdict and the machine under test are.
// Rows are data; one reader, one check each.
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
#include "command.h"

namespace warpseal::cli {

using Octets = std::vector<uint8_t>;

constexpr size_t single_bytes = 8;  // of a DES key: of three of them is one of TDEA

// A row's check ends in one of these, or returns: then the row passed.
struct RowFailed : std::runtime_error {
    using std::runtime_error::runtime_error;
};
struct RowSkipped : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Tally {
    uint64_t passed = 0, failed = 0, skipped = 0;
    std::map<std::string, uint64_t> reasons;  // why rows were skipped
    std::vector<std::string> failures;        // the first few, with the row's name
    void run(const std::string& row_name, const std::function<void()>& check);
    void add(const Tally& other);
};

struct KeyDelete {
    void operator()(warpseal_key* key) const { warpseal_key_destroy(key); }
};
using KeyHandle = std::unique_ptr<warpseal_key, KeyDelete>;

// What is tested: one engine, and its GPU's memory where the GPU was asked for by name.
class Subject {
public:
    Subject(warpseal_engine* engine, bool use_device_memory)
        : engine_(engine), use_device_memory_(use_device_memory) {}
    ~Subject();
    Subject(const Subject&) = delete;
    Subject& operator=(const Subject&) = delete;

    warpseal_engine* engine() const { return engine_; }
    bool has_device_memory() const { return use_device_memory_; }
    uint8_t* device_memory(size_t bytes);  // at least that much; kept between calls
    warpseal_cipher_info cipher(const std::string& name) const;  // throws RowSkipped
    warpseal_mode mode(const warpseal_cipher_info& cipher,
                       const std::string& name) const;  // throws RowSkipped
    KeyHandle key_or_fail(const warpseal_cipher_info& cipher, const Octets& bytes) const;

private:
    warpseal_engine* engine_;
    bool use_device_memory_;
    uint8_t* device_memory_ = nullptr;
    size_t device_bytes_ = 0;
};

// Fields of a row; a missing or ill-formed one makes the row malformed: RowSkipped.
Octets from_hex(std::string_view text, const char* what);
Octets hex_field(const nlohmann::json& row, const char* name);
Octets hex_field_or_empty(const nlohmann::json& row, const char* name);
std::string text_field(const nlohmann::json& row, const char* name);
uint64_t number_field(const nlohmann::json& row, const char* name);

void require(bool condition, const std::string& what);  // throws RowFailed
void require_status(warpseal_status status, warpseal_status expected, const std::string& what);
void require_refused(warpseal_status status,
                     const std::string& what);  // for its arguments, whatever the data is
void require_equal(const uint8_t* got, const Octets& expected, const std::string& what);
void require_wiped(const uint8_t* memory, size_t bytes, const std::string& what);

std::string digest_hex(const char* algorithm, const uint8_t* data, size_t bytes);
// Of a file, packed or not: above any file of vectors, and a bound on the memory that a hostile one
// can take.
inline constexpr size_t vectors_bytes_most = size_t{64} << 20;
// gzip or zlib. Throws std::runtime_error for what is damaged, Failure (limit_exceeded) for what
// unpacks to more than vectors_bytes_most.
Octets inflate_all(const uint8_t* data, size_t bytes);

// A row's key. What policy refuses to encrypt with, the inner door takes; that the public calls do
// refuse it is the row's to check.
class RowKey {
public:
    // Fails the row if the library's idea of a weak key is not the standards'.
    RowKey(Subject& subject, const warpseal_cipher_info& cipher, warpseal_mode mode,
           const Octets& bytes);
    bool rejected() const { return rejected_; }  // no key of this cipher at all: a wrong length
    bool weak() const { return internal_ != nullptr; }
    const warpseal_key* open() const {
        return public_.get();
    }  // null where the public call refuses the key itself
    const warpseal_key* encrypting() const { return weak() ? internal_.get() : public_.get(); }
    const warpseal_key* decrypting() const { return public_ ? public_.get() : internal_.get(); }
    const warpseal_key* for_direction(bool encrypt) const {
        return encrypt ? encrypting() : decrypting();
    }

private:
    KeyHandle public_, internal_;
    bool rejected_ = false;
};

// Known answer: one message, both directions, every kind of call.
void check_message(Subject& subject, const nlohmann::json& row);
// Monte Carlo chain: every round of the line.
void check_chain(Subject& subject, const nlohmann::json& row);
// A long message given by its seed and hashes.
void check_bulk(Subject& subject, const nlohmann::json& row);
// A C2SP chunked-encryption message. `aead` is its group's.
void check_cobblestone(Subject& subject, const std::string& aead, const nlohmann::json& row);

// Reads a file, tells from its content what it holds, and checks every row.
Tally check_file(Subject& subject, const std::string& path);

}  // namespace warpseal::cli

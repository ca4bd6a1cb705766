// The one parser of tests/vectors: known-answer rows, Monte Carlo chains and bulk rows, as
// tests/vectors/SOURCES.md describes them. Their fields tell the three apart, so that a file may
// hold any of them; files are found by listing the folders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace vectors {

using Text = std::vector<uint8_t>;

struct Row {
    std::string file, id, cipher, mode;
    Text key, iv, aad, pt, ct, tag;
    bool valid = false;
};

struct Round {
    Text key, iv, in, out;
};

struct Chain {
    std::string id, cipher, mode, rule;
    bool encrypt = false;
    int internal = 0;
    std::vector<Round> rounds;
};

struct Bulk {
    std::string id, cipher, mode;
    Text key, iv, aad, tag, pt_sha256, ct_sha256, ct_head, ct_tail;
    size_t unit_bytes = 0;  // XTS
    uint64_t seed = 0;
    size_t bytes = 0;
    Text plaintext() const;  // splitmix64, little-endian
};

struct All {
    std::vector<Row> rows;
    std::vector<Chain> chains;
    std::vector<Bulk> bulk;
};

Text from_hex(const std::string& hex);

// Returns the folder of the vectors: as built, or WARPSEAL_TEST_VECTORS, or tests/vectors under the
// current folder on another machine.
std::filesystem::path folder();

// Reads a file, gzip or not.
std::string text(const std::filesystem::path& path);

// WARPSEAL_TEST_CIPHERS, "aes" or "aes-128", restricts a run to ciphers with that prefix.
bool wanted(const std::string& cipher);

// Returns all of tests/vectors, read once.
const All& all();

inline const std::vector<Row>& rows() { return all().rows; }
inline const std::vector<Chain>& chains() { return all().chains; }
inline const std::vector<Bulk>& bulk() { return all().bulk; }

}  // namespace vectors

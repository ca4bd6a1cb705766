// `warpseal bench`: what is measured, what a measurement says, and the ways of measuring by where the data lies.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command.h"

namespace warpseal::cli {

struct BenchOptions {
    std::vector<std::string> what;  // "aes-128-ctr", or "aes-128" for all its modes; empty: everything
    std::string device = "auto";
    std::string place;  // "device", "host", "file"; empty: buffers of the cores' own, GPU memory on a GPU
    unsigned threads = 1;
    std::vector<uint64_t> sizes;
    uint64_t message_bytes = 0;  // 0: the defaults of the place
    bool against_openssl = false;
    double seconds = 1;  // of measuring, for each figure of the cores and of OpenSSL
    std::string directory = "/dev/shm";
    std::string json;
};

// One thing to measure: a cipher in a mode in one direction, on one device.
struct BenchCase {
    warpseal_cipher_info cipher{};
    warpseal_mode mode{};
    bool encrypt = true;
    bool aead() const { return mode == WARPSEAL_GCM; }
    const char* operation() const { return aead() ? (encrypt ? "seal" : "open") : (encrypt ? "encrypt" : "decrypt"); }
    std::string name() const { return std::string(cipher.name) + "-" + warpseal_mode_name(mode); }
};

// Figures of one row in GB/s = 10^9 bytes a second, one for each repetition.
struct BenchFigures {
    std::vector<double> ours, openssl;
};

struct BenchRow {
    BenchCase what;
    std::string device;  // the target that ran
    std::string place;   // "host", "device", "file"
    unsigned threads = 1;
    uint64_t bytes = 0;  // of one call; on a thread's own buffer: of that buffer
    uint64_t message_bytes = 0;
    bool buffer_per_thread = false;
    std::optional<bool> pinned;
    unsigned openssl_threads = 0;
    BenchFigures figures;
};

// What was timed differs from what OpenSSL computes, or failed: no row.
struct BenchWrong : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Repetitions of each measurement; their median is the figure.
constexpr int bench_repetitions = 7;
constexpr uint64_t bench_core_bytes = 64 << 10;
constexpr uint64_t bench_chunk_bytes = 16 << 10;

double median(std::vector<double> values);

// Each of `threads` threads calls on a buffer of its own, which its cache holds, in place (opening: from one buffer to another).
BenchRow measure_cores(const BenchOptions& options, const BenchCase& what, const std::string& device, uint64_t bytes, Session& session);
// One call on a large buffer: from host memory to host memory, or within GPU memory.
BenchRow measure_bulk(const BenchOptions& options, const BenchCase& what, const std::string& device, const std::string& place,
                      uint64_t bytes, uint64_t message_bytes, Session& session);
// A file sealed into another, or opened.
BenchRow measure_file(const BenchOptions& options, const BenchCase& what, const std::string& device, uint64_t bytes, Session& session);

nlohmann::ordered_json json_head(const std::string& gpu_device);
nlohmann::ordered_json json_row(const BenchRow& row);

// The table for people: which columns it has, and its lines.
struct BenchTable {
    bool cores, gpu, openssl;
    std::string title(const BenchOptions& options, const nlohmann::ordered_json& head) const;
    std::string line(const BenchRow* cores_row, const BenchRow* gpu_row) const;  // one of them may be null
};

}  // namespace warpseal::cli

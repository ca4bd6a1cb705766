// `warpseal bench`: what is measured, what a measurement says, and the ways of measuring by where
// the data lies.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command.h"

namespace warpseal::cli {

struct BenchOptions {
    std::vector<std::string>
        what;  // "aes-128-ctr", or "aes-128" for all its modes; empty: everything
    std::string device = "auto";
    std::string
        place;  // "device", "host", "file"; empty: buffers of the cores' own, GPU memory on a GPU
    unsigned threads = 1;
    std::vector<uint64_t> sizes;
    uint64_t message_bytes = 0;  // 0: the defaults of the place
    uint64_t messages = 0;       // 0: as many as the bytes of a call hold
    bool key_per_message = false;
    uint64_t unit_bytes = 4096;  // of XTS
    bool against_openssl = false;
    double seconds = 1;  // of measuring, for each figure of the cores and of OpenSSL
    std::string directory = "/dev/shm";
    std::string json;
    std::string html;               // the page; empty: none
    std::vector<std::string> from;  // reports that the page is of; empty: one is measured
    uint64_t max_size = uint64_t{8} << 30;
    static constexpr double page_seconds =
        0.1;  // instead of `seconds` by default: a page has hundreds of figures
};

// One thing to measure: a cipher in a mode in one direction, on one device.
struct BenchCase {
    warpseal_cipher_info cipher{};
    warpseal_mode mode{};
    bool encrypt = true;
    uint64_t unit_bytes = 4096;
    bool key_per_message = false;
    bool aead() const { return mode == WARPSEAL_GCM || mode == WARPSEAL_CCM; }
    bool mac() const { return mode == WARPSEAL_CMAC; }
    bool tagged() const { return aead() || mac(); }
    // One block after the other within a message: then large buffers are cut up into messages, and
    // device memory takes them in batches.
    bool serial() const {
        const bool feedback = mode == WARPSEAL_CBC || mode == WARPSEAL_CFB;
        return mode == WARPSEAL_OFB || mode == WARPSEAL_CCM || mac() || (feedback && encrypt);
    }
    bool has_batch() const { return mode != WARPSEAL_ECB && mode != WARPSEAL_XTS; }
    const char* operation() const {
        if (mac()) return encrypt ? "mac" : "verify";
        return aead() ? (encrypt ? "seal" : "open") : (encrypt ? "encrypt" : "decrypt");
    }
    std::string name() const { return std::string(cipher.name) + "-" + warpseal_mode_name(mode); }
    BenchCase as(bool encrypting) const {
        BenchCase other = *this;
        other.encrypt = encrypting;
        return other;
    }
    size_t key_bytes() const { return cipher.key_bytes * (mode == WARPSEAL_XTS ? 2 : 1); }
    size_t tag_bytes() const { return aead() ? 16 : mac() ? cipher.block_bytes : 0; }
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
    std::string checked_against;  // what the outputs were compared with
    std::vector<double>
        link;           // GB/s that plain copies moved each way at once, in the same repetitions
    unsigned gpus = 1;  // that shared the job
    std::vector<double> one_gpu;  // GB/s of the first of them alone on its part
    std::string
        openssl_yardstick;  // what OpenSSL ran where it has not this mode: its ECB of the cipher
};

// What was timed differs from what it is compared with, or failed: no row.
struct BenchWrong : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Repetitions of each measurement; their median is the figure.
constexpr int bench_repetitions = 7;
constexpr uint64_t mebibyte = uint64_t{1} << 20;
constexpr uint64_t bench_core_bytes = 64 << 10;
constexpr uint64_t bench_chunk_bytes = 16 << 10;
constexpr uint64_t bench_serial_message_bytes =
    4 << 10;  // of modes that are serial in a message, on large buffers

double median(std::vector<double> values);
std::string size_text(uint64_t bytes);               // "16 KiB"
std::string rate_text(double gigabytes_per_second);  // three digits or so

// What `options.what` names. Throws Failure if there is nothing of it.
std::vector<BenchCase> chosen_cases(const BenchOptions& options);

// Each of `threads` threads calls on a buffer of its own, which its cache holds, in place (opening:
// from one buffer to another).
BenchRow measure_cores(const BenchOptions& options, const BenchCase& what,
                       const std::string& device, uint64_t bytes, Session& session);
// One call on a large buffer: from host memory to host memory, or within GPU memory. Many of them:
// BulkMeter.
BenchRow measure_bulk(const BenchOptions& options, const BenchCase& what, const std::string& device,
                      const std::string& place, uint64_t bytes, uint64_t message_bytes,
                      Session& session);
// A file sealed into another, or opened.
BenchRow measure_file(const BenchOptions& options, const BenchCase& what, const std::string& device,
                      uint64_t bytes, Session& session);

// What warpseal-bench, beside this program, says of a study; its tables go to stderr. Throws
// Failure if it is not there or fails.
nlohmann::ordered_json study_report(const std::string& study, std::vector<std::string> arguments);

// The page of a survey and the studies, or of `options.from`.
ExitCode bench_html(const BenchOptions& options, Session& session);
// A job that lies on GPUs, each of which has a part from the start; its answers are looked at in
// samples. message_bytes of `bytes` or more: one message, and with a tag as long ones as a part
// holds, up to 1 GiB.
BenchRow measure_resident(const BenchOptions& options, const BenchCase& what,
                          const std::string& device, uint64_t bytes, uint64_t message_bytes,
                          Session& session);
// All of it: 5 ciphers, 4 sizes, 3 places.
ExitCode run_bench_auto(const BenchOptions& options, Session& session);

// seconds: what --seconds asks for each figure, where a command has it.
nlohmann::ordered_json json_head(const std::string& gpu_device,
                                 std::optional<double> seconds = std::nullopt);
nlohmann::ordered_json json_row(const BenchRow& row);

// The table for people: which columns it has, and its lines.
struct BenchTable {
    bool cores, gpu, openssl;
    std::string title(const BenchOptions& options, const nlohmann::ordered_json& head) const;
    std::string line(const BenchRow* cores_row,
                     const BenchRow* gpu_row) const;  // one of them may be null
};

}  // namespace warpseal::cli

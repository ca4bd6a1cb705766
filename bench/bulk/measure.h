// Options, cases and results of `warpseal bench`, and one measuring function for each place of the
// data.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/report/failure.h"
#include "bench/report/figures.h"
#include "cli/support/command.h"

namespace warpseal::bench {

class YardstickLibrary;  // bench/bulk/yardsticks/yardstick.h

// One yardstick of --against, a library or the reason why there is none.
struct Yardstick {
    std::string name;                                 // as --against has it: "libgcrypt"
    std::string version;                              // "1.10.1"; empty if the library is absent
    std::string not_run;                              // why the library is absent; otherwise empty
    std::shared_ptr<const YardstickLibrary> library;  // null if it is absent
};

struct BenchOptions {
    // Names such as "aes-128-ctr", or "aes-128" for all its modes; empty: every cipher and mode.
    std::vector<std::string> what;
    std::string device = "auto";
    // "device", "host" or "file"; empty: per-thread buffers on cores, GPU memory on a GPU.
    std::string place;
    unsigned threads = 1;
    std::vector<uint64_t> sizes;
    uint64_t message_bytes = 0;  // Length of each message; 0: the default of the place.
    uint64_t messages = 0;       // Number of messages; 0: as many as fit into the bytes of a call.
    bool key_per_message = false;
    uint64_t unit_bytes = 4096;         // XTS data unit length.
    std::vector<std::string> against;   // yardsticks, each NAME or NAME=PATH
    std::vector<Yardstick> yardsticks;  // the same, opened
    double seconds = 1;  // Measuring time for each figure of the cores and of a yardstick.
    std::string directory = "/dev/shm";
    std::string json;
    uint64_t max_size = uint64_t{8} << 30;  // of the survey's sizes
    // Default of `seconds` for a survey, which has hundreds of figures.
    static constexpr double survey_seconds = 0.1;
};

// One cipher in one mode and direction.
struct BenchCase {
    warpseal_cipher_info cipher{};
    warpseal_mode mode{};
    bool encrypt = true;
    uint64_t unit_bytes = 4096;
    bool key_per_message = false;
    bool aead() const { return mode == WARPSEAL_GCM || mode == WARPSEAL_CCM; }
    bool mac() const { return mode == WARPSEAL_CMAC; }
    bool tagged() const { return aead() || mac(); }
    // Returns true if each block of a message depends on the block before it. Large buffers are
    // then split into messages, and device memory takes batches only.
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

// A yardstick's figures beside ours, or why there are none.
struct YardstickFigures {
    std::string name, version;
    std::string cipher;           // the library's name for what ran; empty: not run
    bool is_ecb_instead = false;  // It ran the cipher's ECB, as no yardstick has the mode.
    std::string not_run;          // why it was not run; otherwise empty
    unsigned threads = 0;
    std::vector<double> rates;
};

// Figures of one row in GB/s (10^9 bytes per second), one for each repetition.
struct BenchFigures {
    std::vector<double> ours;
    std::vector<YardstickFigures> yardsticks;
    // Returns the fastest yardstick by its median, or null if none was run.
    const YardstickFigures* best() const;
};

struct BenchRow {
    BenchCase what;
    std::string device;  // target that ran
    std::string place;   // "host", "device" or "file"
    unsigned threads = 1;
    // Bytes of one call; with `buffer_per_thread`, bytes of one thread's buffer.
    uint64_t bytes = 0;
    uint64_t message_bytes = 0;
    bool buffer_per_thread = false;
    std::optional<bool> pinned;
    BenchFigures figures;
    std::string checked_against;  // reference that the outputs were compared with
    // GB/s of plain copies in both directions at once, taken in the same repetitions.
    std::vector<double> link;
    unsigned gpus = 1;            // number of GPUs that shared the job
    std::vector<double> one_gpu;  // GB/s of the first GPU alone on its shard
};

constexpr uint64_t mebibyte = uint64_t{1} << 20;
constexpr uint64_t bench_core_bytes = 64 << 10;
constexpr uint64_t bench_chunk_bytes = 16 << 10;
// Message length for serial modes on large buffers.
constexpr uint64_t bench_serial_message_bytes = 4 << 10;

// Returns the cases that `options.what` names. Throws Failure if a name matches none.
std::vector<BenchCase> chosen_cases(const BenchOptions& options);

// Measures `threads` threads, each on its own cache-resident buffer. Calls work in place, except
// opening, which reads one buffer and writes another.
BenchRow measure_cores(const BenchOptions& options, const BenchCase& what,
                       const std::string& device, uint64_t bytes, cli::Session& session);
// Measures one call on a large buffer, from host memory to host memory or within GPU memory. Use
// BulkMeter for many calls.
BenchRow measure_bulk(const BenchOptions& options, const BenchCase& what, const std::string& device,
                      const std::string& place, uint64_t bytes, uint64_t message_bytes,
                      cli::Session& session);
// Measures sealing one file into another, or opening it.
BenchRow measure_file(const BenchOptions& options, const BenchCase& what, const std::string& device,
                      uint64_t bytes, cli::Session& session);

// Measures a job whose shards lie on the GPUs from the start; outputs are checked in samples. If
// `message_bytes` is at least `bytes`, there is one message. Modes with a tag then use messages
// as long as a shard, at most 1 GiB each.
BenchRow measure_resident(const BenchOptions& options, const BenchCase& what,
                          const std::string& device, uint64_t bytes, uint64_t message_bytes,
                          cli::Session& session);
// Measures 5 ciphers with 4 sizes in 3 memory kinds.
cli::ExitCode run_bench_auto(const BenchOptions& options, cli::Session& session);

nlohmann::ordered_json json_row(const BenchRow& row);

// Table for terminals: its columns and lines.
struct BenchTable {
    bool cores, gpu;
    std::vector<Yardstick> yardsticks;
    std::string title(const BenchOptions& options, const nlohmann::ordered_json& head) const;
    // Either row may be null.
    std::string line(const BenchRow* cores_row, const BenchRow* gpu_row) const;

private:
    bool openssl_alone() const;
    std::string yardstick_titles() const;
    std::string yardstick_cells(const BenchFigures& figures) const;
};

}  // namespace warpseal::bench

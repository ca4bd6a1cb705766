// Measures calls on large buffers on one device; engine and memory are reused between measurements.
#pragma once

#include "bench/bulk/reference_output.h"
#include "bench/report/memory.h"

namespace warpseal::bench {

class BulkMeter {
public:
    // `device` is a name that an engine takes. `options` must outlive this object.
    BulkMeter(const BenchOptions& options, const std::string& device, cli::Session& session,
              Oracle oracle = Oracle::openssl);

    // Measures from host memory to host memory ("host") or within GPU memory ("device"). Throws
    // BenchWrong.
    BenchRow measure(const BenchCase& what, const std::string& place, uint64_t bytes,
                     uint64_t message_bytes);

    // Allocates memory for `bytes` bytes now. Without this call, memory grows with the
    // measurements.
    void reserve(const std::string& place, uint64_t bytes);
    // Computes the expected output for `bytes` bytes in this meter's memory. It stays valid until
    // the next call of measure or answers.
    Answers answers(const BenchCase& what, uint64_t bytes, uint64_t message_bytes);
    // Measures the first `bytes` bytes of the single message of `answers`, in a mode without a tag
    // and without OpenSSL. Repetitions stop after `seconds`, but not before the third.
    BenchRow measure_prefix(const BenchCase& what, const std::string& place, uint64_t bytes,
                            const Answers& answers, double seconds);

private:
    BenchRow row(const BenchCase& what, const std::string& place, uint64_t bytes,
                 const Answers& answers) const;
    bool has_gpu() const { return device_.rfind("cuda", 0) == 0; }
    bool one_gpu() const { return has_gpu() && device_.find(',') == std::string::npos; }

    const BenchOptions& options_;
    const std::string device_;
    const Oracle oracle_;
    cli::EngineHandle engine_;
    BulkMemory text_, other_, out_, device_in_, device_out_;
};

}  // namespace warpseal::bench

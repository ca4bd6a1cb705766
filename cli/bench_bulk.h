// Calls on large buffers on one device, whose engine and memory stay from one measurement to the
// next.
#pragma once

#include "bench_answers.h"
#include "bench_memory.h"

namespace warpseal::cli {

class BulkMeter {
public:
    // `device` as an engine takes it. `options` must outlive this.
    BulkMeter(const BenchOptions& options, const std::string& device, Session& session,
              Oracle oracle = Oracle::openssl);

    // From host memory to host memory ("host"), or within GPU memory ("device"). Throws BenchWrong.
    BenchRow measure(const BenchCase& what, const std::string& place, uint64_t bytes,
                     uint64_t message_bytes);

    // Takes the memory for so many bytes at once, where otherwise it would grow with them.
    void reserve(const std::string& place, uint64_t bytes);
    // One message of `bytes` bytes in this meter's memory. They stand until the next measurement or
    // the next answers.
    Answers answers(const BenchCase& what, uint64_t bytes, uint64_t message_bytes);
    // The first `bytes` of these answers' one message, in a mode that has no tag. No OpenSSL beside
    // it. Repetitions end when `seconds` are over, though not before the third.
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
    EngineHandle engine_;
    BulkMemory text_, other_, out_, device_in_, device_out_;
};

}  // namespace warpseal::cli

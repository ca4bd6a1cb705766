// Payload of an age file: chunks of 64 KiB, sealed or opened by several threads.
#pragma once

#include <array>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>

#include "cli/age/crypto.h"
#include "cli/age/payload/sink.h"
#include "cli/age/payload/source.h"

namespace warpseal::cli::age {

constexpr size_t chunk_bytes = 65536;
constexpr size_t sealed_chunk_bytes = chunk_bytes + tag_bytes;
constexpr size_t payload_nonce_bytes = 16;

enum class Direction { seal, open };

// 11 bytes of the chunk's number, then 1 for the last chunk.
std::array<uint8_t, aead_nonce_bytes> chunk_nonce(uint64_t number, bool last);

// Each thread reads a batch of chunks, transforms it and writes it. Memory is one batch for each
// thread. Streams are read and written in turn, so that what was written is always a prefix. Only
// chunks that verify are written.
class Payload {
public:
    // `progress` gets the number of plaintext bytes done. Calls never overlap.
    Payload(Direction direction, View key, BufferedSource& source, Sink& sink,
            std::function<void(uint64_t)> progress)
        : direction_(direction),
          key_(key.begin(), key.end()),
          source_(source),
          sink_(sink),
          progress_(std::move(progress)) {}
    // Regular files are read and written by all threads at once, at these positions.
    void read_at(int input, uint64_t begin, uint64_t bytes) { input_ = {input, begin, bytes}; }
    // The source begins with this chunk, and not with the first. If `ends` is set, it is the last.
    void begin_at_chunk(uint64_t number, bool ends) {
        first_chunk_ = number;
        ends_ = ends;
    }
    void write_at(int output, uint64_t begin) { output_ = {output, begin, 0}; }
    // Throws Failure: not_authentic or truncated for a payload that does not verify.
    void run(unsigned threads);
    uint64_t text_bytes() const { return text_bytes_; }
    uint64_t output_bytes() const { return output_bytes_; }

private:
    struct Batch;
    enum class Fault { none, changed, truncated, data_after_end };
    [[noreturn]] static void throw_fault(Fault fault);
    void work();
    struct Range {
        int descriptor = -1;  // -1: a stream
        uint64_t begin = 0, bytes = 0;
    };
    bool has_failed();
    bool read(Batch& batch);
    bool read_range(Batch& batch, size_t batch_bytes);
    void write_range(const Batch& batch) const;
    void transform(Aead& aead, Batch& batch) const;
    void seal(Aead& aead, Batch& batch) const;
    void open(Aead& aead, Batch& batch) const;
    bool wait_for_turn(uint64_t number);
    void write(const Batch& batch);
    void stop(std::exception_ptr failure);

    const Direction direction_;
    const Secret key_;
    BufferedSource& source_;
    Sink& sink_;
    const std::function<void(uint64_t)> progress_;
    Range input_, output_;
    uint64_t first_chunk_ = 0;
    bool ends_ = true;

    std::mutex reading_;  // for the source and these two
    uint64_t read_batches_ = 0;
    bool at_end_ = false;

    std::mutex writing_;  // for the sink and the members below
    std::condition_variable turn_;
    uint64_t written_batches_ = 0;
    uint64_t text_bytes_ = 0, output_bytes_ = 0;
    std::exception_ptr failure_;
};

}  // namespace warpseal::cli::age

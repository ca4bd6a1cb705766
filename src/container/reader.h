// Random access to the text of a sealed file. Opening verifies the end of the file; each read
// verifies the chunks that it covers.
#pragma once

#include <memory>

#include "container/opening.h"
#include "container/pipeline/segment.h"

namespace warpseal::container {

// Where the sealed file is read. `read` is called on any thread, several at once.
struct ReaderInput {
    ReadAt read;
    uint64_t bytes = 0;
};
using ReadCallback = int64_t (*)(void* user, uint64_t offset, void* out, size_t bytes);

// A regular file, from the descriptor's current position on. Does not move the position.
// Returns WARPSEAL_INVALID_ARGUMENT for anything else.
warpseal_status input_of_descriptor(int descriptor, ReaderInput& out, Fault& fault);
// A callback that returns the number of bytes read, 0 at the end, or -errno.
ReaderInput input_of_callback(ReadCallback callback, void* user, uint64_t bytes);

class Reader {
public:
    // Opens the header and verifies the last chunk, so that the length is authentic.
    static warpseal_status open(Engine& engine, ReaderInput input,
                                const warpseal_file_options& options, std::unique_ptr<Reader>& out,
                                Fault& fault, SlotKeys* keys = nullptr);
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    uint64_t text_bytes() const { return text_bytes_; }
    uint64_t file_bytes() const { return input_.bytes; }
    bool header_copies_differ() const { return opened_.header_copies_differ; }

    // Reads text. `got` is less than `bytes` only where the text ends. Thread-safe.
    // After an error, `got` is 0 and `out` is zeroized.
    // target: receives the name of the target that ran most recently; "" for none.
    warpseal_status read_at(uint64_t offset, uint8_t* out, size_t bytes, size_t& got,
                            const char*& target, Fault& fault) const;
    // The same into device memory, once the work on `stream` is done. No text is in host memory.
    // Ciphertext goes through pinned memory that the engine keeps.
    warpseal_status read_at_device(uint64_t offset, uint8_t* out, size_t bytes, void* stream,
                                   size_t& got, const char*& target, Fault& fault) const;

private:
    class Read;

    Reader(Engine& engine, ReaderInput input) : engine_(engine), input_(std::move(input)) {}
    warpseal_status verify_end(Fault& fault);
    uint64_t chunk_count() const { return text_bytes_ / chunk_text_bytes + 1; }
    // Reads `count` chunks from chunk `first` on, into a segment of that size.
    warpseal_status read_chunks(const ChunkJob& job, Segment& segment, uint64_t first,
                                size_t count) const;
    // Calls run(bytes) with the bytes that the text has from `offset` on. After a failure calls
    // wipe_output(bytes).
    template <class Run, class WipeOutput>
    warpseal_status read(uint64_t offset, size_t bytes, size_t& got, const char*& target,
                         Fault& fault, const Run& run, const WipeOutput& wipe_output) const;

    Engine& engine_;
    const ReaderInput input_;
    Opened opened_;
    uint64_t text_bytes_ = 0;
    mutable Workspaces spaces_;  // of reads that have ended
};

}  // namespace warpseal::container

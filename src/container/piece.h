// What one worker of the file pipeline holds: a run of chunks and what is known of them.
#pragma once

#include <sys/uio.h>

#include <vector>

#include "container/payload.h"
#include "engine/secret_memory.h"

namespace warpseal::container {

// The memory of one worker's piece: pinned for a GPU, else secret pages of ours. Wiped when it goes.
class PieceMemory {
public:
    PieceMemory() = default;
    ~PieceMemory() {
        if (pinned_ != nullptr) engine_->host_free(pinned_, bytes_);
    }
    PieceMemory(const PieceMemory&) = delete;
    PieceMemory& operator=(const PieceMemory&) = delete;

    bool allocate(Engine& engine, bool pinned, size_t bytes) {
        engine_ = &engine;
        bytes_ = bytes;
        return (pinned && engine.host_alloc(bytes, &pinned_) == WARPSEAL_OK) || pages_.allocate(bytes);
    }
    uint8_t* data() { return static_cast<uint8_t*>(pinned_ != nullptr ? pinned_ : pages_.data()); }

private:
    Engine* engine_ = nullptr;
    void* pinned_ = nullptr;
    size_t bytes_ = 0;
    SecretMemory pages_;
};

// Chunks [first_chunk, first_chunk + chunks) of the payload, laid out in memory as in the file: 16400 bytes from one to the next.
struct Piece {
    PieceMemory memory;
    uint64_t number = 0;
    size_t bytes_in = 0;
    bool last = false;     // ends with the short chunk
    size_t chunks = 0;     // to seal or open
    size_t good = 0;       // of them, from the front, that the sink may have
    size_t last_text = 0;  // length of the short chunk's text
    Fault fault;           // why it is not whole
    std::vector<uint8_t> nonces;
    std::vector<uint64_t> lengths;
    std::vector<int32_t> statuses;
    std::vector<iovec> buffers;

    bool allocate(Engine& engine, bool pinned, size_t chunk_count) {
        nonces.resize(chunk_count * nonce_bytes);
        lengths.resize(chunk_count);
        statuses.resize(chunk_count);
        buffers.resize(chunk_count);
        return memory.allocate(engine, pinned, chunk_count * chunk_bytes);
    }
    uint8_t* chunk(size_t i) { return memory.data() + i * chunk_bytes; }
};

}  // namespace warpseal::container

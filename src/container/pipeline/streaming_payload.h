// Streaming context of a payload: seals or opens it in updates of any size, in memory. Whole chunks
// go straight from input to output; at most one incomplete chunk is kept.
#pragma once

#include <vector>

#include "container/pipeline/chunk_batch.h"
#include "platform/secret_memory.h"

namespace warpseal::container {

class StreamingPayload {
public:
    // input_key: 16 or 32 bytes.
    static warpseal_status create(Engine& engine, Direction direction, Bytes input_key,
                                  Bytes context, std::unique_ptr<StreamingPayload>& out,
                                  Fault& fault);
    StreamingPayload(const StreamingPayload&) = delete;
    StreamingPayload& operator=(const StreamingPayload&) = delete;

    // Bytes that the next update or finish writes if it succeeds; SIZE_MAX if memory has not as
    // many.
    size_t update_bytes(size_t bytes) const;
    size_t finish_bytes() const;

    // `out` must have room for update_bytes() or finish_bytes(), and be apart from `in`. After an
    // error it is zeroized and `wrote` is 0; the message has then ended.
    warpseal_status update(const uint8_t* in, size_t bytes, uint8_t* out, size_t& wrote,
                           Fault& fault);
    warpseal_status finish(uint8_t* out, size_t& wrote, Fault& fault);

    enum class State : uint8_t { open, finished, failed };
    State state() const { return state_; }
    // True in a child forked since the message was created.
    bool is_of_parent() const;

private:
    StreamingPayload(Engine& engine, Direction direction);
    bool sealing() const { return direction_ == Direction::encrypt; }
    // Bytes of a whole chunk in the input and in the output.
    size_t in_bytes() const { return sealing() ? chunk_text_bytes : chunk_bytes; }
    size_t out_bytes() const { return sealing() ? chunk_bytes : chunk_text_bytes; }
    size_t head_missing() const { return payload_head_bytes - head_done_; }
    void write_head(uint8_t*& out);
    warpseal_status take_head(const uint8_t*& in, size_t& bytes, Fault& fault);
    warpseal_status take(const uint8_t* in, size_t bytes, uint8_t* out, Fault& fault);
    warpseal_status whole_chunks(const uint8_t* in, size_t count, uint8_t*& out, Fault& fault);
    warpseal_status last_chunk(uint8_t* out, Fault& fault);
    // Seals or opens `count` chunks of text_bytes each, which lie side by side.
    warpseal_status run(const uint8_t* in, size_t count, size_t text_bytes, uint8_t* out,
                        Fault& fault);
    // Runs work(). After an error zeroizes the `planned` bytes of the output and ends the message.
    template <class Work>
    warpseal_status guard(uint8_t* out, size_t planned, size_t& wrote, Fault& fault, Work work);

    Engine& engine_;
    const Direction direction_;
    const unsigned long birth_;  // number of forks before construction
    const Suite* suite_ = nullptr;
    PayloadKey payload_;
    State state_ = State::open;
    uint8_t head_[payload_head_bytes] = {};
    size_t head_done_ = 0;  // bytes written when sealing, received when opening
    // Opening: derives the key once the salt is known.
    Secret<32> input_key_;
    std::vector<uint8_t> context_;
    uint64_t chunk_ = 0;  // number of the next chunk
    SecretMemory held_;   // the incomplete chunk
    size_t held_bytes_ = 0;
    ChunkScratch scratch_;
};

}  // namespace warpseal::container

// The batches of the self-test, each in one contiguous block of host or device memory.
#pragma once

#include "backends/cipher_backend.h"
#include "engine/self_test/shake.h"

namespace warpseal {

// A batch of one is how a message of a serial mode runs. The other two have 67 messages: of one
// length under one key, addressed by strides; or of different lengths with a key each, addressed by
// offsets.
enum class BatchKind : uint8_t { one_message, one_key, own_keys };

class TestBatch {
public:
    TestBatch(const CipherFacts& facts, warpseal_mode mode, BatchKind kind);

    bool own_keys() const { return kind_ == BatchKind::own_keys; }
    // Returns the batch over a copy of the memory at `base`. in_place: outputs overwrite inputs.
    warpseal_batch at(uint8_t* base, bool in_place) const;
    uint64_t forgeries(Direction direction) const;

    // Memory before a run. All output bytes have one value, which a run must replace.
    const TestText& memory() const { return memory_; }
    // Returns the memory before messages with tags are opened, given the memory after they were
    // sealed out of place. With many messages, one tag is wrong.
    TestText to_open(const TestText& sealed) const;
    // Returns the memory after a run in place, given the memory after one out of place.
    TestText in_place(const TestText& apart) const;

    struct Message {
        TestText iv, in, out;
    };
    // Returns the first message, given the memory after a run out of place.
    Message first(const TestText& memory) const;

private:
    size_t reserve(const TestText& bytes);
    size_t reserve_array(const std::vector<uint64_t>& numbers);
    void copy(TestText& to, size_t to_at, const TestText& from, size_t from_at,
              uint64_t bytes) const;

    const warpseal_mode mode_;
    const BatchKind kind_;
    std::vector<uint64_t> lengths_;
    uint64_t text_bytes_ = 0;
    uint32_t iv_bytes_, tag_bytes_, aad_bytes_;
    size_t lengths_at_, offsets_at_, keys_at_, ivs_at_, aad_at_, in_at_, out_at_, tags_at_,
        statuses_at_;
    TestText memory_;
};

}  // namespace warpseal

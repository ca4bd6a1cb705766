// The batch of the self-test in one contiguous block of host or device memory, with its expected
// output.
#pragma once

#include "engine/self_test/reference_output.h"

namespace warpseal {

// Either messages of different lengths with a key each, addressed by offsets, or messages of one
// length under one key, addressed by strides.
class TestBatch {
public:
    TestBatch(const CpuCipher& reference, warpseal_mode mode, Direction direction, bool own_keys);

    bool own_keys() const { return own_keys_; }
    // Returns the batch over a copy of memory() at `base`. in_place: outputs overwrite inputs.
    warpseal_batch at(uint8_t* base, bool in_place) const;
    const reference_output::Text& memory() const { return memory_; }
    // True if `result`, a copy of memory() after the run, holds the expected outputs, tags and
    // statuses and no other byte changed.
    bool holds(const reference_output::Text& result, bool in_place) const {
        return result == (in_place ? expected_in_place_ : expected_apart_);
    }
    uint64_t forgeries() const { return forgeries_; }

private:
    size_t reserve(const void* bytes, size_t count);
    void compose(const reference_output::Blocks& blocks, size_t i);

    warpseal_mode mode_;
    Direction direction_;
    bool own_keys_;
    std::vector<uint64_t> lengths_, offsets_;
    uint64_t text_bytes_ = 0, even_;
    uint64_t forgeries_ = 0;
    uint32_t iv_bytes_, tag_bytes_, aad_bytes_;
    size_t lengths_at_, offsets_at_, keys_at_, ivs_at_, aad_at_, in_at_, out_at_, tags_at_,
        statuses_at_;
    reference_output::Text memory_, expected_apart_, expected_in_place_;
};

}  // namespace warpseal

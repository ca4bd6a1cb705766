// A batch of the self-test in one block of memory, so that it can lie on the host or on a device,
// and what must come out of it.
#pragma once

#include "engine/self_test/reference_output.h"

namespace warpseal {

// Messages of uneven lengths under keys of their own, found by offsets; or of one length under one
// key, found by strides.
class TestBatch {
public:
    TestBatch(const CpuCipher& reference, warpseal_mode mode, Direction direction, bool own_keys);

    bool own_keys() const { return own_keys_; }
    // The batch over a copy of memory() that lies at `base`; outputs apart from inputs, or in their
    // place.
    warpseal_batch at(uint8_t* base, bool in_place) const;
    const reference_output::Text& memory() const { return memory_; }
    // Whether `result`, such a copy after the run, holds what it must: outputs, tags and statuses,
    // and not one byte else changed.
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

// The reference implementations of tests/reference as a test case of the self-test. Its digests are
// the stored ones.
#pragma once

#include <memory>

#include "engine/self_test/test_case.h"
#include "reference/cipher.h"

namespace tests {

class ReferenceCase : public warpseal::TestCase, public warpseal::GcmSteps {
public:
    using Direction = warpseal::Direction;
    using Text = reference::Text;

    // `facts` gives names, sizes, modes and the published example, and the block function of a
    // cipher without a reference implementation.
    explicit ReferenceCase(const warpseal::CpuCipher& facts);

    bool has(warpseal::BackendEntry entry, warpseal_mode mode, Direction direction) const override;
    warpseal_status sweep(warpseal_mode mode, Direction direction, const uint8_t* iv,
                          uint64_t first_block, const uint8_t* in, uint8_t* out,
                          size_t bytes) override;
    warpseal_status segment(Direction direction, warpseal::GcmState* run, uint64_t first_block,
                            const uint8_t* in, uint8_t* out, size_t bytes) override;
    warpseal_status xts(Direction direction, const warpseal::XtsUnits& units, const uint8_t* in,
                        uint8_t* out, size_t bytes) override;
    warpseal_status batch(warpseal_mode mode, Direction direction, const warpseal::TestBatch& batch,
                          bool in_place, warpseal::TestText& memory) override;

    warpseal::GcmState begin(const warpseal::TestText& iv,
                             const warpseal::TestText& aad) const override;
    void combine(uint8_t sum[16], const uint8_t part[16], uint64_t block_count) const override;
    void finish(const warpseal::GcmState& run, uint64_t aad_bytes, uint64_t text_bytes,
                uint8_t tag[16]) const override;

private:
    const warpseal::CpuCipher& cpu_;
    std::unique_ptr<reference::Cipher> cipher_, tweak_;
};

}  // namespace tests

// A path under test behind one interface: a CPU target, a GPU, or the reference implementation that
// the stored digests come from.
#pragma once

#include "engine/limits.h"
#include "engine/self_test/test_batch.h"

namespace warpseal {

inline warpseal_status outcome(bool holds) {
    return holds ? WARPSEAL_OK : WARPSEAL_SELF_TEST_FAILED;
}

// Functions encrypt or decrypt under the key of the cipher's published example; XTS adds a tweak
// key.
class TestCase {
public:
    TestCase(const CipherFacts& facts, const KnownAnswer& known) : facts_(facts), known_(known) {}
    virtual ~TestCase() = default;
    const CipherFacts& facts() const { return facts_; }
    const KnownAnswer& known() const { return known_; }

    virtual bool has(BackendEntry entry, warpseal_mode mode, Direction direction) const = 0;
    // True if a sweep may start at any block of its message.
    virtual bool any_first_block() const { return true; }
    virtual warpseal_status sweep(warpseal_mode mode, Direction direction, const uint8_t* iv,
                                  uint64_t first_block, const uint8_t* in, uint8_t* out,
                                  size_t bytes) = 0;
    virtual warpseal_status segment(Direction direction, GcmState* run, uint64_t first_block,
                                    const uint8_t* in, uint8_t* out, size_t bytes) = 0;
    virtual warpseal_status xts(Direction direction, const XtsUnits& units, const uint8_t* in,
                                uint8_t* out, size_t bytes) = 0;
    // Runs the batch over `memory` and leaves the result there.
    virtual warpseal_status batch(warpseal_mode mode, Direction direction, const TestBatch& batch,
                                  bool in_place, TestText& memory) = 0;

private:
    const CipherFacts& facts_;
    const KnownAnswer& known_;
};

// The steps of GCM that run only on cores, as in CpuCipher.
class GcmSteps {
public:
    virtual ~GcmSteps() = default;
    virtual GcmState begin(const TestText& iv, const TestText& aad) const = 0;
    virtual void combine(uint8_t sum[16], const uint8_t part[16], uint64_t block_count) const = 0;
    virtual void finish(const GcmState& run, uint64_t aad_bytes, uint64_t text_bytes,
                        uint8_t tag[16]) const = 0;
};

// Key of the XTS tweaks.
inline TestText test_tweak_key(size_t key_bytes) { return test_bytes("XTS tweak key", key_bytes); }

}  // namespace warpseal

// GHASH on tensor cores against the portable one: hash keys and texts with few bits and with many,
// and lengths around the edges of segments.
#include "backends/cuda/kernels/ghash.h"

#include "gpu.h"

namespace {

using namespace gpu;
using warpseal::Block;
using warpseal::load_block;
using warpseal::store_block;
using warpseal::cuda::Element;
using warpseal::macs::ghash::from_block;
using warpseal::macs::ghash::multiply;
using warpseal::macs::ghash::to_block;

warpseal::cuda::HashKey hash_key(const Text& h) {
    warpseal::cuda::HashKey key{};
    const Element one_more = from_block<uint32_t>(load_block<4>(h.data()));
    Element power = one_more;
    for (int lane = 31; lane >= 0; --lane) {
        key.lane_power[lane] = power;
        power = multiply(power, one_more);
    }
    power = one_more;
    for (Element& bit : key.bit_power) {
        bit = power;
        power = multiply(power, power);
    }
    return key;
}

Text portable(const Text& h, const uint8_t* text, uint64_t blocks) {
    const Element key = from_block<uint32_t>(load_block<4>(h.data()));
    Element sum;
    for (uint64_t i = 0; i < blocks; ++i)
        sum = multiply(sum, key) ^ from_block<uint32_t>(load_block<4>(text + 16 * i));
    Text out(16);
    store_block<4>(out.data(), to_block(sum));
    return out;
}

class GhashSmall : public OnGpuOnce {
protected:
    void SetUp() override {
        OnGpuOnce::SetUp();
        if (IsSkipped()) return;
        ASSERT_EQ(warpseal::cuda::current_limits(limits), WARPSEAL_OK);
        if (!warpseal::cuda::has_ghash(limits))
            GTEST_SKIP() << "no binary tensor cores, or none that this build is for";
    }

    void check(const Text& h, const Text& image, uint64_t count, uint64_t blocks, uint64_t gap) {
        const Memory text(image), sums(16 * count);
        const warpseal::cuda::HashedTexts texts{text.data(), 16 * blocks + gap, count, blocks};
        const warpseal::cuda::Segments segments =
            warpseal::cuda::split_into_segments(texts, limits);
        const Memory scratch(segments.scratch_bytes());
        ASSERT_EQ(warpseal::cuda::ghash(hash_key(h), texts, segments, scratch.data(),
                                        reinterpret_cast<Block<4>*>(sums.data()), limits, nullptr),
                  WARPSEAL_OK);
        const Text got = sums.get();
        for (uint64_t i = 0; i < count; ++i)
            ASSERT_EQ(slice(got, 16 * i, 16), portable(h, image.data() + i * texts.stride, blocks))
                << "text " << i << " of " << count << ", " << blocks << " blocks in segments of "
                << segments.blocks;
    }

    warpseal::cuda::Limits limits;
};

TEST_F(GhashSmall, BatchesAroundSegmentEdges) {
    tests::Random random(531);
    for (const uint64_t blocks : {1u, 3u, 4u, 63u, 64u, 65u, 128u, 200u, 1023u, 1024u, 1025u})
        for (const uint64_t count : {1u, 2u, 31u, 32u, 33u}) {
            const uint64_t gap = 16 * random.below(3);
            check(random.text(16), random.text(count * (16 * blocks + gap)), count, blocks, gap);
            if (HasFatalFailure()) return;
        }
}

// Texts long enough for segments of the maximum length: one segment, and many.
TEST_F(GhashSmall, LongSegments) {
    tests::Random random(532);
    const uint64_t rows = uint64_t(limits.multiprocessors) * 512;
    for (const uint64_t blocks : {uint64_t{400}, 150 * rows + 7}) {
        const uint64_t count = blocks == 400 ? rows : 1;
        check(random.text(16), random.text(16 * count * blocks), count, blocks, 0);
        if (HasFatalFailure()) return;
    }
}

// Each bit of a block at each position of a strip, under keys that keep it isolated, and the
// highest counts.
TEST_F(GhashSmall, FewAndManyBits) {
    tests::Random random(533);
    const Text zero(16, 0), ones(16, 0xff), dense = random.text(16);
    Text one(16, 0), x(16, 0), last(16, 0);
    one[0] = 0x80;
    x[0] = 0x40;
    last[15] = 1;
    constexpr uint64_t blocks = 128, count = 160;
    for (const Text& h : {zero, one, x, last, ones, dense}) {
        Text single(16 * blocks * count, 0), sparse(single);
        for (uint64_t i = 0; i < count; ++i)
            single[16 * blocks * i + 16 * (i % blocks) + i % 16] =
                static_cast<uint8_t>(1u << (i / 16 % 8));
        for (uint64_t i = 0; i < count; ++i)
            sparse[16 * blocks * i + random.below(16 * blocks)] =
                static_cast<uint8_t>(1u << random.below(8));
        for (const Text& text : {single, sparse, Text(16 * blocks * count, 0xff),
                                 Text(16 * blocks * count, 0), random.text(16 * blocks * count)}) {
            check(h, text, count, blocks, 0);
            if (HasFatalFailure()) return;
        }
    }
}

}  // namespace

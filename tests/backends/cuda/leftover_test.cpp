// Secrets left by calls in device memory and in pinned memory: none, whether it is returned to CUDA
// or cached for the next call.
#include <cstdlib>

#include "allocations.h"
#include "backends/batch_message.h"
#include "host_memory.h"

namespace {

using namespace gpu;

class Leftover : public OnGpuOnce {
protected:
    static void expect_nothing_freed(const Leftovers& seen) {
        EXPECT_GE(seen.freed, 1u);
        EXPECT_EQ(seen.freed_unwiped, 0u) << "of " << seen.freed;
    }
};

warpseal_batch batch_of(uint64_t count, uint64_t bytes, const uint8_t* ivs, uint8_t* text,
                        uint8_t* tags, int32_t* statuses) {
    warpseal_batch b{};
    b.struct_bytes = sizeof b;
    b.iv_bytes = 12;
    b.tag_bytes = 16;
    b.message_count = count;
    b.message_bytes = b.in_stride = b.out_stride = bytes;
    b.ivs = ivs;
    b.iv_stride = 12;
    b.in = b.out = text;
    b.tags = tags;
    b.tag_stride = 16;
    b.statuses = statuses;
    return b;
}

TEST_F(Leftover, OfACallersMemory) {
    watch_allocations();
    { const Memory memory(Text(100000, 0x3c)); }
    expect_nothing_freed(leftovers());
}

// GHASH accumulators of a message's segments; the matrix of H and the accumulators of two passes.
TEST_F(Leftover, OfScratch) {
    tests::Random random(551);
    for (const auto& [count, bytes] :
         {std::pair<uint64_t, uint64_t>{1, size_t{1} << 20}, {2100, 16384}, {1, size_t{40} << 20}})
        for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
            Key key("aes-256", random);
            const Memory ivs(random.text(12 * count)), text(random.text(bytes * count)),
                tags(random.text(16 * count)), statuses(4 * count);
            watch_allocations();
            const warpseal_batch b = batch_of(count, bytes, ivs.data(), text.data(), tags.data(),
                                              reinterpret_cast<int32_t*>(statuses.data()));
            ASSERT_EQ(key.cipher.batch[WARPSEAL_GCM][static_cast<int>(direction)](
                          key.state(), warpseal::as_scattered(b), nullptr),
                      WARPSEAL_OK);
            expect_nothing_freed(leftovers());
        }
}

// Slots of the usual size stay allocated; one for a longer message is freed. Pageable memory is
// staged in pinned memory. With a pinned text only its side data is staged.
TEST_F(Leftover, OfThePipeline) {
    tests::Random random(552);
    Key key("aria-256", random), tweak("aria-256", random);
    const size_t bytes = (size_t{40} << 20) + 5;
    Text text = random.text(bytes), iv = random.text(16), tags(16 * 2000),
         ivs = random.text(12 * 2000), keys = random.text(32 * 2000);
    std::vector<int32_t> statuses(2000);
    size_t done = 0;
    uint64_t messages = 0, differ = 0;
    watch_allocations();
    for (const warpseal_mode mode : {WARPSEAL_CTR, WARPSEAL_CFB})
        ASSERT_EQ(
            backend().sweep_host(device, key.cipher, key.state(), mode, Direction::decrypt,
                                 iv.data(), 0, text.data(), text.data(), bytes, &done, nullptr),
            WARPSEAL_OK);
    const warpseal::XtsUnits units{{1}, 4096};
    ASSERT_EQ(backend().xts_host(device, key.cipher, key.state(), tweak.state(), Direction::encrypt,
                                 units, text.data(), text.data(), bytes - 5, &done),
              WARPSEAL_OK);
    warpseal::GcmState run{};
    ASSERT_EQ(backend().gcm_host(device, key.cipher, key.state(), Direction::encrypt, &run, 0,
                                 text.data(), text.data(), bytes, &done),
              WARPSEAL_OK);
    for (const bool own_keys : {false, true}) {
        warpseal_batch b =
            batch_of(2000, 16384, ivs.data(), text.data(), tags.data(), statuses.data());
        b.keys = own_keys ? keys.data() : nullptr;
        ASSERT_EQ(backend().batch_host(device, key.cipher, own_keys ? nullptr : key.state(),
                                       WARPSEAL_GCM, Direction::encrypt, b, &messages, &differ),
                  WARPSEAL_OK);
    }
    {
        const Host from(bytes, true), to(bytes, true);
        std::memcpy(from.data(), text.data(), bytes);
        ASSERT_EQ(backend().gcm_host(device, key.cipher, key.state(), Direction::encrypt, &run, 0,
                                     from.data(), to.data(), bytes, &done),
                  WARPSEAL_OK);
        warpseal_batch b =
            batch_of(2000, 16384, ivs.data(), from.data(), tags.data(), statuses.data());
        b.out = to.data();
        ASSERT_EQ(backend().batch_host(device, key.cipher, key.state(), WARPSEAL_GCM,
                                       Direction::encrypt, b, &messages, &differ),
                  WARPSEAL_OK);
    }
    const warpseal_batch one =
        batch_of(1, bytes, ivs.data(), text.data(), tags.data(), statuses.data());
    ASSERT_EQ(backend().batch_host(device, key.cipher, key.state(), WARPSEAL_GCM,
                                   Direction::encrypt, one, &messages, &differ),
              WARPSEAL_OK);
    const Leftovers seen = leftovers();
    expect_nothing_freed(seen);
    EXPECT_GE(seen.kept, 1u);
    EXPECT_EQ(seen.kept_not_zeroized, 0u) << "of " << seen.kept;
}

}  // namespace

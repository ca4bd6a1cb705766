// Overlapping buffers in the public calls: refused, or computed as if they were disjoint.
#include "limits.h"
#include "support/random.h"

namespace {

using tests::Limits;
using vectors::Text;

TEST_F(Limits, PartialOverlap) {
    Text memory(4096, 7);
    for (const size_t shift : {size_t{1}, size_t{15}, size_t{16}, size_t{63}}) {
        uint8_t *low = memory.data() + 512, *high = low + shift;
        for (const auto& [in, out] : {std::pair{low, high}, std::pair{high, low}}) {
            EXPECT_EQ(warpseal_encrypt(key_.get(), WARPSEAL_CTR, iv_, 16, in, out, 64),
                      WARPSEAL_INVALID_ARGUMENT)
                << shift;
            EXPECT_EQ(warpseal_decrypt(key_.get(), WARPSEAL_ECB, nullptr, 0, in, out, 64),
                      WARPSEAL_INVALID_ARGUMENT)
                << shift;
            EXPECT_EQ(warpseal_seal_unsafe_iv(key_.get(), WARPSEAL_GCM, iv_, 12, nullptr, 0, in,
                                              out, 64, tag_, 16),
                      WARPSEAL_INVALID_ARGUMENT);
            EXPECT_EQ(
                warpseal_open(key_.get(), WARPSEAL_GCM, iv_, 12, nullptr, 0, in, out, 64, tag_, 16),
                WARPSEAL_INVALID_ARGUMENT);
            warpseal_batch b = batch();
            b.in = in;
            b.out = out;
            b.message_bytes = b.in_stride = b.out_stride = 64;
            EXPECT_EQ(warpseal_seal_batch_unsafe_iv(key_.get(), WARPSEAL_GCM, &b),
                      WARPSEAL_INVALID_ARGUMENT);
        }
    }
    EXPECT_EQ(memory, Text(4096, 7));
    EXPECT_EQ(
        warpseal_encrypt(key_.get(), WARPSEAL_CTR, iv_, 16, memory.data(), memory.data() + 64, 64),
        WARPSEAL_OK);
}

// One thread's shard must not overwrite the IV of another's: the output is the same for every
// position.
TEST_F(Limits, IvWithinTheOutput) {
    const size_t bytes = (size_t{4} << 20) + 32;
    const auto engine = targets::engine("cpu", 4);
    const auto key = targets::key(engine, "aes-256", Text(32, 0x42));
    tests::Random random(52);
    const Text in = random.text(bytes);
    for (const warpseal_mode mode : {WARPSEAL_CTR, WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_OFB})
        for (const auto call : {warpseal_encrypt, warpseal_decrypt})
            for (const size_t at : {size_t{0}, size_t{5}, bytes / 2, bytes - 16}) {
                const Text iv(in.begin() + 100, in.begin() + 116);
                Text apart(bytes), out(bytes);
                ASSERT_EQ(call(key.get(), mode, iv.data(), 16, in.data(), apart.data(), bytes),
                          WARPSEAL_OK);
                std::copy(iv.begin(), iv.end(), out.begin() + static_cast<ptrdiff_t>(at));
                ASSERT_EQ(call(key.get(), mode, out.data() + at, 16, in.data(), out.data(), bytes),
                          WARPSEAL_OK);
                EXPECT_TRUE(out == apart) << warpseal_mode_name(mode) << " IV at " << at;
            }
    Text out(64, 3), apart(64);
    const Text iv(16, 3);
    size_t written = 0;
    ASSERT_EQ(
        warpseal_encrypt_padded(key.get(), iv.data(), 16, in.data(), 7, apart.data(), 64, &written),
        WARPSEAL_OK);
    ASSERT_EQ(
        warpseal_encrypt_padded(key.get(), out.data(), 16, in.data(), 7, out.data(), 64, &written),
        WARPSEAL_OK);
    EXPECT_TRUE(std::equal(out.begin(), out.begin() + 16, apart.begin()));
}

// The inputs of a sealed message besides its text must not change until the last byte is written.
TEST_F(Limits, TextOverIvAadOrTag) {
    for (const warpseal_mode mode : {WARPSEAL_GCM, WARPSEAL_CCM}) {
        SCOPED_TRACE(warpseal_mode_name(mode));
        Text memory(256, 7), tag(16);
        uint8_t* const out = memory.data() + 64;
        const auto both = [&](const uint8_t* iv, const uint8_t* aad, uint8_t* tag_at,
                              const uint8_t* in) {
            const warpseal_status sealed =
                warpseal_seal_unsafe_iv(key_.get(), mode, iv, 12, aad, 20, in, out, 64, tag_at, 16);
            EXPECT_EQ(warpseal_open(key_.get(), mode, iv, 12, aad, 20, in, out, 64, tag_at, 16),
                      sealed);
            return sealed;
        };
        for (const ptrdiff_t at : {-11, -1, 0, 1, 52, 63})
            EXPECT_EQ(both(out + at, in_, tag.data(), in_), WARPSEAL_INVALID_ARGUMENT) << at;
        for (const ptrdiff_t at : {-19, -1, 0, 1, 44, 63})
            EXPECT_EQ(both(iv_, out + at, tag.data(), in_), WARPSEAL_INVALID_ARGUMENT) << at;
        for (const ptrdiff_t at : {-15, -1, 0, 1, 48, 63}) {
            EXPECT_EQ(both(iv_, in_, out + at, in_), WARPSEAL_INVALID_ARGUMENT) << at;
            EXPECT_EQ(both(iv_, in_, out + at, out), WARPSEAL_INVALID_ARGUMENT)
                << at << ", in place";
        }
        EXPECT_EQ(both(tag.data() + 8, in_, tag.data(), in_), WARPSEAL_INVALID_ARGUMENT)
            << "the tag over the IV";
        EXPECT_EQ(memory, Text(256, 7));
        EXPECT_EQ(tag, Text(16));
        // Adjacent, as in a record.
        EXPECT_EQ(both(out - 12, out - 32, out + 64, out), WARPSEAL_OK);
    }
}

// Strided messages of which one's output is another's input would depend on the order of threads.
TEST_F(Limits, BatchesThatReadTheirOutput) {
    Text memory(4096, 7), ivs(8 * 16), tags(8 * 16), copy;
    const uint64_t lengths[8] = {48, 48, 48, 48, 48, 48, 48, 48};
    struct Case {
        size_t in, in_stride, out, out_stride;
        bool fine;
        const char* what;
    };
    const Case cases[] = {
        {1024, 48, 1024, 48, true, "in place"},
        {1024, 100, 1024, 100, true, "in place, apart"},
        {1024, 48, 1024 + 384, 48, true, "one after the other"},
        {1024 + 384, 48, 1024, 64, false, "the last out over the first in"},
        {1024 + 496, 48, 1024, 64, true, "up to the first in"},
        {1024, 96, 1024 + 48, 96, true, "side by side"},
        {1024 + 48, 96, 1024, 96, true, "side by side, out first"},
        {1024, 96, 1024 + 96 + 48, 96, true, "side by side, a slot on"},
        {1024, 96, 1024 + 47, 96, false, "nearly side by side"},
        {1024, 96, 1024 + 49, 96, false, "nearly side by side, the other way"},
        {1024, 48, 1024 + 48, 48, false, "a slot on"},
        {1024 + 48, 48, 1024, 48, false, "a slot back"},
        {1024, 64, 1024, 48, false, "packed in place"},
        {1024, 48, 1024, 64, false, "unpacked in place"},
        {1024, 0, 1024 + 48, 48, true, "one input for all"},
        {1024, 0, 1024 - 96, 48, false, "one input for all, and one of the outputs"},
    };
    for (const Case& c : cases)
        for (const bool by_lengths : {false, true}) {
            SCOPED_TRACE(std::string(c.what) + (by_lengths ? ", by lengths" : ""));
            warpseal_batch b{};
            b.struct_bytes = sizeof b;
            b.message_count = 8;
            b.message_bytes = by_lengths ? 0 : 48;
            b.lengths = by_lengths ? lengths : nullptr;
            b.in = memory.data() + c.in;
            b.in_stride = c.in_stride;
            b.out = memory.data() + c.out;
            b.out_stride = c.out_stride;
            b.ivs = ivs.data();
            b.iv_stride = b.iv_bytes = 16;
            const auto wanted = c.fine ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT;
            copy = memory;
            EXPECT_EQ(warpseal_encrypt_batch(key_.get(), WARPSEAL_CTR, &b), wanted);
            EXPECT_EQ(warpseal_decrypt_batch(key_.get(), WARPSEAL_CBC, &b), wanted);
            b.iv_stride = b.iv_bytes = 12;
            b.tag_bytes = 16;
            b.tags = tags.data();
            b.tag_stride = 16;
            EXPECT_EQ(warpseal_seal_batch_unsafe_iv(key_.get(), WARPSEAL_GCM, &b), wanted);
            if (!c.fine) {
                EXPECT_EQ(memory, copy);
            }
            b.out = nullptr;
            b.iv_stride = b.iv_bytes = 0;
            EXPECT_EQ(warpseal_mac_batch(key_.get(), WARPSEAL_CMAC, &b), WARPSEAL_OK)
                << "a MAC writes no text";
        }
}

}  // namespace

// Sweeps in device memory against libcrypto: lengths, alignments, in place, counters that carry, exact allocations.
#include "gpu.h"

namespace {

using namespace gpu;

constexpr size_t margin = 64;

struct Case {
    warpseal_mode mode;
    Direction direction;
    size_t bytes, in_shift, out_shift;
    bool in_place;
    uint64_t first_block;
};

Text expected(const Key& key, const Case& c, const Text& iv, const Text& in) {
    if (in.empty()) return {};
    if (c.mode == WARPSEAL_CTR) return oracle::run(key.mode("ctr"), true, key.bytes, plus(iv, c.first_block), {}, in, nullptr);
    return oracle::run(key.mode("ecb"), c.direction == Direction::encrypt, key.bytes, {}, {}, in, nullptr);
}

// Runs one case twice, over two poisons, and compares the output and what lies around it.
void check(Key& key, const Case& c, tests::Random& random, const Text& iv) {
    const Text in = random.text(c.bytes), right = expected(key, c, iv, in);
    for (const uint8_t poison : {0xa5, 0x5a}) {
        Text image(c.bytes + 2 * margin, poison), source(c.bytes + margin, poison);
        const size_t out_at = margin - 16 + c.out_shift, in_at = c.in_place ? out_at : c.in_shift;
        std::copy(in.begin(), in.end(), (c.in_place ? image : source).begin() + static_cast<std::ptrdiff_t>(in_at));
        const Memory from(source), to(image);
        const uint8_t* input = (c.in_place ? to.data() : from.data()) + in_at;
        ASSERT_EQ(key.cipher.sweep[c.mode][static_cast<int>(c.direction)](key.state(), iv.data(), c.first_block, input, to.data() + out_at,
                                                                          c.bytes, nullptr),
                  WARPSEAL_OK);
        std::copy(right.begin(), right.end(), image.begin() + static_cast<std::ptrdiff_t>(out_at));
        ASSERT_EQ(to.get(), image) << key.cipher.name << " mode " << c.mode << " bytes " << c.bytes << " shifts " << c.in_shift << " "
                                   << c.out_shift << " in place " << c.in_place;
    }
}

class Sweep : public OnGpu {};

TEST_P(Sweep, LengthsAndAlignments) {
    tests::Random random(501);
    for (const char* name : names) {
        Key key(name, random);
        for (int i = 0; i < 150; ++i) {
            const bool ctr = i % 3 == 0;
            const size_t bytes = i < 40 ? static_cast<size_t>(i) : random.below(4097);
            const Case c{ctr ? WARPSEAL_CTR : WARPSEAL_ECB,
                         i % 3 == 1 ? Direction::encrypt : Direction::decrypt,
                         ctr ? bytes : bytes / 16 * 16,
                         random.one_in(3) ? 0 : random.below(17),
                         random.one_in(3) ? 0 : random.below(17),
                         random.one_in(3),
                         random.one_in(2) ? 0 : random.next() >> random.below(64)};
            check(key, c, random, random.text(16));
        }
    }
}

TEST_P(Sweep, CountersCarry) {
    tests::Random random(502);
    Key key("aes-256", random);
    for (const size_t ones : {4u, 8u, 16u}) {
        for (int i = 0; i < 12; ++i) {
            Text iv = random.text(16);
            std::fill(iv.end() - static_cast<std::ptrdiff_t>(ones), iv.end(), uint8_t{0xff});
            iv[15] = static_cast<uint8_t>(0xff - random.below(200));
            const Case c{WARPSEAL_CTR, Direction::encrypt, 3200 + random.below(900), 0, 0, i % 2 == 0, 0};
            check(key, c, random, iv);
        }
    }
}

// Many rounds of the persistent grid, and a last block that is not whole.
TEST_P(Sweep, Long) {
    tests::Random random(503);
    for (const char* name : names) {
        Key key(name, random);
        Text iv = random.text(16);
        std::fill(iv.begin() + 12, iv.end(), uint8_t{0xff});
        check(key, {WARPSEAL_CTR, Direction::encrypt, (size_t{20} << 20) + 5, 0, 0, false, 0}, random, iv);
        for (const uint8_t low : {0x00, 0x7f, 0xf0}) {  // in rows of 1024 counters from somewhere within one; the second wraps at 2^32
            Text counter = random.text(16);
            counter[12] = counter[13] = low == 0x7f ? 0xff : low;
            counter[14] = low == 0x7f ? 0xf1 : low;
            check(key, {WARPSEAL_CTR, Direction::encrypt, (size_t{17} << 20) + low % 31, 0, 0, low == 0, 0}, random, counter);
        }
        check(key, {WARPSEAL_CTR, Direction::decrypt, (size_t{3} << 20) + 11, 4, 8, false, 0}, random, iv);
        check(key, {WARPSEAL_ECB, Direction::encrypt, size_t{20} << 20, 0, 0, true, 0}, random, iv);
        check(key, {WARPSEAL_ECB, Direction::decrypt, size_t{20} << 20, 0, 0, false, 0}, random, iv);
    }
}

TEST_P(Sweep, ExactAllocations) {
    tests::Random random(504);
    Key key("aes-128", random);
    const Text iv = random.text(16);
    for (const size_t bytes : {1u, 15u, 16u, 17u, 511u, 1000u, 4096u}) {
        const Text in = random.text(bytes);
        const Memory from(in), to(bytes);
        ASSERT_EQ(door().sweep_device(device, key.cipher, key.state(), WARPSEAL_CTR, Direction::encrypt, iv.data(), from.data(), to.data(),
                                      bytes, nullptr),
                  WARPSEAL_OK);
        ASSERT_EQ(to.get(), oracle::run(key.mode("ctr"), true, key.bytes, iv, {}, in, nullptr));
    }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Sweep, testing::ValuesIn(layouts));

}  // namespace

// One call over more blocks than a 32-bit word counts: 72 GiB of CTR in device memory.
#include "gpu.h"

namespace {

using namespace gpu;

class Vast : public OnGpuOnce {};

// In place. Checks a million blocks of known content: a page in every 18 MiB, including the first,
// the last, and the one in which the counter's last word wraps to zero. All other bytes are
// arbitrary.
TEST_F(Vast, CountsPastAWord) {
    constexpr size_t bytes = size_t{72} << 30, page = 4096, pages = 4096, stratum = bytes / pages;
    void* memory = nullptr;
    const warpseal_status got = backend().device_alloc(device, bytes, &memory);
    if (got == WARPSEAL_OUT_OF_MEMORY)
        GTEST_SKIP() << "NOT RUN: this GPU has less than 72 GiB free";
    ASSERT_EQ(got, WARPSEAL_OK);
    tests::Random random(601);
    Key key("aes-128", random);
    const Text iv = random.text(16);
    const uint64_t until_wrap =
        (uint64_t{1} << 32) -
        (uint64_t{iv[12]} << 24 | uint64_t{iv[13]} << 16 | uint64_t{iv[14]} << 8 | iv[15]);
    std::vector<size_t> at;
    for (size_t i = 0; i < pages; ++i)
        at.push_back(i * stratum + random.below(stratum / page) * page);
    at.front() = 0;
    at.back() = bytes - page;
    at[until_wrap * 16 / stratum] = until_wrap * 16 / page * page;
    std::vector<Text> in;
    auto* const text = static_cast<uint8_t*>(memory);
    for (const size_t offset : at) {
        in.push_back(random.text(page));
        ASSERT_EQ(backend().upload(device, text + offset, in.back().data(), page), WARPSEAL_OK);
    }
    ASSERT_EQ(
        key.cipher.sweep[WARPSEAL_CTR][0](key.state(), iv.data(), 0, text, text, bytes, nullptr),
        WARPSEAL_OK);
    for (size_t i = 0; i < pages; ++i) {
        Text out(page);
        ASSERT_EQ(backend().download(device, out.data(), text + at[i], page), WARPSEAL_OK);
        ASSERT_EQ(out, expected(key.cipher, WARPSEAL_CTR, Direction::encrypt, key.bytes, iv,
                                at[i] / 16, in[i]))
            << "page at " << at[i];
    }
    backend().device_free(device, memory, bytes);
}

}  // namespace

// Failures on a GPU: out of memory, a context that dies during the work, a forked child, and the
// documented outcome of each.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "alone.h"
#include "host_memory.h"

namespace {

using namespace gpu;

class Failure : public OnGpuOnce {};

TEST_F(Failure, OutOfDeviceMemoryPasses) {
    tests::Random random(551);
    Key key("aes-256", random);
    std::vector<std::pair<void*, size_t>> taken;
    for (size_t bytes = size_t{8} << 30; bytes >= size_t{1} << 18;) {
        void* memory = nullptr;
        const warpseal_status status = backend().device_alloc(device, bytes, &memory);
        if (status == WARPSEAL_OK) {
            taken.emplace_back(memory, bytes);
            continue;
        }
        ASSERT_EQ(status, WARPSEAL_OUT_OF_MEMORY);
        bytes /= 2;
    }
    EXPECT_FALSE(backend().lost());
    const Text in = random.text(size_t{40} << 20), iv = random.text(16);
    const Text right = oracle::run("aes-256-ctr", true, key.bytes, iv, {}, in, nullptr);
    Text out(in.size(), 0xa5);
    size_t done = 0;
    const warpseal_status status =
        backend().sweep_host(device, key.cipher, key.state(), WARPSEAL_CTR, Direction::encrypt,
                             iv.data(), 0, in.data(), out.data(), in.size(), &done, nullptr);
    // Cached slots of earlier tests may suffice. Without them the call reports out of memory. In
    // both cases the completed output is correct.
    EXPECT_TRUE(status == WARPSEAL_OK ? done == in.size() : status == WARPSEAL_OUT_OF_MEMORY)
        << status;
    EXPECT_TRUE(
        std::equal(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(done), right.begin()));
    for (const auto& [memory, bytes] : taken) backend().device_free(device, memory, 0), (void)bytes;
    ASSERT_EQ(
        backend().sweep_host(device, key.cipher, key.state(), WARPSEAL_CTR, Direction::encrypt,
                             iv.data(), 0, in.data(), out.data(), in.size(), &done, nullptr),
        WARPSEAL_OK);
    EXPECT_EQ(out, right);
}

TEST_F(Failure, ForkedChildUsesNoGpu) {
    ASSERT_FALSE(backend().lost());
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        void* memory = nullptr;
        int count = 0;
        const bool right = backend().lost() &&
                           backend().device_alloc(device, 16, &memory) == WARPSEAL_NO_DEVICE &&
                           backend().device_count(&count) == WARPSEAL_NO_DEVICE &&
                           backend().synchronize(device, nullptr) == WARPSEAL_NO_DEVICE;
        _exit(right ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_FALSE(backend().lost());
}

// Runs in a process of its own: the context dies during a host-memory call, and the cores finish
// the rest.
void context_dies(uint8_t* from, uint8_t* to, size_t bytes) {
    tests::Random random(552);
    Key key("aes-256", random);
    const Text in = random.text(bytes), iv = random.text(16);
    const Text right = oracle::run("aes-256-ctr", true, key.bytes, iv, {}, in, nullptr);
    std::memcpy(from, in.data(), bytes);
    size_t done = 0;
    ASSERT_EQ(
        backend().sweep_host(device, key.cipher, key.state(), WARPSEAL_CTR, Direction::encrypt,
                             iv.data(), 0, from, to, 4096, &done, nullptr),
        WARPSEAL_OK);
    std::memcpy(from, in.data(), bytes);
    poison(key, iv);
    const warpseal_status status =
        backend().sweep_host(device, key.cipher, key.state(), WARPSEAL_CTR, Direction::encrypt,
                             iv.data(), 0, from, to, bytes, &done, nullptr);
    EXPECT_EQ(status, WARPSEAL_NO_DEVICE);
    EXPECT_TRUE(backend().lost());
    ASSERT_LT(done, bytes);
    const warpseal::CpuCipher& cpu = *warpseal::cpu_cipher(warpseal::Target::portable, "aes-256");
    std::vector<uint8_t> memory(cpu.state_bytes + 64);
    void* state = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64);
    cpu.expand(state, key.bytes.data());
    cpu.sweep[WARPSEAL_CTR][0](state, iv.data(), done / 16, from + done, to + done, bytes - done);
    EXPECT_TRUE(std::equal(right.begin(), right.end(), to));

    int count = 0;
    void* more = nullptr;
    EXPECT_EQ(backend().device_count(&count), WARPSEAL_NO_DEVICE);
    EXPECT_EQ(backend().device_alloc(device, 16, &more), WARPSEAL_NO_DEVICE);
    EXPECT_EQ(backend().synchronize(device, nullptr), WARPSEAL_NO_DEVICE);
    std::printf("finished on the cores from byte %zu\n", done);
}

TEST_F(Failure, DISABLED_ContextDies) {
    Text text(size_t{100} << 20);
    context_dies(text.data(), text.data(), text.size());  // in place
}

// The feeding thread polls for the end of each chunk. The text is so long that copies are still in
// flight when the kernel has failed.
TEST_F(Failure, DISABLED_ContextDiesUnderPinnedMemory) {
    const size_t bytes = size_t{512} << 20;
    const Host from(bytes, true), to(bytes, true);
    context_dies(from.data(), to.data(), bytes);
}

TEST_F(Failure, StickyErrorInAChildProcess) {
    passes_alone("Failure.DISABLED_ContextDies", "finished on the cores from byte");
    passes_alone("Failure.DISABLED_ContextDiesUnderPinnedMemory",
                 "finished on the cores from byte");
}

}  // namespace

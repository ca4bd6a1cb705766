// Random bytes in device memory: lengths, streams that are captured, and memory left behind.
#include <cuda_runtime_api.h>

#include "allocations.h"
#include "random_request.h"

namespace {

using namespace gpu;

class RandomBytes : public OnGpuOnce {};

TEST_F(RandomBytes, OfEveryLength) {
    constexpr size_t most = warpseal::drbg::max_leaves * warpseal::drbg::max_request_bytes;
    tests::Random random(591);
    Memory memory(most + 16);
    for (const size_t bytes :
         {size_t{0}, size_t{1}, size_t{15}, size_t{16}, size_t{65535}, size_t{65536}, size_t{65537},
          size_t{131072}, random.length(most), random.length(most), most - 1, most}) {
        RandomRequest request(random);
        const size_t at = bytes % 16;
        memory.put(Text(most + 16, 0x5a));
        ASSERT_EQ(request.fill(memory.data() + at, bytes, nullptr), WARPSEAL_OK);
        Text wanted = request.right(bytes);
        wanted.insert(wanted.begin(), at, 0x5a);
        wanted.resize(most + 16, 0x5a);
        ASSERT_TRUE(memory.get() == wanted) << bytes;
    }
}

// The seeds, keys and counters of the leaves.
TEST_F(RandomBytes, LeaveNoSecretInScratch) {
    tests::Random random(593);
    RandomRequest request(random);
    const Memory memory(size_t{3} << 20);
    watch_allocations();
    ASSERT_EQ(request.fill(memory.data(), size_t{3} << 20, nullptr), WARPSEAL_OK);
    const Leftovers seen = leftovers();
    EXPECT_GE(seen.freed, 1u);
    EXPECT_EQ(seen.freed_unwiped, 0u) << "of " << seen.freed;
}

// A replay would repeat the bytes.
TEST_F(RandomBytes, AreRefusedInACapture) {
    tests::Random random(592);
    RandomRequest request(random);
    const Memory memory(Text(1000, 0x5a));
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(request.fill(memory.data(), 1000, stream), WARPSEAL_INVALID_ARGUMENT);
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    size_t nodes = 1;
    EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
    EXPECT_EQ(nodes, 0u);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    EXPECT_EQ(memory.get(), Text(1000, 0x5a));
}

}  // namespace

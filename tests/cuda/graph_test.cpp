// A CTR sweep and GCM batches captured in a CUDA graph: the calls neither synchronise nor allocate outside the stream.
#include <cuda_runtime_api.h>

#include "messages.h"

namespace {

using namespace gpu;

class Graph : public OnGpuOnce {};

TEST_F(Graph, SweepAndBatches) {
    tests::Random random(521);
    Key key("aes-256", random);
    Shape small, large;
    small.count = 50;
    small.bytes = 1000;
    large.bytes = (size_t{3} << 20) + 5;  // in parts, with scratch
    large.spoil_every = 1;
    const Messages sealed(small, key, Direction::encrypt, random), opened(large, key, Direction::decrypt, random);
    const Text iv = random.text(16), in = random.text(100001);
    const Text right = oracle::run("aes-256-ctr", true, key.bytes, iv, {}, in, nullptr);
    Memory from(in), to(in.size()), first(sealed.image), second(opened.image);

    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_EQ(door().sweep_device(device, key.cipher, key.state(), WARPSEAL_CTR, Direction::encrypt, iv.data(), from.data(), to.data(),
                                  in.size(), stream),
              WARPSEAL_OK);
    EXPECT_EQ(door().batch_device(device, key.cipher, key.state(), WARPSEAL_GCM, Direction::encrypt, sealed.at(first.data()), stream),
              WARPSEAL_OK);
    EXPECT_EQ(door().batch_device(device, key.cipher, key.state(), WARPSEAL_GCM, Direction::decrypt, opened.at(second.data()), stream),
              WARPSEAL_OK);
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
    for (int replay = 0; replay < 3; ++replay) {
        to.put(Text(in.size(), 0xa5));
        first.put(sealed.image);
        second.put(opened.image);
        ASSERT_EQ(cudaGraphLaunch(ready, stream), cudaSuccess);
        ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
        EXPECT_EQ(to.get(), right);
        EXPECT_EQ(first.get(), sealed.right());
        EXPECT_EQ(second.get(), opened.right());
    }
    EXPECT_EQ(cudaGraphExecDestroy(ready), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

}  // namespace

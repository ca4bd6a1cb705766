// Sweeps and batches captured in a CUDA graph: the calls neither synchronise nor allocate outside
// the stream.
#include <cuda_runtime_api.h>

#include <set>
#include <string>

#include "alone.h"
#include "messages.h"
#include "reference/xts.h"

namespace {

using namespace gpu;

class Graph : public OnGpuOnce {};

TEST_F(Graph, SweepAndBatches) {
    tests::Random random(521);
    Key key("aes-256", random);
    BatchSpec small, large;
    small.count = 50;
    small.bytes = 1000;
    large.bytes = (size_t{3} << 20) + 5;  // in chunks, with scratch
    large.spoil_every = 1;
    const Messages sealed(small, key, Direction::encrypt, random),
        opened(large, key, Direction::decrypt, random);
    BatchSpec chains;
    chains.mode = WARPSEAL_CMAC, chains.iv_bytes = 0, chains.count = 40, chains.bytes = 333,
    chains.own_keys = true, chains.spoil_every = 3;
    // With the kernels for long texts.
    BatchSpec chunks;
    chunks.count = 90, chunks.bytes = 1040, chunks.gap = 32, chunks.spoil_every = 5;
    const Messages chunks_sealed(chunks, key, Direction::encrypt, random),
        chunks_opened(chunks, key, Direction::decrypt, random);
    const Messages summed(chains, key, Direction::decrypt, random);
    // In place, with scratch: the ciphertext must be restored before a replay.
    const Text cbc = random.text(100000), units = random.text(70000), number(16, 3);
    Key tweak(key.cipher, random);
    warpseal::XtsUnits xts{};
    std::fill(xts.first, xts.first + 16, uint8_t{3});
    xts.unit_bytes = 1000;
    const Text iv = random.text(16), in = random.text(100001);
    const Text right = oracle::run("aes-256-ctr", true, key.bytes, iv, {}, in, nullptr);
    Memory from(in), to(in.size()), first(sealed.image), second(opened.image), third(summed.image),
        fourth(chunks_sealed.image), fifth(chunks_opened.image), chained(cbc), sectors(units);

    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_EQ(
        backend().sweep_device(device, key.cipher, key.state(), WARPSEAL_CTR, Direction::encrypt,
                               iv.data(), from.data(), to.data(), in.size(), stream),
        WARPSEAL_OK);
    EXPECT_EQ(backend().batch_device(device, key.cipher, key.state(), WARPSEAL_GCM,
                                     Direction::encrypt, sealed.at(first.data()), stream),
              WARPSEAL_OK);
    EXPECT_EQ(backend().batch_device(device, key.cipher, key.state(), WARPSEAL_GCM,
                                     Direction::decrypt, opened.at(second.data()), stream),
              WARPSEAL_OK);
    EXPECT_EQ(backend().batch_device(device, key.cipher, nullptr, WARPSEAL_CMAC, Direction::decrypt,
                                     summed.at(third.data()), stream),
              WARPSEAL_OK);
    EXPECT_EQ(
        backend().sweep_device(device, key.cipher, key.state(), WARPSEAL_CBC, Direction::decrypt,
                               iv.data(), chained.data(), chained.data(), cbc.size(), stream),
        WARPSEAL_OK);
    EXPECT_EQ(
        backend().xts_device(device, key.cipher, key.state(), tweak.state(), Direction::encrypt,
                             xts, sectors.data(), sectors.data(), units.size(), stream),
        WARPSEAL_OK);
    warpseal::cuda::accept_any_length(true);
    EXPECT_EQ(backend().batch_device(device, key.cipher, key.state(), WARPSEAL_GCM,
                                     Direction::encrypt, chunks_sealed.at(fourth.data()), stream),
              WARPSEAL_OK);
    EXPECT_EQ(backend().batch_device(device, key.cipher, key.state(), WARPSEAL_GCM,
                                     Direction::decrypt, chunks_opened.at(fifth.data()), stream),
              WARPSEAL_OK);
    warpseal::cuda::accept_any_length(false);
    cudaStreamCaptureMode mode =
        cudaStreamCaptureModeGlobal;  // this thread's capture mode, unchanged
    EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
    EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
    for (int replay = 0; replay < 3; ++replay) {
        to.put(Text(in.size(), 0xa5));
        first.put(sealed.image);
        second.put(opened.image);
        third.put(summed.image);
        fourth.put(chunks_sealed.image);
        fifth.put(chunks_opened.image);
        chained.put(cbc);
        sectors.put(units);
        ASSERT_EQ(cudaGraphLaunch(ready, stream), cudaSuccess);
        ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
        EXPECT_EQ(to.get(), right);
        EXPECT_EQ(first.get(), sealed.right());
        EXPECT_EQ(second.get(), opened.right());
        EXPECT_EQ(third.get(), summed.right());
        EXPECT_EQ(fourth.get(), chunks_sealed.right());
        EXPECT_EQ(fifth.get(), chunks_opened.right());
        EXPECT_EQ(chained.get(),
                  expected(key.cipher, WARPSEAL_CBC, Direction::decrypt, key.bytes, iv, 0, cbc));
        EXPECT_EQ(sectors.get(),
                  reference::xts_units(*tests::make_reference_cipher("aes-256", key.bytes),
                                       *tests::make_reference_cipher("aes-256", tweak.bytes), true,
                                       number, 1000, units));
    }
    EXPECT_EQ(cudaGraphExecDestroy(ready), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

// Each replay draws other IVs, and with a workspace the graph has no allocation.
TEST_F(Graph, DrawnIvsAdvance) {
    tests::Random random(523);
    Key key("aes-128", random);
    BatchSpec spec;
    spec.count = 300;
    spec.bytes = 200;
    spec.lengths = true;
    spec.in_place = true;
    spec.places = Places::pointers;
    Messages messages(spec, key, Direction::encrypt, random);
    Memory memory(messages.image.size());
    memory.put(messages.placed_at(memory.data()));
    const Memory counter(Text(sizeof(warpseal::IvCounter)));
    warpseal_scattered_batch batch = messages.at(memory.data());
    size_t needed = 0;
    ASSERT_EQ(backend().batch_workspace(device, WARPSEAL_GCM, batch, &needed), WARPSEAL_OK);
    const Memory workspace(needed + 16);
    batch.workspace = workspace.data(), batch.workspace_bytes = needed;

    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_EQ(backend().draw_ivs(device, counter.data(), batch, stream), WARPSEAL_OK);
    EXPECT_EQ(backend().batch_device(device, key.cipher, key.state(), WARPSEAL_GCM,
                                     Direction::encrypt, batch, stream),
              WARPSEAL_OK);
    EXPECT_EQ(backend().batch_device(device, key.cipher, key.state(), WARPSEAL_GCM,
                                     Direction::decrypt, batch, stream),
              WARPSEAL_OK);
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    size_t count = 0;
    ASSERT_EQ(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
    std::vector<cudaGraphNode_t> nodes(count);
    ASSERT_EQ(cudaGraphGetNodes(graph, nodes.data(), &count), cudaSuccess);
    for (const cudaGraphNode_t node : nodes) {
        cudaGraphNodeType type{};
        ASSERT_EQ(cudaGraphNodeGetType(node, &type), cudaSuccess);
        EXPECT_NE(type, cudaGraphNodeTypeMemAlloc);
        EXPECT_NE(type, cudaGraphNodeTypeMemFree);
    }
    ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
    std::set<std::string> ivs;
    for (int replay = 0; replay < 4; ++replay) {
        ASSERT_EQ(cudaGraphLaunch(ready, stream), cudaSuccess);
        ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
        const Text now = memory.get();
        for (const Text& iv : messages.ivs_in(now)) ivs.emplace(iv.begin(), iv.end());
        EXPECT_EQ(messages.texts_in(now) == messages.texts_in(messages.image), true);
    }
    EXPECT_EQ(ivs.size(), 4 * spec.count);
    EXPECT_EQ(cudaGraphExecDestroy(ready), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

// Without anything initialized beforehand.
TEST_F(Graph, OfTheFirstCallsOfAProcess) {
    passes_alone("Graph.SweepAndBatches", "[  PASSED  ] 1 test.");
}

}  // namespace

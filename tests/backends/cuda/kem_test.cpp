// Key encapsulation in device memory: graphs, streams, and secrets left by calls.
#include <cuda_runtime_api.h>

#include <atomic>
#include <functional>
#include <thread>

#include "allocations.h"
#include "alone.h"
#include "backends/kem_catalogue.h"
#include "engine/engine.h"
#include "gpu.h"
#include "host_memory.h"
#include "support/contiguous_batch.h"
#include "warpseal/kem.h"

namespace {

using namespace gpu;
using warpseal::Engine;
using warpseal::KemOperation;

constexpr uint64_t count = 50;
const warpseal::KemSet& ntru = warpseal::kem_sets[warpseal::kem_set_number("ntruhps2048509")];
// A set of each scheme, and of each kind of hybrids.
const warpseal::KemSet* const one_of_each[] = {
    &ntru, &warpseal::kem_sets[warpseal::kem_set_number("ml-kem-768")],
    &warpseal::kem_sets[warpseal::kem_set_number("x25519")],
    &warpseal::kem_sets[warpseal::kem_set_number("x25519mlkem768")],
    &warpseal::kem_sets[warpseal::kem_set_number("x-wing")]};

bool no_random(void*, size_t) { return false; }
bool fixed_random(void* out, size_t bytes) {
    std::memset(out, 0x5a, bytes);
    return true;
}

// Keys, ciphertexts and secrets of a batch, in device memory.
struct Batch {
    const warpseal::KemSet& set;
    Memory publics{count * set.public_key_bytes()}, secrets{count * set.secret_key_bytes()},
        ciphertexts{count * set.ciphertext_bytes()}, sent{count * set.shared_secret_bytes()},
        received{count * set.shared_secret_bytes()}, statuses{count * 4}, coins;

    // For either operation.
    size_t coin_bytes() const { return std::max(set.keypair_coins(), set.encapsulation_coins()); }
    Batch(const warpseal::KemSet& of, tests::Random& random)
        : set(of), coins(random.text(count * coin_bytes())) {}
    warpseal_kem_batch at(const Memory& shared) const {
        warpseal_kem_batch batch = tests::contiguous_batch(set, count);
        batch.public_keys = publics.data();
        batch.secret_keys = secrets.data();
        batch.ciphertexts = ciphertexts.data();
        batch.shared_secrets = shared.data();
        batch.coins = coins.data();
        batch.coins_stride = coin_bytes();
        batch.statuses = reinterpret_cast<int32_t*>(statuses.data());
        return batch;
    }
    void clear() {
        for (Memory* one : {&publics, &secrets, &ciphertexts, &sent, &received, &statuses})
            one->put(Text(one->get().size(), 0xa5));
    }
};

std::unique_ptr<Engine> engine(std::function<void(const char*)> notice = nullptr,
                               unsigned threads = 1) {
    warpseal::EngineOptions options;
    options.notice = std::move(notice);
    options.device = "cuda";
    options.threads = threads;
    std::unique_ptr<Engine> out;
    EXPECT_EQ(Engine::create(options, out), WARPSEAL_OK);
    return out;
}

// Queues all three operations in order on a stream, without waiting in between.
warpseal_status queue(Engine& engine, const Batch& batch, cudaStream_t stream) {
    warpseal_status status = engine.kem_device(KemOperation::keypair, batch.set.name,
                                               batch.at(batch.sent), no_random, stream);
    if (status == WARPSEAL_OK)
        status = engine.kem_device(KemOperation::encapsulate, batch.set.name, batch.at(batch.sent),
                                   no_random, stream);
    if (status == WARPSEAL_OK)
        status = engine.kem_device(KemOperation::decapsulate, batch.set.name,
                                   batch.at(batch.received), no_random, stream);
    return status;
}

class GraphOfKem : public OnGpuOnce {};

void replay_every_operation(const warpseal::KemSet& set) {
    tests::Random random(571);
    Batch batch(set, random);
    const auto one = engine();
    ASSERT_EQ(queue(*one, batch, nullptr), WARPSEAL_OK);  // and runs the self-tests
    const Text right = batch.sent.get(), keys = batch.publics.get();
    EXPECT_EQ(batch.received.get(), right);
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    warpseal_kem_batch drawn = batch.at(batch.sent);
    drawn.coins = nullptr;
    ASSERT_EQ(one->kem_device(KemOperation::keypair, set.name, drawn, fixed_random, nullptr),
              WARPSEAL_OK);
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(queue(*one, batch, stream), WARPSEAL_OK);
    // A replay would repeat the coins. The refusal leaves the capture valid.
    EXPECT_EQ(one->kem_device(KemOperation::keypair, set.name, drawn, fixed_random, stream),
              WARPSEAL_INVALID_ARGUMENT);
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
    for (int replay = 0; replay < 3; ++replay) {
        batch.clear();
        ASSERT_EQ(cudaGraphLaunch(ready, stream), cudaSuccess);
        ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
        EXPECT_EQ(batch.publics.get(), keys);
        EXPECT_EQ(batch.sent.get(), right);
        EXPECT_EQ(batch.received.get(), right);
    }
    EXPECT_EQ(cudaGraphExecDestroy(ready), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(GraphOfKem, EveryOperation) {
    for (const warpseal::KemSet* set : one_of_each) {
        SCOPED_TRACE(set->name);
        replay_every_operation(*set);
        if (HasFatalFailure()) return;
    }
}

// A host batch that draws its coins, as an engine's first call and a later one, while another
// thread captures.
TEST_F(GraphOfKem, HostCallsBesideACapture) {
    constexpr uint64_t many = 5000;
    const warpseal::KemSet& set = ntru;
    Text publics(many * set.public_key_bytes()), secrets(many * set.secret_key_bytes()),
        ciphertexts(many * set.ciphertext_bytes()), sent(many * 32), received(many * 32);
    warpseal_kem_batch batch = tests::contiguous_batch(set, many);
    batch.public_keys = publics.data();
    batch.secret_keys = secrets.data();
    batch.ciphertexts = ciphertexts.data();
    batch.shared_secrets = sent.data();
    const auto one = engine();
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    std::vector<warpseal_status> outcomes;
    std::thread([&] {
        for (const KemOperation operation :
             {KemOperation::keypair, KemOperation::encapsulate, KemOperation::decapsulate}) {
            if (operation == KemOperation::decapsulate) batch.shared_secrets = received.data();
            outcomes.push_back(one->kem(operation, set.name, batch, fixed_random));
        }
    }).join();
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    EXPECT_EQ(outcomes, std::vector<warpseal_status>(3, WARPSEAL_OK));
    EXPECT_EQ(received, sent);
    EXPECT_NE(sent, Text(many * 32));
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

class KemLeftover : public OnGpuOnce {};

// Work space: drawn coins, messages to hash.
void no_work_space_is_left(const warpseal::KemSet& set) {
    tests::Random random(572);
    Batch batch(set, random);
    const auto one = engine();
    warpseal_kem_batch drawn = batch.at(batch.sent);
    drawn.coins = nullptr;
    watch_allocations();
    ASSERT_EQ(one->kem_device(KemOperation::keypair, set.name, drawn, fixed_random, nullptr),
              WARPSEAL_OK);
    ASSERT_EQ(one->kem_device(KemOperation::encapsulate, set.name, drawn, fixed_random, nullptr),
              WARPSEAL_OK);
    ASSERT_EQ(one->kem_device(KemOperation::decapsulate, set.name, batch.at(batch.received),
                              no_random, nullptr),
              WARPSEAL_OK);
    const Leftovers seen = leftovers();
    EXPECT_GE(seen.freed, 3u);
    EXPECT_EQ(seen.freed_unwiped, 0u) << "of " << seen.freed;
    EXPECT_EQ(batch.received.get(), batch.sent.get());
}

TEST_F(KemLeftover, OfWorkSpace) {
    for (const warpseal::KemSet* set : one_of_each) {
        SCOPED_TRACE(set->name);
        no_work_space_is_left(*set);
        if (HasFatalFailure()) return;
    }
}

// Host batches: drawn coins, gathered and staged items. 5000 items are several chunks.
struct HostBatch {
    const warpseal::KemSet& set;
    const uint64_t many;
    Host publics, secrets, ciphertexts, sent, received;

    explicit HostBatch(bool pinned, uint64_t items = 5000, const warpseal::KemSet& of = ntru)
        : set(of),
          many(items),
          publics(many * set.public_key_bytes(), pinned),
          secrets(many * set.secret_key_bytes(), pinned),
          ciphertexts(many * set.ciphertext_bytes(), pinned),
          sent(many * set.shared_secret_bytes(), pinned),
          received(many * set.shared_secret_bytes(), pinned) {}

    warpseal_status run(Engine& engine, KemOperation operation) const {
        warpseal_kem_batch batch = tests::contiguous_batch(set, many);
        batch.public_keys = publics.data();
        batch.secret_keys = secrets.data();
        batch.ciphertexts = ciphertexts.data();
        batch.shared_secrets =
            operation == KemOperation::decapsulate ? received.data() : sent.data();
        return engine.kem(operation, set.name, batch, fixed_random);
    }
    void clear() const {
        for (const Host* one : {&publics, &secrets, &ciphertexts, &sent, &received}) one->clear();
    }
};

Text text_of(const Host& host, size_t bytes) { return Text(host.data(), host.data() + bytes); }

void nothing_is_left_of_host_batches(const warpseal::KemSet& set) {
    const auto one = engine();
    {
        const HostBatch first(false, 5000, set);
        ASSERT_EQ(first.run(*one, KemOperation::keypair), WARPSEAL_OK);  // and runs the self-tests
    }
    for (const bool pinned : {false, true}) {
        watch_allocations();
        {
            const HostBatch batch(pinned, 5000, set);
            for (const KemOperation operation :
                 {KemOperation::keypair, KemOperation::encapsulate, KemOperation::decapsulate})
                ASSERT_EQ(batch.run(*one, operation), WARPSEAL_OK);
            EXPECT_TRUE(
                batch.received.holds(text_of(batch.sent, batch.many * set.shared_secret_bytes())));
            batch.clear();
        }
        const Leftovers seen = leftovers();
        EXPECT_GE(seen.kept, 1u);
        EXPECT_EQ(seen.kept_not_zeroized, 0u) << "of " << seen.kept;
        EXPECT_GE(seen.freed, 1u);
        EXPECT_EQ(seen.freed_unwiped, 0u) << "of " << seen.freed;
    }
}

TEST_F(KemLeftover, OfHostBatches) {
    for (const warpseal::KemSet* set : one_of_each) {
        SCOPED_TRACE(set->name);
        nothing_is_left_of_host_batches(*set);
        if (HasFatalFailure()) return;
    }
}

class KemWithoutScratch : public OnGpuOnce {};

// Repeats the first half of a batch with less memory: the same output, without help from the cores.
void smaller_chunks_are_the_same(const warpseal::KemSet& set) {
    tests::Random random(573);
    Batch batch(set, random);
    const auto one = engine();
    warpseal_kem_batch drawn = batch.at(batch.sent);
    drawn.coins = nullptr;
    ASSERT_EQ(one->kem_device(KemOperation::keypair, set.name, drawn, fixed_random, nullptr),
              WARPSEAL_OK);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const Text publics = batch.publics.get(), secrets = batch.secrets.get();
    batch.clear();
    refuse_next_scratch();
    ASSERT_EQ(one->kem_device(KemOperation::keypair, set.name, drawn, fixed_random, nullptr),
              WARPSEAL_OK);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_TRUE(refused_scratch());
    EXPECT_EQ(batch.publics.get(), publics);
    EXPECT_EQ(batch.secrets.get(), secrets);
}

TEST_F(KemWithoutScratch, SmallerChunks) {
    for (const warpseal::KemSet* set : one_of_each) {
        SCOPED_TRACE(set->name);
        smaller_chunks_are_the_same(*set);
        if (HasFatalFailure()) return;
    }
}

TEST_F(KemWithoutScratch, FewerCoinsOfAHostsBatch) {
    std::atomic<int> notices{0};
    const auto one = engine([&](const char*) { ++notices; });
    const HostBatch right(false), batch(false);
    ASSERT_EQ(right.run(*one, KemOperation::keypair), WARPSEAL_OK);
    refuse_next_scratch();
    ASSERT_EQ(batch.run(*one, KemOperation::keypair), WARPSEAL_OK);
    EXPECT_TRUE(refused_scratch());
    EXPECT_EQ(notices, 0);
    EXPECT_TRUE(
        batch.secrets.holds(text_of(right.secrets, right.many * right.set.secret_key_bytes())));
}

class KemFailure : public OnGpuOnce {};

// Runs in a process of its own: the context dies during a host batch whose first items are done.
// The cores compute the rest with the coins that the GPU would have drawn.
void context_dies(KemOperation operation) {
    constexpr uint64_t many = 300'000;
    tests::Random random(574);
    Key key("aes-256", random);
    const Text iv = random.text(16);
    Memory somewhere(1 << 20);
    ASSERT_EQ(
        backend().sweep_device(device, key.cipher, key.state(), WARPSEAL_CTR, Direction::encrypt,
                               iv.data(), somewhere.data(), somewhere.data(), 1 << 20, nullptr),
        WARPSEAL_OK);  // loads the kernel that kills the context
    std::atomic<int> notices{0};
    const auto one = engine([&](const char*) { ++notices; }, 0);
    const HostBatch batch(false, many);
    for (const KemOperation each :
         {KemOperation::keypair, KemOperation::encapsulate, KemOperation::decapsulate})
        ASSERT_EQ(batch.run(*one, each), WARPSEAL_OK);
    const Host& out = operation == KemOperation::keypair       ? batch.secrets
                      : operation == KemOperation::encapsulate ? batch.sent
                                                               : batch.received;
    const Text right = text_of(
        out, many * (operation == KemOperation::keypair ? batch.set.secret_key_bytes() : 32));
    out.clear();
    std::atomic_ref<uint8_t> first(
        out.data()[std::find_if(right.begin(), right.end(), [](uint8_t x) { return x != 0; }) -
                   right.begin()]);
    std::thread poisoner([&] {
        while (first == 0) std::this_thread::yield();
        poison(key, iv);
    });
    EXPECT_EQ(batch.run(*one, operation), WARPSEAL_OK);
    poisoner.join();
    EXPECT_TRUE(backend().lost());
    EXPECT_EQ(notices, 1);
    EXPECT_TRUE(out.holds(right));
    std::printf("finished on the cores\n");
}
TEST_F(KemFailure, DISABLED_KeysInFlight) { context_dies(KemOperation::keypair); }
TEST_F(KemFailure, DISABLED_EncapsulationInFlight) { context_dies(KemOperation::encapsulate); }
TEST_F(KemFailure, DISABLED_DecapsulationInFlight) { context_dies(KemOperation::decapsulate); }

TEST_F(KemFailure, StickyErrorInAChildProcess) {
    for (const char* test : {"KeysInFlight", "EncapsulationInFlight", "DecapsulationInFlight"})
        passes_alone(std::string("KemFailure.DISABLED_") + test, "finished on the cores");
}

}  // namespace

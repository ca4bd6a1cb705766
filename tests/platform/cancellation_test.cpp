// pthread_cancel(3) of threads inside a call: the call completes as usual, and the thread ends
// after it.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "support/targets.h"
#include "warpseal/batcher.h"
#include "warpseal/kem.h"

namespace {

using targets::EngineHandle;
using targets::KeyHandle;
using vectors::Text;

constexpr const char* set = "ntruhps2048509";
constexpr size_t most_threads = 8, rounds = 12, largest_field = 1024;

struct BatcherFreed {
    void operator()(warpseal_kem_batcher* batcher) const { warpseal_kem_batcher_destroy(batcher); }
};
struct PoolFreed {
    void operator()(warpseal_kem_pool* pool) const { warpseal_kem_pool_destroy(pool); }
};

// State shared by all threads.
struct Shared {
    EngineHandle engine = targets::engine("cpu", 4);
    KeyHandle key = targets::key(engine, "aes-256", Text(32, 1));
    // Slow enough for its threads to wait for each other.
    EngineHandle slow_engine = targets::engine("portable", 4);
    KeyHandle slow_key = targets::key(slow_engine, "aes-256", Text(32, 1));
    std::unique_ptr<warpseal_kem_batcher, BatcherFreed> batcher;
    std::unique_ptr<warpseal_kem_pool, PoolFreed> pool;

    Shared() {
        warpseal_kem_batcher* made = nullptr;
        EXPECT_EQ(warpseal_kem_batcher_create(engine.get(), nullptr, &made), WARPSEAL_OK);
        batcher.reset(made);
        warpseal_kem_pool* pairs = nullptr;
        EXPECT_EQ(warpseal_kem_pool_create(engine.get(), set, 256, &pairs), WARPSEAL_OK);
        pool.reset(pairs);
    }
};

// Memory of one thread, which outlives it.
struct ThreadMemory {
    Shared* shared = nullptr;
    warpseal_status (*call)(ThreadMemory&) = nullptr;
    std::atomic<warpseal_status> failure{WARPSEAL_OK};
    std::atomic<uint64_t> calls{0};
    Text in = Text(8 << 20, 5), out = Text(8 << 20), public_key = Text(64 * largest_field),
         secret_key = Text(64 * largest_field);
};

warpseal_status large_message(ThreadMemory& thread_memory) {
    const uint8_t iv[16] = {1};
    return warpseal_encrypt(thread_memory.shared->slow_key.get(), WARPSEAL_CTR, iv, 16,
                            thread_memory.in.data(), thread_memory.out.data(), 1 << 20);
}

warpseal_status drawn_iv(ThreadMemory& thread_memory) {
    uint8_t iv[12], tag[16];
    return warpseal_seal(thread_memory.shared->key.get(), WARPSEAL_GCM, iv, nullptr, 0,
                         thread_memory.in.data(), thread_memory.out.data(), 64, tag, 16);
}

warpseal_status first_use(ThreadMemory& thread_memory) {
    const EngineHandle engine = targets::engine("cpu", 2);
    const KeyHandle key = targets::key(engine, "seed-128", Text(16, 1));
    const uint8_t iv[16] = {1};
    return warpseal_encrypt(key.get(), WARPSEAL_OFB, iv, 16, thread_memory.in.data(),
                            thread_memory.out.data(), 4096);
}

warpseal_status host_memory(ThreadMemory& thread_memory) {
    void* memory = nullptr;
    const warpseal_status status =
        warpseal_host_alloc(thread_memory.shared->engine.get(), 1 << 20, &memory);
    warpseal_host_free(thread_memory.shared->engine.get(), memory);
    return status;
}

warpseal_status key_pairs(ThreadMemory& thread_memory) {
    warpseal_kem_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.count = 64;
    batch.public_keys = thread_memory.public_key.data(), batch.public_key_stride = largest_field;
    batch.secret_keys = thread_memory.secret_key.data(), batch.secret_key_stride = largest_field;
    return warpseal_kem_keypair(thread_memory.shared->engine.get(), set, &batch);
}

warpseal_kem_request request_of(ThreadMemory& thread_memory) {
    warpseal_kem_request request = {};
    request.struct_bytes = sizeof request;
    request.operation = WARPSEAL_KEM_KEYPAIR;
    request.set = set;
    request.public_key = thread_memory.public_key.data(),
    request.secret_key = thread_memory.secret_key.data();
    return request;
}

warpseal_status batcher_run(ThreadMemory& thread_memory) {
    const warpseal_kem_request request = request_of(thread_memory);
    return warpseal_kem_batcher_run(thread_memory.shared->batcher.get(), &request);
}

warpseal_status pool_acquire(ThreadMemory& thread_memory) {
    uint64_t handles[16];
    const warpseal_status status =
        warpseal_kem_pool_acquire(thread_memory.shared->pool.get(), 16,
                                  thread_memory.public_key.data(), largest_field, handles);
    if (status == WARPSEAL_OK)
        warpseal_kem_pool_release(thread_memory.shared->pool.get(), 16, handles);
    return status;
}

// write(2) and close(2) are cancellation points of their own.
class CancellationDisabled {
public:
    CancellationDisabled() { (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~CancellationDisabled() { (void)pthread_setcancelstate(before_, nullptr); }
    CancellationDisabled(const CancellationDisabled&) = delete;
    CancellationDisabled& operator=(const CancellationDisabled&) = delete;

private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

class File {
public:
    File() = default;
    ~File() {
        const CancellationDisabled disabled;
        (void)close(descriptor);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    bool has(const uint8_t* bytes, size_t count) const {
        const CancellationDisabled disabled;
        return write(descriptor, bytes, count) == static_cast<ssize_t>(count) &&
               lseek(descriptor, 0, SEEK_SET) == 0;
    }
    const int descriptor = memfd_create("", 0);
};

warpseal_status file_seal(ThreadMemory& thread_memory) {
    const File plain, sealed;
    if (!plain.has(thread_memory.in.data(), 1 << 20)) return WARPSEAL_IO;
    const warpseal_secret secret = {WARPSEAL_SECRET_KEY, thread_memory.in.data(), 32};
    warpseal_file_options options = {};
    options.struct_bytes = sizeof options;
    options.secrets = &secret, options.secret_count = 1;
    warpseal_file_result result = {};
    result.struct_bytes = sizeof result;
    return warpseal_file_seal(thread_memory.shared->engine.get(), plain.descriptor,
                              sealed.descriptor, &options, &result);
}

extern "C" void* call_for_ever(void* user) {
    ThreadMemory& thread_memory = *static_cast<ThreadMemory*>(user);
    while (true) {
        const warpseal_status status = thread_memory.call(thread_memory);
        if (status != WARPSEAL_OK) thread_memory.failure = status;
        thread_memory.calls.fetch_add(1);
        pthread_testcancel();
    }
    return nullptr;
}

struct Named {
    const char* name;
    warpseal_status (*call)(ThreadMemory&);
};

class Cancellation : public testing::TestWithParam<Named> {};

TEST_P(Cancellation, TakesEffectAfterTheCall) {
    Shared shared;
    for (size_t round = 0; round < rounds; ++round) {
        // With few threads most waits are for the pool's workers; with many, for each other.
        const size_t threads = round % 2 == 0 ? most_threads : 2;
        std::vector<ThreadMemory> thread_memories(threads);
        std::vector<pthread_t> running(threads);
        for (size_t i = 0; i < threads; ++i) {
            thread_memories[i].shared = &shared;
            thread_memories[i].call = GetParam().call;
            ASSERT_EQ(pthread_create(&running[i], nullptr, call_for_ever, &thread_memories[i]), 0);
        }
        for (size_t i = 0; i < threads; ++i) {  // during some later call
            while (thread_memories[i].calls.load() < 1 + round % 3) std::this_thread::yield();
            std::this_thread::sleep_for(std::chrono::microseconds(137 * i + 211 * round));
            ASSERT_EQ(pthread_cancel(running[i]), 0);
        }
        for (size_t i = 0; i < threads; ++i) {
            void* result = nullptr;
            ASSERT_EQ(pthread_join(running[i], &result), 0);
            ASSERT_EQ(result, PTHREAD_CANCELED);
            ASSERT_EQ(thread_memories[i].failure.load(), WARPSEAL_OK);
        }
    }
    ThreadMemory after;
    after.shared = &shared;
    EXPECT_EQ(GetParam().call(after), WARPSEAL_OK) << "other threads continue";
}

INSTANTIATE_TEST_SUITE_P(
    Calls, Cancellation,
    testing::Values(Named{"large_message", large_message}, Named{"drawn_iv", drawn_iv},
                    Named{"first_use", first_use}, Named{"host_memory", host_memory},
                    Named{"key_pairs", key_pairs}, Named{"batcher_run", batcher_run},
                    Named{"pool_acquire", pool_acquire}, Named{"file_seal", file_seal}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace

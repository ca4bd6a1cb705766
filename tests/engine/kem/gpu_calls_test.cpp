// Key encapsulation through a GPU. For every failing step outputs equal those of the cores alone,
// also for drawn coins.
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "engine/engine_impl.h"
#include "engine/kem/prepared_key.h"
#include "engine/pattern.h"
#include "support/contiguous_batch.h"
#include "support/fake_backend.h"

namespace {

using namespace warpseal;
using tests::Text;

const KemSet& set = kem_sets[0];
// One set of each scheme.
const KemSet& mlkem = kem_sets[kem_set_number("ml-kem-512")];
const KemSet* const one_of_each[] = {&set, &mlkem, &kem_sets[kem_set_number("x25519mlkem768")]};
constexpr KemOperation operations[] = {KemOperation::keypair, KemOperation::encapsulate,
                                       KemOperation::decapsulate};

bool fixed_random(void* out, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i)
        static_cast<uint8_t*>(out)[i] = static_cast<uint8_t>(11 * i + 1);
    // A counter that carries into its upper half within the call.
    if (bytes == 48) std::memset(static_cast<uint8_t*>(out) + 40, 0xff, 7);
    return true;
}
bool no_random(void*, size_t) { return false; }

// Records as many measurements of this rate (items per second) as the model needs.
void learn(KemThroughput& throughput, int number, KemOperation operation, bool gpu, double rate) {
    constexpr double seconds = 1000;  // makes a GPU's latency negligible
    for (int i = 0; i < 3; ++i)
        throughput.note(number, operation, gpu, static_cast<uint64_t>(rate * seconds), seconds);
}

struct World {
    std::vector<std::string> notices;
    std::unique_ptr<Engine> engine;

    World(const char* device, const GpuBackend* backend) {
        EngineOptions options;
        options.device = device;
        options.threads = 2;
        options.cuda = backend;
        options.notice = [this](const char* text) { notices.emplace_back(text); };
        EXPECT_EQ(Engine::create(options, engine), WARPSEAL_OK);
    }
    // From here on a GPU pays for any call that is not very small.
    void make_gpus_fast() {
        for (const KemOperation operation : operations) set_rates(operation, 0.1, 1e9);
    }
    void set_rates(KemOperation operation, double cores, double gpus) {
        learn(engine->impl().kem.throughput, 0, operation, false, cores);
        learn(engine->impl().kem.throughput, 0, operation, true, gpus);
    }
};

// Inputs and outputs of the calls; every item has a key of its own.
struct Items {
    const KemSet* of;
    uint64_t count;
    Text publics, secrets, ciphertexts, shared;
    std::vector<int32_t> statuses;

    explicit Items(uint64_t items, const KemSet& its_set = set)
        : of(&its_set),
          count(items),
          publics(items * its_set.public_key_bytes(), 0xa5),
          secrets(items * its_set.secret_key_bytes(), 0xa5),
          ciphertexts(items * its_set.ciphertext_bytes(), 0xa5),
          shared(items * its_set.shared_secret_bytes(), 0xa5),
          statuses(items, 0x77) {}
    warpseal_kem_batch batch() {
        warpseal_kem_batch out = tests::contiguous_batch(*of, count);
        out.public_keys = publics.data();
        out.secret_keys = secrets.data();
        out.ciphertexts = ciphertexts.data();
        out.shared_secrets = shared.data();
        out.statuses = statuses.data();
        return out;
    }
    bool operator==(const Items&) const = default;
};

// The items before and after each operation, from the cores. From encapsulation on, one in the
// middle is bad: its public key, and ML-KEM's hash in the secret key.
struct Expected {
    Items before[kem_operation_count], after[kem_operation_count];
    warpseal_status status[kem_operation_count];

    explicit Expected(uint64_t count, const KemSet& its_set = set)
        : before{Items(count, its_set), Items(count, its_set), Items(count, its_set)},
          after{Items(count, its_set), Items(count, its_set), Items(count, its_set)} {
        World cores("cpu", nullptr);
        const size_t pk = its_set.public_key_bytes(), sk = its_set.secret_key_bytes(),
                     bad = count / 2;
        for (const KemOperation operation : operations) {
            const int i = static_cast<int>(operation);
            if (i != 0) before[i] = after[i - 1];
            if (i == 1)
                std::fill_n(before[i].publics.begin() + static_cast<long>(bad * pk), pk,
                            uint8_t{0xff});
            if (i == 2 && its_set.mlkem != nullptr) before[i].secrets[(bad + 1) * sk - 33] ^= 1;
            after[i] = before[i];
            status[i] = cores.engine->kem(operation, its_set.name, after[i].batch(), fixed_random);
        }
    }
};

constexpr uint64_t few = 5;

void cores_finish_after_any_failure(const KemSet& of) {
    const Expected expected(few, of);
    EXPECT_EQ(expected.status[1], WARPSEAL_INVALID_ARGUMENT);
    // A hybrid's item in the middle has a ciphertext of zeros, a point of low order.
    EXPECT_EQ(expected.status[2], of.ntru == nullptr ? WARPSEAL_INVALID_ARGUMENT : WARPSEAL_OK);
    struct Failure {
        warpseal_status status;
        bool passing;
        uint64_t every;
    };
    for (const Failure& failure :
         {Failure{WARPSEAL_NO_DEVICE, false, 3}, Failure{WARPSEAL_NO_DEVICE, true, 11},
          Failure{WARPSEAL_OUT_OF_MEMORY, false, 11}})
        for (const KemOperation operation : operations) {
            const int i = static_cast<int>(operation);
            uint64_t steps = 0;
            // Every step of the call itself, and some of the self-test before it.
            for (uint64_t at = 0; at == 0 || at <= steps;
                 at += at == 0 || at + few + 2 > steps ? 1 : failure.every) {
                World world("cuda", tests::fake_backend());
                const uint64_t begin = tests::script().steps;
                tests::script().fail_at = at == 0 ? 0 : begin + at;
                tests::script().failure = failure.status;
                tests::script().passing = failure.passing;
                Items items = expected.before[i];
                EXPECT_EQ(world.engine->kem(operation, of.name, items.batch(), fixed_random),
                          expected.status[i])
                    << "step " << at;
                EXPECT_TRUE(items == expected.after[i]) << "operation " << i << ", step " << at;
                EXPECT_EQ(tests::script().calls_after_lost, 0u);
                EXPECT_EQ(world.notices.size(), at == 0 ? 0u : 1u) << "step " << at;
                EXPECT_EQ(tests::script().live_device_allocations == 0 || tests::script().lost,
                          true);
                if (at == 0) {
                    steps = tests::script().steps - begin;
                    EXPECT_GE(steps, few);
                    EXPECT_EQ(tests::script().zeroized,
                              operation == KemOperation::decapsulate ? 0u : 1u);
                }
            }
        }
}

TEST(KemOnGpu, TheCoresFinishWithTheSameCoinsAfterAnyFailure) {
    for (const KemSet* of : one_of_each) {
        SCOPED_TRACE(of->name);
        cores_finish_after_any_failure(*of);
    }
}

// All items under one prepared key: on the GPU, and on the cores after a step there failed.
void prepared_keys_survive_any_failure(const KemSet& of) {
    const Expected expected(few, of);
    for (const KemKeyKind kind : {KemKeyKind::public_key, KemKeyKind::secret_key}) {
        const KemOperation operation = operation_of(kind);
        const Items& before = expected.before[static_cast<int>(operation)];
        const Bytes key = kind == KemKeyKind::public_key
                              ? Bytes{before.publics.data(), of.public_key_bytes()}
                              : Bytes{before.secrets.data(), of.secret_key_bytes()};
        Items wanted = before;
        warpseal_kem_batch all = wanted.batch();
        all.public_key_stride = all.secret_key_stride = 0;
        World cores("cpu", nullptr);
        // A ciphertext of zeros has a point of low order.
        const warpseal_status status = cores.engine->kem(operation, of.name, all, fixed_random);
        ASSERT_TRUE(status == WARPSEAL_OK || (operation == KemOperation::decapsulate &&
                                              status == WARPSEAL_INVALID_ARGUMENT));
        uint64_t steps = 0;
        for (uint64_t at = 0; at == 0 || at <= steps; at += at == 0 || at + few > steps ? 1 : 7) {
            World world("cuda", tests::fake_backend());
            std::unique_ptr<PreparedKemKey> prepared;
            ASSERT_EQ(PreparedKemKey::create(*world.engine, kind, of.name, key, prepared),
                      WARPSEAL_OK);
            const uint64_t begin = tests::script().steps;
            tests::script().fail_at = at == 0 ? 0 : begin + at;
            tests::script().failure = WARPSEAL_NO_DEVICE;
            Items items = before;
            EXPECT_EQ(prepared->run(items.batch(), fixed_random), status) << "step " << at;
            EXPECT_TRUE(items == wanted) << "step " << at;
            if (at == 0) {
                steps = tests::script().steps - begin;
                EXPECT_GE(steps, few);
            }
        }
    }
}

TEST(KemOnGpu, PreparedKeysGiveTheSameAfterAnyFailure) {
    for (const KemSet* of : one_of_each) {
        SCOPED_TRACE(of->name);
        prepared_keys_survive_any_failure(*of);
    }
}

TEST(KemOnGpu, WithoutRandomNothingIsWritten) {
    World world("cuda", tests::fake_backend());
    Items items(few);
    for (const KemOperation operation : {KemOperation::keypair, KemOperation::encapsulate})
        EXPECT_EQ(world.engine->kem(operation, set.name, items.batch(), no_random),
                  WARPSEAL_NO_RANDOM);
    EXPECT_TRUE(items == Items(few));
}

TEST(KemOnGpu, AWrongGpuIsClosed) {
    for (const KemOperation operation : operations) {
        tests::Script wrong;
        wrong.wrong_kem = 1u << static_cast<int>(operation);
        const Expected expected(40);
        Items items = expected.before[static_cast<int>(operation)];
        {
            World world("cuda", tests::fake_backend(wrong));
            EXPECT_EQ(world.engine->kem(operation, set.name, items.batch(), fixed_random),
                      WARPSEAL_SELF_TEST_FAILED);
            EXPECT_TRUE(items == expected.before[static_cast<int>(operation)]);
            EXPECT_EQ(world.notices.size(), 1u);
        }
        World world("auto", tests::fake_backend(wrong));
        world.make_gpus_fast();
        for (int again = 0; again < 2; ++again) {
            items = expected.before[static_cast<int>(operation)];
            EXPECT_EQ(world.engine->kem(operation, set.name, items.batch(), fixed_random),
                      expected.status[static_cast<int>(operation)]);
            EXPECT_TRUE(items == expected.after[static_cast<int>(operation)]);
        }
        EXPECT_EQ(world.notices.size(), 1u);
    }
}

TEST(KemOnGpu, AutoUsesTheThroughputModel) {
    Items items(40), one(1);
    {
        World world("auto", tests::fake_backend());
        ASSERT_EQ(world.engine->kem(KemOperation::keypair, set.name, items.batch(), fixed_random),
                  WARPSEAL_OK);
        EXPECT_EQ(tests::script().steps, 0u);  // not even opened
    }
    World world("auto", tests::fake_backend());
    world.make_gpus_fast();
    ASSERT_EQ(world.engine->kem(KemOperation::keypair, set.name, items.batch(), fixed_random),
              WARPSEAL_OK);
    EXPECT_GE(tests::script().host_calls, 1u);
    const uint64_t calls = tests::script().host_calls;
    ASSERT_EQ(world.engine->kem(KemOperation::keypair, set.name, one.batch(), fixed_random),
              WARPSEAL_OK);
    EXPECT_EQ(tests::script().host_calls, calls);
}

// Before measurements, a hybrid takes the time of both its halves; X-Wing's decapsulation, that of
// a key pair too. Four cores take a quarter of one core's time, whatever a GPU takes.
TEST(KemOnGpu, FirstEstimates) {
    const auto seconds = [](const char* name, KemOperation operation, bool gpu, unsigned threads) {
        return default_kem_time(kem_set_number(name), operation, gpu, threads).item_seconds;
    };
    for (const KemOperation operation : operations)
        for (const bool gpu : {false, true}) {
            const double both = seconds("x25519", operation, gpu, 4) +
                                seconds("ml-kem-768", operation, gpu, 4),
                         derived = operation == KemOperation::decapsulate
                                       ? seconds("x-wing", KemOperation::keypair, gpu, 4)
                                       : 0;
            EXPECT_DOUBLE_EQ(seconds("x25519mlkem768", operation, gpu, 4), both);
            EXPECT_DOUBLE_EQ(seconds("x-wing", operation, gpu, 4), both + derived);
            for (const KemSet& one : kem_sets) {
                const double single = seconds(one.name, operation, gpu, 1);
                EXPECT_DOUBLE_EQ(seconds(one.name, operation, gpu, 4), gpu ? single : single / 4);
                EXPECT_GT(single, 0);
            }
            EXPECT_NEAR(seconds("ml-kem-1024", operation, gpu, 4),
                        4 * seconds("ml-kem-512", operation, gpu, 4), 1e-12);
        }
}

TEST(KemOnGpu, ThroughputIsLearnt) {
    KemThroughput throughput(4);
    constexpr auto operation = KemOperation::encapsulate;
    EXPECT_FALSE(throughput.gpu_first(2, operation, 100, true));
    EXPECT_TRUE(throughput.gpu_first(2, operation, 1000000, true));
    int calls = 1;  // opening takes longer than some of the calls
    while (!throughput.gpu_first(2, operation, 100000, false) && calls < 100) ++calls;
    EXPECT_GT(calls, 2);
    EXPECT_LT(calls, 10);
    learn(throughput, 2, operation, false, 1e8);
    EXPECT_FALSE(throughput.gpu_first(2, operation, 1000000, true));
    EXPECT_TRUE(
        throughput.gpu_first(1, operation, 1000000, true));  // nothing is known of another set
    learn(throughput, 2, operation, true, 9e8);
    EXPECT_TRUE(throughput.gpu_first(2, operation, 1000000, true));
    EXPECT_FALSE(throughput.gpu_first(2, operation, 10, true));
}

// One call slowed by other load or page faults does not change the choice.
TEST(KemOnGpu, OneSlowCallDoesNotChangeTheChoice) {
    constexpr auto operation = KemOperation::decapsulate;
    for (const bool gpu : {false, true}) {
        KemThroughput throughput(4);
        constexpr uint64_t few = 150,
                           many = 1000000;  // the default rates of the cores and of a GPU
        for (int good = 0; good < 4; ++good) {
            if (good == 0) throughput.note(0, operation, gpu, 1, 10.0);
            EXPECT_EQ(throughput.gpu_first(0, operation, gpu ? many : few, true), gpu) << good;
            throughput.note(0, operation, gpu, gpu ? 40000000 : 1200000, 1.0);
            if (good == 1) throughput.note(0, operation, gpu, 1, 10.0);
        }
    }
}

constexpr uint64_t large = 100000;

// Returns the number of consecutive calls on one side before the other is used.
int calls_before_the_other(KemThroughput& throughput, bool gpu, int most) {
    int calls = 0;
    while (calls < most && throughput.gpu_first(2, KemOperation::encapsulate, large, true) == gpu)
        ++calls;
    return calls;
}

TEST(KemOnGpu, ASlowSideIsTriedAgain) {
    constexpr auto operation = KemOperation::encapsulate;
    for (const bool slow : {false, true}) {
        SCOPED_TRACE(slow ? "the GPU was slow" : "the cores were slow");
        KemThroughput throughput(4);
        learn(throughput, 2, operation, slow, 8e5);
        learn(throughput, 2, operation, !slow, 1e6);
        for (int again = 0; again < 3; ++again) {
            EXPECT_NEAR(calls_before_the_other(throughput, !slow, 1000), 25, 2);
            throughput.note(2, operation, slow, 8000000, 10.0);  // it still is
            throughput.note(2, operation, !slow, 10000000, 10.0);
        }
        for (int small = 0; small < 200; ++small)
            EXPECT_FALSE(throughput.gpu_first(2, operation, 50, true));
        EXPECT_NEAR(calls_before_the_other(throughput, !slow, 1000), 25, 2)
            << "small calls cost little on either side";
        throughput.note(2, operation, slow, 20000000, 10.0);  // no longer
        EXPECT_EQ(calls_before_the_other(throughput, slow, 40), 40);
    }
    // A side slower by more than half is not used.
    KemThroughput throughput(4);
    learn(throughput, 2, operation, false, 1e6);
    learn(throughput, 2, operation, true, 6e5);
    EXPECT_EQ(calls_before_the_other(throughput, false, 1000), 1000);
}

TEST(KemOnGpu, AGpuThatReturnsWorkIsUsedLess) {
    constexpr auto operation = KemOperation::encapsulate;
    for (const bool measured : {false, true}) {
        KemThroughput throughput(4);
        learn(throughput, 2, operation, false, 1e6);
        if (measured) learn(throughput, 2, operation, true, 1e7);
        int asked = 0;
        for (; asked < 100 && throughput.gpu_first(2, operation, large, true); ++asked)
            throughput.handed_back(2, operation, 0, 1e-5);
        EXPECT_GT(asked, 3);  // the failure may be transient
        EXPECT_LT(asked, 20);
        const int calls = calls_before_the_other(throughput, false, 1000);
        EXPECT_GT(calls, 3);
        EXPECT_LT(calls, 51);
        throughput.note(2, operation, true, 10000000, 1.0);
        EXPECT_EQ(calls_before_the_other(throughput, true, 40), 40);
    }
}

TEST(KemOnGpu, AutoAvoidsAGpuThatAlwaysFails) {
    const Expected expected(40);
    constexpr auto operation = KemOperation::decapsulate;
    World world("auto", tests::fake_backend());
    world.set_rates(operation, 50, 5e3);  // a single call pays for opening it
    const auto asked = [&] {
        const uint64_t before = tests::script().host_calls;
        Items items = expected.before[2];
        EXPECT_EQ(world.engine->kem(operation, set.name, items.batch(), fixed_random),
                  expected.status[2]);
        EXPECT_TRUE(items == expected.after[2]);
        return tests::script().host_calls != before;
    };
    EXPECT_TRUE(asked());
    tests::script().fail_device = 0;
    tests::script().fail_device_at = tests::script().steps_of[0] + 1;
    tests::script().passing = true;
    int calls = 0;
    while (calls < 100 && asked()) ++calls;
    EXPECT_GT(calls, 3);
    EXPECT_LT(calls, 30);
}

void several_gpus_share_a_call(const KemSet& of) {
    constexpr uint64_t count = 61;
    const Expected expected(count, of);
    for (const uint64_t fail_at : {uint64_t{0}, uint64_t{3}}) {
        tests::Script several;
        several.device_count = 3;
        World world("cuda:0,1,2", tests::fake_backend(several));
        world.engine->impl().kem.items_for_another_gpu = 10;
        for (const KemOperation operation : operations) {
            const int i = static_cast<int>(operation);
            Items items = expected.before[i];
            EXPECT_EQ(world.engine->kem(operation, of.name, items.batch(), fixed_random),
                      expected.status[i]);
            EXPECT_TRUE(items == expected.after[i]) << "operation " << i;
            for (int device = 0; device < 3; ++device) {
                EXPECT_GE(tests::script().host_calls_of[device], 1u);
                tests::script().host_calls_of[device] = 0;
            }
            if (fail_at == 0 || operation != KemOperation::keypair) continue;
            tests::script().fail_device = 1;  // fails midway, for now
            tests::script().passing = true;
            tests::script().fail_device_at = tests::script().steps_of[1] + fail_at;
            items = expected.before[i];
            EXPECT_EQ(world.engine->kem(operation, of.name, items.batch(), fixed_random),
                      expected.status[i]);
            EXPECT_TRUE(items == expected.after[i]);
            EXPECT_EQ(world.notices.size(), 1u);
            tests::script().fail_device = -1;
        }
    }
}

TEST(KemOnGpu, SeveralGpusShareACall) {
    for (const KemSet* of : one_of_each) {
        SCOPED_TRACE(of->name);
        several_gpus_share_a_call(*of);
    }
}

// Signals are for the program's own threads: threads started by a call block them, and the caller's
// mask does not change.
TEST(KemOnGpu, ThreadsOfACallBlockSignals) {
    static std::thread::id caller;
    static std::atomic<int> others, shielded;
    caller = std::this_thread::get_id();
    tests::Script several;
    several.device_count = 3;
    static GpuBackend backend;
    static const GpuBackend* fake;
    backend = *(fake = tests::fake_backend(several));
    backend.kem_host = [](int device, const CudaKem& kem, KemOperation operation,
                          const warpseal_kem_batch& batch, uint64_t in_flight,
                          const DrawnCoins* coins, uint64_t* done, uint64_t* failed) {
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        if (std::this_thread::get_id() != caller) {
            ++others;
            shielded += sigismember(&mask, SIGTERM);
        }
        return fake->kem_host(device, kem, operation, batch, in_flight, coins, done, failed);
    };
    World world("cuda:0,1,2", &backend);
    world.engine->impl().kem.items_for_another_gpu = 10;
    Items items(61);
    others = shielded = 0;
    EXPECT_EQ(world.engine->kem(KemOperation::keypair, set.name, items.batch(), fixed_random),
              WARPSEAL_OK);
    EXPECT_EQ(others, 2);
    EXPECT_EQ(shielded, 2);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    EXPECT_EQ(sigismember(&mask, SIGTERM), 0);
}

// ---- device memory

// A batch in memory of a fake device.
class DeviceBatch {
public:
    DeviceBatch(const GpuBackend& backend, int device, Items& items)
        : backend_(backend), device_(device), items_(items) {
        for (auto& [at, bytes] : parts()) {
            EXPECT_EQ(backend.device_alloc(device, bytes, &memory_[used_]), WARPSEAL_OK);
            std::memcpy(memory_[used_++], at, bytes);
        }
    }
    ~DeviceBatch() {
        for (void* memory : memory_) backend_.device_free(device_, memory, 0);
    }
    DeviceBatch(const DeviceBatch&) = delete;
    DeviceBatch& operator=(const DeviceBatch&) = delete;
    warpseal_kem_batch batch() const {
        warpseal_kem_batch out = items_.batch();
        out.public_keys = static_cast<uint8_t*>(memory_[0]);
        out.secret_keys = static_cast<uint8_t*>(memory_[1]);
        out.ciphertexts = static_cast<uint8_t*>(memory_[2]);
        out.shared_secrets = static_cast<uint8_t*>(memory_[3]);
        out.statuses = static_cast<int32_t*>(memory_[4]);
        return out;
    }
    void read() {
        size_t i = 0;
        for (auto& [at, bytes] : parts()) std::memcpy(at, memory_[i++], bytes);
    }

private:
    std::array<std::pair<void*, size_t>, 5> parts() {
        return {{{items_.publics.data(), items_.publics.size()},
                 {items_.secrets.data(), items_.secrets.size()},
                 {items_.ciphertexts.data(), items_.ciphertexts.size()},
                 {items_.shared.data(), items_.shared.size()},
                 {items_.statuses.data(), items_.statuses.size() * sizeof(int32_t)}}};
    }
    const GpuBackend& backend_;
    const int device_;
    Items& items_;
    void* memory_[5] = {};
    size_t used_ = 0;
};

void device_memory_of_its_gpu(const KemSet& of) {
    const Expected expected(few, of);
    tests::Script several;
    several.device_count = 3;
    const GpuBackend* backend = tests::fake_backend(several);
    World world("cuda:0,1,2", backend);
    int stream = 0;
    for (const int device : {2, 0, 1})
        for (const KemOperation operation : operations) {
            const int i = static_cast<int>(operation);
            Items items = expected.before[i], elsewhere = items;
            DeviceBatch there(*backend, device, items);
            const bool draws = operation != KemOperation::decapsulate;
            const uint64_t steps = tests::script().steps_of[device],
                           zeroized = tests::script().zeroized;
            ASSERT_EQ(
                world.engine->kem_device(operation, of.name, there.batch(), fixed_random, &stream),
                WARPSEAL_OK);
            EXPECT_EQ(tests::script().last_stream, &stream);
            EXPECT_EQ(tests::script().zeroized - zeroized, draws ? 1u : 0u);
            EXPECT_GT(tests::script().steps_of[device], steps);
            there.read();
            EXPECT_TRUE(items == expected.after[i]) << "operation " << i << ", device " << device;
            // Each array in turn lies on another device, and on the host. Arrays unused by the
            // operation may lie anywhere.
            const DeviceBatch other(*backend, (device + 1) % 3, elsewhere);
            using Batch = warpseal_kem_batch;
            const bool keypair = operation == KemOperation::keypair,
                       decapsulate = operation == KemOperation::decapsulate;
            struct Part {
                const char* name;
                bool used;
                std::function<void(Batch&, const Batch&)> move;
            };
            const Part parts[] = {
                {"public keys", !decapsulate,
                 [](Batch& b, const Batch& from) { b.public_keys = from.public_keys; }},
                {"secret keys", keypair || decapsulate,
                 [](Batch& b, const Batch& from) { b.secret_keys = from.secret_keys; }},
                {"ciphertexts", !keypair,
                 [](Batch& b, const Batch& from) { b.ciphertexts = from.ciphertexts; }},
                {"shared secrets", !keypair,
                 [](Batch& b, const Batch& from) { b.shared_secrets = from.shared_secrets; }},
                {"coins", draws,
                 [](Batch& b, const Batch& from) {
                     b.coins = from.secret_keys;
                 }},  // one for all items
                {"statuses", true,
                 [](Batch& b, const Batch& from) { b.statuses = from.statuses; }}};
            for (const Part& part : parts)
                for (const bool host : {false, true}) {
                    Batch split = there.batch();
                    part.move(split, host ? elsewhere.batch() : other.batch());
                    EXPECT_EQ(
                        world.engine->kem_device(operation, of.name, split, fixed_random, &stream),
                        part.used ? WARPSEAL_INVALID_ARGUMENT : WARPSEAL_OK)
                        << part.name << (host ? " on the host" : " on another GPU")
                        << ", operation " << i;
                }
        }
}

TEST(KemOnGpu, DeviceMemoryOfTheGpuThatHoldsIt) {
    for (const KemSet* of : one_of_each) {
        SCOPED_TRACE(of->name);
        device_memory_of_its_gpu(*of);
    }
}

// Without statuses the outputs are the same, and the call in host memory says that it refused. A
// call in device memory could not say so.
TEST(KemOnGpu, RefusedItemsWithoutStatuses) {
    const Expected expected(few, mlkem);
    const GpuBackend* backend = tests::fake_backend();
    World world("cuda", backend);
    for (const KemOperation operation : operations) {
        const int i = static_cast<int>(operation);
        Items host = expected.before[i], items = host, right = expected.after[i];
        right.statuses = host.statuses;
        warpseal_kem_batch batch = host.batch();
        batch.statuses = nullptr;
        EXPECT_EQ(world.engine->kem(operation, mlkem.name, batch, fixed_random),
                  expected.status[i]);
        EXPECT_TRUE(host == right) << "operation " << i;
        DeviceBatch there(*backend, 0, items);
        batch = there.batch();
        batch.statuses = nullptr;
        const bool keypair = operation == KemOperation::keypair;
        EXPECT_EQ(world.engine->kem_device(operation, mlkem.name, batch, fixed_random, nullptr),
                  keypair ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT);
        there.read();
        EXPECT_TRUE(items == (keypair ? right : expected.before[i]))
            << "operation " << i << " in device memory";
    }
}

TEST(KemOnGpu, DeviceMemoryOfAGpuThatFails) {
    const Expected expected(few);
    const GpuBackend* backend = tests::fake_backend();
    World world("cuda", backend);
    Items items = expected.before[1];
    DeviceBatch there(*backend, 0, items);
    EXPECT_EQ(world.engine->kem_device(KemOperation::encapsulate, set.name, there.batch(),
                                       no_random, nullptr),
              WARPSEAL_NO_RANDOM);
    there.read();
    EXPECT_TRUE(items == expected.before[1]);
    tests::script().fail_at = tests::script().steps + 1;
    tests::script().failure = WARPSEAL_OUT_OF_MEMORY;
    EXPECT_EQ(world.engine->kem_device(KemOperation::encapsulate, set.name, there.batch(),
                                       fixed_random, nullptr),
              WARPSEAL_OUT_OF_MEMORY);
    EXPECT_TRUE(world.notices.empty());
    tests::script().fail_at = tests::script().steps + 1;
    tests::script().failure = WARPSEAL_NO_DEVICE;
    for (int again = 0; again < 2; ++again)
        EXPECT_EQ(world.engine->kem_device(KemOperation::encapsulate, set.name, there.batch(),
                                           fixed_random, nullptr),
                  WARPSEAL_NO_DEVICE);
    EXPECT_EQ(world.notices.size(), 1u);
    EXPECT_EQ(tests::script().calls_after_lost, 0u);
    tests::script().lost = false;  // so that memory may be freed
}

TEST(KemOnGpu, OverlappingStatusesAreRefusedWhereThereAreItems) {
    const GpuBackend* backend = tests::fake_backend();
    World world("cuda", backend);
    Items items(few);
    DeviceBatch there(*backend, 0, items);
    const uint64_t steps = tests::script().steps;
    for (const KemOperation operation : operations) {
        warpseal_kem_batch batch = there.batch();
        for (int across = 1; across < 4; ++across) {
            batch.statuses = reinterpret_cast<int32_t*>(
                reinterpret_cast<uint8_t*>(there.batch().statuses) + across);
            EXPECT_EQ(world.engine->kem_device(operation, set.name, batch, fixed_random, nullptr),
                      WARPSEAL_INVALID_ARGUMENT);
        }
        batch.count = 0;
        EXPECT_EQ(world.engine->kem_device(operation, set.name, batch, no_random, nullptr),
                  WARPSEAL_OK);
    }
    EXPECT_EQ(tests::script().steps, steps);
    there.read();
    EXPECT_TRUE(items == Items(few));
}

// The outputs of one GPU do not validate another's, in either order of testing.
TEST(KemOnGpu, EachGpuIsTestedByItself) {
    static int wrong;
    static const GpuBackend* fake;
    const auto results_of_two = [](World& world, const GpuBackend& backend) {
        for (const int device : {1 - wrong, wrong}) {
            Items items(few);
            std::fill(items.publics.begin(), items.publics.end(), uint8_t{0});
            const DeviceBatch there(backend, device, items);
            EXPECT_EQ(world.engine->kem_device(KemOperation::encapsulate, set.name, there.batch(),
                                               fixed_random, nullptr),
                      device == wrong ? WARPSEAL_SELF_TEST_FAILED : WARPSEAL_OK)
                << device;
        }
        EXPECT_EQ(world.notices.size(), 1u);
    };
    tests::Script two;
    two.device_count = 2;
    for (wrong = 0; wrong < 2; ++wrong) {
        static GpuBackend backends[2];
        GpuBackend& backend = backends[wrong];
        backend = *(fake = tests::fake_backend(two));
        backend.kem_device = [](int device, const CudaKem& kem, KemOperation operation,
                                const warpseal_kem_batch& batch, uint64_t in_flight,
                                const DrawnCoins* coins, void* stream) {
            const warpseal_status status =
                fake->kem_device(device, kem, operation, batch, in_flight, coins, stream);
            if (device == wrong) batch.shared_secrets[0] ^= 1;
            return status;
        };
        World world("cuda:0,1", &backend);
        results_of_two(world, backend);
    }
    // The same for the cipher that draws coins.
    for (wrong = 0; wrong < 2; ++wrong) {
        two.wrong_gpu = wrong;
        two.wrong_device = 1u << (2 * WARPSEAL_CTR + static_cast<int>(Direction::encrypt));
        const GpuBackend* backend = tests::fake_backend(two);
        World world("cuda:0,1", backend);
        results_of_two(world, *backend);
    }
}

TEST(KemOnGpu, AWrongGpuIsClosedForDeviceMemory) {
    tests::Script wrong;
    wrong.wrong_kem = 1u << static_cast<int>(KemOperation::encapsulate);
    const GpuBackend* backend = tests::fake_backend(wrong);
    World world("cuda", backend);
    Items items(few);
    const DeviceBatch there(*backend, 0, items);
    EXPECT_EQ(world.engine->kem_device(KemOperation::encapsulate, set.name, there.batch(),
                                       fixed_random, nullptr),
              WARPSEAL_SELF_TEST_FAILED);
    EXPECT_EQ(world.engine->kem_device(KemOperation::keypair, set.name, there.batch(), fixed_random,
                                       nullptr),
              WARPSEAL_OK);
    EXPECT_EQ(world.notices.size(), 1u);
}

// A backend that records the item counts it is given, and makes wrong keys in large batches.
struct LargeBatchBackend {
    static inline const GpuBackend* fake;
    static inline uint64_t most;
    static inline bool wrong;

    static warpseal_status seen(warpseal_status status, const warpseal_kem_batch& batch,
                                uint64_t in_flight) {
        EXPECT_GE(in_flight, batch.count);
        most = std::max(most, in_flight);
        if (wrong && in_flight > 1000 * batch.count) batch.public_keys[0] ^= 1;
        return status;
    }
    static GpuBackend backend() {
        GpuBackend backend = *(fake = tests::fake_backend());
        backend.kem_device = [](int device, const CudaKem& kem, KemOperation operation,
                                const warpseal_kem_batch& batch, uint64_t in_flight,
                                const DrawnCoins* coins, void* stream) {
            return seen(fake->kem_device(device, kem, operation, batch, in_flight, coins, stream),
                        batch, in_flight);
        };
        backend.kem_host = [](int device, const CudaKem& kem, KemOperation operation,
                              const warpseal_kem_batch& batch, uint64_t in_flight,
                              const DrawnCoins* coins, uint64_t* done, uint64_t* failed) {
            return seen(
                fake->kem_host(device, kem, operation, batch, in_flight, coins, done, failed),
                batch, in_flight);
        };
        return backend;
    }
};

// Large and small batches take different paths, and each has a self-test of its own. A call states
// its item count.
TEST(KemOnGpu, ThePathOfManyIsTestedToo) {
    static GpuBackend backends[2];
    for (const bool device_memory : {false, true})
        for (const bool wrong : {false, true}) {
            GpuBackend& backend = backends[wrong ? 1 : 0];
            backend = LargeBatchBackend::backend();
            LargeBatchBackend::wrong = wrong;
            World world("cuda", &backend);
            Items items(few);
            const DeviceBatch there(backend, 0, items);
            const auto call = [&] {
                LargeBatchBackend::most = 0;
                return device_memory
                           ? world.engine->kem_device(KemOperation::keypair, set.name,
                                                      there.batch(), fixed_random, nullptr)
                           : world.engine->kem(KemOperation::keypair, set.name, items.batch(),
                                               fixed_random);
            };
            const warpseal_status right = wrong ? WARPSEAL_SELF_TEST_FAILED : WARPSEAL_OK;
            EXPECT_EQ(call(), right);
            EXPECT_GT(LargeBatchBackend::most, 1000000u);
            EXPECT_EQ(call(), right);
            EXPECT_EQ(LargeBatchBackend::most, wrong ? 0 : few);
        }
}

}  // namespace

// Random bytes in device memory: on the fake GPU, where any step may fail, and on a real one.
#include "c_api/handles.h"
#include "container/random.h"
#include "engine/drbg/random_generator.h"
#include "generator.h"
#include "support/fake_backend.h"

namespace {

using tests::DrbgHandle;
using tests::filled;
using tests::source;
using tests::Source;
using tests::Text;
using tests::Tree;
using warpseal::Engine;
using warpseal::EngineOptions;
using warpseal::RandomGenerator;

constexpr size_t group = tests::leaves_of_a_request * tests::request_bytes;

// An engine with the fake GPU, a generator, and device memory.
struct Fake {
    explicit Fake(const tests::Script& script = {}, const char* device = "cuda") {
        EngineOptions options;
        options.device = device;
        options.threads = 1;
        options.cuda = tests::fake_backend(script);
        options.notice = [this](const char* text) { notices += text; };
        EXPECT_EQ(Engine::create(options, engine), WARPSEAL_OK);
        EXPECT_EQ(RandomGenerator::create(*engine, {}, warpseal::container::random_bytes, random),
                  WARPSEAL_OK);
    }
    ~Fake() {
        random.reset();
        if (memory != nullptr) engine->device_free(memory);
    }
    uint8_t* allocate(size_t bytes) {
        EXPECT_EQ(engine->device_alloc(bytes, &memory), WARPSEAL_OK);
        std::memset(memory, 0xa5, bytes);
        return static_cast<uint8_t*>(memory);
    }

    std::string notices;
    std::unique_ptr<Engine> engine;
    std::unique_ptr<RandomGenerator> random;
    void* memory = nullptr;
};

class DeviceGenerator : public tests::DrbgTest {
protected:
    void SetUp() override { source = Source::fixed; }
};

// Device memory and host memory are filled alike, in any order of calls and at any address.
TEST_F(DeviceGenerator, IsTheDocumentedConstruction) {
    Fake fake;
    Tree expected;
    constexpr size_t most = 200001;
    uint8_t* const out = fake.allocate(most + 8);
    int stream = 0;
    for (const size_t bytes : {size_t{1}, size_t{65536}, size_t{100}, most, size_t{131072}}) {
        const size_t at = bytes % 8;
        std::memset(out, 0xa5, most + 8);
        ASSERT_EQ(fake.random->fill_device(out + at, bytes, &stream), WARPSEAL_OK);
        EXPECT_EQ(Text(out + at, out + at + bytes), expected.fill(bytes)) << bytes;
        EXPECT_EQ(out[at + bytes], 0xa5);
        EXPECT_EQ(tests::script().last_stream, &stream);
        Text host(bytes);
        ASSERT_EQ(fake.random->fill(host.data(), bytes), WARPSEAL_OK);
        EXPECT_EQ(host, expected.fill(bytes)) << bytes;
    }
    EXPECT_EQ(fake.notices, "");
}

TEST_F(DeviceGenerator, AsksTheRootAgainAfterWhatOneRequestSeeds) {
    Fake fake;
    uint8_t* const out = fake.allocate(group + 40);
    ASSERT_EQ(fake.random->fill_device(out, group + 40, nullptr), WARPSEAL_OK);
    const Text expected = Tree().fill(group + 40);
    EXPECT_TRUE(Text(out, out + group + 40) == expected);
}

TEST_F(DeviceGenerator, ZeroizesTheLaunchesThatHadTheRootKey) {
    Fake fake;
    uint8_t* const out = fake.allocate(100);
    const auto before = tests::script().zeroized;
    ASSERT_EQ(fake.random->fill_device(out, 100, nullptr), WARPSEAL_OK);
    EXPECT_GT(tests::script().zeroized, before);
}

// With several GPUs the call asks which one holds the memory.
TEST_F(DeviceGenerator, RefusesMemoryOfNoGpu) {
    tests::Script script;
    script.device_count = 2;
    Fake fake(script, "cuda:0,1");
    uint8_t byte = 7;
    EXPECT_EQ(fake.random->fill_device(&byte, 1, nullptr), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(fake.random->fill_device(nullptr, 1, nullptr), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(fake.random->fill_device(nullptr, 0, nullptr), WARPSEAL_OK);
    EXPECT_EQ(fake.random->fill_device(&byte, size_t{PTRDIFF_MAX} + 1, nullptr),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(byte, 7);
}

TEST_F(DeviceGenerator, ClosesAGpuThatFailsItsSelfTest) {
    tests::Script script;
    script.wrong_drbg = true;
    Fake fake(script);
    uint8_t* const out = fake.allocate(100);
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(fake.random->fill_device(out, 100, nullptr), WARPSEAL_SELF_TEST_FAILED);
    EXPECT_EQ(Text(out, out + 100), Text(100, 0xa5));
    EXPECT_NE(fake.notices.find("random generator"), std::string::npos) << fake.notices;
}

// Each step refused in turn, once. The call fails or succeeds; the next one succeeds, with bytes
// that no earlier call received.
TEST_F(DeviceGenerator, SurvivesEachFailureThatPasses) {
    source = Source::kernel;
    long steps = 0;
    {
        Fake fake;
        uint8_t* const out = fake.allocate(100);
        const long before = tests::script().steps;
        ASSERT_EQ(fake.random->fill_device(out, 100, nullptr), WARPSEAL_OK);
        steps = tests::script().steps - before;
    }
    ASSERT_GE(steps, 4);  // the self-test of the path and of the generator, and the work
    for (long at = 1; at <= steps; ++at) {
        Fake fake;
        uint8_t* const out = fake.allocate(100);
        tests::script().passing = true;
        tests::script().failure = WARPSEAL_OUT_OF_MEMORY;
        tests::script().fail_at = tests::script().steps + at;
        EXPECT_EQ(fake.random->fill_device(out, 100, nullptr), WARPSEAL_OUT_OF_MEMORY) << at;
        ASSERT_EQ(fake.random->fill_device(out, 100, nullptr), WARPSEAL_OK) << at;
        const Text first(out, out + 100);
        ASSERT_EQ(fake.random->fill_device(out, 100, nullptr), WARPSEAL_OK) << at;
        EXPECT_NE(Text(out, out + 100), first) << at;
    }
}

// A lost GPU ends device memory. Host memory is then filled by the cores.
TEST_F(DeviceGenerator, SaysThatTheGpuIsLost) {
    Fake fake({}, "auto");
    uint8_t* const out = fake.allocate(100);
    ASSERT_EQ(fake.random->fill_device(out, 100, nullptr), WARPSEAL_OK);
    tests::script().failure = WARPSEAL_NO_DEVICE;
    tests::script().fail_at = tests::script().steps + 1;
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(fake.random->fill_device(out, 100, nullptr), WARPSEAL_NO_DEVICE);
    EXPECT_EQ(tests::script().calls_after_lost, 0);
    Text host(100, 0xa5);
    EXPECT_EQ(fake.random->fill(host.data(), host.size()), WARPSEAL_OK);
    EXPECT_NE(host, Text(100, 0xa5));
}

// The GPU fails within a fill of host memory: the cores finish, with the same bytes.
TEST_F(DeviceGenerator, FinishesHostMemoryOnTheCores) {
    const Text expected = Tree().fill(300000);
    for (int at = 1; at <= 4; ++at) {
        Fake fake;
        Text warm(1);
        tests::script().failure = WARPSEAL_OUT_OF_MEMORY;
        tests::script().passing = true;
        tests::script().fail_at = tests::script().steps + at;
        Text host(300000, 0xa5);
        const warpseal_status status = fake.random->fill(host.data(), host.size());
        if (status == WARPSEAL_OK)
            EXPECT_TRUE(host == expected) << at;
        else
            EXPECT_TRUE(host == Text(host.size())) << at;
    }
}

// ---- a real GPU

class DeviceGeneratorOnAGpu : public DeviceGenerator {
protected:
    void SetUp() override {
        DeviceGenerator::SetUp();
        if (const std::string reason = tests::why_not("cuda"); !reason.empty())
            GTEST_SKIP() << "NOT RUN: " << reason;
        engine = targets::engine("cuda", 2, targets::unexpected);
        ASSERT_EQ(warpseal_device_alloc(engine.get(), room, &memory), WARPSEAL_OK);
    }
    ~DeviceGeneratorOnAGpu() override { warpseal_device_free(engine.get(), memory); }
    Text downloaded(size_t at, size_t bytes) const {
        Text out(bytes);
        EXPECT_EQ(warpseal_device_synchronize(engine.get(), nullptr), WARPSEAL_OK);
        EXPECT_EQ(warpseal_device_download(engine.get(), out.data(),
                                           static_cast<uint8_t*>(memory) + at, bytes),
                  WARPSEAL_OK);
        return out;
    }

    static constexpr size_t room = 2 * group + 70001;
    targets::EngineHandle engine;
    void* memory = nullptr;
};

TEST_F(DeviceGeneratorOnAGpu, IsTheDocumentedConstruction) {
    const DrbgHandle drbg = tests::drbg_on(engine);
    Tree expected;
    for (const size_t bytes : {size_t{1}, size_t{16}, size_t{65535}, size_t{65536}, size_t{65537},
                               size_t{5} << 20, group, room - 15}) {
        const size_t at = bytes % 16;
        ASSERT_EQ(warpseal_drbg_fill_device(drbg.get(), static_cast<uint8_t*>(memory) + at, bytes,
                                            nullptr),
                  WARPSEAL_OK);
        const Text wanted = expected.fill(bytes);
        EXPECT_TRUE(downloaded(at, bytes) == wanted) << bytes;
    }
    EXPECT_EQ(filled(drbg, 1 << 20), expected.fill(1 << 20));  // host memory, through the GPU
}

TEST_F(DeviceGeneratorOnAGpu, WritesNothingElse) {
    const DrbgHandle drbg = tests::drbg_on(engine);
    const Text marks(300000, 0x5a);
    ASSERT_EQ(warpseal_device_upload(engine.get(), memory, marks.data(), marks.size()),
              WARPSEAL_OK);
    ASSERT_EQ(warpseal_drbg_fill_device(drbg.get(), static_cast<uint8_t*>(memory) + 1000, 200001,
                                        nullptr),
              WARPSEAL_OK);
    const Text got = downloaded(0, marks.size());
    EXPECT_EQ(Text(got.begin(), got.begin() + 1000), Text(1000, 0x5a));
    EXPECT_EQ(Text(got.begin() + 201001, got.end()), Text(marks.size() - 201001, 0x5a));
}

}  // namespace

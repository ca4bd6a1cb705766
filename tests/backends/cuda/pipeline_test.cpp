// The pipeline for data in host memory: pinned, pageable, in place, several concurrent callers,
// bounded device memory.
#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <thread>

#include "allocations.h"
#include "backends/gpu_backend.h"
#include "host_memory.h"
#include "messages.h"

namespace {

using namespace gpu;

class Pipeline : public OnGpuOnce {};

constexpr size_t sizes[] = {1, 4096, (size_t{1} << 20) + 3, (size_t{16} << 20) + 5,
                            (size_t{70} << 20) + 19};

// Compares with the same sweep in device memory, which sweep_test.cpp compares with the references.
TEST_F(Pipeline, Sweeps) {
    tests::Random random(531);
    const warpseal::CpuCipher* cpu = nullptr;
    for (size_t c = 0; (cpu = warpseal::cpu_cipher_at(c)) != nullptr; ++c) {
        Key key(cpu->name, random);
        const size_t block = key.cipher.block_bytes;
        for (const size_t bytes : sizes) {
            for (int i = 0; i < 6; ++i) {
                const warpseal_mode mode = i == 3       ? WARPSEAL_ECB
                                           : i % 3 == 0 ? WARPSEAL_CTR
                                           : i % 3 == 1 ? WARPSEAL_CBC
                                                        : WARPSEAL_CFB;
                const bool pinned_in = i % 2 == 0, pinned_out = i % 3 == 0, in_place = i >= 4,
                           chained = i % 3 != 0;
                const size_t n =
                    mode == WARPSEAL_ECB || mode == WARPSEAL_CBC ? bytes / block * block : bytes;
                if (n == 0) continue;
                const uint64_t first_block = i == 0 && c % 2 == 0 ? (uint64_t{1} << 59) - 77 : 0;
                const Text in = random.text(n), iv = random.text(block);
                const Memory there(in);
                ASSERT_EQ(key.cipher.sweep[mode][1](key.state(), iv.data(), first_block,
                                                    there.data(), there.data(), n, nullptr),
                          WARPSEAL_OK);
                const Text right = there.get();
                const Host from(n, pinned_in), to(n, pinned_out);
                std::memcpy(from.data(), in.data(), n);
                std::memset(to.data(), 0xa5, n);
                size_t done = 0;
                Text previous(block, 0xa5);
                ASSERT_EQ(backend().sweep_host(device, key.cipher, key.state(), mode,
                                               Direction::decrypt, iv.data(), first_block,
                                               from.data(), in_place ? from.data() : to.data(), n,
                                               &done, chained ? previous.data() : nullptr),
                          WARPSEAL_OK);
                EXPECT_EQ(done, n);
                EXPECT_TRUE((in_place ? from : to).holds(right))
                    << cpu->name << " " << n << " case " << i;
                EXPECT_TRUE(in_place || from.holds(in));
                if (chained && n % block == 0) {
                    EXPECT_EQ(previous, slice(in, n - block, block));
                }
            }
        }
    }
}

// Pageable memory between two registered ranges is not pinned, although both ends are.
TEST_F(Pipeline, MemoryIsPinnedInEveryByte) {
    constexpr size_t page = 4096, pages = 4;
    auto* memory = static_cast<uint8_t*>(
        mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(static_cast<void*>(memory), MAP_FAILED);
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    for (const size_t registered : {0, 2, 3})
        ASSERT_EQ(cudaHostRegister(memory + registered * page, page, cudaHostRegisterPortable),
                  cudaSuccess);
    EXPECT_TRUE(warpseal::gpu_backend()->is_pinned(memory, page));
    EXPECT_TRUE(warpseal::gpu_backend()->is_pinned(memory + 7, page - 7));
    EXPECT_TRUE(warpseal::gpu_backend()->is_pinned(memory + 2 * page, 2 * page));
    EXPECT_TRUE(warpseal::gpu_backend()->is_pinned(memory + 3 * page - 1, 2));
    EXPECT_FALSE(warpseal::gpu_backend()->is_pinned(memory, page + 1));
    EXPECT_FALSE(warpseal::gpu_backend()->is_pinned(memory + page, page));
    EXPECT_FALSE(warpseal::gpu_backend()->is_pinned(memory, 3 * page));
    EXPECT_FALSE(warpseal::gpu_backend()->is_pinned(memory + 2 * page - 1, 2));
    EXPECT_FALSE(warpseal::gpu_backend()->is_pinned(memory, 0));
    const Host allocated(3 << 20, true);
    EXPECT_TRUE(warpseal::gpu_backend()->is_pinned(allocated.data(), 3 << 20));
    for (const size_t registered : {0, 2, 3})
        EXPECT_EQ(cudaHostUnregister(memory + registered * page), cudaSuccess);
    EXPECT_EQ(munmap(memory, pages * page), 0);
}

TEST_F(Pipeline, DataUnits) {
    tests::Random random(536);
    for (const char* name : names) {
        Key data(name, random), tweak(name, random);
        for (const size_t unit :
             {size_t{4096}, size_t{5001}, size_t{16}, size_t{3} << 20, size_t{16} << 20}) {
            for (const bool pinned : {true, false}) {
                const size_t bytes = (size_t{35} << 20) / unit * unit + (pinned ? 0 : 16);
                warpseal::XtsUnits units{};
                std::fill(units.first, units.first + 3, uint8_t{0xff});
                units.unit_bytes = unit;
                const Text in = random.text(bytes);
                const Memory there(in);
                ASSERT_EQ(data.cipher.xts[0](data.state(), tweak.state(), units, there.data(),
                                             there.data(), bytes, nullptr),
                          WARPSEAL_OK);
                const Host text(bytes, pinned);
                std::memcpy(text.data(), in.data(), bytes);
                size_t done = 0;
                ASSERT_EQ(backend().xts_host(device, data.cipher, data.state(), tweak.state(),
                                             Direction::encrypt, units, text.data(), text.data(),
                                             bytes, &done),
                          WARPSEAL_OK);
                EXPECT_EQ(done, bytes);
                EXPECT_TRUE(text.holds(there.get())) << name << " unit " << unit;
            }
        }
    }
}

TEST_F(Pipeline, GcmInSegments) {
    tests::Random random(532);
    for (const size_t bytes : sizes) {
        for (int i = 0; i < 4; ++i) {
            Key key(names[i % 3], random);
            const warpseal::CpuCipher& cpu =
                *warpseal::cpu_cipher(warpseal::Target::portable, key.cipher.name);
            std::vector<uint8_t> memory(cpu.state_bytes + 64);
            void* cpu_state =
                memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64);
            cpu.expand(cpu_state, key.bytes.data());
            const bool seal = i % 2 == 0, pinned = i < 2;
            const Text iv = random.text(12), aad = random.text(20), text = random.text(bytes);
            Text tag, right = oracle::run(key.mode("gcm"), true, key.bytes, iv, aad, text, &tag);
            const Text& in = seal ? text : right;
            const Host from(bytes, pinned), to(bytes, pinned);
            std::memcpy(from.data(), in.data(), bytes);
            warpseal::GcmState run{};
            cpu.gcm_begin(cpu_state, iv.data(), iv.size(), aad.data(), aad.size(), &run);
            const size_t first = bytes / 3 / 16 * 16;
            const bool as_long = i == 1 || i == 2;
            const AnyLength length(
                as_long);  // as segments long enough for the kernels of long texts
            if (as_long && bytes > 4096 && has_ghash()) refuse_next_scratch();  // for one of them
            for (const auto& [begin, end] : {std::pair<size_t, size_t>{0, first}, {first, bytes}}) {
                size_t done = 0;
                ASSERT_EQ(backend().gcm_host(device, key.cipher, key.state(),
                                             seal ? Direction::encrypt : Direction::decrypt, &run,
                                             begin / 16, from.data() + begin, to.data() + begin,
                                             end - begin, &done),
                          WARPSEAL_OK);
                EXPECT_EQ(done, end - begin);
            }
            uint8_t got[16];
            cpu.gcm_finish(cpu_state, &run, aad.size(), bytes, got);
            EXPECT_TRUE(refused_scratch());
            EXPECT_EQ(Text(got, got + 16), tag) << bytes;
            EXPECT_TRUE(to.holds(seal ? right : text)) << bytes;
        }
    }
}

void batch_case(const BatchSpec& spec, Key& key, Direction direction, bool pinned,
                tests::Random& random) {
    const Messages messages(spec, key, direction, random);
    const Host image(messages.image.size(), pinned);
    std::memcpy(image.data(), messages.image.data(), messages.image.size());
    uint64_t done = 0, refused = 0;
    ASSERT_EQ(
        backend().batch_host(device, key.cipher, spec.own_keys ? nullptr : key.state(), spec.mode,
                             direction, messages.at(image.data()).batch, &done, &refused),
        WARPSEAL_OK);
    EXPECT_EQ(done, spec.count);
    EXPECT_EQ(refused, messages.refused);
    EXPECT_EQ(cudaPeekAtLastError(),
              cudaSuccess);  // "not ready" does not remain as the caller's next error
    EXPECT_TRUE(image.holds(messages.right()))
        << "count " << spec.count << " bytes " << spec.bytes << " pinned " << pinned;
}

TEST_F(Pipeline, Batches) {
    tests::Random random(533);
    const warpseal::CpuCipher* cpu = nullptr;
    for (size_t c = 0; (cpu = warpseal::cpu_cipher_at(c)) != nullptr; ++c) {
        for (int i = 0; i < 20; ++i) {
            Key key(cpu->name, random);
            BatchSpec spec = random_spec(random, key.cipher, 3000);
            spec.places = Places::strides;
            batch_case(spec, key, i % 2 == 0 ? Direction::encrypt : Direction::decrypt, i % 4 < 2,
                       random);
            if (HasFatalFailure()) return;
        }
    }
}

// Several slots of rows that are copied directly; and single messages larger than a slot.
TEST_F(Pipeline, LargeBatches) {
    tests::Random random(534);
    Key key("aes-256", random);
    for (const bool pinned : {true, false}) {
        for (int i = 0; i < 8; ++i) {
            const bool longer = i % 2 == 1, opens = i >= 4;
            BatchSpec spec;
            spec.bytes = longer ? (size_t{20} << 20) + 3 : 16384;
            spec.count = longer ? 2 : 3000;
            spec.aad_bytes = i % 3 == 1 ? 7 : 0;
            spec.apart = i % 3 == 2 ? 4 : 0;
            spec.statuses = i % 4 != 3;
            spec.in_place = i / 2 % 2 == 1;
            spec.spoil_every = 3;
            batch_case(spec, key, opens ? Direction::decrypt : Direction::encrypt, pinned, random);
            if (HasFatalFailure()) return;
        }
    }
}

// More tags and statuses than one staging copy holds.
TEST_F(Pipeline, ManyShortMessages) {
    tests::Random random(537);
    Key key("aes-128", random);
    BatchSpec spec;
    spec.mode = WARPSEAL_CMAC;
    spec.iv_bytes = 0;
    spec.bytes = 16;
    spec.count = 20000;
    spec.spoil_every = 3;
    for (const Direction direction : {Direction::encrypt, Direction::decrypt})
        batch_case(spec, key, direction, true, random);
}

// A capture by another thread and calls on host memory do not affect each other.
TEST_F(Pipeline, WhileAnotherThreadCaptures) {
    tests::Random random(538);
    Key key("aes-128", random);
    BatchSpec spec;
    spec.bytes = 16384;
    spec.count = 2000;
    spec.spoil_every = 3;
    for (const bool pinned : {true, false}) {
        const Messages messages(spec, key, Direction::decrypt, random);
        const Host image(messages.image.size(), pinned);
        std::memcpy(image.data(), messages.image.data(), messages.image.size());
        cudaStream_t stream = nullptr;
        cudaGraph_t graph = nullptr;
        ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
        ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
        warpseal_status status = WARPSEAL_NO_DEVICE;
        uint64_t done = 0, refused = 0;
        std::thread([&] {
            status =
                backend().batch_host(device, key.cipher, key.state(), spec.mode, Direction::decrypt,
                                     messages.at(image.data()).batch, &done, &refused);
        }).join();
        EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess) << pinned;
        EXPECT_EQ(status, WARPSEAL_OK) << pinned;
        EXPECT_EQ(refused, messages.refused);
        EXPECT_TRUE(image.holds(messages.right()));
        EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
        EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    }
}

TEST_F(Pipeline, ManyCallersAtOnce) {
    std::vector<std::thread> callers;
    for (int c = 0; c < 12; ++c) {
        callers.emplace_back([c] {
            tests::Random random(540 + static_cast<uint64_t>(c));
            Key key(names[c % 3], random);
            for (int i = 0; i < 6; ++i) {
                BatchSpec spec;
                spec.bytes = c == 0 ? size_t{17} << 20 : 16384;
                spec.count = c == 0 ? 1 : 1 + random.below(400);
                spec.in_place = c % 2 == 0;
                spec.spoil_every = 7;
                batch_case(spec, key, (i + c) % 2 == 0 ? Direction::encrypt : Direction::decrypt,
                           c % 3 == 0, random);
            }
        });
    }
    for (std::thread& caller : callers) caller.join();
}

// Device memory kept between calls is bounded and zeroized: memory allocated now is zero or was
// never ours.
TEST_F(Pipeline, DeviceMemoryIsBounded) {
    size_t free_before = 0, free_after = 0, total = 0;
    ASSERT_EQ(cudaMemGetInfo(&free_before, &total), cudaSuccess);
    tests::Random random(535);
    Key key("aes-128", random);
    const size_t bytes = size_t{300} << 20;
    const Host from(bytes, true), to(bytes, true);
    std::memset(from.data(), 0x3c, bytes);
    const Text iv = random.text(16);
    size_t done = 0;
    ASSERT_EQ(
        backend().sweep_host(device, key.cipher, key.state(), WARPSEAL_CTR, Direction::encrypt,
                             iv.data(), 0, from.data(), to.data(), bytes, &done, nullptr),
        WARPSEAL_OK);
    // With scratch.
    const Host rest(bytes, true);
    const warpseal::XtsUnits units{{1}, 4096};
    ASSERT_EQ(backend().xts_host(device, key.cipher, key.state(), key.state(), Direction::encrypt,
                                 units, from.data(), rest.data(), bytes, &done),
              WARPSEAL_OK);
    warpseal::GcmState run{};
    ASSERT_EQ(backend().gcm_host(device, key.cipher, key.state(), Direction::encrypt, &run, 0,
                                 from.data(), rest.data(), bytes, &done),
              WARPSEAL_OK);
    ASSERT_EQ(cudaMemGetInfo(&free_after, &total), cudaSuccess);
    EXPECT_LE(free_before - std::min(free_before, free_after), size_t{512} << 20);
    const Text some(from.data(), from.data() + 1000);
    EXPECT_TRUE(to.holds(oracle::run("aes-128-ctr", true, key.bytes, iv, {}, some, nullptr)));
}

}  // namespace

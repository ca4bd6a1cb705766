// ML-KEM's device code compiled for the host: its arithmetic on every number, and its kernels in
// warps of fibres as a backend, for the tests of all targets.
#include "support/warp_on_host.h"

#pragma GCC diagnostic push  // nvcc ignores these
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wconversion"
#include "backends/cuda/kem/mlkem/kernels.cuh"
#pragma GCC diagnostic pop

#include <gtest/gtest.h>

#include "reference/mlkem.h"
#include "support/kem_backends.h"
#include "support/random.h"

namespace warpseal::cuda {

extern uint4 shared[size_t{64} << 10];  // the shared memory of a kernel's block: device_code_test

}  // namespace warpseal::cuda

namespace {

using namespace warpseal;
using namespace warpseal::cuda::mlkem;
using warp_on_host::Order;

int residue(int64_t x) { return static_cast<int>((x % q + q) % q); }

// --- arithmetic

template <int d>
void compressions() {
    for (int x = -4095; x <= 4095; ++x)
        ASSERT_EQ(compress<d>(x), static_cast<uint32_t>(reference::MlKem::compress(residue(x), d)))
            << d << " bits of " << x;
    for (int y = 0; y < 1 << d; ++y)
        ASSERT_EQ(decompress<d>(static_cast<uint32_t>(y)), reference::MlKem::decompress(y, d))
            << d << " bits, " << y;
}

TEST(MlKemDeviceCode, CompressesEveryNumberAndBack) {
    compressions<1>();
    compressions<4>();
    compressions<5>();
    compressions<10>();
    compressions<11>();
}

TEST(MlKemDeviceCode, Reduces) {
    const int64_t two_to_32 = residue(int64_t{1} << 32);
    const auto check = [&](int64_t x) {
        const int32_t got = reduce(static_cast<int32_t>(x));
        EXPECT_EQ(residue(-got * two_to_32), residue(x)) << x;
        EXPECT_LE(std::abs(got), 1665) << x;
    };
    for (int64_t x = least_product; x <= most_product; x += 1009) check(x);
    for (int64_t i = 0; i < 100000; ++i)
        for (const int64_t x : {least_product + i, i - 50000, most_product - i}) check(x);
    for (int x = -q; x < q; ++x) {
        EXPECT_EQ(canonical(x), residue(x));
    }
}

TEST(MlKemDeviceCode, MultipliesByEveryFactor) {
    for (int x = 0; x < q; ++x) {
        const uint32_t by = factor(x);
        for (const int32_t a : {-most_factor, -213120, -4992, -1, 0, 1, 1665, 16647, 213120,
                                most_factor, 7 * x, -11 * x}) {
            const int32_t got = multiply(a, by);
            ASSERT_EQ(residue(got), residue(int64_t{a} * x)) << a << " times " << x;
            ASSERT_LE(std::abs(got), 1665);
        }
    }
}

// All bits of two coefficients, in each place.
TEST(MlKemDeviceCode, NoiseOfEveryBits) {
    const auto sum = [](uint32_t bits, int eta) {
        return __builtin_popcount(bits & ((1u << eta) - 1)) - __builtin_popcount(bits >> eta);
    };
    for (uint32_t bits = 0; bits < 256; ++bits)
        for (int place = 0; place < 15; ++place) {
            const uint64_t rest = 0x6b5a3c9d17e482f0 & ~(uint64_t{0xff} << (4 * place)),
                           got = noise_of_width_2(rest | uint64_t{bits} << (4 * place));
            for (int i = 0; i < 2; ++i)
                ASSERT_EQ(static_cast<int>(got >> (4 * (place + i)) & 15) - 2,
                          sum(bits >> (4 * i) & 15, 2));
        }
    for (uint32_t bits = 0; bits < 4096; ++bits)
        for (int place = 0; place < 3; ++place) {
            const uint32_t rest = 0x5ac3e1 & ~(0xfffu << (6 * place)),
                           got = noise_of_width_3(rest | bits << (6 * place));
            for (int i = 0; i < 2; ++i)
                ASSERT_EQ(static_cast<int>(got >> (4 * (place + i)) & 15) - 3,
                          sum(bits >> (6 * i) & 63, 3));
        }
}

TEST(MlKemDeviceCode, PermutesAsTheCoresDo) {
    tests::Random random(7201);
    uint64_t state[25], expected[25];
    for (int i = 0; i < 10; ++i) {
        random.fill(reinterpret_cast<uint8_t*>(state), sizeof state);
        std::copy(state, state + 25, expected);
        cuda::sponge::permute(state);
        kem::keccak_f(expected, kem::keccak::constants.of);
        ASSERT_TRUE(std::equal(state, state + 25, expected));
    }
}

// The transform and back, of the largest numbers and others: each bound holds in 16 bits.
TEST(MlKemDeviceCode, TransformsAndBack) {
    tests::Random random(7202);
    for (int round = 0; round < 4; ++round) {
        std::vector<int32_t> in(2 * n), out(2 * n);
        for (int32_t& x : in)
            x = round == 0   ? most_input
                : round == 1 ? -most_input
                             : static_cast<int32_t>(random.below(2 * most_input)) - most_input;
        alignas(16) int16_t matrices[2][matrix_numbers];
        warp_on_host::warp.run(
            [&] {
                const uint32_t half = threadIdx.x / 16, t = half_lane();
                Coefficients c;
                for (uint32_t j = 0; j < 16; ++j) c[j] = in[n * half + 16 * j + t];
                ntt(c, matrices[half], LaneFactors(forward_factors));
                for (int32_t& x : c) {
                    EXPECT_LE(std::abs(x), most_transformed);
                    x = reduce(x);
                }
                inverse_ntt(c, matrices[half], LaneFactors(backward_factors));
                for (uint32_t j = 0; j < 16; ++j) out[n * half + 16 * j + t] = c[j];
            },
            round % 2 == 0 ? Order::forwards : Order::backwards);
        for (size_t i = 0; i < in.size(); ++i) {
            ASSERT_EQ(residue(out[i]), residue(in[i])) << i;
            ASSERT_LE(std::abs(out[i]), 1665);
        }
    }
}

// --- kernels

template <int k>
class OnHost : public tests::Backend {
public:
    using Backend::Backend, Backend::run;
    uint32_t group(KemOperation) const override { return 32; }
    uint64_t run(KemOperation operation, const warpseal_kem_batch& whole, uint64_t first,
                 uint64_t count) const override {
        const warpseal_kem_batch batch = sub_batch(whole, first, count);
        // Scratch of exactly the requested size, aligned as the engine aligns it.
        const size_t bytes = WorkSpace<k>::bytes(operation, count);
        std::vector<uint64_t> memory(bytes / 8 + 2, 0xa5a5a5a5a5a5a5a5);
        auto* work = reinterpret_cast<uint8_t*>(memory.data());
        work += (16 - reinterpret_cast<uintptr_t>(work) % 16) % 16;
        const Job job = WorkSpace<k>::job(operation, batch, work);
        if (operation == KemOperation::keypair) queue<KemOperation::keypair>(job);
        if (operation == KemOperation::encapsulate) queue<KemOperation::encapsulate>(job);
        if (operation == KemOperation::decapsulate) queue<KemOperation::decapsulate>(job);
        for (size_t i = bytes; work + i < reinterpret_cast<uint8_t*>(memory.data() + memory.size());
             ++i)
            EXPECT_EQ(work[i], 0xa5) << "past the scratch";
        if (batch.statuses == nullptr) return 0;  // nothing says how many
        return static_cast<uint64_t>(
            std::count_if(batch.statuses, batch.statuses + count,
                          [](int32_t status) { return status != WARPSEAL_OK; }));
    }

private:
    static bool shared_is_zero(size_t bytes) {
        const auto* words = reinterpret_cast<const uint64_t*>(cuda::shared);
        return std::all_of(words, words + bytes / 8, [](uint64_t word) { return word == 0; });
    }
    // Runs each kernel in blocks of one warp. Their shared memory holds bytes of others at first,
    // and nothing at the end.
    template <KemOperation operation>
    static void queue(const Job& job) {
        if (job.batch.count == 0) return;
        queue_kernels<k, operation>(job.batch.count, [&](void (*kernel)(Job), uint64_t warps,
                                                         int shared_bytes, int) {
            const auto bytes = static_cast<size_t>(shared_bytes);
            ASSERT_LE(bytes, sizeof cuda::shared);
            for (blockIdx.x = 0; blockIdx.x < warps; ++blockIdx.x) {
                std::fill_n(reinterpret_cast<uint8_t*>(cuda::shared), bytes, uint8_t{0xa5});
                warp_on_host::warp.run([&] { kernel(job); },
                                       blockIdx.x % 2 == 0 ? Order::forwards : Order::backwards);
                EXPECT_TRUE(shared_is_zero(bytes));
            }
            blockIdx.x = 0;
            EXPECT_TRUE(shared_is_zero(sizeof cuda::shared));
        });
    }
};

std::unique_ptr<tests::Backend> on_host(const KemSet& set) {
    switch (set.mlkem->k) {
        case 2: return std::make_unique<OnHost<2>>(set);
        case 3: return std::make_unique<OnHost<3>>(set);
        default: return std::make_unique<OnHost<4>>(set);
    }
}
[[maybe_unused]] const bool offered = [] {
    return tests::makers_of_device_code().emplace(KemScheme::mlkem, on_host).second;
}();

}  // namespace

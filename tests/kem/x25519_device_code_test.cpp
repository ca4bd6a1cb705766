// The device code of X25519 and its hybrids compiled for the host: the field equal to libcrypto's
// big numbers, products equal to the slow reference, and each kernel on strings at any alignment.
// Also a backend for the tests of all targets; its half of ML-KEM runs on the cores.
#include "support/warp_on_host.h"

#pragma GCC diagnostic push  // nvcc ignores these
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wconversion"
#include "backends/cuda/kem/hybrid/combine.cuh"
#include "backends/cuda/kem/hybrid/set.h"
#include "backends/cuda/kem/x25519/products.cuh"
#pragma GCC diagnostic pop

#include <gtest/gtest.h>
#include <openssl/bn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "reference/hybrid.h"
#include "reference/ntru.h"
#include "support/kem_backends.h"
#include "support/random.h"

namespace {

using namespace warpseal;
using namespace warpseal::cuda;
using namespace warpseal::cuda::x25519;
using reference::Text;

constexpr size_t bytes = 32;

Text text_of(const Number& a) {
    Text out(bytes);
    store(out.data(), a);
    return out;
}

// Arithmetic modulo p by libcrypto.
class BigNumbers {
public:
    BigNumbers() {
        EXPECT_EQ(BN_set_bit(p_.get(), 255), 1);
        EXPECT_EQ(BN_sub_word(p_.get(), 19), 1);
    }
    using Operation = int (*)(BIGNUM*, const BIGNUM*, const BIGNUM*, const BIGNUM*, BN_CTX*);
    Text result(Operation operation, const Number& a, const Number& b) {
        set(a_.get(), a);
        set(b_.get(), b);
        EXPECT_EQ(operation(out_.get(), a_.get(), b_.get(), p_.get(), context_.get()), 1);
        return out();
    }
    Text add_a24(const Number& a, const Number& b) {
        set(a_.get(), a);
        set(b_.get(), b);
        EXPECT_EQ(BN_mul_word(b_.get(), 121665), 1);
        EXPECT_EQ(BN_mod_add(out_.get(), a_.get(), b_.get(), p_.get(), context_.get()), 1);
        return out();
    }
    Text reduced(const Number& a) {
        set(a_.get(), a);
        EXPECT_EQ(BN_nnmod(out_.get(), a_.get(), p_.get(), context_.get()), 1);
        return out();
    }
    // Zero for a multiple of p.
    Text inverse(const Number& a) {
        if (reduced(a) == Text(bytes, 0)) return Text(bytes, 0);
        EXPECT_NE(BN_mod_inverse(out_.get(), a_.get(), p_.get(), context_.get()), nullptr);
        return out();
    }

private:
    using Big = std::unique_ptr<BIGNUM, void (*)(BIGNUM*)>;
    static Big big() { return {BN_new(), BN_free}; }
    static void set(BIGNUM* to, const Number& from) {
        const Text text = text_of(from);
        EXPECT_NE(BN_lebin2bn(text.data(), static_cast<int>(bytes), to), nullptr);
    }
    Text out() const {
        Text text(bytes);
        EXPECT_EQ(BN_bn2lebinpad(out_.get(), text.data(), static_cast<int>(bytes)),
                  static_cast<int>(bytes));
        return text;
    }

    Big p_ = big(), a_ = big(), b_ = big(), out_ = big();
    std::unique_ptr<BN_CTX, void (*)(BN_CTX*)> context_{BN_CTX_new(), BN_CTX_free};
};

// Numbers at both sides of 0, p, 2^255, 2 p and 2^256, and of each word's limit.
std::vector<Number> edges() {
    constexpr uint32_t ones = 0xffffffff;
    std::vector<Number> out;
    for (uint32_t k = 0; k <= 40; ++k) {
        out.push_back({{k}});
        out.push_back({{k, 0, 0, 0, 0, 0, 0, 0x80000000}});
        out.push_back({{ones - k, ones, ones, ones, ones, ones, ones, 0x7fffffff}});
        out.push_back({{ones - k, ones, ones, ones, ones, ones, ones, ones}});
    }
    for (int word = 0; word < 8; ++word) {
        Number only{}, below{};
        only.at[word] = ones;
        for (int i = 0; i <= word; ++i) below.at[i] = ones;
        out.push_back(only);
        out.push_back(below);
    }
    return out;
}
// Words at random, or half of them of few values, so that carries run far.
Number random_number(tests::Random& random) {
    static constexpr uint32_t often[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    const bool special = random.one_in(2);
    Number out;
    for (uint32_t& word : out.at)
        word = special && random.one_in(2) ? often[random.below(6)]
                                           : static_cast<uint32_t>(random.next());
    return out;
}

// Every operation on two numbers, as bytes below p.
void expect_right(BigNumbers& right, const Number& a, const Number& b) {
    ASSERT_EQ(text_of(reduced(multiply(a, b))), right.result(BN_mod_mul, a, b));
    ASSERT_EQ(text_of(reduced(add(a, b))), right.result(BN_mod_add, a, b));
    ASSERT_EQ(text_of(reduced(subtract(a, b))), right.result(BN_mod_sub, a, b));
    ASSERT_EQ(text_of(reduced(add_a24(a, b))), right.add_a24(a, b));
}

TEST(X25519DeviceCode, FieldAtItsEdges) {
    BigNumbers right;
    const std::vector<Number> all = edges();
    for (const Number& a : all) {
        ASSERT_EQ(text_of(reduced(a)), right.reduced(a));
        ASSERT_EQ(text_of(reduced(square(a))), right.result(BN_mod_mul, a, a));
        ASSERT_EQ(text_of(reduced(kem::x25519::invert<Field>(a))), right.inverse(a));
        for (const Number& b : all) ASSERT_NO_FATAL_FAILURE(expect_right(right, a, b));
    }
}

TEST(X25519DeviceCode, FieldOnRandomNumbers) {
    BigNumbers right;
    tests::Random random(2601);
    for (int i = 0; i < 100'000; ++i) {
        const Number a = random_number(random), b = random_number(random);
        ASSERT_NO_FATAL_FAILURE(expect_right(right, a, b)) << i;
        ASSERT_EQ(text_of(reduced(square(a))), right.result(BN_mod_mul, a, a)) << i;
    }
}

TEST(X25519DeviceCode, Exchange) {
    Number a = number(1), b = number(2);
    exchange(a, b, 0);
    EXPECT_EQ(text_of(a), text_of(number(1)));
    EXPECT_EQ(text_of(b), text_of(number(2)));
    exchange(a, b, 0xffffffff);
    EXPECT_EQ(text_of(a), text_of(number(2)));
    EXPECT_EQ(text_of(b), text_of(number(1)));
}

const Text base_point = text_of(number(9));

// Scalars with each digit of 16 everywhere, and random ones.
std::vector<Text> scalars() {
    std::vector<Text> out;
    for (int digit = 0; digit < 16; ++digit)
        out.emplace_back(bytes, static_cast<uint8_t>(17 * digit));
    tests::Random random(2602);
    for (int i = 0; i < 60; ++i) out.push_back(random.text(bytes));
    return out;
}
// The edges, with and without the top bit that counts for nothing, points of low order too.
std::vector<Text> points() {
    std::vector<Text> out;
    for (const Number& edge : edges()) out.push_back(text_of(edge));
    // Order 8 (RFC 7748's implementations refuse these two, beside 0, 1 and p - 1).
    for (const char* hex : {"e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
                            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"}) {
        Text point;
        for (int i = 0; i < 64; i += 2)
            point.push_back(static_cast<uint8_t>(std::stoi(std::string(hex + i, 2), nullptr, 16)));
        out.push_back(point);
        point[31] |= 0x80;
        out.push_back(point);
    }
    return out;
}

// ---- kernels, on rows of strings that are not aligned ----

// An array of strings with gaps, which must not change.
class Rows {
public:
    Rows(uint64_t count, size_t item_bytes, size_t gap = 3)
        : count_(count),
          item_bytes_(item_bytes),
          stride_(item_bytes + gap),
          memory_(1 + count * stride_, 0xcc) {}
    explicit Rows(const std::vector<Text>& strings) : Rows(strings.size(), strings[0].size()) {
        for (uint64_t i = 0; i < count_; ++i)
            std::copy(strings[i].begin(), strings[i].end(), at(i));
    }
    Input input() const { return {memory_.data() + 1, stride_}; }
    Output output() { return {memory_.data() + 1, stride_}; }
    Text operator[](uint64_t i) const {
        const uint8_t* const from = memory_.data() + 1 + i * stride_;
        EXPECT_EQ(Text(from + item_bytes_, from + stride_), Text(stride_ - item_bytes_, 0xcc)) << i;
        return Text(from, from + item_bytes_);
    }

private:
    uint8_t* at(uint64_t i) { return memory_.data() + 1 + i * stride_; }
    uint64_t count_;
    size_t item_bytes_;
    uint64_t stride_;
    Text memory_;
};

// Runs every lane, and those of a block that has none of the items.
template <class Job>
void run(void (*kernel)(Job), const Job& job) {
    blockDim.x = 32;
    for (blockIdx.x = 0; blockIdx.x <= job.count / 32 + 1; ++blockIdx.x)
        for (threadIdx.x = 0; threadIdx.x < 32; ++threadIdx.x) kernel(job);
    blockIdx.x = threadIdx.x = 0;
}

TEST(X25519DeviceCode, ProductsEqualTheReference) {
    const std::vector<Text> given = points(), some = scalars();
    std::vector<Text> factors;
    int zeros = 0;
    for (size_t i = 0; i < given.size(); ++i) factors.push_back(some[i % some.size()]);
    const Rows in(factors), of(given);
    Rows out(given.size(), bytes);
    run(multiply_points, {given.size(), in.input(), of.input(), out.output(), {}});
    for (size_t i = 0; i < given.size(); ++i) {
        const Text right = reference::x25519(factors[i], given[i]);
        EXPECT_EQ(out[i], right) << i;
        zeros += right == Text(bytes, 0) ? 1 : 0;
    }
    EXPECT_GE(zeros, 12);
    // In place.
    Rows same(given);
    run(multiply_points, {given.size(), in.input(), same.input(), same.output(), {}});
    for (size_t i = 0; i < given.size(); ++i) EXPECT_EQ(same[i], out[i]) << i;
}

TEST(X25519DeviceCode, MultiplesOfTheBasePoint) {
    const std::vector<Text> factors = scalars();
    const Rows in(factors);
    Rows out(factors.size(), bytes), alone(factors.size(), bytes), copies(factors.size(), bytes);
    run(multiply_base_point, {factors.size(), in.input(), {}, out.output(), copies.output()});
    run(multiply_base_point, {factors.size(), in.input(), {}, alone.output(), {}});
    for (size_t i = 0; i < factors.size(); ++i) {
        EXPECT_EQ(out[i], reference::x25519(factors[i], base_point)) << i;
        EXPECT_EQ(alone[i], out[i]) << i;
        EXPECT_EQ(copies[i], factors[i]) << i;
    }
}

// RFC 7748, section 5.2.
TEST(X25519DeviceCode, AThousandIterations) {
    Number scalar = number(9), point = scalar;
    for (int i = 0; i < 1000; ++i) {
        const Number product = quotient(ladder(clamped(scalar), coordinate(point)));
        point = std::exchange(scalar, product);
    }
    const Number right{{0x9bf54c68, 0x550933a8, 0x56ef0028, 0x3c4d2f6f, 0xc487381c, 0x87e36093,
                        0x4db92e5f, 0x512c5399}};
    EXPECT_EQ(text_of(scalar), text_of(right));
}

TEST(HybridDeviceCode, SeedsOfXWing) {
    tests::Random random(2603);
    std::vector<Text> seeds;
    for (int i = 0; i < 45; ++i) seeds.push_back(random.text(bytes));
    const Rows in(seeds);
    Rows out(seeds.size(), 96), alone(seeds.size(), 96), copies(seeds.size(), bytes);
    run(hybrid::expand_seeds, {seeds.size(), in.input(), out.output(), copies.output()});
    run(hybrid::expand_seeds, {seeds.size(), in.input(), alone.output(), {}});
    for (size_t i = 0; i < seeds.size(); ++i) {
        EXPECT_EQ(out[i], reference::shake256(seeds[i], 96)) << i;
        EXPECT_EQ(alone[i], out[i]) << i;
        EXPECT_EQ(copies[i], seeds[i]) << i;
    }
}

// Items of which some are refused: by ML-KEM, by a zero product, or both.
template <kem::Combiner combiner>
void combined(bool with_ciphertexts, bool with_statuses) {
    constexpr bool with_mlkem = combiner != kem::Combiner::none,
                   is_xwing = combiner == kem::Combiner::xwing;
    constexpr size_t count = 70, text_bytes = with_mlkem ? 1120 : 32,
                     secret_bytes = combiner == kem::Combiner::concatenation ? 64 : 32;
    tests::Random random(2604);
    std::vector<Text> products, mlkem_secrets, texts, keys, begun;
    std::vector<int32_t> mlkem_statuses, statuses(count, 77);
    std::vector<bool> refused;
    for (size_t i = 0; i < count; ++i) {
        const bool zero = i % 5 == 1, bad = with_mlkem && i % 7 == 1;
        products.push_back(zero ? Text(bytes, 0) : random.text(bytes));
        // One bit anywhere makes a product other than zero.
        if (!zero && i % 3 == 0) {
            products[i].assign(bytes, 0);
            products[i][i % bytes] = static_cast<uint8_t>(1 << i % 8);
        }
        mlkem_secrets.push_back(random.text(bytes));
        mlkem_statuses.push_back(bad ? WARPSEAL_INVALID_ARGUMENT : WARPSEAL_OK);
        texts.push_back(random.text(text_bytes));
        keys.push_back(random.text(bytes));
        begun.push_back(mlkem_secrets[i]);
        begun[i].resize(secret_bytes);
        refused.push_back(zero || bad);
    }
    const Rows in(products), theirs(mlkem_secrets), publics(keys);
    Rows out(begun), ciphertexts(texts);
    Input points = ciphertexts.input();
    points.at += text_bytes - bytes;
    run(hybrid::combine_secrets<combiner>,
        {count, in.input(), mlkem_statuses.data(), theirs.input(), points, publics.input(),
         out.output(), with_ciphertexts ? ciphertexts.output() : Output{},
         with_statuses ? statuses.data() : nullptr});
    for (size_t i = 0; i < count; ++i) {
        Text right = with_mlkem ? mlkem_secrets[i] : Text{};
        right.insert(right.end(), products[i].begin(), products[i].end());
        if (is_xwing) {
            right.insert(right.end(), texts[i].end() - bytes, texts[i].end());
            right.insert(right.end(), keys[i].begin(), keys[i].end());
            for (const char letter : {'\\', '.', '/', '/', '^', '\\'})
                right.push_back(static_cast<uint8_t>(letter));
            right = reference::sha3_256(right);
        }
        if (refused[i]) right.assign(secret_bytes, 0);
        EXPECT_EQ(out[i], right) << i;
        EXPECT_EQ(ciphertexts[i], refused[i] && with_ciphertexts ? Text(text_bytes, 0) : texts[i])
            << i;
        EXPECT_EQ(statuses[i], !with_statuses ? 77
                               : refused[i]   ? int32_t{WARPSEAL_INVALID_ARGUMENT}
                                              : int32_t{WARPSEAL_OK})
            << i;
    }
}

TEST(HybridDeviceCode, SecretsAndStatuses) {
    for (const bool with_ciphertexts : {false, true})
        for (const bool with_statuses : {false, true}) {
            combined<kem::Combiner::none>(with_ciphertexts, with_statuses);
            combined<kem::Combiner::concatenation>(with_ciphertexts, with_statuses);
            combined<kem::Combiner::xwing>(with_ciphertexts, with_statuses);
        }
}

// ---- whole calls ----

// Runs each step at once.
struct HostSteps {
    static const CpuKem& cores() { return *cpu_kem(Target::portable, "ml-kem-768"); }

    static warpseal_status multiply(const ProductJob& job, void*) {
        run(job.points.at != nullptr ? multiply_points : multiply_base_point, job);
        return WARPSEAL_OK;
    }
    static warpseal_status expand(const hybrid::ExpandJob& job, void*) {
        run(hybrid::expand_seeds, job);
        return WARPSEAL_OK;
    }
    static warpseal_status combine(kem::Combiner combiner, const hybrid::CombineJob& job, void*) {
        run(combiner == kem::Combiner::none ? hybrid::combine_secrets<kem::Combiner::none>
            : combiner == kem::Combiner::concatenation
                ? hybrid::combine_secrets<kem::Combiner::concatenation>
                : hybrid::combine_secrets<kem::Combiner::xwing>,
            job);
        return WARPSEAL_OK;
    }
    static warpseal_status clear(int32_t* statuses, uint64_t count, void*) {
        std::fill_n(statuses, count, WARPSEAL_OK);
        return WARPSEAL_OK;
    }
    static size_t mlkem_work_bytes(KemOperation operation, uint64_t count) {
        return cores().work_bytes(operation, count);
    }
    static warpseal_status mlkem(KemOperation operation, const warpseal_kem_batch& batch, uint64_t,
                                 void* work, void*) {
        cores().run[static_cast<int>(operation)](batch, 0, batch.count, work);
        return WARPSEAL_OK;
    }
};

template <const kem::HybridParams& hybrid_set>
class OnHost : public tests::Backend {
public:
    using Backend::Backend, Backend::run;
    uint32_t group(KemOperation) const override { return 32; }
    uint64_t run(KemOperation operation, const warpseal_kem_batch& whole, uint64_t first,
                 uint64_t count) const override {
        constexpr CudaKem code = hybrid::cuda_kem_of<hybrid_set, HostSteps>();
        const warpseal_kem_batch batch = sub_batch(whole, first, count);
        // Scratch of exactly the requested size, with a guard behind it.
        const size_t work_bytes = code.work_bytes(operation, count);
        EXPECT_EQ(work_bytes % 64, 0u);
        const tests::Guarded memory(work_bytes);
        uint8_t* const work = memory.at_end(work_bytes);
        std::memset(work, 0xa5, work_bytes);
        EXPECT_EQ(code.run[static_cast<int>(operation)](batch, count, work, nullptr), WARPSEAL_OK);
        if (batch.statuses == nullptr) return 0;  // nothing says how many
        return static_cast<uint64_t>(
            std::count_if(batch.statuses, batch.statuses + count,
                          [](int32_t status) { return status != WARPSEAL_OK; }));
    }
};

std::unique_ptr<tests::Backend> on_host(const KemSet& set) {
    if (set.mlkem_half() == nullptr) return std::make_unique<OnHost<kem::x25519_set>>(set);
    if (set.hybrid->combiner == kem::Combiner::xwing)
        return std::make_unique<OnHost<kem::xwing>>(set);
    return std::make_unique<OnHost<kem::x25519mlkem768>>(set);
}
[[maybe_unused]] const bool offered = [] {
    return tests::makers_of_device_code().emplace(KemScheme::hybrid, on_host).second;
}();

// The first step that fails ends a call, with its status.
struct FailingSteps : HostSteps {
    static inline int left = 0, steps = 0;
    static warpseal_status next() {
        ++steps;
        return left-- > 0 ? WARPSEAL_OK : WARPSEAL_NO_DEVICE;
    }
    static warpseal_status multiply(const ProductJob&, void*) { return next(); }
    static warpseal_status expand(const hybrid::ExpandJob&, void*) { return next(); }
    static warpseal_status combine(kem::Combiner, const hybrid::CombineJob&, void*) {
        return next();
    }
    static warpseal_status clear(int32_t*, uint64_t, void*) { return next(); }
    static warpseal_status mlkem(KemOperation, const warpseal_kem_batch&, uint64_t, void*, void*) {
        return next();
    }
};

template <const kem::HybridParams& params>
void fails_at_each_step(const std::array<int, kem_operation_count>& steps) {
    constexpr CudaKem code = hybrid::cuda_kem_of<params, FailingSteps>();
    int32_t status = 0;
    Text memory(1 << 14);
    warpseal_kem_batch batch{};
    batch.count = 1;
    batch.statuses = &status;
    batch.public_keys = batch.secret_keys = batch.ciphertexts = batch.shared_secrets =
        memory.data();
    batch.coins = memory.data();
    for (int operation = 0; operation < kem_operation_count; ++operation)
        for (int at = 0; at <= steps[static_cast<size_t>(operation)]; ++at) {
            FailingSteps::left = at;
            FailingSteps::steps = 0;
            const bool last = at == steps[static_cast<size_t>(operation)];
            EXPECT_EQ(code.run[operation](batch, 1, memory.data(), nullptr),
                      last ? WARPSEAL_OK : WARPSEAL_NO_DEVICE)
                << params.name << ", operation " << operation << ", step " << at;
            EXPECT_EQ(FailingSteps::steps, last ? at : at + 1);
        }
}

TEST(HybridDeviceCode, AFailedStepEndsACall) {
    fails_at_each_step<kem::x25519_set>({2, 3, 2});
    fails_at_each_step<kem::x25519mlkem768>({2, 4, 3});
    fails_at_each_step<kem::xwing>({3, 4, 6});
}

}  // namespace

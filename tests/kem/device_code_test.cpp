// NTRU's device code compiled for the host: each kernel in a warp of fibres, equal to the
// submission's known answers and to the slow reference.
#include "support/warp_on_host.h"

#pragma GCC diagnostic push  // nvcc ignores these
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wconversion"
#include "backends/cuda/kem/ntru/decapsulate.cuh"
#include "backends/cuda/kem/ntru/encapsulate.cuh"
#include "backends/cuda/kem/ntru/hash.cuh"
#include "backends/cuda/kem/ntru/keypair.cuh"
#pragma GCC diagnostic pop

#include <gtest/gtest.h>

#include "answer_files.h"
#include "reference/ntru.h"
#include "support/contiguous_batch.h"
#include "support/random.h"

namespace warpseal::cuda {

uint4 shared[size_t{64} << 10];  // the shared memory of a kernel's block

namespace ntru {

// PTX ISA, "Matrix fragments for mma.m16n8k32": lane 4 g + t holds bytes 4 t to 4 t + 3, and 16
// more on, of rows g and g + 8 of a and of column g of b; and of the product columns 2 t and 2 t +
// 1 of those rows.
template <Bytes a_kind, Bytes b_kind>
void multiply_tile(int32_t* c, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0,
                   uint32_t b1) {
    const auto* brought = warp_on_host::warp.exchange(a0, a1, a2, a3, b0, b1);
    const uint32_t g = threadIdx.x / 4, t = threadIdx.x % 4;
    const auto byte = [](uint32_t word, uint32_t i, Bytes kind) {
        const auto value = static_cast<uint8_t>(word >> (8 * i));
        return kind == Bytes::integer ? int{static_cast<int8_t>(value)} : int{value};
    };
    for (uint32_t k = 0; k < 4; ++k)
        for (uint32_t m = 0; m < 32; ++m)
            c[k] += byte(brought[4 * g + m % 16 / 4][k / 2 + m / 16 * 2], m % 4, a_kind) *
                    byte(brought[4 * (2 * t + k % 2) + m % 16 / 4][4 + m / 16], m % 4, b_kind);
}

}  // namespace ntru
}  // namespace warpseal::cuda

namespace {

using namespace warpseal;
using namespace warpseal::cuda::ntru;
using cuda::lane_id;
using vectors::Text;
using warp_on_host::Order;

// The product of extreme coefficients: bytes of 255, or of -128.
template <int n, Bytes a_kind, Bytes b_kind>
void product(Order order) {
    using R = Ring<n>;
    std::vector<uint32_t> memory(R::band_bytes / 2);
    auto* bytes = reinterpret_cast<uint8_t*>(memory.data());
    uint8_t *a = band<R>(bytes, 0), *b = band<R>(bytes, 1);
    for (int i = 0; i < n; ++i) {
        a[i] = i % 7 == 0 ? 0x80 : static_cast<uint8_t>(255 - i * i % 3);
        b[i] = i % 5 == 0 ? 0x80 : static_cast<uint8_t>(255 - i * i % 11);
    }
    std::vector<int32_t> got(R::covered);
    warp_on_host::warp.run(
        [&] {
            extend<R>(a);
            extend_factor<R>(b);
            Sums<R> c;
            multiply_add<R, a_kind, b_kind>(c, a, b);
            each_pair<R>([&](int k, int i) { got[i] = c.value[k], got[i + 1] = c.value[k + 1]; });
        },
        order);
    const auto value = [](uint8_t byte, Bytes kind) {
        return kind == Bytes::integer ? int{static_cast<int8_t>(byte)} : int{byte};
    };
    for (int i = 0; i < R::covered; ++i) {
        int64_t sum = 0;
        for (int j = 0; j < n; ++j)
            sum += int64_t{value(a[j], a_kind)} * value(b[(i - j + 2 * n) % n], b_kind);
        ASSERT_EQ(got[i], sum) << "coefficient " << i;
    }
}

template <int n>
void products() {
    for (const Order order : {Order::forwards, Order::backwards}) {
        product<n, Bytes::natural, Bytes::natural>(order);
        product<n, Bytes::integer, Bytes::natural>(order);
        product<n, Bytes::integer, Bytes::integer>(order);
    }
}

TEST(KemDeviceCode, Products) {
    products<509>();
    products<677>();
    products<821>();
    products<1229>();
    products<701>();
    products<1373>();
}

// Sorts all its lanes' registers, with repeated numbers.
template <int registers>
void sorted() {
    std::vector<int32_t> numbers(32 * registers);
    uint32_t x = registers;
    for (int32_t& number : numbers) {
        x = x * 1664525 + 1013904223;
        number = static_cast<int32_t>(x % 3 == 0 ? x & 0xff00000f : x);
    }
    std::vector<int32_t> got(numbers.size());
    warp_on_host::warp.run(
        [&] {
            int32_t mine[registers];
            for (int k = 0; k < registers; ++k) mine[k] = numbers[32 * k + lane_id()];
            sort(mine);
            for (int k = 0; k < registers; ++k) got[registers * lane_id() + k] = mine[k];
        },
        Order::forwards);
    std::sort(numbers.begin(), numbers.end());
    EXPECT_EQ(got, numbers);
}

TEST(KemDeviceCode, Sort) {
    sorted<16>();
    sorted<32>();
    sorted<64>();
}

// Strings at every alignment, next to bytes that must not change.
struct Misaligned {
    Misaligned(size_t size, size_t by)
        : memory(size + 16, 0xcc),
          offset(4 - reinterpret_cast<uintptr_t>(memory.data()) % 4 + by),
          bytes(size) {}
    Misaligned(const Text& text, size_t by) : Misaligned(text.size(), by) {
        std::copy(text.begin(), text.end(), data());
    }
    uint8_t* data() { return memory.data() + offset; }
    Text text() const {
        for (size_t i = 0; i < memory.size(); ++i)
            if (i < offset || i >= offset + bytes) {
                EXPECT_EQ(memory[i], 0xcc) << "byte " << i << " of " << bytes << " at " << offset;
            }
        return Text(memory.begin() + static_cast<long>(offset),
                    memory.begin() + static_cast<long>(offset + bytes));
    }
    Text memory;
    size_t offset, bytes;
};

template <const Params& set>
class OnHost {
public:
    explicit OnHost(size_t misaligned)
        : by_(misaligned % 4), order_(misaligned % 2 == 0 ? Order::forwards : Order::backwards) {}

    // Generates statuses.size() key pairs, inverted in groups. Returns all public keys, then all
    // secret keys.
    Text keypairs(const Text& coins, std::vector<int32_t>& statuses, uint32_t group) {
        const size_t count = statuses.size(), bytes = set.public_key_bytes();
        Misaligned in(coins, by_), pk(count * bytes, by_),
            sk(count * set.secret_key_bytes(), (by_ + 1) % 4);
        warpseal_kem_batch batch = tests::contiguous_batch(set, count);
        batch.statuses = statuses.data();
        batch.coins = in.data();
        batch.coins_stride = set.keypair_coins();
        batch.public_keys = pk.data();
        batch.secret_keys = sk.data();
        std::vector<uint32_t> pairs(count * pair_band_count * pair_band_bytes<Ring<set.n>> / 4),
            usable(count, 77);
        const PairJob job{batch, reinterpret_cast<uint8_t*>(pairs.data()), usable.data(), group};
        for (blockIdx.x = 0; blockIdx.x < count; ++blockIdx.x)
            run([&] { keypair_draw<set.n>(job); });
        for (blockIdx.x = 0; blockIdx.x * group < count; ++blockIdx.x)
            for (blockIdx.y = 0; blockIdx.y < 2; ++blockIdx.y)
                run([&] { keypair_invert<set.n>(job); });
        for (blockIdx.x = blockIdx.y = 0; blockIdx.x < count; ++blockIdx.x)
            run([&] { keypair_write<set.n>(job); });
        blockIdx.x = 0;
        return both(pk.text(), sk.text());
    }
    Text keypair(const Text& coins, int32_t* status) {
        std::vector<int32_t> statuses(1, 77);
        const Text out = keypairs(coins, statuses, 1);
        *status = statuses[0];
        return out;
    }
    Text encapsulate(const Text& coins, const Text& key, int32_t* status) {
        Misaligned in(coins, by_), pk(key, (by_ + 2) % 4),
            ct(set.ciphertext_bytes(), (by_ + 1) % 4), ss(32, by_);
        warpseal_kem_batch batch = one(status);
        batch.coins = in.data();
        batch.public_keys = pk.data();
        batch.ciphertexts = ct.data();
        std::vector<uint64_t> message(Encapsulation<set>::padded_bytes / 8);
        uint32_t valid = 77;
        run([&] {
            cuda::ntru::encapsulate<set.n>(
                {batch, reinterpret_cast<uint8_t*>(message.data()), nullptr, &valid});
        });
        run([&] {
            hash<blocks, 0>(
                {1, reinterpret_cast<uint8_t*>(message.data()), nullptr, &valid, ss.data(), 32});
        });
        return both(ct.text(), ss.text());
    }
    Text decapsulate(const Text& ciphertext, const Text& key) {
        Misaligned ct(ciphertext, by_), sk(key, (by_ + 3) % 4), ss(32, (by_ + 1) % 4);
        int32_t status = 77;
        warpseal_kem_batch batch = one(&status);
        batch.ciphertexts = ct.data();
        batch.secret_keys = sk.data();
        std::vector<uint64_t> message(Decapsulation<set>::padded_bytes / 8),
            other(Decapsulation<set>::rejected_padded_bytes / 8);
        uint32_t valid = 77;
        auto *first = reinterpret_cast<uint8_t*>(message.data()),
             *second = reinterpret_cast<uint8_t*>(other.data());
        run([&] { cuda::ntru::decapsulate<set.n>({batch, first, second, &valid}); });
        run([&] { hash<blocks, other_blocks>({1, first, second, &valid, ss.data(), 32}); });
        EXPECT_EQ(status, WARPSEAL_OK);
        return ss.text();
    }

private:
    static constexpr int blocks = Encapsulation<set>::padded_bytes / keccak::rate;
    static constexpr int other_blocks = Decapsulation<set>::rejected_padded_bytes / keccak::rate;

    static Text both(Text first, const Text& second) {
        first.insert(first.end(), second.begin(), second.end());
        return first;
    }
    static warpseal_kem_batch one(int32_t* status) {
        warpseal_kem_batch batch{};
        batch.count = 1;
        batch.statuses = status;
        return batch;
    }
    // Also checks that nothing is left in shared memory.
    void run(const std::function<void()>& kernel) const {
        warp_on_host::warp.run(kernel, order_);
        const auto* words = reinterpret_cast<const uint64_t*>(cuda::shared);
        EXPECT_TRUE(std::all_of(words, words + sizeof cuda::shared / 8,
                                [](uint64_t word) { return word == 0; }));
    }

    size_t by_;
    Order order_;
};

template <const Params& set>
void answers() {
    const std::string name = set.name;
    const std::vector<tests::Answer> coins = tests::answers(name + "-coins"),
                                     classic = tests::answers(name);
    for (size_t i = 0; i < coins.size(); ++i) {
        OnHost<set> device(i);
        const auto bytes = [&](const char* field) {
            return vectors::from_hex(classic[i].at(field));
        };
        int32_t status = 77;
        EXPECT_EQ(
            device.keypair(vectors::from_hex(coins[i].at("keypair_coins") + coins[i].at("prf_key")),
                           &status),
            vectors::from_hex(classic[i].at("pk") + classic[i].at("sk")));
        EXPECT_EQ(status, WARPSEAL_OK);
        EXPECT_EQ(
            device.encapsulate(vectors::from_hex(coins[i].at("enc_coins")), bytes("pk"), &status),
            vectors::from_hex(classic[i].at("ct") + classic[i].at("ss")));
        EXPECT_EQ(status, WARPSEAL_OK);
    }
    size_t next = 0;
    for (const tests::Answer& answer : tests::answers(name + "-decaps")) {
        if (answer.at("count") != "0") break;  // each kind once
        const Text sk = vectors::from_hex(classic.at(std::stoul(answer.at("count"))).at("sk"));
        EXPECT_EQ(OnHost<set>(next++).decapsulate(vectors::from_hex(answer.at("ct")), sk),
                  vectors::from_hex(answer.at("ss")))
            << answer.at("kind");
    }
    EXPECT_GE(next, 8u);
}

// Groups of three key pairs and one equal the reference, also next to pairs that fail.
template <const Params& set>
void groups() {
    constexpr size_t count = 4, each = set.keypair_coins();
    const reference::Ntru reference_ntru(set.name);
    const Text good = tests::Random(575).text(count * each), none(each, 3);
    const auto append = [](Text& to, const Text& more) {
        to.insert(to.end(), more.begin(), more.end());
    };
    for (const unsigned bad : {0b0010u, 0b0101u, 0b0111u}) {
        Text coins, publics, secrets;
        std::vector<int32_t> expected, statuses(count, 77);
        for (size_t i = 0; i < count; ++i) {
            const bool is_bad = (bad >> i & 1) != 0;
            const auto from = good.begin() + static_cast<long>(i * each);
            const Text own = is_bad ? none : Text(from, from + each);
            const auto keys = reference_ntru.keypair(own);
            ASSERT_EQ(keys.has_value(), !is_bad);
            append(coins, own);
            append(publics, keys ? keys->public_key : Text(set.public_key_bytes()));
            append(secrets, keys ? keys->secret_key : Text(set.secret_key_bytes()));
            expected.push_back(is_bad ? WARPSEAL_INVALID_ARGUMENT : WARPSEAL_OK);
        }
        append(publics, secrets);
        EXPECT_EQ(OnHost<set>(bad).keypairs(coins, statuses, 3), publics);
        EXPECT_EQ(statuses, expected);
    }
}

// Without f there is no key, and a public key with spare bits has no ciphertext.
template <const Params& set>
void refusals() {
    OnHost<set> device(0);
    int32_t status = 77;
    EXPECT_EQ(device.keypair(Text(set.keypair_coins(), 3), &status),
              Text(set.public_key_bytes() + set.secret_key_bytes()));
    EXPECT_EQ(status, WARPSEAL_INVALID_ARGUMENT);
    if (set.spare_bits() == 0) return;
    status = 77;
    EXPECT_EQ(device.encapsulate(Text(set.encapsulation_coins(), 1),
                                 Text(set.public_key_bytes(), 0x80), &status),
              Text(set.ciphertext_bytes() + 32));
    EXPECT_EQ(status, WARPSEAL_INVALID_ARGUMENT);
}

template <const Params& set>
void all() {
    answers<set>();
    refusals<set>();
    groups<set>();
}

TEST(KemDeviceCode, Ntruhps2048509) { all<kem::ntruhps2048509>(); }
TEST(KemDeviceCode, Ntruhps2048677) { all<kem::ntruhps2048677>(); }
TEST(KemDeviceCode, Ntruhps4096821) { all<kem::ntruhps4096821>(); }
TEST(KemDeviceCode, Ntruhps40961229) { all<kem::ntruhps40961229>(); }
TEST(KemDeviceCode, Ntruhrss701) { all<kem::ntruhrss701>(); }
TEST(KemDeviceCode, Ntruhrss1373) { all<kem::ntruhrss1373>(); }

}  // namespace

// P4's NTRU code on the host, by one thread: its operations against src/kem's, and both whole
// operations against the portable target's.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "backends/kem_backend.h"
#include "bench/ladder/keccak_lanes.h"
#include "bench/ladder/ntru.h"
#include "support/random.h"

namespace {

using namespace warpseal;
using namespace warpseal::ladder::ntru;

constexpr OneThread one;

template <const Params& set>
class Items {
public:
    Items()
        : portable_(*cpu_kem(Target::portable, set.name)),
          coins_(set.keypair_coins()),
          public_key(set.public_key_bytes()),
          secret_key(set.secret_key_bytes()),
          ciphertext(set.ciphertext_bytes()),
          secret(Params::shared_secret_bytes) {}

    void on_cores(KemOperation operation, const std::vector<uint8_t>& coins) {
        const warpseal_kem_batch batch{.struct_bytes = sizeof batch,
                                       .reserved = 0,
                                       .count = 1,
                                       .public_keys = public_key.data(),
                                       .public_key_stride = public_key.size(),
                                       .secret_keys = secret_key.data(),
                                       .secret_key_stride = secret_key.size(),
                                       .ciphertexts = ciphertext.data(),
                                       .ciphertext_stride = ciphertext.size(),
                                       .shared_secrets = secret.data(),
                                       .shared_secret_stride = secret.size(),
                                       .coins = coins.data(),
                                       .coins_stride = coins.size(),
                                       .statuses = nullptr};
        std::vector<uint8_t> work(portable_.work_bytes(operation, 1) + 64);
        void* at = work.data();
        size_t room = work.size();
        ASSERT_EQ(portable_.run[static_cast<int>(operation)](batch, 0, 1,
                                                             std::align(64, room - 64, at, room)),
                  0u);
    }
    void make_keys(tests::Random& random) {
        random.fill(coins_.data(), coins_.size());
        on_cores(KemOperation::keypair, coins_);
    }

private:
    const CpuKem& portable_;
    std::vector<uint8_t> coins_;

public:
    std::vector<uint8_t> public_key, secret_key, ciphertext, secret;
};

std::vector<uint8_t> coins_of(uint64_t item, size_t bytes) {
    std::vector<uint8_t> coins(bytes);
    random_bytes(one, coins.data(), bytes, item);
    return coins;
}

template <const Params& set, Sorts sorts, Factor factor, Copying copying = Copying::together>
void expect_encapsulations() {
    tests::Random random(900 + set.n);
    Items<set> items;
    const auto memory = std::make_unique<EncapsulationMemory<set, factor>>();
    for (uint64_t item = 0; item < 4; ++item) {
        items.make_keys(random);
        items.on_cores(KemOperation::encapsulate, coins_of(item, set.encapsulation_coins()));
        std::vector<uint8_t> ciphertext(items.ciphertext.size()), secret(items.secret.size());
        encapsulate<set, sorts, copying>(one, item, items.public_key.data(), ciphertext.data(),
                                         *memory);
        sha3_256(secret.data(), memory->message, sizeof memory->message, kem::keccak::constants.of);
        EXPECT_EQ(ciphertext, items.ciphertext) << set.name << ", " << item;
        EXPECT_EQ(secret, items.secret) << set.name << ", " << item;
    }
}

template <Copying copying = Copying::together, const Params& set, Factor factor>
void expect_decapsulation(Items<set>& items, DecapsulationMemory<set, factor>& memory,
                          bool accepted) {
    items.on_cores(KemOperation::decapsulate, {});
    uint8_t digest[32], rejected[32];
    std::vector<uint8_t> secret(items.secret.size());
    decapsulate<set, copying>(one, items.ciphertext.data(), items.secret_key.data(), memory);
    sha3_256(digest, memory.message, sizeof memory.message, kem::keccak::constants.of);
    sha3_256(rejected, memory.rejected, sizeof memory.rejected, kem::keccak::constants.of);
    select(secret.data(), digest, rejected, memory.wrong);
    EXPECT_EQ(secret, items.secret) << set.name;
    EXPECT_EQ(memory.wrong == 0, accepted) << set.name;
}

// Valid ciphertexts, one wrong bit in any part, and invalid ciphertexts.
template <const Params& set, Factor factor, Copying copying = Copying::together>
void expect_decapsulations() {
    tests::Random random(950 + set.n);
    Items<set> items;
    const auto memory = std::make_unique<DecapsulationMemory<set, factor>>();
    items.make_keys(random);
    for (uint64_t item = 0; item < 8; ++item) {
        items.on_cores(KemOperation::encapsulate, coins_of(item, set.encapsulation_coins()));
        expect_decapsulation<copying>(items, *memory, true);
        items.ciphertext[item * (items.ciphertext.size() - 1) / 16] ^=
            static_cast<uint8_t>(1 << item);
        expect_decapsulation<copying>(items, *memory, false);
    }
    random.fill(items.ciphertext.data(), items.ciphertext.size());
    expect_decapsulation<copying>(items, *memory, false);
}

// Ciphertexts that only one check rejects: a spare bit; in HPS a coefficient of each sign too many
// in m; a 2 in r.
template <const Params& set>
void expect_each_check() {
    tests::Random random(970 + set.n);
    Items<set> items;
    const auto memory = std::make_unique<DecapsulationMemory<set>>();
    const auto r = std::make_unique<Poly<set>>(), m = std::make_unique<Poly<set>>(),
               c = std::make_unique<Poly<set>>(), h = std::make_unique<Poly<set>>();
    const auto changed = [&](const auto& change) {
        uint32_t sum = 0;
        unpack_rq<set>(one, *c, items.ciphertext.data(), sum);
        change();
        const std::vector<uint8_t> good = items.ciphertext;
        pack_rq<set>(one, items.ciphertext.data(), *c);
        expect_decapsulation(items, *memory, false);
        items.ciphertext = good;
    };
    for (uint64_t item = 0; item < 4; ++item) {
        items.make_keys(random);
        items.on_cores(KemOperation::encapsulate, coins_of(item, set.encapsulation_coins()));
        expect_decapsulation(items, *memory, true);
        unpack_ternary<set>(one, *r, memory->message);
        unpack_ternary<set>(one, *m, memory->message + set.ternary_bytes());
        uint32_t sum = 0;
        unpack_rq<set>(one, *h, items.public_key.data(), sum);
        if constexpr (set.spare_bits() != 0) {
            items.ciphertext.back() |= 0x80;
            expect_decapsulation(items, *memory, false);
            items.ciphertext.back() &= 0x7f;
        }
        if constexpr (set.family == kem::Family::hps)
            changed([&] {
                const auto zero = std::find(m->at, m->at + set.n, 0),
                           other = std::find(zero + 1, m->at + set.n, 0);
                c->at[zero - m->at] = low16(c->at[zero - m->at] + 1u);
                c->at[other - m->at] = low16(c->at[other - m->at] - 1u);
            });
        changed([&] {
            const int k = static_cast<int>(std::find(r->at, r->at + set.n, 1) - r->at);
            for (int i = 0; i < set.n; ++i)
                c->at[(i + k) % set.n] = low16(c->at[(i + k) % set.n] + uint32_t{h->at[i]});
        });
        expect_decapsulation(items, *memory, true);
    }
}

TEST(LadderNtru, EachCheckRejects) {
    expect_each_check<kem::ntruhps2048509>();
    expect_each_check<kem::ntruhps2048677>();
    expect_each_check<kem::ntruhps4096821>();
    expect_each_check<kem::ntruhrss701>();
}

TEST(LadderNtru, EncapsulatesAsThePortableTarget) {
    expect_encapsulations<kem::ntruhps2048509, Sorts::one, Factor::by_index>();
    expect_encapsulations<kem::ntruhps2048677, Sorts::all, Factor::doubled>();
    expect_encapsulations<kem::ntruhps4096821, Sorts::one, Factor::by_index>();
    expect_encapsulations<kem::ntruhps4096821, Sorts::one, Factor::by_index, Copying::runs>();
    expect_encapsulations<kem::ntruhps4096821, Sorts::all, Factor::doubled, Copying::alone>();
    expect_encapsulations<kem::ntruhrss701, Sorts::one, Factor::by_index>();
}

TEST(LadderNtru, DecapsulatesAsThePortableTarget) {
    expect_decapsulations<kem::ntruhps2048509, Factor::by_index>();
    expect_decapsulations<kem::ntruhps2048677, Factor::doubled>();
    expect_decapsulations<kem::ntruhps4096821, Factor::by_index>();
    expect_decapsulations<kem::ntruhps4096821, Factor::by_index, Copying::runs>();
    expect_decapsulations<kem::ntruhps4096821, Factor::doubled, Copying::alone>();
    expect_decapsulations<kem::ntruhrss701, Factor::by_index>();
}

TEST(LadderNtru, SortsAnyCount) {
    tests::Random random(990);
    for (int count = 1; count < 70; ++count) {
        std::vector<int32_t> keys(static_cast<size_t>(count));
        random.fill(reinterpret_cast<uint8_t*>(keys.data()), 4 * keys.size());
        std::vector<int32_t> sorted = keys;
        std::sort(sorted.begin(), sorted.end());
        ladder::ntru::sort(one, keys.data(), count);
        EXPECT_EQ(keys, sorted) << count;
    }
}

// One thread of three.
struct Third {
    int mine = 0, all = 3;
    void wait() const {}
    void add(uint32_t& sum, uint32_t value) const { sum += value; }
};

template <const Params& set, Factor factor>
void expect_shared_product() {
    tests::Random random(991);
    const auto a = std::make_unique<Poly<set>>(), b = std::make_unique<Poly<set>>(),
               c = std::make_unique<Poly<set>>();
    const auto turned = std::make_unique<Turned<set, factor>>();
    random.fill(reinterpret_cast<uint8_t*>(a.get()), sizeof *a);
    random.fill(reinterpret_cast<uint8_t*>(b.get()), sizeof *b);
    for (int round = 0; round < 2;
         ++round)  // the second sees all of the first one's writes, wherever the barrier is
        for (int thread = 0; thread < 3; ++thread)
            multiply<set>(Third{thread}, *c, *a, *b, *turned);
    for (int k = 0; k < set.n; k += 100) {  // the definition
        uint32_t sum = 0;
        for (int i = 0; i < set.n; ++i) sum += uint32_t{a->at[i]} * b->at[(set.n + k - i) % set.n];
        EXPECT_EQ(c->at[k], low16(sum)) << k;
    }
}

TEST(LadderNtru, ThreadsShareAProduct) {
    expect_shared_product<kem::ntruhps4096821, Factor::by_index>();
    expect_shared_product<kem::ntruhps4096821, Factor::doubled>();
}

template <Copying copying>
void expect_shared_copy() {
    tests::Random random(992);
    for (const size_t bytes : {size_t{1}, size_t{2}, size_t{3}, size_t{1230}}) {
        const auto from = random.text(bytes);
        std::vector<uint8_t> to(bytes + 1, 0xa5);
        for (int thread = 0; thread < 3; ++thread)
            ladder::ntru::copy<copying>(Third{thread}, to.data(), from.data(), bytes);
        EXPECT_EQ(std::vector<uint8_t>(to.begin(), to.end() - 1), from) << bytes;
        EXPECT_EQ(to.back(), 0xa5) << bytes;
    }
}

TEST(LadderNtru, ThreadsShareACopy) {
    expect_shared_copy<Copying::together>();
    expect_shared_copy<Copying::runs>();
    expect_shared_copy<Copying::alone>();
}

// A warp on the host: a value for each lane.
struct HostWarp {
    struct Word {
        uint64_t of[ladder::warp_lanes];
    };
    struct Number {
        int of[ladder::warp_lanes];
    };
    template <class F>
    Number numbers(const F& f) const {
        Number made;
        for (int lane = 0; lane < ladder::warp_lanes; ++lane) made.of[lane] = f(lane);
        return made;
    }
    template <class F>
    Word words(const F& f) const {
        Word made;
        for (int lane = 0; lane < ladder::warp_lanes; ++lane) made.of[lane] = f(lane);
        return made;
    }
    Word from(const Word& word, const Number& source) const {
        return words([&](int lane) { return word.of[source.of[lane]]; });
    }
    Word rotate(const Word& word, const Number& count) const {
        return words([&](int lane) { return kem::keccak::rotate(word.of[lane], count.of[lane]); });
    }
    template <class F>
    void each(const Word& word, const F& f) const {
        for (int lane = 0; lane < ladder::warp_lanes; ++lane) f(lane, word.of[lane]);
    }
};
HostWarp::Word operator^(const HostWarp::Word& a, const HostWarp::Word& b) {
    return HostWarp{}.words([&](int lane) { return a.of[lane] ^ b.of[lane]; });
}
HostWarp::Word operator&(const HostWarp::Word& a, const HostWarp::Word& b) {
    return HostWarp{}.words([&](int lane) { return a.of[lane] & b.of[lane]; });
}
HostWarp::Word operator~(const HostWarp::Word& a) {
    return HostWarp{}.words([&](int lane) { return ~a.of[lane]; });
}

TEST(LadderNtru, LanesHashAsOneThread) {
    static constexpr ladder::LaneRotations rotations = ladder::lane_rotations();
    tests::Random random(993);
    alignas(8) uint8_t message[12 * kem::keccak::rate];
    for (const size_t blocks : {1, 3, 12}) {
        const size_t bytes = blocks * kem::keccak::rate;
        random.fill(message, bytes);
        uint8_t expected[32], digest[33] = {};
        digest[32] = 0xa5;
        sha3_256(expected, message, bytes, kem::keccak::constants.of);
        ladder::sha3_256_by_lanes(HostWarp{}, digest, message, bytes, rotations.of,
                                  kem::keccak::constants.of);
        EXPECT_EQ(std::vector<uint8_t>(digest, digest + 32),
                  std::vector<uint8_t>(expected, expected + 32))
            << blocks;
        EXPECT_EQ(digest[32], 0xa5);
    }
}

}  // namespace

// A batch of any size, any strides and with bad items equals batches of one. Nothing outside its
// outputs changes.

#include <numeric>

#include "support/guard.h"
#include "support/kem_backends.h"
#include "support/random.h"
#include "support/stack_use.h"

namespace {

using tests::Text;
using warpseal::KemOperation;

// Items computed one by one, as the reference output of batches.
struct Singles {
    size_t count;
    Text keypair_coins, encapsulation_coins;
    tests::Keys keys;
    tests::Encapsulated sent;

    Singles(const tests::Backend& backend, size_t how_many, uint64_t seed) : count(how_many) {
        const auto& params = backend.params();
        tests::Random random(seed);
        keypair_coins = random.text(count * params.keypair_coins());
        encapsulation_coins = random.text(count * params.encapsulation_coins());
        for (size_t i = 0; i < count; ++i) {
            const tests::Keys one =
                backend.keypairs(tests::slice(keypair_coins, i, params.keypair_coins()));
            tests::append(keys.publics, one.publics);
            tests::append(keys.secrets, one.secrets);
            const tests::Encapsulated sent_one = backend.encapsulate(
                tests::slice(encapsulation_coins, i, params.encapsulation_coins()), one.publics);
            tests::append(sent.ciphertexts, sent_one.ciphertexts);
            tests::append(sent.secrets, sent_one.secrets);
        }
    }
};

Text first(const Text& from, size_t bytes) {
    return Text(from.begin(), from.begin() + static_cast<long>(bytes));
}

bool near_power_of_two(size_t count) {
    return (count & (count - 1)) == 0 || ((count - 1) & (count - 2)) == 0 ||
           (count & (count + 1)) == 0;
}

class KemBatch : public tests::KemTest {
protected:
    bool smallest() const { return backend().params().n == 509; }

    // Selects batch sizes. The smallest set, which shares its code with the others, has every size
    // to 300, and 2^k - 1, 2^k and 2^k + 1 to 513. The others have sizes to 67, and around powers
    // of two and 300. For these the portable target, whose word is one lane, and slow runs use only
    // sizes around the group of keys.
    bool chosen(size_t count) const {
        const size_t group = backend().group(KemOperation::keypair);
        if (smallest()) return near_power_of_two(count) || count <= (fast() || many() ? 300 : 100);
        if (fast() && many())
            return near_power_of_two(count) || count <= 67 || count == 299 || count == 300;
        return count <= 9 || (count + 1 >= group && count <= group + 1) || count == 2 * group + 1 ||
               count == 300;
    }
    // Key generation is the slowest: sizes to 100 where it is slow.
    bool with_keypairs(size_t count) const {
        return !smallest() || (fast() && many()) || count <= 100 || near_power_of_two(count);
    }

    void compare(const Singles& singles, size_t count) const {
        const auto& params = backend().params();
        const Text publics = first(singles.keys.publics, count * params.public_key_bytes());
        const Text secrets = first(singles.keys.secrets, count * params.secret_key_bytes());
        if (with_keypairs(count)) {
            const tests::Keys keys =
                backend().keypairs(first(singles.keypair_coins, count * params.keypair_coins()));
            ASSERT_EQ(keys.publics, publics) << count;
            ASSERT_EQ(keys.secrets, secrets) << count;
            ASSERT_EQ(keys.statuses, std::vector<int32_t>(count, WARPSEAL_OK)) << count;
        }
        const tests::Encapsulated sent = backend().encapsulate(
            first(singles.encapsulation_coins, count * params.encapsulation_coins()), publics);
        ASSERT_EQ(sent.ciphertexts,
                  first(singles.sent.ciphertexts, count * params.ciphertext_bytes()))
            << count;
        ASSERT_EQ(sent.secrets, first(singles.sent.secrets, count * 32)) << count;
        ASSERT_EQ(sent.statuses, std::vector<int32_t>(count, WARPSEAL_OK)) << count;
        ASSERT_EQ(backend().decapsulate(sent.ciphertexts, secrets), sent.secrets) << count;
    }

    // Positions of a bad item: everywhere in a small batch, and where operations are fast.
    // Otherwise at the ends of a batch of 67 and of its groups of 32, 16 or fewer keys.
    std::vector<size_t> positions(size_t count) const {
        if (many() && !fast()) return {0, 1, 15, 16, 30, 31, 32, 33, 47, 48, 62, 63, 64, 65, 66};
        std::vector<size_t> all(count);
        std::iota(all.begin(), all.end(), size_t{0});
        return all;
    }

    void bad_coins(const Singles& singles, size_t bad) const {
        const auto& params = backend().params();
        Text coins = singles.keypair_coins;
        // f = 0, or g = 0, which only HRSS can draw.
        const size_t zero =
            params.family == warpseal::kem::Family::hrss && bad % 2 == 1 ? params.iid_coins() : 0;
        std::fill_n(coins.begin() + static_cast<long>(bad * params.keypair_coins() + zero),
                    params.iid_coins(), uint8_t{3});
        const tests::Keys keys = backend().keypairs(coins);
        EXPECT_EQ(keys.failed, 1u);
        EXPECT_EQ(keys.statuses, statuses(singles, bad));
        EXPECT_EQ(keys.publics, cleared(singles.keys.publics, bad, params.public_key_bytes()));
        EXPECT_EQ(keys.secrets, cleared(singles.keys.secrets, bad, params.secret_key_bytes()));
    }

    void bad_public_key(const Singles& singles, size_t bad) const {
        const auto& params = backend().params();
        Text publics = singles.keys.publics;
        const bool spare = params.spare_bits() != 0;  // otherwise no public key is bad
        if (spare) publics[(bad + 1) * params.public_key_bytes() - 1] |= 0x80;
        const tests::Encapsulated sent =
            backend().encapsulate(singles.encapsulation_coins, publics);
        EXPECT_EQ(sent.failed, spare ? 1u : 0u);
        EXPECT_EQ(sent.statuses, spare ? statuses(singles, bad)
                                       : std::vector<int32_t>(singles.count, WARPSEAL_OK));
        const Text &ciphertexts = singles.sent.ciphertexts, &secrets = singles.sent.secrets;
        EXPECT_EQ(sent.ciphertexts,
                  spare ? cleared(ciphertexts, bad, params.ciphertext_bytes()) : ciphertexts);
        EXPECT_EQ(sent.secrets, spare ? cleared(secrets, bad, 32) : secrets);
    }

    void bad_ciphertext(const Singles& singles, size_t bad) const {
        const auto& params = backend().params();
        Text ciphertexts = singles.sent.ciphertexts;
        ciphertexts[bad * params.ciphertext_bytes() + 7] ^= 0x10;
        const Text answer = reference_ntru().decapsulate(
            tests::slice(ciphertexts, bad, params.ciphertext_bytes()),
            tests::slice(singles.keys.secrets, bad, params.secret_key_bytes()));
        EXPECT_NE(answer, tests::slice(singles.sent.secrets, bad, 32));
        Text expected = singles.sent.secrets;
        std::copy(answer.begin(), answer.end(), expected.begin() + static_cast<long>(bad * 32));
        EXPECT_EQ(backend().decapsulate(ciphertexts, singles.keys.secrets), expected);
    }

    // Every second item is bad, with each spare bit in turn: all of them are counted.
    void many_bad(const Singles& singles) const {
        const auto& params = backend().params();
        Text coins = singles.keypair_coins, publics = singles.keys.publics,
             cleared_publics = publics, ciphertexts = singles.sent.ciphertexts;
        std::vector<int32_t> expected(singles.count, WARPSEAL_OK);
        for (size_t i = 1; i < singles.count; i += 2) {
            std::fill_n(coins.begin() + static_cast<long>(i * params.keypair_coins()),
                        params.iid_coins(), uint8_t{3});
            if (params.spare_bits() != 0)
                publics[(i + 1) * params.public_key_bytes() - 1] |=
                    static_cast<uint8_t>(0x80 >> (i / 2 % params.spare_bits()));
            cleared_publics = cleared(cleared_publics, i, params.public_key_bytes());
            ciphertexts = cleared(ciphertexts, i, params.ciphertext_bytes());
            expected[i] = WARPSEAL_INVALID_ARGUMENT;
        }
        const tests::Keys keys = backend().keypairs(coins);
        EXPECT_EQ(keys.failed, singles.count / 2);
        EXPECT_EQ(keys.statuses, expected);
        EXPECT_EQ(keys.publics, cleared_publics);
        if (params.spare_bits() == 0) return;
        const tests::Encapsulated sent =
            backend().encapsulate(singles.encapsulation_coins, publics);
        EXPECT_EQ(sent.failed, singles.count / 2);
        EXPECT_EQ(sent.statuses, expected);
        EXPECT_EQ(sent.ciphertexts, ciphertexts);
    }

private:
    static Text cleared(Text items, size_t i, size_t bytes) {
        std::fill_n(items.begin() + static_cast<long>(i * bytes), bytes, uint8_t{0});
        return items;
    }
    static std::vector<int32_t> statuses(const Singles& singles, size_t bad) {
        std::vector<int32_t> out(singles.count, WARPSEAL_OK);
        out[bad] = WARPSEAL_INVALID_ARGUMENT;
        return out;
    }
};

TEST_P(KemBatch, EverySizeEqualsBatchesOfOne) {
    const size_t most = smallest() || (many() && fast()) ? 513 : 300;
    const Singles singles(backend(), most, 5301);
    size_t compared = 0;
    for (size_t count = 1; count <= most; ++count) {
        if (!chosen(count)) continue;
        compare(singles, count);
        if (HasFatalFailure()) return;
        ++compared;
    }
    EXPECT_EQ(compared, smallest()         ? (fast() || many() ? 303u : 109u)
                        : many() && fast() ? 78u
                                           : 14u);
}

TEST_P(KemBatch, NoItems) {
    const warpseal_kem_batch empty = backend().batch(0);
    for (const auto operation :
         {KemOperation::keypair, KemOperation::encapsulate, KemOperation::decapsulate})
        EXPECT_EQ(backend().run(operation, empty), 0u);
}

// One bad item in a batch: only that item has no result, or a different one.
TEST_P(KemBatch, BadItemsDoNotAffectOthers) {
    const Singles singles(backend(), many() ? 67 : 11, 5302);
    for (const size_t bad : positions(singles.count)) {
        SCOPED_TRACE(bad);
        bad_coins(singles, bad);
        bad_public_key(singles, bad);
        bad_ciphertext(singles, bad);
    }
    if (many()) many_bad(singles);
}

// Every array touches a guard page, with gaps between items that must not change, a range of the
// batch at a time.
TEST_P(KemBatch, StridesAndRangesAndNothingBeside) {
    const auto& params = backend().params();
    constexpr size_t count = 5, gap = 13, from = 1, some = 3;
    const Singles singles(backend(), count, 5303);
    const auto spread = [&](const Text& items, size_t bytes) {
        Text out;
        for (size_t i = 0; i < count; ++i) {
            tests::append(out, tests::slice(items, i, bytes));
            if (i + 1 < count) tests::append(out, Text(gap, 0xa5));
        }
        return out;
    };
    // Expects only the items in range to be written.
    const auto only_range = [&](Text expected, size_t bytes) {
        for (size_t i = 0; i < count; ++i)
            if (i < from || i >= from + some)
                std::fill_n(expected.begin() + static_cast<long>(i * (bytes + gap)), bytes,
                            uint8_t{0xa5});
        return expected;
    };
    const size_t pk = params.public_key_bytes(), sk = params.secret_key_bytes(),
                 ct = params.ciphertext_bytes();
    const Text publics = spread(singles.keys.publics, pk),
               secrets = spread(singles.keys.secrets, sk);
    const Text ciphertexts = spread(singles.sent.ciphertexts, ct),
               shared = spread(singles.sent.secrets, 32);
    for (const auto operation :
         {KemOperation::keypair, KemOperation::encapsulate, KemOperation::decapsulate}) {
        const bool keypair = operation == KemOperation::keypair,
                   encapsulate = operation == KemOperation::encapsulate;
        const size_t coins_bytes = keypair ? params.keypair_coins() : params.encapsulation_coins();
        const Text coins =
            spread(keypair ? singles.keypair_coins : singles.encapsulation_coins, coins_bytes);
        const tests::Guarded pk_memory(publics.size()), sk_memory(secrets.size()),
            ct_memory(ciphertexts.size()), ss_memory(shared.size()), coins_memory(coins.size());
        const Text poison(std::max(secrets.size(), ciphertexts.size()), 0xa5);
        warpseal_kem_batch batch = backend().batch(count);
        batch.public_keys =
            pk_memory.put(true, keypair ? poison.data() : publics.data(), publics.size());
        batch.public_key_stride = pk + gap;
        batch.secret_keys =
            sk_memory.put(true, keypair ? poison.data() : secrets.data(), secrets.size());
        batch.secret_key_stride = sk + gap;
        batch.ciphertexts = ct_memory.put(true, encapsulate ? poison.data() : ciphertexts.data(),
                                          ciphertexts.size());
        batch.ciphertext_stride = ct + gap;
        batch.shared_secrets = ss_memory.put(true, poison.data(), shared.size());
        batch.shared_secret_stride = 32 + gap;
        batch.coins = coins_memory.put(true, coins.data(), coins.size());
        batch.coins_stride = coins_bytes + gap;
        coins_memory.read_only();
        if (!keypair) {
            pk_memory.read_only();
            sk_memory.read_only();
            if (!encapsulate) ct_memory.read_only();
        }
        EXPECT_EQ(backend().run(operation, batch, from, some), 0u);
        const auto written = [](const uint8_t* at, size_t bytes) { return Text(at, at + bytes); };
        if (keypair) {
            EXPECT_EQ(written(batch.public_keys, publics.size()), only_range(publics, pk));
            EXPECT_EQ(written(batch.secret_keys, secrets.size()), only_range(secrets, sk));
        } else {
            EXPECT_EQ(written(batch.shared_secrets, shared.size()), only_range(shared, 32));
            if (encapsulate) {
                EXPECT_EQ(written(batch.ciphertexts, ciphertexts.size()),
                          only_range(ciphertexts, ct));
            }
        }
    }
}

TEST_P(KemBatch, LessThan8KibOfStack) {
    if (tests::stacks_are_sanitized)
        GTEST_SKIP() << "NOT RUN: a sanitizer changes the stack layout";
    if (backend().cpu() == nullptr)
        GTEST_SKIP() << "NOT RUN: a GPU's threads have stacks of their own";
    const auto& params = backend().params();
    const Singles singles(backend(), 9, 5304);
    Text publics = singles.keys.publics, secrets = singles.keys.secrets,
         ciphertexts = singles.sent.ciphertexts, shared(9 * 32);
    std::vector<uint8_t> memory(1 << 20);
    void* work =
        reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
    warpseal_kem_batch batch = backend().batch(9);
    batch.public_keys = publics.data();
    batch.secret_keys = secrets.data();
    batch.ciphertexts = ciphertexts.data();
    batch.shared_secrets = shared.data();
    for (const auto operation :
         {KemOperation::keypair, KemOperation::encapsulate, KemOperation::decapsulate}) {
        const bool keypair = operation == KemOperation::keypair;
        batch.coins = keypair ? singles.keypair_coins.data() : singles.encapsulation_coins.data();
        batch.coins_stride = keypair ? params.keypair_coins() : params.encapsulation_coins();
        const size_t bytes = tests::stack_reach(
            [&] { backend().cpu()->run[static_cast<int>(operation)](batch, 0, 9, work); });
        EXPECT_LT(bytes, 8192u);
        EXPECT_GT(bytes, 256u);
    }
}

FOR_EACH_SET_AND_TARGET(KemBatch);

}  // namespace

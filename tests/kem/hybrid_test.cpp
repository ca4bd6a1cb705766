// X25519 and its hybrids on every target: agreement with the slow reference, batches of any size
// with refused items anywhere, and outputs alone are written.
#include "reference/hybrid.h"
#include "support/kem_backends.h"
#include "support/random.h"

namespace {

using tests::Text;
using warpseal::KemOperation;

constexpr int32_t refused = WARPSEAL_INVALID_ARGUMENT;

class Hybrid : public tests::KemTest {
protected:
    const warpseal::KemSet& sizes() const { return backend().sizes(); }
    size_t pk() const { return sizes().public_key_bytes(); }
    size_t sk() const { return sizes().secret_key_bytes(); }
    size_t ct() const { return sizes().ciphertext_bytes(); }
    size_t ss() const { return sizes().shared_secret_bytes(); }
    Text coins(tests::Random& random, KemOperation operation, size_t count) const {
        return random.text(count * coins_bytes(sizes(), operation));
    }
    static Text cleared(Text text, size_t item, size_t bytes) {
        std::fill_n(text.begin() + static_cast<long>(item * bytes), bytes, uint8_t{0});
        return text;
    }
};

// Ways to make the last half of a string a point of low order: 0, 1 and p - 1, and each with the
// top bit, which counts for nothing.
void make_low_order(uint8_t* point, size_t which) {
    std::memset(point, which % 3 == 2 ? 0xff : 0, 32);
    point[31] = static_cast<uint8_t>((which % 3 == 2 ? 0x7f : 0) | (which / 3 % 2 << 7));
    point[0] = static_cast<uint8_t>(which % 3 == 2 ? 0xec : which % 3);
}

TEST_P(Hybrid, AgreesWithTheReference) {
    tests::Random random(2611);
    const reference::Hybrid right(set());
    constexpr size_t count = 9;
    const Text seeds = coins(random, KemOperation::keypair, count),
               messages = coins(random, KemOperation::encapsulate, count);
    const tests::Keys keys = backend().keypairs(seeds);
    const tests::Encapsulated sent = backend().encapsulate(messages, keys.publics);
    EXPECT_EQ(keys.failed + sent.failed, 0u);
    EXPECT_EQ(backend().decapsulate(sent.ciphertexts, keys.secrets), sent.secrets);
    Text altered = sent.ciphertexts;
    for (size_t i = 0; i < count; ++i) altered[i * ct() + 7 * i % ct()] ^= 1;
    const Text other = backend().decapsulate(altered, keys.secrets);
    for (size_t i = 0; i < count; ++i) {
        const auto own = right.keypair(tests::slice(seeds, i, sizes().keypair_coins()));
        EXPECT_EQ(tests::slice(keys.publics, i, pk()), own.public_key);
        EXPECT_EQ(tests::slice(keys.secrets, i, sk()), own.secret_key);
        const auto to = right.encapsulate(tests::slice(messages, i, sizes().encapsulation_coins()),
                                          own.public_key);
        EXPECT_EQ(tests::slice(sent.ciphertexts, i, ct()), to.ciphertext);
        EXPECT_EQ(tests::slice(sent.secrets, i, ss()), to.secret);
        EXPECT_EQ(tests::slice(other, i, ss()),
                  right.decapsulate(tests::slice(altered, i, ct()), own.secret_key));
    }
}

TEST_P(Hybrid, BatchesEqualSingleItems) {
    tests::Random random(2612);
    constexpr size_t most = 67;
    const Text seeds = coins(random, KemOperation::keypair, most),
               messages = coins(random, KemOperation::encapsulate, most);
    const tests::Keys keys = backend().keypairs(seeds);
    const tests::Encapsulated sent = backend().encapsulate(messages, keys.publics);
    const auto first = [](const Text& from, size_t bytes) {
        return Text(from.begin(), from.begin() + static_cast<long>(bytes));
    };
    for (const size_t count : {1, 2, 7, 8, 9, 31, 32, 33, 64, 65}) {
        const tests::Keys some = backend().keypairs(first(seeds, count * sizes().keypair_coins()));
        ASSERT_EQ(some.publics, first(keys.publics, count * pk())) << count;
        ASSERT_EQ(some.secrets, first(keys.secrets, count * sk())) << count;
        ASSERT_EQ(some.statuses, std::vector<int32_t>(count, WARPSEAL_OK)) << count;
        const tests::Encapsulated to = backend().encapsulate(
            first(messages, count * sizes().encapsulation_coins()), some.publics);
        ASSERT_EQ(to.ciphertexts, first(sent.ciphertexts, count * ct())) << count;
        ASSERT_EQ(to.secrets, first(sent.secrets, count * ss())) << count;
        ASSERT_EQ(backend().decapsulate(to.ciphertexts, some.secrets), to.secrets) << count;
    }
}

// A refused item at each position of a batch has zeros and its status, with or without an array of
// statuses; its neighbours do not change. X25519 refuses a point of low order, and ML-KEM a key.
TEST_P(Hybrid, RefusedItemsLeaveTheirNeighbours) {
    tests::Random random(2613);
    constexpr size_t count = 35;
    const tests::Keys keys = backend().keypairs(coins(random, KemOperation::keypair, count));
    const Text messages = coins(random, KemOperation::encapsulate, count);
    const tests::Encapsulated sent = backend().encapsulate(messages, keys.publics);
    const bool with_mlkem = sizes().mlkem_half() != nullptr;
    const auto without_statuses = [&](KemOperation operation, Text& publics, Text& secrets,
                                      Text& ciphertexts) {
        Text shared(count * ss(), 0xa5);
        warpseal_kem_batch batch = backend().batch(count);
        batch.public_keys = publics.data();
        batch.secret_keys = secrets.data();
        batch.ciphertexts = ciphertexts.data();
        batch.shared_secrets = shared.data();
        batch.coins = messages.data();
        batch.coins_stride = sizes().encapsulation_coins();
        backend().run(operation, batch);
        return shared;
    };
    for (size_t bad = 0; bad < count; bad += many() && fast() ? 1 : 11) {
        std::vector<int32_t> statuses(count, WARPSEAL_OK), found;
        statuses[bad] = refused;
        const Text none = cleared(sent.secrets, bad, ss());
        Text publics = keys.publics, secrets = keys.secrets, texts = sent.ciphertexts,
             written(count * ct(), 0xa5);
        make_low_order(publics.data() + (bad + 1) * pk() - 32, bad);
        for (const bool mlkem : {false, true}) {
            if (mlkem && !with_mlkem) continue;
            if (mlkem) {
                publics = keys.publics;
                std::fill_n(publics.begin() + static_cast<long>(bad * pk()), 3, uint8_t{0xff});
            }
            const tests::Encapsulated to = backend().encapsulate(messages, publics);
            EXPECT_EQ(to.statuses, statuses);
            EXPECT_EQ(to.failed, 1u);
            EXPECT_EQ(to.ciphertexts, cleared(sent.ciphertexts, bad, ct()));
            EXPECT_EQ(to.secrets, none);
            EXPECT_EQ(without_statuses(KemOperation::encapsulate, publics, secrets, written), none);
            EXPECT_EQ(written, to.ciphertexts);
        }
        make_low_order(texts.data() + (bad + 1) * ct() - 32, bad + 1);
        EXPECT_EQ(backend().decapsulate(texts, secrets, &found), none);
        EXPECT_EQ(found, statuses);
        EXPECT_EQ(without_statuses(KemOperation::decapsulate, publics, secrets, texts), none);
        if (sk() <= 32) continue;
        secrets[(bad + 1) * sk() - 32 - 33] ^= 1;  // the hash in ML-KEM's key
        EXPECT_EQ(backend().decapsulate(sent.ciphertexts, secrets, &found), none);
        EXPECT_EQ(found, statuses);
    }
}

// One key for all items: strides of zero.
TEST_P(Hybrid, SharesOneKey) {
    tests::Random random(2614);
    const tests::Keys keys = backend().keypairs(coins(random, KemOperation::keypair, 1));
    const tests::Encapsulated sent =
        backend().encapsulate(coins(random, KemOperation::encapsulate, 35), keys.publics);
    EXPECT_EQ(sent.failed, 0u);
    EXPECT_EQ(backend().decapsulate(sent.ciphertexts, keys.secrets), sent.secrets);
}

// Strides with gaps, items of a range, statuses left out, and nothing written between items.
TEST_P(Hybrid, WritesItsOutputsOnly) {
    tests::Random random(2615);
    constexpr size_t count = 21, begin = 3, some = 17, gap = 13;
    const size_t stride = sizes().keypair_coins() + gap;
    Text inputs = random.text(count * stride), publics(count * (pk() + gap), 0xa5),
         secrets(count * (sk() + gap), 0xa5), ciphertexts(count * (ct() + gap), 0xa5),
         shared(count * (ss() + gap), 0xa5), received = shared;
    if (sizes().encapsulation_coins() > stride) inputs = random.text(count * 2 * stride);
    warpseal_kem_batch batch = backend().batch(count);
    batch.public_keys = publics.data();
    batch.public_key_stride = pk() + gap;
    batch.secret_keys = secrets.data();
    batch.secret_key_stride = sk() + gap;
    batch.ciphertexts = ciphertexts.data();
    batch.ciphertext_stride = ct() + gap;
    batch.shared_secrets = shared.data();
    batch.shared_secret_stride = ss() + gap;
    batch.coins = inputs.data();
    batch.coins_stride = inputs.size() / count;
    EXPECT_EQ(backend().run(KemOperation::keypair, batch, begin, some), 0u);
    EXPECT_EQ(backend().run(KemOperation::encapsulate, batch, begin, some), 0u);
    batch.shared_secrets = received.data();
    EXPECT_EQ(backend().run(KemOperation::decapsulate, batch, begin, some), 0u);
    EXPECT_EQ(received, shared);
    const auto untouched = [&](const Text& text, size_t bytes) {
        for (size_t item = 0; item < count; ++item) {
            const bool written = item >= begin && item < begin + some;
            for (size_t i = written ? bytes : 0; i < bytes + gap; ++i)
                if (text[item * (bytes + gap) + i] != 0xa5) return false;
        }
        return true;
    };
    EXPECT_TRUE(untouched(publics, pk()));
    EXPECT_TRUE(untouched(secrets, sk()));
    EXPECT_TRUE(untouched(ciphertexts, ct()));
    EXPECT_TRUE(untouched(shared, ss()));
    for (size_t i = begin; i < begin + some; i += 4) {
        const auto at = inputs.begin() + static_cast<long>(i * batch.coins_stride);
        const tests::Keys one =
            backend().keypairs(Text(at, at + static_cast<long>(sizes().keypair_coins())));
        EXPECT_EQ(Text(publics.begin() + static_cast<long>(i * (pk() + gap)),
                       publics.begin() + static_cast<long>(i * (pk() + gap) + pk())),
                  one.publics);
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, Hybrid,
    testing::ValuesIn(tests::hybrid_test_cases({"x25519", "x25519mlkem768", "x-wing"}, true)),
    tests::name_of);

}  // namespace

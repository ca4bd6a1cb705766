// ML-KEM on every target: agreement with the slow reference, batches of any size with refused items
// anywhere, and every bit of a ciphertext.
#include "reference/mlkem.h"
#include "support/guard.h"
#include "support/kem_backends.h"
#include "support/random.h"

namespace {

using tests::Text;
using warpseal::KemOperation;

constexpr int32_t refused = WARPSEAL_INVALID_ARGUMENT;

Text first(const Text& from, size_t bytes) {
    return Text(from.begin(), from.begin() + static_cast<long>(bytes));
}

class MlKem : public tests::KemTest {
protected:
    const warpseal::KemSet& sizes() const { return backend().sizes(); }
    const reference::MlKem& reference_mlkem() const {
        static std::map<std::string, reference::MlKem> all;
        return all.try_emplace(set(), set()).first->second;
    }
    // The secret of a ciphertext that is not one: J(z, c).
    Text rejected(const Text& secret_key, const Text& ciphertext) const {
        Text message(32 + ciphertext.size());
        std::copy(secret_key.end() - 32, secret_key.end(), message.begin());
        std::copy(ciphertext.begin(), ciphertext.end(), message.begin() + 32);
        return reference::shake256(message, 32);
    }
    // All bits of a ciphertext, or one of every 32: the lowest of a coefficient, which leaves the
    // message as it is, so that only the comparison of that word rejects.
    std::vector<size_t> bits_to_flip() const {
        const warpseal::kem::MlKemParams& its = *sizes().mlkem;
        const size_t all = 8 * sizes().ciphertext_bytes(), u = 8 * its.u_bytes();
        std::vector<size_t> out;
        for (size_t bit = 0; bit < all; bit += many() ? 1 : 32) {
            const auto d = static_cast<size_t>(bit < u ? its.du : its.dv);
            const size_t above = (bit < u ? bit : bit - u) % d;
            out.push_back(many() || above == 0 ? bit : bit + d - above);
        }
        return out;
    }
};

TEST_P(MlKem, AgreesWithTheReference) {
    tests::Random random(6101);
    constexpr size_t count = 11;
    Text coins = random.text(count * 64), messages = random.text(count * 32);
    std::fill_n(coins.begin(), 64, uint8_t{0});
    std::fill_n(coins.begin() + 64, 64, uint8_t{255});
    std::fill_n(messages.begin(), 32, uint8_t{0});
    std::fill_n(messages.begin() + 32, 32, uint8_t{255});
    const tests::Keys keys = backend().keypairs(coins);
    const tests::Encapsulated sent = backend().encapsulate(messages, keys.publics);
    EXPECT_EQ(backend().decapsulate(sent.ciphertexts, keys.secrets), sent.secrets);
    for (size_t i = 0; i < count; ++i) {
        const auto expected = reference_mlkem().keypair(tests::slice(coins, i, 64));
        EXPECT_EQ(tests::slice(keys.publics, i, sizes().public_key_bytes()), expected.public_key);
        EXPECT_EQ(tests::slice(keys.secrets, i, sizes().secret_key_bytes()), expected.secret_key);
        const auto both =
            reference_mlkem().encapsulate(tests::slice(messages, i, 32), expected.public_key);
        EXPECT_EQ(tests::slice(sent.ciphertexts, i, sizes().ciphertext_bytes()), both.ciphertext);
        EXPECT_EQ(tests::slice(sent.secrets, i, 32), both.secret);
    }
}

// Keys and ciphertexts of random bytes: coefficients of q and above in s, which no check refuses.
TEST_P(MlKem, AgreesOnRandomSecretsAndCiphertexts) {
    tests::Random random(6102);
    for (int i = 0; i < 5; ++i) {
        Text secret = backend().keypairs(random.text(64)).secrets;
        const size_t vector = sizes().public_key_bytes() - 32;
        random.fill(secret.data(), i == 0 ? 0 : vector);
        if (i == 4) std::fill_n(secret.begin(), vector, uint8_t{255});
        const Text ciphertext = i == 3 ? Text(sizes().ciphertext_bytes(), 255)
                                       : random.text(sizes().ciphertext_bytes());
        EXPECT_EQ(backend().decapsulate(ciphertext, secret),
                  reference_mlkem().decapsulate(ciphertext, secret))
            << i;
    }
}

TEST_P(MlKem, EveryFlippedBitGivesTheRejectionSecret) {
    tests::Random random(6103);
    const tests::Keys keys = backend().keypairs(random.text(64));
    const tests::Encapsulated sent = backend().encapsulate(random.text(32), keys.publics);
    const std::vector<size_t> bits = bits_to_flip();
    constexpr size_t together = 64;
    for (size_t first = 0; first < bits.size(); first += together) {
        Text flipped;
        for (size_t i = first; i < std::min(bits.size(), first + together); ++i) {
            Text one = sent.ciphertexts;
            one[bits[i] / 8] ^= static_cast<uint8_t>(1 << bits[i] % 8);
            tests::append(flipped, one);
        }
        const Text secrets = backend().decapsulate(flipped, keys.secrets);
        for (size_t i = 0; i < secrets.size() / 32; ++i)
            ASSERT_EQ(tests::slice(secrets, i, 32),
                      rejected(keys.secrets, tests::slice(flipped, i, sizes().ciphertext_bytes())))
                << "bit " << bits[first + i];
    }
}

// Every batch of 1 to 300 equals items one by one.
TEST_P(MlKem, BatchesEqualSingles) {
    tests::Random random(6104);
    const size_t most = many() ? 300 : 20;
    const Text coins = random.text(most * 64), messages = random.text(most * 32);
    tests::Keys keys;
    tests::Encapsulated sent;
    for (size_t i = 0; i < most; ++i) {
        const tests::Keys one = backend().keypairs(tests::slice(coins, i, 64));
        const tests::Encapsulated sent_one =
            backend().encapsulate(tests::slice(messages, i, 32), one.publics);
        tests::append(keys.publics, one.publics);
        tests::append(keys.secrets, one.secrets);
        tests::append(sent.ciphertexts, sent_one.ciphertexts);
        tests::append(sent.secrets, sent_one.secrets);
    }
    // A portable batch is a loop over items: a few sizes suffice.
    for (size_t count = 1; count <= most; count += fast() || count < 20 ? 1 : 40) {
        const tests::Keys some = backend().keypairs(first(coins, count * 64));
        ASSERT_EQ(some.publics, first(keys.publics, count * sizes().public_key_bytes())) << count;
        ASSERT_EQ(some.secrets, first(keys.secrets, count * sizes().secret_key_bytes())) << count;
        ASSERT_EQ(some.statuses, std::vector<int32_t>(count, WARPSEAL_OK)) << count;
        const tests::Encapsulated to =
            backend().encapsulate(first(messages, count * 32), some.publics);
        ASSERT_EQ(to.ciphertexts, first(sent.ciphertexts, count * sizes().ciphertext_bytes()))
            << count;
        ASSERT_EQ(to.secrets, first(sent.secrets, count * 32)) << count;
        ASSERT_EQ(backend().decapsulate(to.ciphertexts, some.secrets), to.secrets) << count;
    }
}

// A refused item at each position of a batch has zeros and its status; its neighbours do not
// change.
TEST_P(MlKem, RefusedItemsLeaveTheirNeighbours) {
    tests::Random random(6105);
    constexpr size_t count = 19;
    const tests::Keys keys = backend().keypairs(random.text(count * 64));
    const Text messages = random.text(count * 32);
    const tests::Encapsulated sent = backend().encapsulate(messages, keys.publics);
    const size_t pk = sizes().public_key_bytes(), sk = sizes().secret_key_bytes(),
                 ct = sizes().ciphertext_bytes();
    const auto cleared = [](Text text, size_t item, size_t bytes) {
        std::fill_n(text.begin() + static_cast<long>(item * bytes), bytes, uint8_t{0});
        return text;
    };
    for (size_t bad = 0; bad < count; ++bad) {
        std::vector<int32_t> statuses(count, WARPSEAL_OK);
        statuses[bad] = refused;
        Text publics = keys.publics;
        // The last coefficient becomes q, the least that is refused.
        uint8_t* const last = publics.data() + bad * pk + pk - 32 - 2;
        last[0] = static_cast<uint8_t>((last[0] & 15) | 0x10), last[1] = 0xd0;
        const tests::Encapsulated to = backend().encapsulate(messages, publics);
        EXPECT_EQ(to.statuses, statuses);
        EXPECT_EQ(to.ciphertexts, cleared(sent.ciphertexts, bad, ct));
        EXPECT_EQ(to.secrets, cleared(sent.secrets, bad, 32));
        last[0] = static_cast<uint8_t>(last[0] & 15);  // q - 1
        EXPECT_EQ(backend().encapsulate(messages, publics).failed, 0u);

        // The hash, at any byte and at its last one, and the key.
        for (const size_t at : {sk - 64 + 7 * bad % 31, sk - 33, sk - 64 - pk, sk - 65}) {
            Text secrets = keys.secrets;
            secrets[bad * sk + at] ^= 0x10;
            std::vector<int32_t> found;
            EXPECT_EQ(backend().decapsulate(sent.ciphertexts, secrets, &found),
                      cleared(sent.secrets, bad, 32));
            EXPECT_EQ(found, statuses);
        }
    }
}

// Without an array of statuses, refused items have zeros all the same.
TEST_P(MlKem, RefusesWithoutStatuses) {
    tests::Random random(6107);
    constexpr size_t count = 3, bad = 1;
    const size_t pk = sizes().public_key_bytes(), ct = sizes().ciphertext_bytes();
    tests::Keys keys = backend().keypairs(random.text(count * 64));
    const Text messages = random.text(count * 32);
    const tests::Encapsulated sent = backend().encapsulate(messages, keys.publics);
    const auto cleared = [](Text text, size_t bytes) {
        std::fill_n(text.begin() + static_cast<long>(bad * bytes), bytes, uint8_t{0});
        return text;
    };
    Text ciphertexts(count * ct, 0xa5), shared(count * 32, 0xa5);
    warpseal_kem_batch batch = backend().batch(count);
    batch.public_keys = keys.publics.data();
    batch.secret_keys = keys.secrets.data();
    batch.ciphertexts = ciphertexts.data();
    batch.shared_secrets = shared.data();
    batch.coins = messages.data();
    batch.coins_stride = 32;
    std::fill_n(keys.publics.begin() + bad * pk, 3, uint8_t{0xff});
    backend().run(KemOperation::encapsulate, batch);
    EXPECT_EQ(ciphertexts, cleared(sent.ciphertexts, ct));
    EXPECT_EQ(shared, cleared(sent.secrets, 32));

    ciphertexts = sent.ciphertexts;
    keys.secrets[(bad + 1) * sizes().secret_key_bytes() - 64] ^= 1;  // the hash
    shared.assign(shared.size(), 0xa5);
    backend().run(KemOperation::decapsulate, batch);
    EXPECT_EQ(shared, cleared(sent.secrets, 32));
}

// One key for all items, then one message and one ciphertext too: strides of zero.
TEST_P(MlKem, SharesItsInputs) {
    tests::Random random(6108);
    constexpr size_t count = 35;
    tests::Keys keys = backend().keypairs(random.text(64));
    const Text messages = random.text(count * 32);
    tests::Encapsulated sent = backend().encapsulate(messages, keys.publics);
    EXPECT_EQ(sent.failed, 0u);
    EXPECT_EQ(backend().decapsulate(sent.ciphertexts, keys.secrets), sent.secrets);

    Text ciphertexts(count * sizes().ciphertext_bytes()), shared(count * 32), expected, texts;
    for (size_t i = 0; i < count; ++i) {
        tests::append(expected, tests::slice(sent.secrets, 0, 32));
        tests::append(texts, tests::slice(sent.ciphertexts, 0, sizes().ciphertext_bytes()));
    }
    warpseal_kem_batch batch = backend().batch(count);
    batch.public_keys = keys.publics.data();
    batch.secret_keys = keys.secrets.data();
    batch.coins = messages.data();
    batch.public_key_stride = batch.secret_key_stride = batch.coins_stride = 0;
    batch.ciphertexts = ciphertexts.data();
    batch.shared_secrets = shared.data();
    backend().run(KemOperation::encapsulate, batch);
    EXPECT_EQ(ciphertexts, texts);
    EXPECT_EQ(shared, expected);
    shared.assign(shared.size(), 0xa5);
    std::fill(ciphertexts.begin() + static_cast<long>(sizes().ciphertext_bytes()),
              ciphertexts.end(), uint8_t{0});
    batch.ciphertext_stride = 0;
    backend().run(KemOperation::decapsulate, batch);
    EXPECT_EQ(shared, expected);
}

// An array next to an inaccessible page, `by` bytes off.
class AtAnEdge {
public:
    AtAnEdge(const Text& text, bool end, size_t by)
        : memory_(text.size() + by),
          data_(end ? memory_.at_end(text.size() + by) : memory_.begin() + by),
          bytes_(text.size()) {
        std::copy(text.begin(), text.end(), data_);
    }
    uint8_t* data() const { return data_; }
    Text text() const { return Text(data_, data_ + bytes_); }

private:
    const tests::Guarded memory_;
    uint8_t* const data_;
    const size_t bytes_;
};

// Arrays at every alignment that begin or end at an inaccessible page. An odd number of items.
TEST_P(MlKem, StaysWithinItsArrays) {
    tests::Random random(6110);
    constexpr size_t count = 3;
    const Text coins = random.text(count * 64), messages = random.text(count * 32);
    const tests::Keys keys = backend().keypairs(coins);
    const tests::Encapsulated sent = backend().encapsulate(messages, keys.publics);
    for (const bool end : {false, true})
        for (size_t by = 0; by < 4; ++by) {
            SCOPED_TRACE(testing::Message() << by << " bytes from " << (end ? "the end" : "0"));
            const auto empty = [&](const Text& like) {
                return AtAnEdge(Text(like.size(), 0xa5), end, by);
            };
            const AtAnEdge in(coins, end, by), message(messages, end, by),
                pk = empty(keys.publics), sk = empty(keys.secrets), ct = empty(sent.ciphertexts),
                ss = empty(sent.secrets), received = empty(sent.secrets),
                statuses(Text(count * sizeof(int32_t), 0xa5), end, 0);
            warpseal_kem_batch batch = backend().batch(count);
            batch.public_keys = pk.data();
            batch.secret_keys = sk.data();
            batch.ciphertexts = ct.data();
            batch.shared_secrets = ss.data();
            batch.coins = in.data();
            batch.coins_stride = 64;
            batch.statuses = reinterpret_cast<int32_t*>(statuses.data());
            EXPECT_EQ(backend().run(KemOperation::keypair, batch), 0u);
            EXPECT_EQ(pk.text(), keys.publics);
            EXPECT_EQ(sk.text(), keys.secrets);
            batch.coins = message.data();
            batch.coins_stride = 32;
            EXPECT_EQ(backend().run(KemOperation::encapsulate, batch), 0u);
            EXPECT_EQ(ct.text(), sent.ciphertexts);
            EXPECT_EQ(ss.text(), sent.secrets);
            batch.shared_secrets = received.data();
            EXPECT_EQ(backend().run(KemOperation::decapsulate, batch), 0u);
            EXPECT_EQ(received.text(), sent.secrets);
            EXPECT_EQ(statuses.text(), Text(count * sizeof(int32_t), 0));
        }
}

// Strides with gaps, items of a range, statuses left out, and nothing written between items.
TEST_P(MlKem, WritesItsOutputsOnly) {
    tests::Random random(6106);
    constexpr size_t count = 21, begin = 3, some = 17, gap = 13;
    const size_t pk = sizes().public_key_bytes(), sk = sizes().secret_key_bytes(),
                 ct = sizes().ciphertext_bytes();
    Text coins = random.text(count * 64), publics(count * (pk + gap), 0xa5),
         secrets(count * (sk + gap), 0xa5), ciphertexts(count * (ct + gap), 0xa5),
         shared(count * (32 + gap), 0xa5), received = shared;
    warpseal_kem_batch batch = backend().batch(count);
    batch.public_keys = publics.data();
    batch.public_key_stride = pk + gap;
    batch.secret_keys = secrets.data();
    batch.secret_key_stride = sk + gap;
    batch.ciphertexts = ciphertexts.data();
    batch.ciphertext_stride = ct + gap;
    batch.shared_secrets = shared.data();
    batch.shared_secret_stride = 32 + gap;
    batch.coins = coins.data();
    batch.coins_stride = 64;
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
    EXPECT_TRUE(untouched(publics, pk));
    EXPECT_TRUE(untouched(secrets, sk));
    EXPECT_TRUE(untouched(ciphertexts, ct));
    EXPECT_TRUE(untouched(shared, 32));
    for (size_t i = begin; i < begin + some; ++i) {
        const tests::Keys one = backend().keypairs(tests::slice(coins, i, 64));
        EXPECT_EQ(Text(publics.begin() + static_cast<long>(i * (pk + gap)),
                       publics.begin() + static_cast<long>(i * (pk + gap) + pk)),
                  one.publics);
    }
}

INSTANTIATE_TEST_SUITE_P(All, MlKem, testing::ValuesIn(tests::mlkem_test_cases(true)),
                         tests::name_of);

}  // namespace

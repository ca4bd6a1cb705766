// NTRU against the slow reference: random coins, and one ciphertext with each of its bits flipped.
#include "support/kem_backends.h"
#include "support/random.h"

namespace {

using tests::Text;

class KemAgreement : public tests::KemTest {};

TEST_P(KemAgreement, RandomCoins) {
    const auto& params = backend().params();
    tests::Random random(5101);
    constexpr size_t count = 6;
    const Text keypair_coins = random.text(count * params.keypair_coins());
    const Text encapsulation_coins = random.text(count * params.encapsulation_coins());
    const tests::Keys keys = backend().keypairs(keypair_coins);
    const tests::Encapsulated sent = backend().encapsulate(encapsulation_coins, keys.publics);
    const Text received = backend().decapsulate(sent.ciphertexts, keys.secrets);
    EXPECT_EQ(received, sent.secrets);
    for (size_t i = 0; i < count; ++i) {
        const auto expected =
            reference_ntru().keypair(tests::slice(keypair_coins, i, params.keypair_coins()));
        ASSERT_TRUE(expected.has_value());
        EXPECT_EQ(tests::slice(keys.publics, i, params.public_key_bytes()), expected->public_key);
        EXPECT_EQ(tests::slice(keys.secrets, i, params.secret_key_bytes()), expected->secret_key);
        const auto both = reference_ntru().encapsulate(
            tests::slice(encapsulation_coins, i, params.encapsulation_coins()),
            expected->public_key);
        EXPECT_EQ(tests::slice(sent.ciphertexts, i, params.ciphertext_bytes()), both.ciphertext);
        EXPECT_EQ(tests::slice(sent.secrets, i, 32), both.secret);
    }
}

// Edge cases of coins: equal bytes, so that all sort keys tie but for the kind, and coefficients
// are all 0, 1 or -1 (255 is 0 modulo 3).
TEST_P(KemAgreement, EdgesOfCoins) {
    const auto& params = backend().params();
    for (const uint8_t byte : {0x00, 0x01, 0x02, 0x7f, 0x80, 0xaa, 0xff}) {
        const Text coins(params.keypair_coins(), byte),
            encapsulation_coins(params.encapsulation_coins(), byte);
        const auto expected = reference_ntru().keypair(coins);
        const tests::Keys keys = backend().keypairs(coins);
        EXPECT_EQ(keys.failed, expected ? 0u : 1u) << int{byte};
        EXPECT_EQ(keys.statuses[0], expected ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT)
            << int{byte};
        EXPECT_EQ(keys.publics,
                  expected ? expected->public_key : Text(params.public_key_bytes(), 0))
            << int{byte};
        EXPECT_EQ(keys.secrets,
                  expected ? expected->secret_key : Text(params.secret_key_bytes(), 0))
            << int{byte};
        const auto good =
            reference_ntru().keypair(tests::Random(5102).text(params.keypair_coins())).value();
        const auto both = reference_ntru().encapsulate(encapsulation_coins, good.public_key);
        const tests::Encapsulated sent =
            backend().encapsulate(encapsulation_coins, good.public_key);
        EXPECT_EQ(sent.ciphertexts, both.ciphertext) << int{byte};
        EXPECT_EQ(sent.secrets, both.secret) << int{byte};
        EXPECT_EQ(backend().decapsulate(sent.ciphertexts, good.secret_key), both.secret)
            << int{byte};
    }
}

// The highest possible sort keys, which must stay before a sort's padding. They are signed, so of
// 30 bits all but the top one are set.
TEST_P(KemAgreement, HighestSortKeys) {
    const auto& params = backend().params();
    tests::Random random(5104);
    const auto highest = [&](size_t bytes) {
        Text coins = random.text(bytes);
        std::fill(coins.begin() + static_cast<long>(params.iid_coins()), coins.end(), uint8_t{0});
        for (size_t bit = 0; bit < 8 * (bytes - params.iid_coins()); ++bit)
            if (bit % 30 != 29)
                coins[params.iid_coins() + bit / 8] |= static_cast<uint8_t>(1 << bit % 8);
        return coins;
    };
    const Text coins = highest(params.keypair_coins()),
               encapsulation_coins = highest(params.encapsulation_coins());
    const auto expected = reference_ntru().keypair(coins);
    ASSERT_TRUE(expected.has_value());
    const tests::Keys keys = backend().keypairs(coins);
    EXPECT_EQ(keys.publics, expected->public_key);
    EXPECT_EQ(keys.secrets, expected->secret_key);
    const auto both = reference_ntru().encapsulate(encapsulation_coins, expected->public_key);
    const tests::Encapsulated sent =
        backend().encapsulate(encapsulation_coins, expected->public_key);
    EXPECT_EQ(sent.ciphertexts, both.ciphertext);
    EXPECT_EQ(sent.secrets, both.secret);
}

// One key and ciphertext of the reference, every flip of it, and the reference outputs: computed
// once for all targets.
struct Flips {
    Text secret_key, ciphertexts, secrets;
    size_t accepted = 0;

    explicit Flips(const reference::Ntru& reference_ntru) {
        tests::Random random(5103);
        const auto keys =
            reference_ntru.keypair(random.text(reference_ntru.keypair_coins())).value();
        const auto sent = reference_ntru.encapsulate(
            random.text(reference_ntru.encapsulation_coins()), keys.public_key);
        secret_key = keys.secret_key;
        for (size_t bit = 0; bit < 8 * reference_ntru.ciphertext_bytes(); ++bit) {
            Text flipped = sent.ciphertext;
            flipped[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
            bool valid = false;
            const Text secret = reference_ntru.decapsulate(flipped, secret_key, &valid);
            EXPECT_NE(secret, sent.secret);
            if (!valid) {
                EXPECT_EQ(secret, tests::rejected(secret_key, flipped));
            }
            accepted += valid;
            tests::append(ciphertexts, flipped);
            tests::append(secrets, secret);
        }
    }
};

// The four sets with AVX2 code in the submission: 31,976 cases. In HRSS, whose messages are any
// ternary polynomials, a few flips in the last coefficients give other valid messages; in HPS none
// does.
class KemFlips : public tests::KemTest {};

TEST_P(KemFlips, EveryBitOfACiphertext) {
    const auto& params = backend().params();
    static std::map<std::string, Flips> all;
    const Flips& flips = all.try_emplace(set(), reference_ntru()).first->second;
    ASSERT_EQ(flips.ciphertexts.size(), 8 * params.ciphertext_bytes() * params.ciphertext_bytes());
    EXPECT_EQ(backend().decapsulate(flips.ciphertexts, flips.secret_key), flips.secrets);
    if (reference_ntru().is_hrss()) {
        EXPECT_GT(flips.accepted, 0u);
        EXPECT_LT(flips.accepted, 100u);
    } else {
        EXPECT_EQ(flips.accepted, 0u);
    }
}

std::vector<tests::TestCase> four_sets() {
    std::vector<tests::TestCase> out = tests::test_cases();
    std::erase_if(out, [](const tests::TestCase& test_case) {
        return test_case.set == "ntruhps40961229" || test_case.set == "ntruhrss1373";
    });
    return out;
}

FOR_EACH_SET_AND_TARGET(KemAgreement);
INSTANTIATE_TEST_SUITE_P(All, KemFlips, testing::ValuesIn(four_sets()), tests::name_of);

}  // namespace

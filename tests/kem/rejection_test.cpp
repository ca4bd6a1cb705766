// Invalid ciphertexts give SHA3-256(prf_key, ciphertext), class by class. Each of the three checks
// alone has to catch some.
#include "support/kem_backends.h"
#include "support/random.h"

namespace {

using Coefficients = reference::Ntru::Coefficients;
using tests::Text;

// Cases of each class: spare bits for each pattern of them, weights for each pair of coefficients,
// r for each value.
struct Counts {
    int spare, weight, signs, r, last, random;
};
constexpr Counts few{8, 24, 40, 40, 40, 40}, thousands{67, 168, 1000, 250, 1000, 1000};

// Ciphertexts that only one check can reject, and a few that are valid although unusual. All of one
// key, as one batch.
class Cases {
public:
    explicit Cases(const reference::Ntru& reference_ntru) : reference_ntru_(reference_ntru) {
        const auto keys =
            reference_ntru.keypair(random_.text(reference_ntru.keypair_coins())).value();
        public_key_ = keys.public_key;
        secret_key = keys.secret_key;
    }

    Coefficients r, m;  // of the last draw: r modulo q, m modulo 3
    void draw() {
        reference_ntru_.sample(random_.text(reference_ntru_.encapsulation_coins()), r, m);
        for (uint16_t& x : r) x = x == 2 ? static_cast<uint16_t>(reference_ntru_.q() - 1) : x;
    }
    size_t position() {
        return static_cast<size_t>(random_.below(static_cast<uint64_t>(reference_ntru_.n() - 1)));
    }
    size_t position_of(uint16_t value) {
        for (size_t i = position();; i = position())
            if (m[i] == value) return i;
    }
    Text encrypted() const { return reference_ntru_.encrypt(r, m, public_key_); }
    Text random_text() { return random_.text(reference_ntru_.ciphertext_bytes()); }

    // The slow reference checks only the valid ones and the first of each kind: the others are made
    // alike.
    void add(const std::string& kind, const Text& ciphertext, bool valid) {
        Text secret = tests::rejected(secret_key, ciphertext);
        if (valid || counts[kind] < asked) {
            bool accepted = false;
            const Text answer = reference_ntru_.decapsulate(ciphertext, secret_key, &accepted);
            EXPECT_EQ(accepted, valid) << kind;
            if (valid)
                secret = answer;
            else
                EXPECT_EQ(answer, secret) << kind;
        }
        ++counts[kind];
        tests::append(ciphertexts, ciphertext);
        tests::append(secrets, secret);
        kinds.push_back(kind);
    }

    Text secret_key, ciphertexts, secrets;
    std::vector<std::string> kinds;
    std::map<std::string, int> counts;

private:
    static constexpr int asked = 160;
    const reference::Ntru& reference_ntru_;
    tests::Random random_{5201};
    Text public_key_;
};

void spare_bits(Cases& cases, const reference::Ntru& reference_ntru, int count) {
    for (int pattern = 1; pattern < 1 << reference_ntru.spare_bits(); ++pattern)
        for (int i = 0; i < count; ++i) {
            cases.draw();
            Text ciphertext = cases.encrypted();
            if (i < few.spare) cases.add("good", ciphertext, true);
            ciphertext.back() = static_cast<uint8_t>(ciphertext.back() |
                                                     pattern << (8 - reference_ntru.spare_bits()));
            cases.add("spare bits", ciphertext, false);
        }
}

// HPS: m with a coefficient too many or too few, with one of the wrong sign, or with two extra of
// one sign for two missing of the other.
void weights(Cases& cases, const reference::Ntru& reference_ntru, int count) {
    if (reference_ntru.is_hrss()) return;
    for (int i = 0; i < count; ++i)
        for (const uint16_t from : {0, 1, 2})
            for (const uint16_t to : {0, 1, 2}) {
                if (from == to) continue;
                cases.draw();
                cases.m[cases.position_of(from)] = to;
                cases.add("weight of m", cases.encrypted(), false);
            }
    // One of each sign too few, or too many: the coefficient sum and thus r do not change, so no
    // other check rejects it.
    for (int i = 0; i < count; ++i) {
        cases.draw();
        for (const uint16_t sign : {1, 2})
            cases.m[cases.position_of(i % 2 == 0 ? sign : 0)] = i % 2 == 0 ? 0 : sign;
        cases.add("weight of m, sum zero", cases.encrypted(), false);
    }
    cases.draw();
    cases.m.assign(cases.m.size(), 0);
    cases.add("m zero", cases.encrypted(), false);
}

// HPS: m of the right weight, but with too many coefficients of one sign. Its sum s is not zero, as
// a ciphertext's is, so k Phi_n is added, with s + k n = 0 modulo q. For a small k no coefficient
// of f c leaves [-q/2, q/2), so that only this check rejects it.
void signs(Cases& cases, const reference::Ntru& reference_ntru, int count) {
    if (reference_ntru.is_hrss()) return;
    int k = 4, s = 0;  // the smallest that is no residue modulo 3 even with a coefficient added
    const auto sum = [&] {
        return (k * reference_ntru.n() + reference_ntru.q() / 2) % reference_ntru.q() -
               reference_ntru.q() / 2;
    };
    while (s = -sum(), s % 2 != 0 || std::abs(s) > 40) ++k;
    for (int i = 0; i < count; ++i) {
        cases.draw();
        for (int turned = 0; turned < std::abs(s) / 2; ++turned)
            cases.m[cases.position_of(s > 0 ? 2 : 1)] = s > 0 ? 1 : 2;
        for (uint16_t& x : cases.m) x = static_cast<uint16_t>(x == 2 ? k - 1 : k + x);
        cases.add("signs of m", cases.encrypted(), false);
    }
}

void ternary_r(Cases& cases, const reference::Ntru& reference_ntru, int count) {
    for (int i = 0; i < count; ++i)
        for (const int value : {2, 3, reference_ntru.q() / 2, reference_ntru.q() - 2}) {
            cases.draw();
            cases.r[cases.position()] = static_cast<uint16_t>(value);
            cases.add("r not ternary", cases.encrypted(), false);
        }
}

// h is zero at 1, so that r and r - Phi_n give one ciphertext. With r[n - 1] = 1 the other
// coefficients decrease by one, which is ternary only if none was -1.
void last_of_r(Cases& cases, const reference::Ntru& reference_ntru, int count) {
    for (int i = 0; i < count; ++i) {
        cases.draw();
        cases.r.back() = static_cast<uint16_t>(i % 2 == 0 ? 1 : reference_ntru.q() - 1);
        cases.add("r[n - 1] not zero", cases.encrypted(), false);
    }
    cases.draw();
    for (uint16_t& x : cases.r) x = x == 1 ? 1 : 0;
    cases.r.back() = 1;
    cases.add("r[n - 1] = 1, and r - Phi_n ternary", cases.encrypted(), true);
    cases.r.assign(cases.r.size(), 0);
    cases.add("r zero", cases.encrypted(), true);
}

class KemRejection : public tests::KemTest {};

TEST_P(KemRejection, EachClass) {
    static std::map<std::pair<std::string, bool>, Cases> all;
    const auto [at, fresh] = all.try_emplace({set(), many()}, reference_ntru());
    Cases& cases = at->second;
    if (fresh) {
        const Counts& counts = many() ? thousands : few;
        spare_bits(cases, reference_ntru(), counts.spare);
        weights(cases, reference_ntru(), counts.weight);
        signs(cases, reference_ntru(), counts.signs);
        ternary_r(cases, reference_ntru(), counts.r);
        last_of_r(cases, reference_ntru(), counts.last);
        for (int i = 0; i < counts.random; ++i) cases.add("random", cases.random_text(), false);
        const size_t bytes = backend().params().ciphertext_bytes();
        cases.add("all zero", Text(bytes, 0x00), reference_ntru().is_hrss());
        cases.add("all ones", Text(bytes, 0xff), false);
    }
    const Text secrets = backend().decapsulate(cases.ciphertexts, cases.secret_key);
    ASSERT_GE(cases.kinds.size(), many() ? 3000u : 200u);
    for (size_t i = 0; i < cases.kinds.size(); ++i)
        EXPECT_EQ(tests::slice(secrets, i, 32), tests::slice(cases.secrets, i, 32))
            << cases.kinds[i] << ", case " << i;
}

// Ciphertexts made for another key, and secrets that begin with a zero byte, which a C string
// comparison would treat as equal.
TEST_P(KemRejection, OtherKeysAndZeroBytes) {
    const auto& params = backend().params();
    tests::Random random(5202);
    const tests::Keys keys = backend().keypairs(random.text(2 * params.keypair_coins()));
    const Text sk = tests::slice(keys.secrets, 0, params.secret_key_bytes());
    const tests::Encapsulated mine =
        backend().encapsulate(random.text(600 * params.encapsulation_coins()),
                              tests::slice(keys.publics, 0, params.public_key_bytes()));
    const tests::Encapsulated others =
        backend().encapsulate(random.text(30 * params.encapsulation_coins()),
                              tests::slice(keys.publics, 1, params.public_key_bytes()));
    EXPECT_EQ(backend().decapsulate(mine.ciphertexts, sk), mine.secrets);
    const Text rejected = backend().decapsulate(others.ciphertexts, sk);
    for (size_t i = 0; i < 30; ++i) {
        EXPECT_EQ(
            tests::slice(rejected, i, 32),
            tests::rejected(sk, tests::slice(others.ciphertexts, i, params.ciphertext_bytes())));
    }
    size_t zeros = 0;
    for (size_t i = 0; i < 600; ++i) {
        if (mine.secrets[32 * i] != 0) continue;
        ++zeros;
        const Text ciphertext = tests::slice(mine.ciphertexts, i, params.ciphertext_bytes());
        EXPECT_EQ(reference_ntru().decapsulate(ciphertext, sk), tests::slice(mine.secrets, i, 32));
        Text flipped = ciphertext;
        flipped[params.ciphertext_bytes() / 2] ^= 16;
        EXPECT_EQ(backend().decapsulate(flipped, sk), reference_ntru().decapsulate(flipped, sk));
    }
    EXPECT_GT(zeros, 0u);
}

// Unused bits of a secret key have no effect: those after 1 / h would be a further coefficient. On
// cores this includes a byte of ternary coefficients whose fifth digit is 3, not 0, and digits of
// the last byte from coefficient n - 1 on.
TEST_P(KemRejection, SpareBitsOfASecretKey) {
    const auto& params = backend().params();
    tests::Random random(5203);
    const tests::Keys keys = backend().keypairs(random.text(params.keypair_coins()));
    const tests::Encapsulated sent =
        backend().encapsulate(random.text(9 * params.encapsulation_coins()), keys.publics);
    Text secret_key = keys.secrets;
    uint8_t& last = secret_key[2 * params.ternary_bytes() + params.rq_bytes() - 1];
    last = static_cast<uint8_t>(last | ~(0xff >> params.spare_bits()));
    EXPECT_EQ(backend().decapsulate(sent.ciphertexts, secret_key), sent.secrets);
    if (backend().cpu() == nullptr) return;
    const size_t bytes = params.ternary_bytes();
    for (size_t i = 0; i < 2 * bytes; ++i)
        if (secret_key[i] + 243 < 256) secret_key[i] = static_cast<uint8_t>(secret_key[i] + 243);
    EXPECT_FALSE(std::equal(keys.secrets.begin(),
                            keys.secrets.begin() + static_cast<long>(2 * bytes),
                            secret_key.begin()));
    EXPECT_EQ(backend().decapsulate(sent.ciphertexts, secret_key), sent.secrets);
    secret_key = keys.secrets;
    static constexpr int ones[] = {0, 120, 117, 108, 81};  // in the unused digits
    for (const size_t end : {bytes, 2 * bytes})
        secret_key[end - 1] = static_cast<uint8_t>(secret_key[end - 1] + ones[(params.n - 1) % 5]);
    EXPECT_EQ(backend().decapsulate(sent.ciphertexts, secret_key), sent.secrets);
}

FOR_EACH_SET_AND_TARGET(KemRejection);

}  // namespace

// The engine's self-test of key encapsulation: its reference outputs equal the reference
// implementation's, and it refuses a target with any wrong output of any operation.
#include "engine/kem/self_test.h"

#include "reference/hybrid.h"
#include "support/kem_backends.h"

namespace {

using tests::Text;
using warpseal::CpuKem;
using warpseal::KemOperation;
using warpseal::KemSet;
using warpseal::KemTestInput;

Text input(const KemSet& set, KemOperation operation, KemTestInput what, size_t bytes) {
    Text out(bytes);
    warpseal::kem_self_test_input(set, operation, what, out.data(), bytes);
    return out;
}

// The references, with the same functions.
struct NtruScheme {
    const reference::Ntru ntru;
    reference::Ntru::Keys keypair(const Text& coins) const { return ntru.keypair(coins).value(); }
    auto encapsulate(const Text& coins, const Text& key) const {
        return ntru.encapsulate(coins, key);
    }
    Text decapsulate(const Text& text, const Text& key) const {
        return ntru.decapsulate(text, key);
    }
    static void make_valid(const KemSet& set, Text& key) {
        key.back() &= static_cast<uint8_t>(0xff >> set.ntru->spare_bits());
    }
};
struct MlKemScheme {
    const reference::MlKem mlkem;
    auto keypair(const Text& coins) const { return mlkem.keypair(coins); }
    auto encapsulate(const Text& coins, const Text& key) const {
        return mlkem.encapsulate(coins, key);
    }
    Text decapsulate(const Text& text, const Text& key) const {
        return mlkem.decapsulate(text, key);
    }
    // Clears bit 11 of each coefficient.
    static void make_valid(const KemSet&, Text& key) {
        for (size_t i = 0; i + 32 < key.size(); i += 3) key[i + 1] &= 0xf7, key[i + 2] &= 0x7f;
    }
};

struct HybridScheme {
    const reference::Hybrid hybrid;
    auto keypair(const Text& coins) const { return hybrid.keypair(coins); }
    auto encapsulate(const Text& coins, const Text& key) const {
        return hybrid.encapsulate(coins, key);
    }
    Text decapsulate(const Text& text, const Text& key) const {
        return hybrid.decapsulate(text, key);
    }
    static void make_valid(const KemSet& set, Text& key) {
        if (set.mlkem_half() == nullptr) return;
        Text first(key.begin(), key.end() - 32);
        MlKemScheme::make_valid(set, first);
        std::copy(first.begin(), first.end(), key.begin());
    }
};

// Reference outputs for the inputs of the self-test.
template <class Scheme>
class Expected {
public:
    Expected(const KemSet& set, Scheme scheme) : set_(set), scheme_(std::move(scheme)) {}

    Text keypairs() {
        const Text coins =
            input(set_, KemOperation::keypair, KemTestInput::coins, items * set_.keypair_coins());
        for (size_t i = 0; i < items; ++i) {
            const auto keys = scheme_.keypair(tests::slice(coins, i, set_.keypair_coins()));
            tests::append(publics_, keys.public_key);
            tests::append(secrets_, keys.secret_key);
        }
        return joined(publics_, secrets_);
    }
    Text encapsulations(Text publics) {
        const Text coins = input(set_, KemOperation::encapsulate, KemTestInput::coins,
                                 items * set_.encapsulation_coins());
        Text secrets;
        ciphertexts_.clear();
        for (size_t i = 0; i < items; ++i) {
            const auto sent =
                scheme_.encapsulate(tests::slice(coins, i, set_.encapsulation_coins()),
                                    tests::slice(publics, i, set_.public_key_bytes()));
            tests::append(ciphertexts_, sent.ciphertext);
            tests::append(secrets, sent.secret);
        }
        return joined(ciphertexts_, secrets);
    }
    Text any_public_keys() const {
        const Text all = input(set_, KemOperation::encapsulate, KemTestInput::public_keys,
                               items * set_.public_key_bytes());
        Text out;
        for (size_t i = 0; i < items; ++i) {
            Text key = tests::slice(all, i, set_.public_key_bytes());
            Scheme::make_valid(set_, key);
            tests::append(out, key);
        }
        return out;
    }
    Text decapsulations() {
        encapsulations(publics_);
        Text out;
        for (size_t i = 0; i < items; ++i) {
            Text ciphertext = tests::slice(ciphertexts_, i, set_.ciphertext_bytes());
            if (i % 2 == 1) ciphertext[5 * i % ciphertext.size()] ^= 1;
            tests::append(out, scheme_.decapsulate(
                                   ciphertext, tests::slice(secrets_, i, set_.secret_key_bytes())));
        }
        return out;
    }

private:
    static constexpr size_t items = warpseal::kem_self_test_items;
    static Text joined(const Text& a, const Text& b) {
        Text out = a;
        tests::append(out, b);
        return out;
    }
    const KemSet& set_;
    const Scheme scheme_;
    Text publics_, secrets_, ciphertexts_;
};

template <class Scheme>
void compare(const KemSet& set, Scheme scheme) {
    Expected<Scheme> expected(set, std::move(scheme));
    const Text outputs[] = {expected.keypairs(),
                            expected.encapsulations(expected.any_public_keys()),
                            expected.decapsulations()};
    const warpseal::KemReferenceDigest* answer = warpseal::kem_reference_digest(set.name);
    ASSERT_NE(answer, nullptr) << set.name;
    for (int i = 0; i < warpseal::kem_operation_count; ++i)
        EXPECT_EQ(Text(answer->digest[i], answer->digest[i] + 16),
                  reference::shake256(outputs[i], 16))
            << set.name << ", operation " << i;
}

TEST(KemSelfTest, OutputsEqualTheReference) {
    for (const KemSet& set : warpseal::kem_sets)
        if (set.ntru != nullptr)
            compare(set, NtruScheme{reference::Ntru(set.name)});
        else if (set.hybrid != nullptr)
            compare(set, HybridScheme{reference::Hybrid(set.name)});
        else
            compare(set, MlKemScheme{reference::MlKem(set.name)});
}

// One wrong bit in one output of any item, or a good item reported as bad, closes the target.
struct Broken {
    static inline CpuKem::Run intact;
    static inline KemOperation operation;
    static inline uint64_t item;
    static inline int output;  // its first or second output; 2: the number of items without a
                               // result; 3: which ones
    static inline uint64_t least = 0;  // smaller batches stay intact

    static uint64_t run(const warpseal_kem_batch& batch, uint64_t first, uint64_t count,
                        void* work) {
        const uint64_t failed = intact(batch, first, count, work);
        if (count < least) return failed;
        if (output == 2) return failed + 1;
        if (output == 3) batch.statuses[item] = WARPSEAL_INVALID_ARGUMENT;
        if (output == 3) return failed;
        uint8_t* const public_key = batch.public_keys + item * batch.public_key_stride;
        uint8_t* const ciphertext = batch.ciphertexts + item * batch.ciphertext_stride;
        uint8_t* const shared = batch.shared_secrets + item * batch.shared_secret_stride;
        if (operation == KemOperation::keypair)
            (output == 0 ? public_key : batch.secret_keys + item * batch.secret_key_stride)[item] ^=
                1;
        else if (operation == KemOperation::encapsulate)
            (output == 0 ? ciphertext : shared)[item] ^= 1;
        else
            shared[item + 16 * output] ^= 1;
        return failed;
    }
};

TEST(KemSelfTest, ClosesABrokenTarget) {
    for (const char* name : {"ntruhps2048509", "ntruhrss701", "ml-kem-512", "ml-kem-768", "x25519",
                             "x25519mlkem768", "x-wing"}) {
        const KemSet& set = tests::kem_set_of(name);
        const CpuKem& intact = *warpseal::cpu_kem(warpseal::Target::portable, name);
        for (const auto operation :
             {KemOperation::keypair, KemOperation::encapsulate, KemOperation::decapsulate}) {
            ASSERT_EQ(warpseal::test_kem(set, intact, operation), WARPSEAL_OK);
            for (uint64_t item = 0; item < warpseal::kem_self_test_items; item += 4)
                for (int output = 0; output < 4; ++output) {
                    CpuKem broken = intact;
                    Broken::intact = intact.run[static_cast<int>(operation)];
                    Broken::operation = operation;
                    Broken::item = item;
                    Broken::output = output;
                    broken.run[static_cast<int>(operation)] = Broken::run;
                    EXPECT_EQ(warpseal::test_kem(set, broken, operation), WARPSEAL_SELF_TEST_FAILED)
                        << name << " output " << output;
                }
        }
    }
}

// The same for prepared keys, and for a key that is reported as refused.
TEST(KemSelfTest, ClosesBrokenPreparedKeys) {
    for (const char* name :
         {"ntruhps2048509", "ml-kem-512", "ml-kem-768", "x25519mlkem768", "x-wing"}) {
        const KemSet& set = tests::kem_set_of(name);
        const CpuKem& intact = *warpseal::cpu_kem(warpseal::Target::portable, name);
        for (const auto kind :
             {warpseal::KemKeyKind::public_key, warpseal::KemKeyKind::secret_key}) {
            const auto i = static_cast<int>(kind);
            ASSERT_EQ(warpseal::test_prepared_kem(set, intact, kind), WARPSEAL_OK);
            CpuKem broken = intact;
            broken.prepare[i] = [](const uint8_t*, void*, void*) { return false; };
            EXPECT_EQ(warpseal::test_prepared_kem(set, broken, kind), WARPSEAL_SELF_TEST_FAILED);
            broken = intact;
            broken.run_prepared[i] = Broken::run;
            Broken::intact = intact.run_prepared[i];
            Broken::operation = warpseal::operation_of(kind);
            for (const uint64_t item : {0, 5})  // 5: only where all items share a key
                for (int output = 0; output < 4; ++output) {
                    Broken::item = item;
                    Broken::output = output;
                    Broken::least = item + 1;
                    EXPECT_EQ(warpseal::test_prepared_kem(set, broken, kind),
                              WARPSEAL_SELF_TEST_FAILED)
                        << name << " output " << output << " item " << item;
                }
            Broken::least = 0;
        }
    }
}

}  // namespace

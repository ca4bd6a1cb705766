// The engine's self-test of NTRU: its reference outputs equal the reference implementation's, and
// it refuses a target with any wrong output of any operation.
#include "engine/kem/self_test.h"

#include "support/kem_backends.h"

namespace {

using tests::Text;
using warpseal::CpuKem;
using warpseal::KemOperation;
using warpseal::KemTestInput;

Text input(const warpseal::kem::Params& set, KemOperation operation, KemTestInput what,
           size_t bytes) {
    Text out(bytes);
    warpseal::kem_self_test_input(set, operation, what, out.data(), bytes);
    return out;
}

// Reference outputs for the inputs of the self-test.
class Expected {
public:
    explicit Expected(const warpseal::kem::Params& set) : set_(set), reference_ntru_(set.name) {}

    Text keypairs() {
        const Text coins =
            input(set_, KemOperation::keypair, KemTestInput::coins, items * set_.keypair_coins());
        for (size_t i = 0; i < items; ++i) {
            const auto keys =
                reference_ntru_.keypair(tests::slice(coins, i, set_.keypair_coins())).value();
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
                reference_ntru_.encapsulate(tests::slice(coins, i, set_.encapsulation_coins()),
                                            tests::slice(publics, i, set_.public_key_bytes()));
            tests::append(ciphertexts_, sent.ciphertext);
            tests::append(secrets, sent.secret);
        }
        return joined(ciphertexts_, secrets);
    }
    Text any_public_keys() const {
        Text out = input(set_, KemOperation::encapsulate, KemTestInput::public_keys,
                         items * set_.public_key_bytes());
        for (size_t i = 1; i <= items; ++i)
            out[i * set_.public_key_bytes() - 1] &= static_cast<uint8_t>(0xff >> set_.spare_bits());
        return out;
    }
    Text decapsulations() {
        encapsulations(publics_);
        Text out;
        for (size_t i = 0; i < items; ++i) {
            Text ciphertext = tests::slice(ciphertexts_, i, set_.ciphertext_bytes());
            if (i % 2 == 1) ciphertext[5 * i] ^= 1;
            tests::append(out, reference_ntru_.decapsulate(
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
    const warpseal::kem::Params& set_;
    const reference::Ntru reference_ntru_;
    Text publics_, secrets_, ciphertexts_;
};

TEST(KemSelfTest, OutputsEqualTheReference) {
    for (const warpseal::kem::Params* set : warpseal::kem::sets) {
        Expected expected(*set);
        const Text outputs[] = {expected.keypairs(),
                                expected.encapsulations(expected.any_public_keys()),
                                expected.decapsulations()};
        const warpseal::KemReferenceDigest* answer = warpseal::kem_reference_digest(set->name);
        ASSERT_NE(answer, nullptr) << set->name;
        for (int i = 0; i < warpseal::kem_operation_count; ++i)
            EXPECT_EQ(Text(answer->digest[i], answer->digest[i] + 16),
                      reference::shake256(outputs[i], 16))
                << set->name << ", operation " << i;
    }
}

// One wrong bit in one output of any item, or a good item reported as bad, closes the target.
struct Broken {
    static inline CpuKem::Run intact;
    static inline KemOperation operation;
    static inline uint64_t item;
    static inline int output;  // its first or second output; 2: the number of items without a
                               // result; 3: which ones

    static uint64_t run(const warpseal_kem_batch& batch, uint64_t first, uint64_t count,
                        void* work) {
        const uint64_t failed = intact(batch, first, count, work);
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
    for (const warpseal::kem::Params* set :
         {&warpseal::kem::ntruhps2048509, &warpseal::kem::ntruhrss701}) {
        const CpuKem& intact = *warpseal::cpu_kem(warpseal::Target::portable, set->name);
        for (const auto operation :
             {KemOperation::keypair, KemOperation::encapsulate, KemOperation::decapsulate}) {
            ASSERT_EQ(warpseal::test_kem(intact, operation), WARPSEAL_OK);
            for (uint64_t item = 0; item < warpseal::kem_self_test_items; item += 4)
                for (int output = 0; output < 4; ++output) {
                    CpuKem broken = intact;
                    Broken::intact = intact.run[static_cast<int>(operation)];
                    Broken::operation = operation;
                    Broken::item = item;
                    Broken::output = output;
                    broken.run[static_cast<int>(operation)] = Broken::run;
                    EXPECT_EQ(warpseal::test_kem(broken, operation), WARPSEAL_SELF_TEST_FAILED)
                        << set->name << " output " << output;
                }
        }
    }
}

}  // namespace

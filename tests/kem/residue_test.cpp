// After a call none of its secrets remain except its outputs: no packed key, no secret, no
// coefficients of f or of its inverse, on the heap, in work space or on a stack.
#include "support/residue.h"

#include <algorithm>
#include <utility>

#include "support/kem_backends.h"
#include "support/random.h"

namespace {

using residue::mask;
using residue::Patterns;
using tests::Text;
using warpseal::KemOperation;

// Adds windows of `bytes` bytes. One that begins with zeros would be compared in all zero memory.
void add_windows(Patterns& patterns, const Text& masked, size_t bytes) {
    for (size_t at = 0; at + bytes <= masked.size(); at += bytes) {
        const auto from = masked.begin() + static_cast<long>(at);
        if (std::count(from, from + 4, mask) < 4)
            patterns.emplace_back(from, from + static_cast<long>(bytes));
    }
}

// Adds the ternary coefficients packed in `masked`, as words of 16 bits and as bytes.
void add_coefficients(Patterns& patterns, const Text& masked, size_t first, size_t count) {
    Text words, bytes;
    static constexpr int power[] = {1, 3, 9, 27, 81};
    for (size_t i = 0; i < count; ++i) {
        const int digit = (masked[first + i / 5] ^ mask) / power[i % 5] % 3;
        const uint8_t low = static_cast<uint8_t>(digit == 2 ? 0xff : digit) ^ mask,
                      high = (digit == 2 ? 0xff : 0) ^ mask;
        bytes.push_back(low);
        words.push_back(low);
        words.push_back(high);
    }
    add_windows(patterns, words, 64);
    add_windows(patterns, bytes, 32);
}

// Adds the secret parts of a key of ML-KEM: s, packed and as words of 16 bits, and z.
void add_mlkem(Patterns& patterns, const Text& masked, const warpseal::kem::MlKemParams& set) {
    const Text packed(masked.begin(), masked.begin() + static_cast<long>(set.vector_bytes()));
    Text words;
    for (size_t i = 0; i < packed.size(); i += 3) {
        const int a = packed[i] ^ mask, b = packed[i + 1] ^ mask, c = packed[i + 2] ^ mask;
        for (const int word : {a | (b & 15) << 8, b >> 4 | c << 4}) {
            words.push_back(static_cast<uint8_t>(word) ^ mask);
            words.push_back(static_cast<uint8_t>(word >> 8) ^ mask);
        }
    }
    add_windows(patterns, packed, 16);
    add_windows(patterns, words, 32);
    add_windows(patterns, Text(masked.end() - 32, masked.end()), 16);
}

class KemResidue : public tests::KemTest {};

TEST_P(KemResidue, NoneAfterEachCall) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "NOT RUN: a sanitizer keeps freed memory";
#endif
    const auto& params = backend().sizes();
    const targets::EngineHandle engine = targets::engine(GetParam().target, 2);
    constexpr size_t count = 40;
    const size_t pk = params.public_key_bytes(), sk = params.secret_key_bytes(),
                 ct = params.ciphertext_bytes(), ss = params.shared_secret_bytes();
    Text publics(count * pk), secrets(count * sk), ciphertexts(count * ct), shared(count * ss);
    Patterns patterns;
    const auto call = [&](auto function, uint8_t* shared_secrets) {
        warpseal_kem_batch batch = backend().batch(count);
        batch.public_keys = publics.data();
        batch.secret_keys = secrets.data();
        batch.ciphertexts = ciphertexts.data();
        batch.shared_secrets = shared_secrets;
        ASSERT_EQ(function(engine.get(), set().c_str(), &batch), WARPSEAL_OK);
    };
    // Masks or unmasks the caller's data, so that the search finds only the library's copies.
    const auto flip = [](Text& text) {
        for (uint8_t& byte : text) byte ^= mask;
    };

    call(warpseal_kem_keypair, shared.data());
    flip(secrets);
    for (const size_t i : {size_t{0}, count / 2, count - 1}) {
        const Text one = tests::slice(secrets, i, sk);
        if (params.hybrid != nullptr) {
            // X25519's scalar or X-Wing's seed, perhaps after a key of ML-KEM.
            add_windows(patterns, Text(one.end() - 32, one.end()), 16);
            if (one.size() > 32)
                add_mlkem(patterns, Text(one.begin(), one.end() - 32), *params.mlkem_half());
            continue;
        }
        if (params.mlkem != nullptr) {
            add_mlkem(patterns, one, *params.mlkem);
            continue;
        }
        const auto coefficients = static_cast<size_t>(params.ntru->n - 1);
        add_coefficients(patterns, one, 0, coefficients);
        add_coefficients(patterns, one, params.ntru->ternary_bytes(), coefficients);
        add_windows(patterns, one, 16);
    }
    EXPECT_EQ(residue::occurrences(patterns), 0u) << "after key generation";
    call(warpseal_kem_encapsulate, shared.data());
    flip(shared);
    add_windows(patterns, shared, 16);
    EXPECT_EQ(residue::occurrences(patterns), 0u) << "after encapsulation";
    flip(secrets);
    Text received(count * ss);
    call(warpseal_kem_decapsulate, received.data());
    flip(secrets);
    flip(received);
    EXPECT_EQ(received, shared);
    EXPECT_EQ(residue::occurrences(patterns), 0u) << "after decapsulation";

    // Prepared keys leave nothing once they are destroyed.
    flip(secrets);
    warpseal_kem_key* key = nullptr;
    ASSERT_EQ(warpseal_kem_secret_key_create(engine.get(), set().c_str(), secrets.data(), sk, &key),
              WARPSEAL_OK);
    warpseal_kem_batch one = backend().batch(1);
    one.ciphertexts = ciphertexts.data();
    one.shared_secrets = received.data();
    EXPECT_EQ(warpseal_kem_key_decapsulate(key, &one), WARPSEAL_OK);
    flip(secrets);
    std::fill_n(received.begin(), ss, uint8_t{0});
    EXPECT_GT(residue::occurrences(patterns), 0u) << "a prepared key holds its secret";
    warpseal_kem_key_destroy(key);
    EXPECT_EQ(residue::occurrences(patterns), 0u) << "after a prepared key";

    // A call whose items share a key prepares it in a workspace.
    flip(secrets);
    warpseal_kem_batch all = backend().batch(count);
    all.secret_keys = secrets.data();
    all.secret_key_stride = 0;
    all.ciphertexts = ciphertexts.data();
    all.shared_secrets = received.data();
    EXPECT_EQ(warpseal_kem_decapsulate(engine.get(), set().c_str(), &all), WARPSEAL_OK);
    flip(secrets);
    std::fill(received.begin(), received.end(), uint8_t{0});
    EXPECT_EQ(residue::occurrences(patterns), 0u) << "after a call with one key";

    // Checks the search itself: a planted secret is found.
    const Text left(patterns.back().begin(), patterns.back().end());
    Text planted = left;
    flip(planted);
    EXPECT_EQ(residue::occurrences({left}), 1u);
}

// The stack after a call does not depend on coins or keys: every spill of the operation is
// zeroized.
class KemStack : public tests::KemTest {
protected:
    void run(KemOperation operation, const warpseal_kem_batch& batch, uint64_t count) {
        std::vector<uint8_t> memory(backend().cpu()->work_bytes(operation, count) + 64);
        void* work = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64);
        backend().cpu()->run[static_cast<int>(operation)](batch, 0, count, work);
    }
    // The same for the first item's key, prepared. batch: the operation's, with coins in `coins`.
    void prepared(KemOperation operation, warpseal_kem_batch batch, Text& coins, void* work,
                  uint64_t count) {
        const auto kind = warpseal::kind_for(operation);
        const auto i = static_cast<int>(kind);
        const warpseal::CpuKem& kem = *backend().cpu();
        std::vector<uint8_t> memory(kem.prepared_bytes(kind) + 64);
        uint8_t* const key = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64);
        uint8_t*& of_batch =
            kind == warpseal::KemKeyKind::public_key ? batch.public_keys : batch.secret_keys;
        const uint8_t* const bytes = std::exchange(of_batch, key);
        batch.public_key_stride = batch.secret_key_stride = 0;
        tests::Random random(5402);
        tests::Stack stack;
        const auto prepare = [&] {
            return stack.after([&] { (void)kem.prepare[i](bytes, key, work); });
        };
        const auto run = [&] {
            random.fill(coins.data(), coins.size());
            return stack.after([&] { (void)kem.run_prepared[i](batch, 0, count, work); });
        };
        prepare(), run();
        const std::vector<uint8_t> prepared_first = prepare(), run_first = run();
        // Another key of the same memory: a bit of s, or of the public key.
        const_cast<uint8_t*>(bytes)[0] ^= 1;
        EXPECT_TRUE(prepared_first == prepare()) << static_cast<int>(operation);
        const_cast<uint8_t*>(bytes)[0] ^= 1;
        EXPECT_TRUE(run_first == run()) << static_cast<int>(operation) << ", " << count;
    }
};

TEST_P(KemStack, DependsOnNoSecret) {
    if (tests::stacks_are_sanitized)
        GTEST_SKIP() << "NOT RUN: a sanitizer changes the stack layout";
    const auto& params = backend().sizes();
    tests::Random random(5401);
    tests::Stack stack;
    for (const uint64_t count : {uint64_t{1}, uint64_t{8}, uint64_t{9}}) {
        Text publics(count * params.public_key_bytes()), secrets(count * params.secret_key_bytes()),
            coins;
        Text ciphertexts(count * params.ciphertext_bytes()),
            shared(count * params.shared_secret_bytes());
        warpseal_kem_batch batch = backend().batch(count);
        batch.public_keys = publics.data();
        batch.secret_keys = secrets.data();
        batch.ciphertexts = ciphertexts.data();
        batch.shared_secrets = shared.data();
        const auto draw_keys = [&] {
            Text seeds(count * params.keypair_coins());
            random.fill(seeds.data(), seeds.size());
            batch.coins = seeds.data();
            batch.coins_stride = params.keypair_coins();
            run(KemOperation::keypair, batch, count);
        };
        for (const auto operation :
             {KemOperation::keypair, KemOperation::encapsulate, KemOperation::decapsulate}) {
            std::vector<uint8_t> memory(backend().cpu()->work_bytes(operation, count) + 64);
            void* work = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64);
            const auto after = [&] {
                // Ciphertexts of earlier keys are rejected, which is a secret too.
                if (operation == KemOperation::decapsulate) draw_keys();
                batch.coins_stride = operation == KemOperation::keypair
                                         ? params.keypair_coins()
                                         : params.encapsulation_coins();
                coins.resize(count * batch.coins_stride);
                batch.coins = coins.data();
                random.fill(coins.data(), coins.size());
                return stack.after([&] {
                    backend().cpu()->run[static_cast<int>(operation)](batch, 0, count, work);
                });
            };
            after();  // the dynamic linker saves registers when it resolves a function, at its
                      // first call
            const std::vector<uint8_t> first = after();
            EXPECT_TRUE(first == after()) << static_cast<int>(operation) << ", " << count;
            if (operation != KemOperation::keypair) prepared(operation, batch, coins, work, count);
        }
    }
}

std::vector<tests::TestCase> on_cores() {
    std::vector<tests::TestCase> out = tests::test_cases();
    for (const tests::TestCase& test_case : tests::mlkem_test_cases()) out.push_back(test_case);
    for (const tests::TestCase& test_case : tests::hybrid_test_cases()) out.push_back(test_case);
    std::erase_if(out, [](const tests::TestCase& test_case) { return test_case.target == "cuda"; });
    return out;
}

INSTANTIATE_TEST_SUITE_P(All, KemStack, testing::ValuesIn(on_cores()), tests::name_of);

// Returns one set of each family of NTRU, which share their code, those of ML-KEM, and
// the hybrids.
std::vector<tests::TestCase> two_sets() {
    std::vector<tests::TestCase> out = tests::test_cases();
    std::erase_if(out, [](const tests::TestCase& test_case) {
        return test_case.set != "ntruhps2048509" && test_case.set != "ntruhrss701";
    });
    for (const tests::TestCase& test_case : tests::mlkem_test_cases()) out.push_back(test_case);
    for (const tests::TestCase& test_case : tests::hybrid_test_cases()) out.push_back(test_case);
    return out;
}

INSTANTIATE_TEST_SUITE_P(All, KemResidue, testing::ValuesIn(two_sets()), tests::name_of);

}  // namespace

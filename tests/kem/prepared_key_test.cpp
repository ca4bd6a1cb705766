// Prepared keys: every set on every target gives the results and statuses of the ordinary calls,
// through the backend interface and through kem.h. Refused keys, misuse, lifetime, threads, forks.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "support/guard.h"
#include "support/kem_backends.h"
#include "support/random.h"
#include "warpseal/error.h"

namespace {

using tests::Text;
using warpseal::KemKeyKind;
using warpseal::KemOperation;

constexpr KemKeyKind kinds[] = {KemKeyKind::public_key, KemKeyKind::secret_key};
constexpr int32_t refused = WARPSEAL_INVALID_ARGUMENT;

std::vector<tests::TestCase> every_case() {
    std::vector<tests::TestCase> out = tests::test_cases();
    for (const tests::TestCase& test_case : tests::mlkem_test_cases()) out.push_back(test_case);
    for (const tests::TestCase& test_case : tests::hybrid_test_cases()) out.push_back(test_case);
    return out;
}
std::vector<tests::TestCase> on_cores(std::vector<tests::TestCase> out) {
    std::erase_if(out, [](const tests::TestCase& test_case) { return test_case.target == "cuda"; });
    return out;
}

// Makes a public key that its scheme refuses; false if there is none.
bool spoil_public(const warpseal::KemSet& set, Text& key) {
    if (set.mlkem_half() != nullptr) {
        key[0] = 0x01, key[1] = static_cast<uint8_t>((key[1] & 0xf0) | 0xd);  // q
        return true;
    }
    if (set.hybrid != nullptr) {
        key.assign(key.size(), 0);  // a point of low order
        return true;
    }
    if (set.ntru->spare_bits() == 0) return false;
    key.back() |= 0x80;
    return true;
}
// The same for a secret key: the hash of ML-KEM's public key.
bool spoil_secret(const warpseal::KemSet& set, Text& key) {
    const warpseal::kem::MlKemParams* const mlkem = set.mlkem_half();
    if (mlkem == nullptr || key.size() < mlkem->secret_key_bytes()) return false;
    key[mlkem->secret_key_bytes() - 33] ^= 0x10;
    return true;
}
bool spoil(const warpseal::KemSet& set, KemKeyKind kind, Text& key) {
    return kind == KemKeyKind::public_key ? spoil_public(set, key) : spoil_secret(set, key);
}

// Outputs of an operation under one key.
struct Outcome {
    Text ciphertexts, secrets;
    std::vector<int32_t> statuses;
    uint64_t failed = 0;
    bool operator==(const Outcome&) const = default;
};

// ---- the backend interface ----

class PreparedKey : public tests::KemTest {
protected:
    const warpseal::KemSet& sizes() const { return backend().sizes(); }
    const warpseal::CpuKem& kem() const { return *backend().cpu(); }

    // Runs `count` items under one key. ciphertexts: those to decapsulate.
    template <class Work>
    Outcome outcome(KemKeyKind kind, const Text& key, size_t count, const Text& coins,
                    const Text& ciphertexts, const Work& work) const {
        Outcome out{ciphertexts, Text(count * sizes().shared_secret_bytes(), 0xa5),
                    std::vector<int32_t>(count, -1)};
        out.ciphertexts.resize(count * sizes().ciphertext_bytes(), 0xa5);
        Text copy = key;
        warpseal_kem_batch batch = backend().batch(count);
        batch.public_keys = batch.secret_keys = copy.data();
        batch.public_key_stride = batch.secret_key_stride = 0;
        batch.ciphertexts = out.ciphertexts.data();
        batch.shared_secrets = out.secrets.data();
        batch.coins = coins.data();
        batch.coins_stride = kind == KemKeyKind::public_key ? sizes().encapsulation_coins() : 0;
        batch.statuses = out.statuses.data();
        out.failed = work(batch);
        return out;
    }
    Outcome ordinary(KemKeyKind kind, const Text& key, size_t count, const Text& coins,
                     const Text& ciphertexts) const {
        return outcome(kind, key, count, coins, ciphertexts, [&](const warpseal_kem_batch& batch) {
            return backend().run(warpseal::operation_of(kind), batch);
        });
    }
    // Exactly the memory that the interface asks for, which is not zero, and only read by the
    // operation.
    Outcome prepared(KemKeyKind kind, const Text& key, size_t count, const Text& coins,
                     const Text& ciphertexts, bool* accepted) const {
        const auto i = static_cast<int>(kind);
        const size_t bytes = kem().prepared_bytes(kind),
                     work_bytes = kem().work_bytes(warpseal::operation_of(kind), count),
                     least_bytes = kem().work_bytes(warpseal::operation_of(kind), 1);
        EXPECT_EQ(bytes % 64, 0u);
        const tests::Guarded memory(bytes), work(work_bytes), least(least_bytes);
        std::memset(memory.at_end(bytes), 0xa5, bytes);
        std::memset(work.at_end(work_bytes), 0x5a, work_bytes);
        std::memset(least.at_end(least_bytes), 0x5a, least_bytes);
        *accepted = kem().prepare[i](key.data(), memory.at_end(bytes), least.at_end(least_bytes));
        memory.read_only();
        return outcome(kind, key, count, coins, ciphertexts, [&](warpseal_kem_batch batch) {
            batch.public_keys = batch.secret_keys = memory.at_end(bytes);
            return kem().run_prepared[i](batch, 0, count, work.at_end(work_bytes));
        });
    }
};

TEST_P(PreparedKey, GivesTheResultsOfTheKey) {
    tests::Random random(6301);
    const size_t most = many() && fast() ? 40 : 9;
    for (int key = 0; key < 2; ++key) {
        const tests::Keys keys = backend().keypairs(random.text(sizes().keypair_coins()));
        const Text coins = random.text(most * sizes().encapsulation_coins());
        for (size_t count = 1; count <= most; count += count < 10 ? 1 : 6) {
            bool accepted = false;
            const Outcome sent = ordinary(KemKeyKind::public_key, keys.publics, count, coins, {});
            EXPECT_EQ(prepared(KemKeyKind::public_key, keys.publics, count, coins, {}, &accepted),
                      sent)
                << count;
            EXPECT_TRUE(accepted);
            EXPECT_EQ(sent.failed, 0u);
            Text texts = sent.ciphertexts;  // the last is one of nobody
            texts[texts.size() - 7] ^= 4;
            const Outcome received =
                ordinary(KemKeyKind::secret_key, keys.secrets, count, {}, texts);
            EXPECT_EQ(prepared(KemKeyKind::secret_key, keys.secrets, count, {}, texts, &accepted),
                      received)
                << count;
            EXPECT_TRUE(accepted);
            EXPECT_NE(received.secrets, sent.secrets);
        }
    }
}

// Secret keys of random bytes, which have coefficients of q and above: no check refuses them.
// What only prepared keys of ML-KEM alone have.
class PreparedMlKemKey : public PreparedKey {};

TEST_P(PreparedMlKemKey, TakesEverySecretVector) {
    tests::Random random(6302);
    for (const bool highest : {false, true}) {
        tests::Keys keys = backend().keypairs(random.text(sizes().keypair_coins()));
        if (highest)
            std::fill_n(keys.secrets.begin(), sizes().mlkem->vector_bytes(), uint8_t{255});
        else
            random.fill(keys.secrets.data(), sizes().mlkem->vector_bytes());
        const Text texts = random.text(3 * sizes().ciphertext_bytes());
        bool accepted = false;
        EXPECT_EQ(prepared(KemKeyKind::secret_key, keys.secrets, 3, {}, texts, &accepted),
                  ordinary(KemKeyKind::secret_key, keys.secrets, 3, {}, texts));
        EXPECT_TRUE(accepted);
    }
}

TEST_P(PreparedKey, RefusesWhatTheOperationRefuses) {
    tests::Random random(6303);
    const tests::Keys keys = backend().keypairs(random.text(sizes().keypair_coins()));
    constexpr size_t count = 3;
    const Text coins = random.text(count * sizes().encapsulation_coins()),
               texts = random.text(count * sizes().ciphertext_bytes());
    for (const KemKeyKind kind : kinds) {
        Text key = kind == KemKeyKind::public_key ? keys.publics : keys.secrets;
        if (!spoil(sizes(), kind, key)) continue;
        bool accepted = true;
        const Outcome same = ordinary(kind, key, count, coins, texts);
        EXPECT_EQ(same.statuses, std::vector<int32_t>(count, refused));
        EXPECT_EQ(prepared(kind, key, count, coins, texts, &accepted), same);
        EXPECT_FALSE(accepted);
    }
}

// A coefficient of q at each position of t.
TEST_P(PreparedMlKemKey, ChecksEveryCoefficient) {
    const warpseal::kem::MlKemParams* const mlkem = sizes().mlkem;
    if (!many()) GTEST_SKIP() << "a sanitizer";
    tests::Random random(6304);
    const Text key = backend().keypairs(random.text(sizes().keypair_coins())).publics;
    std::vector<uint8_t> work(kem().work_bytes(KemOperation::encapsulate, 1) + 64),
        memory(kem().prepared_bytes(KemKeyKind::public_key) + 64);
    const auto aligned = [](std::vector<uint8_t>& bytes) {
        return bytes.data() + (64 - reinterpret_cast<uintptr_t>(bytes.data()) % 64) % 64;
    };
    const auto accepted = [&](const Text& bytes) {
        return kem().prepare[0](bytes.data(), aligned(memory), aligned(work));
    };
    EXPECT_TRUE(accepted(key));
    for (size_t i = 0; i < mlkem->vector_bytes(); i += 3)
        for (const int which : {0, 1}) {
            const auto with = [&](unsigned value) {
                Text bytes = key;
                uint8_t* const at = &bytes[i];
                if (which == 0) {
                    at[0] = static_cast<uint8_t>(value);
                    at[1] = static_cast<uint8_t>((at[1] & 0xf0) | value >> 8);
                } else {
                    at[1] = static_cast<uint8_t>((at[1] & 15) | value << 4);
                    at[2] = static_cast<uint8_t>(value >> 4);
                }
                return accepted(bytes);
            };
            ASSERT_TRUE(with(3328)) << i;
            ASSERT_FALSE(with(3329)) << i;
        }
}

INSTANTIATE_TEST_SUITE_P(All, PreparedKey, testing::ValuesIn(on_cores(every_case())),
                         tests::name_of);
INSTANTIATE_TEST_SUITE_P(All, PreparedMlKemKey,
                         testing::ValuesIn(on_cores(tests::mlkem_test_cases())), tests::name_of);

// ---- kem.h ----

struct KeyFreed {
    void operator()(warpseal_kem_key* key) const { warpseal_kem_key_destroy(key); }
};
using KeyHandle = std::unique_ptr<warpseal_kem_key, KeyFreed>;

warpseal_status create(warpseal_engine* engine, const char* set, KemKeyKind kind, const Text& bytes,
                       KeyHandle& out) {
    warpseal_kem_key* made = reinterpret_cast<warpseal_kem_key*>(&out);  // must be overwritten
    const warpseal_status status =
        kind == KemKeyKind::public_key
            ? warpseal_kem_public_key_create(engine, set, bytes.data(), bytes.size(), &made)
            : warpseal_kem_secret_key_create(engine, set, bytes.data(), bytes.size(), &made);
    EXPECT_EQ(made != nullptr, status == WARPSEAL_OK);
    out.reset(made);
    return status;
}

class KemKey : public tests::KemTest {
protected:
    void SetUp() override {
        KemTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        engine_ = targets::engine(GetParam().target, 2);
        keys_.publics.resize(sizes().public_key_bytes());
        keys_.secrets.resize(sizes().secret_key_bytes());
        warpseal_kem_batch one = backend().batch(1);
        one.public_keys = keys_.publics.data();
        one.secret_keys = keys_.secrets.data();
        ASSERT_EQ(warpseal_kem_keypair(engine(), set().c_str(), &one), WARPSEAL_OK);
    }
    const warpseal::KemSet& sizes() const { return backend().sizes(); }
    warpseal_engine* engine() const { return engine_.get(); }
    const Text& bytes(KemKeyKind kind) const {
        return kind == KemKeyKind::public_key ? keys_.publics : keys_.secrets;
    }
    KeyHandle key(KemKeyKind kind) const {
        KeyHandle out;
        EXPECT_EQ(create(engine(), set().c_str(), kind, bytes(kind), out), WARPSEAL_OK);
        return out;
    }
    // A batch over the memory of `out`.
    warpseal_kem_batch batch_of(Outcome& out, size_t count) const {
        out.ciphertexts.resize(count * sizes().ciphertext_bytes(), 0xa5);
        out.secrets.assign(count * sizes().shared_secret_bytes(), 0xa5);
        out.statuses.assign(count, -1);
        warpseal_kem_batch batch = backend().batch(count);
        batch.ciphertexts = out.ciphertexts.data();
        batch.shared_secrets = out.secrets.data();
        batch.statuses = out.statuses.data();
        return batch;
    }
    Outcome encapsulated(const warpseal_kem_key* key, size_t count) const {
        Outcome out;
        const warpseal_kem_batch batch = batch_of(out, count);
        EXPECT_EQ(warpseal_kem_key_encapsulate(key, &batch), WARPSEAL_OK);
        return out;
    }
    Text decapsulated(const warpseal_kem_key* key, const Text& ciphertexts) const {
        Outcome out;
        out.ciphertexts = ciphertexts;
        const warpseal_kem_batch batch =
            batch_of(out, ciphertexts.size() / sizes().ciphertext_bytes());
        EXPECT_EQ(warpseal_kem_key_decapsulate(key, &batch), WARPSEAL_OK);
        EXPECT_EQ(out.ciphertexts, ciphertexts);
        return out.secrets;
    }

private:
    targets::EngineHandle engine_;
    tests::Keys keys_;
};

// The caller's coins give the bytes of the ordinary call; drawn coins differ for each item.
TEST_P(KemKey, AgreesWithTheOrdinaryCalls) {
    tests::Random random(6311);
    const KeyHandle public_key = key(KemKeyKind::public_key),
                    secret_key = key(KemKeyKind::secret_key);
    for (const size_t count : {size_t{1}, size_t{7}, size_t{70}}) {
        const Text coins = random.text(count * sizes().encapsulation_coins());
        Text publics, secrets;  // a copy of the key for each item
        for (size_t i = 0; i < count; ++i) {
            tests::append(publics, bytes(KemKeyKind::public_key));
            tests::append(secrets, bytes(KemKeyKind::secret_key));
        }
        Outcome expected, found;
        warpseal_kem_batch one = batch_of(expected, count), other = batch_of(found, count);
        one.coins = other.coins = coins.data();
        one.coins_stride = other.coins_stride = sizes().encapsulation_coins();
        one.public_keys = publics.data();
        ASSERT_EQ(warpseal_kem_encapsulate(engine(), set().c_str(), &one), WARPSEAL_OK);
        // The call prepares a key that all items share.
        Outcome shared;
        warpseal_kem_batch same = batch_of(shared, count);
        same.coins = coins.data();
        same.coins_stride = one.coins_stride;
        same.public_keys = publics.data();
        same.public_key_stride = 0;
        ASSERT_EQ(warpseal_kem_encapsulate(engine(), set().c_str(), &same), WARPSEAL_OK);
        EXPECT_EQ(shared, expected);
        for (const bool one_key : {false, true}) {
            warpseal_kem_batch back = batch_of(shared, count);
            back.secret_keys = secrets.data();
            if (one_key) back.secret_key_stride = 0;
            ASSERT_EQ(warpseal_kem_decapsulate(engine(), set().c_str(), &back), WARPSEAL_OK);
            EXPECT_EQ(shared.secrets, expected.secrets) << one_key;
        }
        // The keys of the batch are ignored, whatever they are.
        other.public_keys = other.secret_keys = nullptr;
        other.public_key_stride = other.secret_key_stride = 1;
        ASSERT_EQ(warpseal_kem_key_encapsulate(public_key.get(), &other), WARPSEAL_OK);
        EXPECT_EQ(found, expected);
        EXPECT_EQ(decapsulated(secret_key.get(), found.ciphertexts), found.secrets);

        const Outcome drawn = encapsulated(public_key.get(), count);
        EXPECT_NE(drawn.secrets, found.secrets);
        EXPECT_EQ(decapsulated(secret_key.get(), drawn.ciphertexts), drawn.secrets);
        for (size_t i = 1; i < count; ++i)
            EXPECT_NE(tests::slice(drawn.ciphertexts, i, sizes().ciphertext_bytes()),
                      tests::slice(drawn.ciphertexts, i - 1, sizes().ciphertext_bytes()));
    }
}

TEST_P(KemKey, OutlivesItsBytes) {
    KeyHandle public_key, secret_key;
    {
        Text one = bytes(KemKeyKind::public_key), other = bytes(KemKeyKind::secret_key);
        ASSERT_EQ(create(engine(), set().c_str(), KemKeyKind::public_key, one, public_key),
                  WARPSEAL_OK);
        ASSERT_EQ(create(engine(), set().c_str(), KemKeyKind::secret_key, other, secret_key),
                  WARPSEAL_OK);
        std::fill(one.begin(), one.end(), uint8_t{0});
        std::fill(other.begin(), other.end(), uint8_t{0});
    }
    const Outcome sent = encapsulated(public_key.get(), 2);
    public_key.reset();
    EXPECT_EQ(decapsulated(secret_key.get(), sent.ciphertexts), sent.secrets);
    warpseal_kem_key_destroy(nullptr);
}

TEST_P(KemKey, ChecksTheKey) {
    for (const KemKeyKind kind : kinds) {
        KeyHandle none;
        for (const size_t size : {size_t{0}, bytes(kind).size() - 1, bytes(kind).size() + 1}) {
            Text wrong = bytes(kind);
            wrong.resize(size);
            wrong.reserve(1);  // not null
            EXPECT_EQ(create(engine(), set().c_str(), kind, wrong, none), refused) << size;
            EXPECT_NE(std::string(warpseal_last_error_message()).find("the length of"),
                      std::string::npos)
                << warpseal_last_error_message();
        }
        Text bad = bytes(kind);
        if (!spoil(sizes(), kind, bad)) continue;
        EXPECT_EQ(create(engine(), set().c_str(), kind, bad, none), refused);
        EXPECT_NE(std::string(warpseal_last_error_message()).find("does not pass the check"),
                  std::string::npos)
            << warpseal_last_error_message();
    }
}

// A refused key that all items of an ordinary call share refuses each.
TEST_P(KemKey, IsRefusedForEveryItem) {
    for (const KemKeyKind kind : kinds) {
        Text bad = bytes(kind);
        if (!spoil(sizes(), kind, bad)) continue;
        const bool is_public = kind == KemKeyKind::public_key;
        Outcome out;
        warpseal_kem_batch batch = batch_of(out, 9);
        if (!is_public) {
            batch.public_keys = const_cast<uint8_t*>(bytes(KemKeyKind::public_key).data());
            batch.public_key_stride = 0;
            ASSERT_EQ(warpseal_kem_encapsulate(engine(), set().c_str(), &batch), WARPSEAL_OK);
        }
        const Text ciphertexts = out.ciphertexts;
        batch.public_keys = batch.secret_keys = bad.data();
        batch.public_key_stride = batch.secret_key_stride = 0;
        EXPECT_EQ((is_public ? warpseal_kem_encapsulate : warpseal_kem_decapsulate)(
                      engine(), set().c_str(), &batch),
                  refused);
        EXPECT_EQ(out.statuses, std::vector<int32_t>(9, refused));
        EXPECT_EQ(out.secrets, Text(out.secrets.size()));
        EXPECT_EQ(out.ciphertexts, is_public ? Text(ciphertexts.size()) : ciphertexts);
    }
}

// Threads use one key at once, for encapsulation and decapsulation.
TEST_P(KemKey, ServesManyThreads) {
    const KeyHandle public_key = key(KemKeyKind::public_key),
                    secret_key = key(KemKeyKind::secret_key);
    constexpr size_t rounds = 4, count = 9;
    std::vector<std::thread> threads;
    std::atomic<unsigned> right{0};
    for (unsigned i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (size_t round = 0; round < rounds; ++round) {
                const Outcome sent = encapsulated(public_key.get(), count);
                right += decapsulated(secret_key.get(), sent.ciphertexts) == sent.secrets;
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, 4 * rounds);
}

// A child has its own copy, which its parent's destruction leaves alone.
TEST_P(KemKey, WorksInAChild) {
    if (GetParam().target == "cuda") GTEST_SKIP() << "a child has no GPU of its parent";
    const KeyHandle public_key = key(KemKeyKind::public_key);
    KeyHandle secret_key = key(KemKeyKind::secret_key);
    const Outcome sent = encapsulated(public_key.get(), 3);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        alarm(120);  // ends a child that waits for a lock held by its parent
        const Outcome own = encapsulated(public_key.get(), 3);
        const bool right = decapsulated(secret_key.get(), sent.ciphertexts) == sent.secrets &&
                           decapsulated(secret_key.get(), own.ciphertexts) == own.secrets &&
                           own.secrets != sent.secrets;
        _exit(right ? 0 : 1);
    }
    secret_key.reset();
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST_P(KemKey, RefusesMisuse) {
    const KeyHandle public_key = key(KemKeyKind::public_key),
                    secret_key = key(KemKeyKind::secret_key);
    Outcome out;
    warpseal_kem_batch batch = batch_of(out, 2);
    const Outcome before = out;
    EXPECT_EQ(warpseal_kem_key_encapsulate(secret_key.get(), &batch), refused);
    EXPECT_EQ(warpseal_kem_key_decapsulate(public_key.get(), &batch), refused);
    EXPECT_EQ(warpseal_kem_key_encapsulate(nullptr, &batch), refused);
    EXPECT_EQ(warpseal_kem_key_encapsulate(public_key.get(), nullptr), refused);
    EXPECT_EQ(out, before);
    warpseal_kem_batch wrong = batch;
    wrong.struct_bytes = 8;
    EXPECT_EQ(warpseal_kem_key_encapsulate(public_key.get(), &wrong), refused);
    wrong = batch;
    wrong.shared_secrets = nullptr;
    EXPECT_EQ(warpseal_kem_key_encapsulate(public_key.get(), &wrong), refused);
    EXPECT_EQ(warpseal_kem_key_decapsulate(secret_key.get(), &wrong), refused);
    wrong = batch;
    wrong.ciphertext_stride = sizes().ciphertext_bytes() - 1;
    EXPECT_EQ(warpseal_kem_key_encapsulate(public_key.get(), &wrong), refused);
    EXPECT_EQ(out, before);
    batch.count = 0;
    EXPECT_EQ(warpseal_kem_key_encapsulate(public_key.get(), &batch), WARPSEAL_OK);

    KeyHandle none;
    const Text& bytes_of_key = bytes(KemKeyKind::public_key);
    EXPECT_EQ(create(engine(), "no-set", KemKeyKind::public_key, bytes_of_key, none),
              WARPSEAL_UNSUPPORTED);
    EXPECT_EQ(create(nullptr, set().c_str(), KemKeyKind::public_key, bytes_of_key, none), refused);
    EXPECT_EQ(create(engine(), nullptr, KemKeyKind::public_key, bytes_of_key, none), refused);
    warpseal_kem_key* made = nullptr;
    EXPECT_EQ(warpseal_kem_public_key_create(engine(), set().c_str(), nullptr, bytes_of_key.size(),
                                             &made),
              refused);
    EXPECT_EQ(warpseal_kem_secret_key_create(engine(), set().c_str(), bytes_of_key.data(),
                                             bytes_of_key.size(), nullptr),
              refused);
}

// A key of another set has another length, but for sets whose lengths are the same.
TEST(KemKeySets, RefuseEachOthersKeys) {
    const targets::EngineHandle engine = targets::engine("cpu");
    for (const warpseal::KemSet& set : warpseal::kem_sets)
        for (const warpseal::KemSet& other : warpseal::kem_sets) {
            if (set.public_key_bytes() == other.public_key_bytes()) continue;
            KeyHandle none;
            EXPECT_EQ(create(engine.get(), set.name, KemKeyKind::public_key,
                             Text(other.public_key_bytes(), 1), none),
                      refused)
                << set.name << " " << other.name;
        }
}

INSTANTIATE_TEST_SUITE_P(All, KemKey, testing::ValuesIn(every_case()), tests::name_of);

}  // namespace

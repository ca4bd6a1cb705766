// The public calls of kem.h: coins from the operating system, threads, and every caller error.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "answer_files.h"
#include "engine/engine.h"
#include "engine/kem/prepared_key.h"
#include "platform/workspace.h"
#include "support/guard.h"
#include "support/kem_backends.h"
#include "support/oracle.h"
#include "support/random.h"
#include "support/random_source.h"
#include "support/stack_use.h"

namespace {

using tests::fixed_byte;
using tests::Source;
using tests::source;
using tests::Text;
using warpseal::CpuKem;
using warpseal::Engine;
using warpseal::KemOperation;
using warpseal::Target;

using Call = warpseal_status (*)(warpseal_engine*, const char*, const warpseal_kem_batch*);
constexpr Call calls[] = {warpseal_kem_keypair, warpseal_kem_encapsulate, warpseal_kem_decapsulate};

// All inputs and outputs of the three calls, for `count` contiguous items.
struct Items {
    warpseal_kem_info info{};
    Text publics, secrets, ciphertexts, sent, received, coins;
    std::vector<int32_t> statuses;
    warpseal_kem_batch batch{};

    Items(const std::string& set, size_t count) {
        for (size_t i = 0; warpseal_kem_at(i, &info) == WARPSEAL_OK && info.name != set; ++i) {
        }
        publics.assign(count * info.public_key_bytes, 0xa5);
        secrets.assign(count * info.secret_key_bytes, 0xa5);
        ciphertexts.assign(count * info.ciphertext_bytes, 0xa5);
        sent.assign(count * info.shared_secret_bytes, 0xa5);
        received.assign(count * info.shared_secret_bytes, 0xa5);
        statuses.assign(count, -1);
        batch.struct_bytes = sizeof batch;
        batch.count = count;
        batch.public_keys = publics.data();
        batch.public_key_stride = info.public_key_bytes;
        batch.secret_keys = secrets.data();
        batch.secret_key_stride = info.secret_key_bytes;
        batch.ciphertexts = ciphertexts.data();
        batch.ciphertext_stride = info.ciphertext_bytes;
        batch.shared_secrets = sent.data();
        batch.shared_secret_stride = info.shared_secret_bytes;
        batch.statuses = statuses.data();
    }
    warpseal_kem_batch to_receive() const {
        warpseal_kem_batch out = batch;
        out.shared_secrets = const_cast<uint8_t*>(received.data());
        return out;
    }
    Text written() const {
        Text all = publics;
        for (const Text* part : {&secrets, &ciphertexts, &sent, &received})
            tests::append(all, *part);
        for (const int32_t status : statuses) all.push_back(static_cast<uint8_t>(status));
        return all;
    }
};

class KemCalls : public testing::Test {
protected:
    ~KemCalls() override { source = Source::kernel; }
    targets::EngineHandle engine(unsigned threads = 1) { return targets::engine("cpu", threads); }
};

size_t distinct(const Text& items, size_t bytes) {
    std::set<std::string> seen;
    for (size_t i = 0; i < items.size() / bytes; ++i)
        seen.emplace(reinterpret_cast<const char*>(items.data()) + i * bytes, bytes);
    return seen.size();
}

TEST_F(KemCalls, ListsTheSets) {
    warpseal_kem_info info;
    for (size_t i = 0; i < 6; ++i) {
        ASSERT_EQ(warpseal_kem_at(i, &info), WARPSEAL_OK);
        const reference::Ntru reference_ntru(info.name);
        EXPECT_EQ(info.public_key_bytes, reference_ntru.public_key_bytes());
        EXPECT_EQ(info.secret_key_bytes, reference_ntru.secret_key_bytes());
        EXPECT_EQ(info.ciphertext_bytes, reference_ntru.ciphertext_bytes());
        EXPECT_EQ(info.shared_secret_bytes, 32u);
        EXPECT_EQ(info.keypair_coins_bytes, reference_ntru.keypair_coins());
        EXPECT_EQ(info.encapsulation_coins_bytes, reference_ntru.encapsulation_coins());
    }
    struct Sizes {
        const char* name;
        uint32_t public_key, secret_key, ciphertext;
    };
    constexpr Sizes mlkem[] = {{"ml-kem-512", 800, 1632, 768},
                               {"ml-kem-768", 1184, 2400, 1088},
                               {"ml-kem-1024", 1568, 3168, 1568}};
    for (size_t i = 0; i < 3; ++i) {
        ASSERT_EQ(warpseal_kem_at(6 + i, &info), WARPSEAL_OK);
        EXPECT_STREQ(info.name, mlkem[i].name);
        EXPECT_EQ(info.public_key_bytes, mlkem[i].public_key);
        EXPECT_EQ(info.secret_key_bytes, mlkem[i].secret_key);
        EXPECT_EQ(info.ciphertext_bytes, mlkem[i].ciphertext);
        EXPECT_EQ(info.shared_secret_bytes, 32u);
        EXPECT_EQ(info.keypair_coins_bytes, 64u);
        EXPECT_EQ(info.encapsulation_coins_bytes, 32u);
    }
    constexpr warpseal_kem_info hybrids[] = {{"x25519", 32, 32, 32, 32, 32, 32},
                                             {"x25519mlkem768", 1216, 2432, 1120, 64, 96, 64},
                                             {"x-wing", 1216, 32, 1120, 32, 32, 64}};
    for (size_t i = 0; i < 3; ++i) {
        ASSERT_EQ(warpseal_kem_at(9 + i, &info), WARPSEAL_OK);
        EXPECT_STREQ(info.name, hybrids[i].name);
        EXPECT_EQ(info.public_key_bytes, hybrids[i].public_key_bytes);
        EXPECT_EQ(info.secret_key_bytes, hybrids[i].secret_key_bytes);
        EXPECT_EQ(info.ciphertext_bytes, hybrids[i].ciphertext_bytes);
        EXPECT_EQ(info.shared_secret_bytes, hybrids[i].shared_secret_bytes);
        EXPECT_EQ(info.keypair_coins_bytes, hybrids[i].keypair_coins_bytes);
        EXPECT_EQ(info.encapsulation_coins_bytes, hybrids[i].encapsulation_coins_bytes);
    }
    EXPECT_EQ(warpseal_kem_at(12, &info), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_kem_at(SIZE_MAX, &info), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_kem_at(0, nullptr), WARPSEAL_INVALID_ARGUMENT);
}

TEST_F(KemCalls, RoundTripsWithCoinsOfItsOwn) {
    for (const warpseal::KemSet& each : warpseal::kem_sets)
        for (const size_t count : {1, 2, 33, 101}) {
            const warpseal::KemSet* const set = &each;
            const auto threads = engine(count == 2 ? 1 : 3);
            Items items(set->name, count);
            ASSERT_EQ(warpseal_kem_keypair(threads.get(), set->name, &items.batch), WARPSEAL_OK);
            EXPECT_EQ(distinct(items.publics, set->public_key_bytes()), count);
            EXPECT_EQ(distinct(items.secrets, set->secret_key_bytes()), count);
            items.batch.public_key_stride = 0;  // all to one key: only the coins differ
            items.batch.secret_key_stride = 0;
            ASSERT_EQ(warpseal_kem_encapsulate(threads.get(), set->name, &items.batch),
                      WARPSEAL_OK);
            EXPECT_EQ(distinct(items.ciphertexts, set->ciphertext_bytes()), count);
            EXPECT_EQ(distinct(items.sent, set->shared_secret_bytes()), count);
            const warpseal_kem_batch receive = items.to_receive();
            ASSERT_EQ(warpseal_kem_decapsulate(threads.get(), set->name, &receive), WARPSEAL_OK);
            EXPECT_EQ(items.received, items.sent);
            EXPECT_EQ(items.statuses, std::vector<int32_t>(count, WARPSEAL_OK));
        }
}

// The coins are the keystream of AES-256 in counter mode. The first 32 bytes drawn are its key, the
// next 16 the counter; each item has whole blocks.
TEST_F(KemCalls, CoinsAreTheKeystreamOfTheSeed) {
    constexpr size_t count = 77;
    const char* set = "ntruhps2048509";
    Text key(32), counter(16);
    for (size_t i = 0; i < 48; ++i) (i < 32 ? key[i] : counter[i - 32]) = fixed_byte(i);
    for (const unsigned threads : {1u, 2u, 5u}) {
        const auto some = engine(threads);
        for (const int operation : {0, 1}) {
            Items drawn(set, count), given(set, count);
            const size_t bytes = operation == 0 ? drawn.info.keypair_coins_bytes
                                                : drawn.info.encapsulation_coins_bytes;
            const size_t stride = (bytes + 15) / 16 * 16;
            const Text coins = oracle::run("aes-256-ctr", true, key, counter, {},
                                           Text(count * stride, 0), nullptr);
            if (operation == 1) {
                ASSERT_EQ(warpseal_kem_keypair(some.get(), set, &drawn.batch), WARPSEAL_OK);
                given.publics = drawn.publics;
                given.secrets = drawn.secrets;
            }
            given.batch.coins = coins.data();
            given.batch.coins_stride = stride;
            source = Source::fixed;
            ASSERT_EQ(calls[operation](some.get(), set, &drawn.batch), WARPSEAL_OK);
            source = Source::kernel;
            ASSERT_EQ(calls[operation](some.get(), set, &given.batch), WARPSEAL_OK);
            EXPECT_EQ(drawn.written(), given.written())
                << threads << " threads, operation " << operation;
        }
    }
}

TEST_F(KemCalls, WithoutRandomNothingIsWritten) {
    const auto one = engine();
    const char* set = "ntruhrss701";
    Items items(set, 5);
    const Text before = items.written();
    for (const int operation : {0, 1}) {
        source = Source::failing;
        EXPECT_EQ(calls[operation](one.get(), set, &items.batch), WARPSEAL_NO_RANDOM);
        source = Source::kernel;
        EXPECT_EQ(items.written(), before);
    }
    // A caller that supplies coins, or needs none, is not refused.
    const Text coins = tests::Random(5401).text(5 * items.info.keypair_coins_bytes);
    items.batch.coins = coins.data();
    items.batch.coins_stride = items.info.keypair_coins_bytes;
    source = Source::failing;
    EXPECT_EQ(warpseal_kem_keypair(one.get(), set, &items.batch), WARPSEAL_OK);
    EXPECT_EQ(warpseal_kem_encapsulate(one.get(), set, &items.batch), WARPSEAL_OK);
    const warpseal_kem_batch receive = items.to_receive();
    EXPECT_EQ(warpseal_kem_decapsulate(one.get(), set, &receive), WARPSEAL_OK);
    EXPECT_EQ(items.received, items.sent);
}

TEST_F(KemCalls, NoItems) {
    const auto one = engine();
    warpseal_kem_batch none{};
    none.struct_bytes = sizeof none;
    source = Source::failing;  // and nothing is drawn
    for (const Call call : calls) {
        EXPECT_EQ(call(one.get(), "ntruhps4096821", &none), WARPSEAL_OK);
        EXPECT_EQ(call(one.get(), "no such set", &none), WARPSEAL_UNSUPPORTED);
    }
}

// Each invalid argument alone: refused, and nothing is written.
TEST_F(KemCalls, WrongArguments) {
    const auto one = engine();
    const char* set = "ntruhps2048677";
    Items items(set, 3);
    const Text coins(4096 * 4, 1);
    const Text before = items.written();
    int operation = 0;
    const auto refused = [&](const char* what,
                             const std::function<void(warpseal_kem_batch&)>& spoil) {
        warpseal_kem_batch batch = operation == 2 ? items.to_receive() : items.batch;
        batch.coins = coins.data();
        batch.coins_stride = 4096;
        spoil(batch);
        EXPECT_EQ(calls[operation](one.get(), set, &batch), WARPSEAL_INVALID_ARGUMENT)
            << what << ", operation " << operation;
        EXPECT_EQ(items.written(), before) << what;
    };
    using Batch = warpseal_kem_batch;
    for (operation = 0; operation < 3; ++operation) {
        EXPECT_EQ(calls[operation](nullptr, set, &items.batch), WARPSEAL_INVALID_ARGUMENT);
        EXPECT_EQ(calls[operation](one.get(), nullptr, &items.batch), WARPSEAL_INVALID_ARGUMENT);
        EXPECT_EQ(calls[operation](one.get(), set, nullptr), WARPSEAL_INVALID_ARGUMENT);
        for (const char* name : {"", "ntruhps", "NTRUHPS2048677", "ntruhps20486777"})
            EXPECT_EQ(calls[operation](one.get(), name, &items.batch), WARPSEAL_UNSUPPORTED)
                << name;
        refused("a struct of a version before the first",
                [](Batch& b) { b.struct_bytes = sizeof b - 1; });
        refused("reserved", [](Batch& b) { b.reserved = 1; });

        const bool keypair = operation == 0, encapsulate = operation == 1,
                   decapsulate = operation == 2;
        struct Field {
            const char* name;
            uint8_t* Batch::*at;
            uint64_t Batch::*stride;
            bool used, written;
        };
        const Field fields[] = {
            {"public keys", &Batch::public_keys, &Batch::public_key_stride, !decapsulate, keypair},
            {"secret keys", &Batch::secret_keys, &Batch::secret_key_stride, !encapsulate, keypair},
            {"ciphertexts", &Batch::ciphertexts, &Batch::ciphertext_stride, !keypair, encapsulate},
            {"shared secrets", &Batch::shared_secrets, &Batch::shared_secret_stride, !keypair,
             true}};
        for (const Field& field : fields) {
            if (!field.used) continue;
            refused(field.name, [&](Batch& b) { b.*field.at = nullptr; });
            refused(field.name, [&](Batch& b) { b.*field.stride -= 1; });
            refused(field.name, [&](Batch& b) { b.*field.stride = 1; });
            refused(field.name, [&](Batch& b) { b.*field.stride = UINT64_MAX / 2; });
            refused(field.name, [&](Batch& b) { b.*field.stride = UINT64_MAX; });
            if (field.written) refused(field.name, [&](Batch& b) { b.*field.stride = 0; });
            for (const Field& other : fields) {
                if (!other.used || &other == &field || !(field.written || other.written)) continue;
                refused("overlap", [&](Batch& b) { b.*field.at = b.*other.at; });
                refused("overlap",
                        [&](Batch& b) { b.*field.at = b.*other.at + 2 * (b.*other.stride) + 31; });
            }
            if (field.written) {
                refused("overlap with statuses",
                        [&](Batch& b) { b.statuses = reinterpret_cast<int32_t*>(b.*field.at); });
                if (!decapsulate)
                    refused("overlap with coins", [&](Batch& b) { b.coins = b.*field.at; });
            }
        }
        if (!decapsulate) {
            refused("coins' stride", [](Batch& b) { b.coins_stride = 100; });
            refused("coins' stride", [](Batch& b) { b.coins_stride = UINT64_MAX / 2; });
        }
        for (const Field& field : fields)  // the third item alone
            if (field.used)
                refused("past the end of the address space",
                        [&](Batch& b) { b.*field.stride = (UINT64_MAX - (1 << 20)) / 2; });
        refused("a count past the address space", [](Batch& b) { b.count = UINT64_MAX; });
        refused("a count past the address space", [](Batch& b) { b.count = UINT64_MAX / 600; });
    }
}

// Each call on device memory checks the pointers of its own operation before it reports that there
// is no device.
TEST_F(KemCalls, OnDeviceMemoryWithoutADevice) {
    using DeviceCall =
        warpseal_status (*)(warpseal_engine*, const char*, const warpseal_kem_batch*, void*);
    constexpr DeviceCall device_calls[] = {warpseal_kem_keypair_device,
                                           warpseal_kem_encapsulate_device,
                                           warpseal_kem_decapsulate_device};
    const auto one = engine();
    const char* set = "ntruhps2048677";
    Items items(set, 3);
    const Text before = items.written();
    // Sets exactly the arrays of each operation.
    warpseal_kem_batch named[] = {items.batch, items.batch, items.batch};
    named[0].ciphertexts = named[0].shared_secrets = nullptr;
    named[1].secret_keys = nullptr;
    named[2].public_keys = nullptr;
    for (int operation = 0; operation < 3; ++operation) {
        const DeviceCall call = device_calls[operation];
        for (int others = 0; others < 3; ++others)
            EXPECT_EQ(call(one.get(), set, &named[others], nullptr),
                      others == operation ? WARPSEAL_NO_DEVICE : WARPSEAL_INVALID_ARGUMENT)
                << operation << " with the pointers of " << others;
        warpseal_kem_batch batch = named[operation];
        EXPECT_EQ(call(one.get(), "ntru", &batch, nullptr), WARPSEAL_UNSUPPORTED) << operation;
        batch.struct_bytes = sizeof batch - 1;
        EXPECT_EQ(call(one.get(), set, &batch, nullptr), WARPSEAL_INVALID_ARGUMENT) << operation;
        batch.struct_bytes = sizeof batch;
        EXPECT_EQ(call(nullptr, set, &batch, nullptr), WARPSEAL_INVALID_ARGUMENT) << operation;
        EXPECT_EQ(call(one.get(), nullptr, &batch, nullptr), WARPSEAL_INVALID_ARGUMENT)
            << operation;
        EXPECT_EQ(call(one.get(), set, nullptr, nullptr), WARPSEAL_INVALID_ARGUMENT) << operation;
    }
    EXPECT_EQ(items.written(), before);
}

// Keys and ciphertexts as fields of records, with the smallest strides that keep them disjoint.
TEST_F(KemCalls, RecordsOfFields) {
    const auto one = engine(2);
    const char* set = "ntruhps4096821";
    constexpr size_t count = 40;
    Items items(set, count);
    const size_t pk = items.info.public_key_bytes, sk = items.info.secret_key_bytes,
                 ct = items.info.ciphertext_bytes, record = pk + sk + ct + 64;
    const tests::Guarded memory(count * record);
    uint8_t* const begin = memory.at_end(count * record);
    warpseal_kem_batch batch = items.batch;
    batch.public_keys = begin;
    batch.secret_keys = begin + pk;
    batch.ciphertexts = begin + pk + sk;
    batch.shared_secrets = begin + pk + sk + ct;
    batch.public_key_stride = batch.secret_key_stride = batch.ciphertext_stride =
        batch.shared_secret_stride = record;
    ASSERT_EQ(warpseal_kem_keypair(one.get(), set, &batch), WARPSEAL_OK);
    ASSERT_EQ(warpseal_kem_encapsulate(one.get(), set, &batch), WARPSEAL_OK);
    warpseal_kem_batch receive = batch;
    receive.shared_secrets += 32;
    ASSERT_EQ(warpseal_kem_decapsulate(one.get(), set, &receive), WARPSEAL_OK);
    for (size_t i = 0; i < count; ++i)
        EXPECT_EQ(
            std::memcmp(batch.shared_secrets + i * record, receive.shared_secrets + i * record, 32),
            0)
            << i;
}

// Fields of records may touch, also one record's last field and the next one's first, but not
// overlap by a byte.
TEST_F(KemCalls, FieldsMayTouchAndNotOverlap) {
    const auto one = engine();
    const char* set = "ntruhps4096821";
    constexpr size_t count = 3;
    Items items(set, count);
    const size_t pk = items.info.public_key_bytes, sk = items.info.secret_key_bytes,
                 ct = items.info.ciphertext_bytes;
    // The fields of a record, in this order, of each operation.
    using Batch = warpseal_kem_batch;
    struct Field {
        uint8_t* Batch::*at;
        uint64_t Batch::*stride;
        size_t bytes;
    };
    const Field publics{&Batch::public_keys, &Batch::public_key_stride, pk},
        secrets{&Batch::secret_keys, &Batch::secret_key_stride, sk},
        texts{&Batch::ciphertexts, &Batch::ciphertext_stride, ct},
        shared{&Batch::shared_secrets, &Batch::shared_secret_stride, 32};
    const std::vector<Field> fields[] = {
        {publics, secrets}, {publics, texts, shared}, {shared, secrets, texts}};
    for (int operation = 0; operation < 3; ++operation) {
        size_t record = 0;
        for (const Field& field : fields[operation]) record += field.bytes;
        for (const size_t less : {0, 1}) {
            Text memory(count * record, 0);
            Batch batch = items.batch;
            uint8_t* at = memory.data();
            for (const Field& field : fields[operation]) {
                batch.*field.at = at;
                batch.*field.stride = record - less;
                at += field.bytes;
            }
            EXPECT_EQ(calls[operation](one.get(), set, &batch),
                      less == 0 ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT)
                << operation;
            if (less != 0) {
                EXPECT_EQ(memory, Text(count * record, 0)) << operation;
            }
        }
    }
}

// Unused fields may have any value.
TEST_F(KemCalls, DecapsulationNeedsNoCoins) {
    const auto one = engine();
    Items items("ntruhps2048509", 3);
    ASSERT_EQ(warpseal_kem_keypair(one.get(), items.info.name, &items.batch), WARPSEAL_OK);
    ASSERT_EQ(warpseal_kem_encapsulate(one.get(), items.info.name, &items.batch), WARPSEAL_OK);
    warpseal_kem_batch receive = items.to_receive();
    receive.public_keys = receive.shared_secrets;
    receive.public_key_stride = 1;
    receive.coins = receive.shared_secrets;
    receive.coins_stride = 1;
    EXPECT_EQ(warpseal_kem_decapsulate(one.get(), items.info.name, &receive), WARPSEAL_OK);
    EXPECT_EQ(items.received, items.sent);
}

TEST_F(KemCalls, AStatusForEachItem) {
    const auto one = engine(2);
    const char* set = "ntruhps2048509";
    constexpr size_t count = 50;
    Items items(set, count), clean(set, count);
    const Text coins = tests::Random(5402).text(count * items.info.keypair_coins_bytes);
    items.batch.coins = coins.data();
    items.batch.coins_stride = items.info.keypair_coins_bytes;
    ASSERT_EQ(warpseal_kem_keypair(one.get(), set, &items.batch), WARPSEAL_OK);
    clean.publics = items.publics;
    clean.batch.coins = coins.data();
    clean.batch.coins_stride = items.batch.coins_stride;
    ASSERT_EQ(warpseal_kem_encapsulate(one.get(), set, &clean.batch), WARPSEAL_OK);
    const std::set<size_t> bad = {0, 17, 49};
    for (const size_t i : bad) items.publics[(i + 1) * items.info.public_key_bytes - 1] |= 0x10;
    EXPECT_EQ(warpseal_kem_encapsulate(one.get(), set, &items.batch), WARPSEAL_INVALID_ARGUMENT);
    for (size_t i = 0; i < count; ++i) {
        const bool refused = bad.count(i) != 0;
        EXPECT_EQ(items.statuses[i], refused ? WARPSEAL_INVALID_ARGUMENT : WARPSEAL_OK);
        EXPECT_EQ(tests::slice(items.sent, i, 32),
                  refused ? Text(32, 0) : tests::slice(clean.sent, i, 32));
        EXPECT_EQ(tests::slice(items.ciphertexts, i, items.info.ciphertext_bytes),
                  refused ? Text(items.info.ciphertext_bytes, 0)
                          : tests::slice(clean.ciphertexts, i, items.info.ciphertext_bytes));
    }
    items.batch.statuses = nullptr;
    EXPECT_EQ(warpseal_kem_encapsulate(one.get(), set, &items.batch), WARPSEAL_INVALID_ARGUMENT);
}

// Fibres of servers have stacks of 32 KiB and less.
TEST_F(KemCalls, OneItemTakesLessThan8KibOfTheCallersStack) {
    if (tests::stacks_are_sanitized)
        GTEST_SKIP() << "NOT RUN: a sanitizer changes the stack layout";
    const auto one = engine(4);
    for (const warpseal::KemSet& set : warpseal::kem_sets) {
        Items items(set.name, 1);
        std::fill(items.publics.begin(), items.publics.end(), uint8_t{0});
        for (int warm = 0; warm < 2; ++warm)  // the first call runs its self-test
            for (int operation = 0; operation < 3; ++operation) {
                warpseal_status status = WARPSEAL_INVALID_ARGUMENT;
                const size_t bytes = tests::stack_reach(
                    [&] { status = calls[operation](one.get(), set.name, &items.batch); });
                EXPECT_EQ(status, WARPSEAL_OK);
                if (warm == 1) {
                    EXPECT_LT(bytes, 8192u) << set.name << ", operation " << operation;
                }
            }
        const auto create_key = [&](auto create, const Text& bytes) {
            warpseal_kem_key* key = nullptr;
            const size_t deepest = tests::stack_reach(
                [&] { (void)create(one.get(), set.name, bytes.data(), bytes.size(), &key); });
            EXPECT_NE(key, nullptr) << set.name;
            warpseal_kem_key_destroy(key);
            return deepest;
        };
        for (int warm = 0; warm < 2; ++warm) {
            const size_t publics = create_key(warpseal_kem_public_key_create, items.publics),
                         secrets = create_key(warpseal_kem_secret_key_create, items.secrets);
            if (warm == 1) {
                EXPECT_LT(std::max(publics, secrets), 8192u) << set.name;
            }
        }
    }
}

// ---- the engine's choice of a target

// Copies of the portable target's descriptors without self-test results, some of them broken.
struct Machine {
    static inline std::vector<std::unique_ptr<CpuKem>> made;
    static inline std::set<Target> broken, asked;
    static inline CpuKem::Run intact[3];

    template <int operation>
    static uint64_t spoil(const warpseal_kem_batch& batch, uint64_t first, uint64_t count,
                          void* work) {
        const uint64_t failed = intact[operation](batch, first, count, work);
        (operation == 0 ? batch.public_keys : batch.shared_secrets)[first] ^= 1;
        return failed;
    }
    static const CpuKem* kem(Target target, const char* set) {
        const CpuKem* portable = warpseal::cpu_kem(Target::portable, set);
        asked.insert(target);
        if (portable == nullptr || target == Target::aesni || target == Target::vaes256)
            return nullptr;
        made.push_back(std::make_unique<CpuKem>(*portable));
        std::copy(portable->run, portable->run + 3, intact);
        if (broken.count(target) != 0) {
            made.back()->run[0] = spoil<0>;
            made.back()->run[1] = spoil<1>;
            made.back()->run[2] = spoil<2>;
        }
        return made.back().get();
    }
    static bool has(Target) { return true; }
};

bool random(void* out, size_t bytes) {
    std::memset(out, 5, bytes);
    return true;
}

TEST_F(KemCalls, ABrokenTargetIsReplacedByTheNext) {
    std::vector<std::string> notices;
    warpseal::EngineOptions options;
    options.cuda = nullptr;
    options.threads = 1;
    options.cores_have = [](Target) { return true; };
    options.cores = [](Target, const char* name) {
        return warpseal::cpu_cipher(Target::portable, name);
    };
    options.kems = Machine::kem;
    options.kems_have = Machine::has;
    options.notice = [&](const char* text) { notices.push_back(text); };
    const char* set = "ntruhps2048509";
    constexpr const char* names[] = {
        "vaes512 failed its self-test in ntruhps2048509 key generation ",
        "vaes512 failed its self-test in ntruhps2048509 encapsulation ",
        "vaes512 failed its self-test in ntruhps2048509 decapsulation "};
    for (const bool all : {false, true}) {
        Machine::broken = {Target::vaes512};
        if (all) Machine::broken = {Target::vaes512, Target::avx2, Target::portable};
        std::unique_ptr<Engine> engine;
        ASSERT_EQ(Engine::create(options, engine), WARPSEAL_OK);
        for (const auto operation :
             {KemOperation::keypair, KemOperation::encapsulate, KemOperation::decapsulate}) {
            Items items(set, 3);
            std::fill(items.publics.begin(), items.publics.end(), uint8_t{0});
            const Text before = items.written();
            notices.clear();
            EXPECT_EQ(engine->kem(operation, set, items.batch, random),
                      all ? WARPSEAL_SELF_TEST_FAILED : WARPSEAL_OK);
            EXPECT_EQ(notices.size(), all ? 3u : 1u);
            EXPECT_NE(notices[0].find(names[static_cast<int>(operation)]), std::string::npos)
                << notices[0];
            if (all) {
                EXPECT_EQ(items.written(), before);
            }
        }
    }
}

TEST_F(KemCalls, BrokenPreparedKeysAreClosed) {
    static std::vector<std::unique_ptr<CpuKem>> made;
    std::vector<std::string> notices;
    warpseal::EngineOptions options;
    options.cuda = nullptr;
    options.threads = 1;
    options.kems = [](Target, const char* name) -> const CpuKem* {
        made.push_back(std::make_unique<CpuKem>(*warpseal::cpu_kem(Target::portable, name)));
        made.back()->run_prepared[0] = [](const warpseal_kem_batch&, uint64_t, uint64_t count,
                                          void*) { return count; };
        return made.back().get();
    };
    options.kems_have = [](Target target) { return target == Target::portable; };
    options.notice = [&](const char* text) { notices.push_back(text); };
    std::unique_ptr<Engine> engine;
    ASSERT_EQ(Engine::create(options, engine), WARPSEAL_OK);
    Items items("ml-kem-768", 5);
    std::fill(items.publics.begin(), items.publics.end(), uint8_t{0});
    items.batch.public_key_stride = 0;
    // The call takes its shared key as it is.
    EXPECT_EQ(engine->kem(KemOperation::encapsulate, "ml-kem-768", items.batch, random),
              WARPSEAL_OK);
    ASSERT_EQ(notices.size(), 1u);
    EXPECT_NE(notices[0].find("encapsulation with a prepared key and is closed"), std::string::npos)
        << notices[0];
    std::unique_ptr<warpseal::PreparedKemKey> key;
    EXPECT_EQ(warpseal::PreparedKemKey::create(*engine, warpseal::KemKeyKind::public_key,
                                               "ml-kem-768", {items.publics.data(), 1184}, key),
              WARPSEAL_SELF_TEST_FAILED);
    EXPECT_EQ(key, nullptr);
}

// An engine with an explicit target does not replace it when its self-test fails.
TEST_F(KemCalls, ABrokenExplicitTargetHasNoFallback) {
    warpseal::EngineOptions options;
    options.cuda = nullptr;
    options.threads = 1;
    options.device = "avx2";
    options.cores_have = [](Target) { return true; };
    options.cores = [](Target, const char* name) {
        return warpseal::cpu_cipher(Target::portable, name);
    };
    options.kems = Machine::kem;
    options.kems_have = Machine::has;
    Machine::broken = {Target::avx2};
    std::unique_ptr<Engine> engine;
    ASSERT_EQ(Engine::create(options, engine), WARPSEAL_OK);
    Items items("ntruhps2048509", 3);
    std::fill(items.publics.begin(), items.publics.end(), uint8_t{0});
    const Text before = items.written();
    for (const auto operation :
         {KemOperation::keypair, KemOperation::encapsulate, KemOperation::decapsulate}) {
        Machine::asked.clear();
        EXPECT_EQ(engine->kem(operation, "ntruhps2048509", items.batch, random),
                  WARPSEAL_SELF_TEST_FAILED);
        EXPECT_EQ(Machine::asked, std::set<Target>{Target::avx2});
    }
    EXPECT_EQ(items.written(), before);
}

// The seed of a call's coins is as secret as its keys.
TEST_F(KemCalls, TheSeedOfCoinsIsZeroizedOnTheStack) {
    if (tests::stacks_are_sanitized)
        GTEST_SKIP() << "NOT RUN: a sanitizer changes the stack layout";
    const auto one = engine();
    tests::Stack stack;
    Text seed(32);
    for (size_t i = 0; i < seed.size(); ++i) seed[i] = fixed_byte(i);
    Items items("ntruhps2048509", 3);
    for (const Call call : {warpseal_kem_keypair, warpseal_kem_encapsulate})
        for (int warm = 0; warm < 2; ++warm) {
            source = Source::fixed;
            warpseal_status status = WARPSEAL_INVALID_ARGUMENT;
            const auto& left =
                stack.after([&] { status = call(one.get(), "ntruhps2048509", &items.batch); });
            EXPECT_EQ(status, WARPSEAL_OK);
            for (size_t at = 0; at + 8 <= seed.size(); ++at)
                EXPECT_EQ(std::search(left.begin(), left.end(), &seed[at], &seed[at] + 8),
                          left.end())
                    << at;
        }
    // Checks that the pattern searched for was drawn.
    Items again("ntruhps2048509", 3);
    EXPECT_EQ(warpseal_kem_keypair(one.get(), "ntruhps2048509", &again.batch), WARPSEAL_OK);
    EXPECT_EQ(again.publics, items.publics);
}

TEST_F(KemCalls, TargetsWithoutAKemHaveAFallback) {
    for (const char* device : {"portable", "aesni", "avx2", "vaes256", "vaes512"}) {
        warpseal_engine_options options{};
        options.struct_bytes = sizeof options;
        options.threads = 1;
        options.device = device;
        warpseal_engine* made = nullptr;
        if (warpseal_engine_create(&options, &made) != WARPSEAL_OK)
            continue;  // not on this machine
        const targets::EngineHandle one(made);
        Items items("ntruhps2048509", 2);
        for (const Call call : {warpseal_kem_keypair, warpseal_kem_encapsulate})
            EXPECT_EQ(call(one.get(), "ntruhps2048509", &items.batch), WARPSEAL_OK) << device;
        const warpseal_kem_batch receive = items.to_receive();
        EXPECT_EQ(warpseal_kem_decapsulate(one.get(), "ntruhps2048509", &receive), WARPSEAL_OK)
            << device;
        EXPECT_EQ(items.received, items.sent) << device;
    }
}

// On a machine with all targets: a forbidden target is not even tried.
TEST_F(KemCalls, FallbacksAreLowerTargets) {
    const std::map<const char*, std::set<Target>> lower = {{"aesni", {Target::portable}},
                                                           {"vaes256", {Target::avx2}}};
    for (const auto& [device, stand_ins] : lower) {
        warpseal::EngineOptions options;
        options.cuda = nullptr;
        options.threads = 1;
        options.device = device;
        options.cores_have = [](Target) { return true; };
        options.cores = [](Target, const char* name) {
            return warpseal::cpu_cipher(Target::portable, name);
        };
        options.kems = Machine::kem;
        options.kems_have = [](Target target) {
            return target != Target::aesni && target != Target::vaes256;
        };
        Machine::broken.clear();
        Machine::asked.clear();
        std::unique_ptr<Engine> engine;
        ASSERT_EQ(Engine::create(options, engine), WARPSEAL_OK) << device;
        Items items("ntruhps2048509", 1);
        EXPECT_EQ(engine->kem(KemOperation::keypair, "ntruhps2048509", items.batch, random),
                  WARPSEAL_OK)
            << device;
        EXPECT_EQ(Machine::asked, stand_ins) << device;
    }
}

TEST(Workspaces, AreZeroizedBeforeReuse) {
    warpseal::Workspaces spaces;
    void* first = nullptr;
    {
        const auto lease = spaces.lease(10000);
        ASSERT_TRUE(static_cast<bool>(lease));
        first = lease.data();
        std::memset(first, 0xa5, 10000);
    }
    const auto again = spaces.lease(8000), other = spaces.lease(8000);
    EXPECT_EQ(again.data(), first);
    EXPECT_NE(other.data(), first);
    for (size_t i = 0; i < 10000; ++i) ASSERT_EQ(static_cast<uint8_t*>(again.data())[i], 0);
    EXPECT_FALSE(static_cast<bool>(spaces.lease(SIZE_MAX / 2)));
}

TEST(Workspaces, AtMost256AreKept) {
    constexpr size_t bytes = size_t{1} << 20, most_kept = 256;
    const auto pages = [] {
        size_t count = 0;
        std::ifstream("/proc/self/statm") >> count;
        return count;
    };
    const size_t before = pages();
    warpseal::Workspaces spaces;
    {
        std::vector<warpseal::Workspaces::Lease> all;
        for (size_t i = 0; i < most_kept + 64; ++i) {
            all.push_back(spaces.lease(bytes));
            ASSERT_TRUE(static_cast<bool>(all.back()));
        }
    }
    EXPECT_LE(pages() - before, (most_kept + 16) * (bytes / 4096));
}

TEST(Workspaces, AForkedChildHasNoneOfThem) {
    warpseal::Workspaces spaces;
    for (const size_t bytes : {100, 8000, 10000}) {
        const auto lease = spaces.lease(bytes);
        ASSERT_TRUE(static_cast<bool>(lease));
        auto* const data = static_cast<uint8_t*>(lease.data());
        std::memset(data, 0xa5, bytes);
        const pid_t child = fork();
        if (child == 0) _exit(static_cast<int>(std::count(data, data + bytes, 0xa5) != 0));
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0) << bytes;
        EXPECT_EQ(std::count(data, data + bytes, 0xa5), static_cast<ptrdiff_t>(bytes));
    }
}

}  // namespace

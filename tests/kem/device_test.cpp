// The public calls of kem.h on device memory, and through the GPU: the same bytes as on the cores,
// with coins given and drawn, and every caller error.
#include <set>
#include <string>
#include <tuple>

#include "support/kem_backends.h"
#include "support/random.h"
#include "support/random_source.h"

namespace {

using tests::Source;
using tests::source;
using tests::Text;

using HostCall = warpseal_status (*)(warpseal_engine*, const char*, const warpseal_kem_batch*);
using DeviceCall = warpseal_status (*)(warpseal_engine*, const char*, const warpseal_kem_batch*,
                                       void*);
constexpr HostCall host_calls[] = {warpseal_kem_keypair, warpseal_kem_encapsulate,
                                   warpseal_kem_decapsulate};
constexpr DeviceCall device_calls[] = {warpseal_kem_keypair_device, warpseal_kem_encapsulate_device,
                                       warpseal_kem_decapsulate_device};

// The per-item inputs of a batch; it has one of every other input, and coins are then drawn.
enum class Has { all, texts, pairs };

const warpseal::KemSet& set_of(const char* name) { return tests::kem_set_of(name); }
// The sets of all schemes that have device code.
std::vector<const warpseal::KemSet*> sets_on_gpus() {
    std::vector<const warpseal::KemSet*> out;
    for (const warpseal::KemSet& set : warpseal::kem_sets)
        if (set.has_cuda()) out.push_back(&set);
    return out;
}

// All inputs and outputs of the three calls: one array after another in one allocation, a gap after
// each item.
struct Items {
    const warpseal::KemSet& set;
    uint64_t count;
    size_t gap;
    Text memory;
    size_t publics, secrets, ciphertexts, shared, coins, statuses;

    Items(const warpseal::KemSet& of, uint64_t items, size_t gap_bytes = 0, Has has = Has::all)
        : set(of), count(items), gap(gap_bytes) {
        const uint64_t keys = has == Has::texts ? 1 : count, texts = has == Has::pairs ? 1 : count;
        publics = reserve(set.public_key_bytes(), keys);
        secrets = reserve(set.secret_key_bytes(), keys);
        ciphertexts = reserve(set.ciphertext_bytes(), texts);
        shared = reserve(set.shared_secret_bytes(), texts);
        coins = reserve(coin_bytes(), has == Has::all ? count : 1);
        const Text random = tests::Random(5501).text(memory.size() - coins);
        std::copy(random.begin(), random.end(), memory.begin() + static_cast<long>(coins));
        statuses = (memory.size() + 3) / 4 * 4;
        memory.resize(statuses + count * sizeof(int32_t), 0xa5);
    }
    warpseal_kem_batch at(uint8_t* base) const {
        warpseal_kem_batch batch{};
        batch.struct_bytes = sizeof batch;
        batch.count = count;
        batch.public_keys = base + publics;
        batch.public_key_stride = set.public_key_bytes() + gap;
        batch.secret_keys = base + secrets;
        batch.secret_key_stride = set.secret_key_bytes() + gap;
        batch.ciphertexts = base + ciphertexts;
        batch.ciphertext_stride = set.ciphertext_bytes() + gap;
        batch.shared_secrets = base + shared;
        batch.shared_secret_stride = set.shared_secret_bytes() + gap;
        batch.coins = base + coins;
        batch.coins_stride = coin_bytes() + gap;
        batch.statuses = reinterpret_cast<int32_t*>(base + statuses);
        return batch;
    }
    warpseal_kem_batch here() { return at(memory.data()); }

private:
    // For either operation.
    size_t coin_bytes() const { return std::max(set.keypair_coins(), set.encapsulation_coins()); }
    size_t reserve(size_t bytes, uint64_t items) {
        const size_t begin = memory.size();
        memory.resize(begin + items * (bytes + gap), 0xa5);
        return begin;
    }
};

// A copy in device memory of the engine's GPU.
class Copy {
public:
    Copy(const targets::EngineHandle& engine, const Text& text)
        : engine_(engine.get()), bytes_(text.size()) {
        EXPECT_EQ(warpseal_device_alloc(engine_, bytes_, &data_), WARPSEAL_OK);
        EXPECT_EQ(warpseal_device_upload(engine_, data_, text.data(), bytes_), WARPSEAL_OK);
    }
    ~Copy() { warpseal_device_free(engine_, data_); }
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;
    uint8_t* data() const { return static_cast<uint8_t*>(data_); }
    // Waits for queued work.
    Text get() const {
        Text text(bytes_);
        EXPECT_EQ(warpseal_device_synchronize(engine_, nullptr), WARPSEAL_OK);
        EXPECT_EQ(warpseal_device_download(engine_, text.data(), data_, bytes_), WARPSEAL_OK);
        return text;
    }

private:
    warpseal_engine* engine_;
    void* data_ = nullptr;
    size_t bytes_;
};

class KemDevice : public testing::Test {
protected:
    void SetUp() override {
        const std::vector<warpseal_target_info> all = targets::all();
        const auto cuda = std::find_if(all.begin(), all.end(), [](const auto& target) {
            return std::string(target.name) == "cuda";
        });
        if (cuda == all.end() || !cuda->usable) GTEST_SKIP() << "NOT RUN: no GPU";
        cpu_ = targets::engine("cpu", 0);
        cuda_ = targets::engine("cuda", 1, targets::unexpected);
    }
    ~KemDevice() override { source = Source::kernel; }

    // Runs the operation on the items in place and on a copy of them on the GPU, and compares all
    // memory byte for byte.
    void compare(int operation, Items& items,
                 const std::function<void(warpseal_kem_batch&)>& change = {}) {
        const Copy copy(cuda_, items.memory);
        warpseal_kem_batch there = items.at(copy.data()), here = items.here();
        if (change) change(there), change(here);
        EXPECT_EQ(device_calls[operation](cuda_.get(), items.set.name, &there, nullptr),
                  WARPSEAL_OK);
        (void)host_calls[operation](cpu_.get(), items.set.name, &here);
        ASSERT_TRUE(copy.get() == items.memory)
            << items.set.name << ", operation " << operation << ", " << items.count << " items";
    }

    static void expect_refused(const Items& items, const std::set<size_t>& refused) {
        for (size_t i = 0; i < items.count; ++i) {
            int32_t status = 0;
            std::memcpy(&status, &items.memory[items.statuses + i * sizeof status], sizeof status);
            EXPECT_EQ(status, refused.count(i) != 0 ? WARPSEAL_INVALID_ARGUMENT : WARPSEAL_OK) << i;
        }
    }

    targets::EngineHandle cpu_, cuda_;
};

constexpr auto drawn = [](warpseal_kem_batch& batch) { batch.coins = nullptr; };

TEST_F(KemDevice, EqualsTheCores_cuda) {
    for (const warpseal::KemSet* set : sets_on_gpus())
        for (const auto& [count, gap] : {std::pair<uint64_t, size_t>{1, 0}, {37, 5}, {300, 0}}) {
            Items items(*set, count, gap);
            compare(0, items);
            compare(1, items);
            items.memory[items.ciphertexts + (count - 1) * (set->ciphertext_bytes() + gap)] ^=
                1;  // another secret
            compare(2, items);
            compare(0, items, [](warpseal_kem_batch& batch) { batch.statuses = nullptr; });
        }
}

TEST_F(KemDevice, OneKeyForAll_cuda) {
    const auto shared = [](warpseal_kem_batch& batch) {
        batch.public_key_stride = batch.secret_key_stride = 0;
    };
    for (const char* set : {"ntruhps4096821", "ml-kem-768", "x25519", "x25519mlkem768", "x-wing"}) {
        Items items(set_of(set), 100);
        compare(0, items);
        compare(1, items, shared);
        compare(2, items, shared);
    }
}

TEST_F(KemDevice, StatusesOfItemsThatHaveNoResult_cuda) {
    const warpseal::KemSet& set = set_of("ntruhps2048677");
    Items items(set, 70);
    compare(0, items);
    for (const size_t i : {0, 31, 69})
        items.memory[items.publics + (i + 1) * set.public_key_bytes() - 1] |= 0x80;
    compare(1, items);
    expect_refused(items, {0, 31, 69});
}

// Public keys with a coefficient of q or more, and secret keys with a wrong hash.
TEST_F(KemDevice, StatusesOfMlKem_cuda) {
    for (const char* name : {"ml-kem-512", "ml-kem-768", "ml-kem-1024"}) {
        const warpseal::KemSet& set = set_of(name);
        Items items(set, 71);
        compare(0, items);
        for (const size_t i : {0, 31, 32, 70})
            std::memset(&items.memory[items.publics + i * set.public_key_bytes()], 0xff, 3);
        compare(1, items);
        expect_refused(items, {0, 31, 32, 70});
        for (const size_t i : {1, 32, 69})
            items.memory[items.secrets + (i + 1) * set.secret_key_bytes() - 33] ^= 0x80;
        compare(2, items);
        expect_refused(items, {1, 32, 69});
    }
}

// Points of low order among others, in public keys and in ciphertexts: 0, 1 and p - 1, also with
// the top bit set.
TEST_F(KemDevice, StatusesOfX25519AndItsHybrids_cuda) {
    for (const char* name : {"x25519", "x25519mlkem768", "x-wing"}) {
        const warpseal::KemSet& set = set_of(name);
        Items items(set, 71);
        const auto spoil = [&](size_t begin, size_t bytes, const std::set<size_t>& which) {
            size_t number = 0;
            for (const size_t i : which) {
                uint8_t* const point = &items.memory[begin + (i + 1) * bytes - 32];
                const bool last = number % 3 == 2;
                std::memset(point, last ? 0xff : 0, 32);
                point[0] = static_cast<uint8_t>(last ? 0xec : number % 3);
                point[31] = static_cast<uint8_t>((last ? 0x7f : 0) | (number / 3 << 7));
                ++number;
            }
        };
        compare(0, items);
        const std::set<size_t> keys = {0, 1, 31, 32, 63, 70}, texts = {1, 30, 33, 34, 64, 69};
        spoil(items.publics, set.public_key_bytes(), keys);
        compare(1, items);
        expect_refused(items, keys);
        compare(0, items);
        compare(1, items);
        spoil(items.ciphertexts, set.ciphertext_bytes(), texts);
        compare(2, items);
        expect_refused(items, texts);
    }
}

// Drawn coins: the same seed gives the same keys as on the cores. Another seed gives different ones
// for each item.
TEST_F(KemDevice, DrawnCoinsEqualTheCores_cuda) {
    for (const char* name : {"ntruhps2048509", "ntruhrss1373", "ml-kem-512", "ml-kem-1024",
                             "x25519", "x25519mlkem768", "x-wing"}) {
        const warpseal::KemSet* set = &set_of(name);
        Items items(*set, 131);
        source = Source::fixed;
        compare(0, items, drawn);
        compare(1, items, drawn);
        source = Source::kernel;
        std::set<std::string> seen;
        for (int call = 0; call < 2; ++call) {
            const Copy copy(cuda_, items.memory);
            warpseal_kem_batch there = items.at(copy.data());
            there.coins = nullptr;
            ASSERT_EQ(warpseal_kem_keypair_device(cuda_.get(), set->name, &there, nullptr),
                      WARPSEAL_OK);
            const Text got = copy.get();
            const auto* const keys = reinterpret_cast<const char*>(got.data() + items.publics);
            for (uint64_t i = 0; i < items.count; ++i)
                seen.emplace(keys + i * set->public_key_bytes(), set->public_key_bytes());
        }
        EXPECT_EQ(seen.size(), 2 * items.count);
    }
}

// More coins than work space holds.
TEST_F(KemDevice, InChunks_cuda) {
    const auto one_key = [](warpseal_kem_batch& batch) {
        batch.coins = nullptr;
        batch.public_key_stride = batch.secret_key_stride = 0;
    };
    for (const char* name : {"ntruhps4096821", "ml-kem-768", "x-wing"}) {
        const warpseal::KemSet& set = set_of(name);
        source = Source::kernel;
        Items pair(set, 1), items(set, 140003, 0, Has::texts),
            pairs(set, items.count, 0, Has::pairs);
        compare(0, pair);
        std::copy_n(pair.memory.begin(), items.ciphertexts, items.memory.begin());  // the keys
        source = Source::fixed;
        compare(1, items, one_key);
        compare(2, items, one_key);
        compare(0, pairs, drawn);
    }
}

// Host memory goes through the GPU in chunks, from any address; here it has more items than coins
// are drawn for at a time.
TEST_F(KemDevice, ThroughHostMemory_cuda) {
    source = Source::fixed;
    for (const auto& [name, count, gap] :
         {std::tuple<const char*, uint64_t, size_t>{"ntruhps2048509", 1, 0},
          {"ntruhps2048509", 300, 3},
          {"ntruhps2048509", 30011, 0},
          {"ml-kem-768", 1, 0},
          {"ml-kem-512", 301, 3},
          {"ml-kem-1024", 30011, 0},
          {"x25519", 1, 0},
          {"x25519", 30011, 0},
          {"x25519mlkem768", 301, 3},
          {"x-wing", 30011, 0}})
        for (const bool pinned : {false, true}) {
            const warpseal::KemSet& set = set_of(name);
            Items items(set, count, gap);
            void* memory = nullptr;
            ASSERT_EQ(warpseal_host_alloc(cuda_.get(), items.memory.size(), &memory), WARPSEAL_OK);
            for (const int operation : {0, 1, 2}) {
                Text through = items.memory;
                uint8_t* const at = pinned ? static_cast<uint8_t*>(memory) : through.data();
                std::copy(items.memory.begin(), items.memory.end(), at);
                warpseal_kem_batch there = items.at(at), here = items.here();
                if (count > 1) drawn(there), drawn(here);
                EXPECT_EQ(host_calls[operation](cuda_.get(), set.name, &there), WARPSEAL_OK);
                EXPECT_EQ(host_calls[operation](cpu_.get(), set.name, &here), WARPSEAL_OK);
                EXPECT_TRUE(std::equal(items.memory.begin(), items.memory.end(), at))
                    << name << ", " << count << " items, operation " << operation;
            }
            warpseal_host_free(cuda_.get(), memory);
        }
}

TEST_F(KemDevice, WithoutRandomNothingIsWritten_cuda) {
    Items items(set_of("ntruhrss701"), 5);
    const Copy copy(cuda_, items.memory);
    warpseal_kem_batch batch = items.at(copy.data());
    batch.coins = nullptr;
    source = Source::failing;
    for (const int operation : {0, 1})
        EXPECT_EQ(device_calls[operation](cuda_.get(), items.set.name, &batch, nullptr),
                  WARPSEAL_NO_RANDOM);
    EXPECT_EQ(copy.get(), items.memory);
    EXPECT_EQ(warpseal_kem_decapsulate_device(cuda_.get(), items.set.name, &batch, nullptr),
              WARPSEAL_OK);
    compare(0, items);  // a caller with its own coins is not refused
}

TEST_F(KemDevice, WrongArguments_cuda) {
    Items items(set_of("ntruhps2048677"), 3);
    const Copy copy(cuda_, items.memory);
    using Batch = warpseal_kem_batch;
    for (const int operation : {0, 1, 2}) {
        const auto refused = [&](const char* what, const std::function<void(Batch&)>& spoil) {
            Batch batch = items.at(copy.data());
            spoil(batch);
            EXPECT_EQ(device_calls[operation](cuda_.get(), items.set.name, &batch, nullptr),
                      WARPSEAL_INVALID_ARGUMENT)
                << what << ", operation " << operation;
        };
        const Batch fine = items.at(copy.data());
        EXPECT_EQ(device_calls[operation](nullptr, items.set.name, &fine, nullptr),
                  WARPSEAL_INVALID_ARGUMENT);
        EXPECT_EQ(device_calls[operation](cuda_.get(), nullptr, &fine, nullptr),
                  WARPSEAL_INVALID_ARGUMENT);
        EXPECT_EQ(device_calls[operation](cuda_.get(), items.set.name, nullptr, nullptr),
                  WARPSEAL_INVALID_ARGUMENT);
        EXPECT_EQ(device_calls[operation](cuda_.get(), "ntruhps", &fine, nullptr),
                  WARPSEAL_UNSUPPORTED);
        refused("a struct of a version before the first", [](Batch& b) { b.struct_bytes -= 1; });
        refused("reserved", [](Batch& b) { b.reserved = 1; });
        refused("statuses across words", [](Batch& b) {
            b.statuses = reinterpret_cast<int32_t*>(reinterpret_cast<uint8_t*>(b.statuses) + 1);
        });
        if (operation != 0) refused("no statuses", [](Batch& b) { b.statuses = nullptr; });
        if (operation != 2) refused("public keys", [](Batch& b) { b.public_keys = nullptr; });
        if (operation != 1) refused("secret keys", [](Batch& b) { b.secret_key_stride = 1; });
        if (operation != 0) refused("overlap", [](Batch& b) { b.shared_secrets = b.ciphertexts; });
    }
    EXPECT_EQ(copy.get(), items.memory);
}

TEST_F(KemDevice, NoItems_cuda) {
    Items items(set_of("ntruhps2048677"), 0);
    warpseal_kem_batch none = items.at(nullptr);
    source = Source::failing;
    none.statuses = reinterpret_cast<int32_t*>(uintptr_t{3});  // at any address
    for (const DeviceCall call : device_calls)
        EXPECT_EQ(call(cuda_.get(), items.set.name, &none, nullptr), WARPSEAL_OK);
}

TEST(KemNoDevice, WithoutAGpu) {
    const targets::EngineHandle cpu = targets::engine("cpu");
    for (const warpseal::KemSet* set : sets_on_gpus()) {
        Items items(*set, 2);
        const Text before = items.memory;
        const warpseal_kem_batch batch = items.here();
        for (const DeviceCall call : device_calls)
            EXPECT_EQ(call(cpu.get(), items.set.name, &batch, nullptr), WARPSEAL_NO_DEVICE);
        EXPECT_EQ(items.memory, before);
    }
}

}  // namespace

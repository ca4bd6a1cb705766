// A small case of every kernel of a cipher of each representation and layout, on exact allocations:
// a memory checker runs it in a minute. The list of kernels in the program ensures that none is
// left out.
#include <regex>
#include <set>
#include <string>

#include "backends/gpu_backend.h"
#include "host_memory.h"
#include "launches.h"
#include "messages.h"
#include "random_request.h"
#include "reference/xts.h"
#include "support/kem_backends.h"

namespace {

using namespace gpu;

void batch(const BatchSpec& spec, Key& key, Direction direction, tests::Random& random) {
    const Messages messages(spec, key, direction, random);
    const Memory memory(messages.image);
    ASSERT_EQ(backend().batch_device(device, key.cipher, spec.own_keys ? nullptr : key.state(),
                                     spec.mode, direction, messages.at(memory.data()), nullptr),
              WARPSEAL_OK);
    ASSERT_EQ(memory.get(), messages.right())
        << key.cipher.name << " mode " << spec.mode << " direction " << static_cast<int>(direction)
        << " count " << spec.count << " bytes " << spec.bytes << " own keys " << spec.own_keys;
}

// Direction, IV and tag that suit the mode; keys and lengths per call and per message; in place or
// not. GCM also splits one message into segments, and has messages long enough for its kernels of
// long texts.
void batches(Key& key, warpseal_mode mode, tests::Random& random) {
    for (int i = 0; i < (mode == WARPSEAL_GCM ? 8 : 4); ++i) {
        BatchSpec spec;
        spec.mode = mode;
        spec.iv_bytes = mode == WARPSEAL_GCM    ? (i == 2 || i == 5 ? 21 : 12)
                        : mode == WARPSEAL_CCM  ? 12
                        : mode == WARPSEAL_CMAC ? 0
                                                : key.cipher.block_bytes;
        spec.tag_bytes = spec.tagged() ? 8 : 0;
        spec.count = 3;
        spec.bytes = mode == WARPSEAL_CBC ? 688 : 700;
        if (i == 3 && mode == WARPSEAL_GCM) spec.count = 1, spec.bytes = 70001;
        if (i == 6) spec.count = 1, spec.bytes = 70001;
        if (i == 4 || i == 5) spec.bytes = i == 4 ? 16384 : 9001, spec.gap = 32 - spec.bytes % 16;
        spec.own_keys = i % 2 == 1 && i < 4;
        if (i == 7) spec.count = 5, spec.bytes = 40001, spec.expected = 1;
        spec.lengths = i == 2 || i == 7;
        spec.aad_bytes = spec.seals() && i >= 1 && i != 4 ? 19 : 0;
        spec.in_place = i >= 2;
        spec.spoil_every = 2;
        for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
            batch(spec, key, direction, random);
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

// In place, the edges of tiles are saved.
void sweeps(Key& key, warpseal_mode mode, Direction direction, tests::Random& random) {
    const Text iv = random.text(key.cipher.block_bytes);
    for (const size_t bytes : {size_t{16}, size_t{1008}, size_t{1001}, size_t{33000}}) {
        const size_t n = mode == WARPSEAL_ECB || mode == WARPSEAL_CBC ? bytes / 16 * 16 : bytes;
        const Text in = random.text(n),
                   right = expected(key.cipher, mode, direction, key.bytes, iv, 0, in);
        const Memory from(in), to(n);
        for (const Memory* out : {&to, &from}) {
            ASSERT_EQ(backend().sweep_device(device, key.cipher, key.state(), mode, direction,
                                             iv.data(), from.data(), out->data(), n, nullptr),
                      WARPSEAL_OK);
            ASSERT_EQ(out->get(), right) << key.cipher.name << " mode " << mode << " direction "
                                         << static_cast<int>(direction) << " bytes " << n
                                         << (out == &from ? " in place" : "");
        }
    }
}

void data_units(Key& data, Direction direction, tests::Random& random) {
    Key tweak(data.cipher, random);
    warpseal::XtsUnits units{};
    for (const size_t unit :
         {size_t{16}, size_t{528}, size_t{535}, size_t{1536}, size_t{8192}, size_t{70000}}) {
        units.unit_bytes = unit;
        const Text in = random.text(3 * unit);
        const Memory from(in), to(in.size());
        ASSERT_EQ(backend().xts_device(device, data.cipher, data.state(), tweak.state(), direction,
                                       units, from.data(), to.data(), in.size(), nullptr),
                  WARPSEAL_OK);
        ASSERT_EQ(to.get(), reference::xts_units(
                                *tests::make_reference_cipher(data.cipher.name, data.bytes),
                                *tests::make_reference_cipher(tweak.cipher.name, tweak.bytes),
                                direction == Direction::encrypt, Text(16, 0), unit, in));
    }
}

void all_calls(Key& key, tests::Random& random) {
    for (int m = 0; m < WARPSEAL_MODE_COUNT; ++m) {
        const auto mode = static_cast<warpseal_mode>(m);
        if (key.cipher.batch[mode][0] != nullptr) batches(key, mode, random);
        for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
            if (testing::Test::HasFatalFailure()) return;
            if (key.cipher.sweep[mode][static_cast<int>(direction)] != nullptr)
                sweeps(key, mode, direction, random);
            if (mode == WARPSEAL_XTS && key.cipher.xts[0] != nullptr)
                data_units(key, direction, random);
        }
    }
}

// Pinned host memory: tags, statuses and the GHASH accumulator of a message's segment come back by
// a kernel.
void pinned(tests::Random& random) {
    Key key("aes-128", random);
    BatchSpec spec;
    spec.count = 3, spec.bytes = 4100, spec.spoil_every = 2;
    for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
        const Messages messages(spec, key, direction, random);
        const Host image(messages.image.size(), true);
        std::memcpy(image.data(), messages.image.data(), messages.image.size());
        uint64_t done = 0, refused = 0;
        ASSERT_EQ(backend().batch_host(device, key.cipher, key.state(), spec.mode, direction,
                                       messages.at(image.data()).batch, &done, &refused),
                  WARPSEAL_OK);
        EXPECT_EQ(refused, messages.refused);
        EXPECT_TRUE(image.holds(messages.right()));
    }
    const Text iv = random.text(12), text = random.text(70000);
    const Text right = oracle::run(key.mode("gcm"), true, key.bytes, iv, {}, text, nullptr);
    const Host from(text.size(), true), to(text.size(), true);
    std::memcpy(from.data(), text.data(), text.size());
    warpseal::GcmState run{};
    std::memcpy(run.counter0, iv.data(), iv.size());
    run.counter0[15] = 1;
    size_t done = 0;
    ASSERT_EQ(backend().gcm_host(device, key.cipher, key.state(), Direction::encrypt, &run, 0,
                                 from.data(), to.data(), text.size(), &done),
              WARPSEAL_OK);
    EXPECT_TRUE(to.holds(right));
}

// The three operations of key encapsulation: each set has its own kernels.
void kem(const warpseal::CudaKem& set, tests::Random& random) {
    const tests::GpuBackend kem(*set.set, set);
    const tests::Keys keys = kem.keypairs(random.text(3 * set.set->keypair_coins()));
    const tests::Encapsulated sent =
        kem.encapsulate(random.text(3 * set.set->encapsulation_coins()), keys.publics);
    ASSERT_EQ(keys.failed + sent.failed, 0u);
    ASSERT_EQ(kem.decapsulate(sent.ciphertexts, keys.secrets), sent.secrets) << set.set->name;
}

void random_bytes(tests::Random& random) {
    constexpr size_t bytes = warpseal::drbg::max_request_bytes + 100;
    RandomRequest request(random);
    const Memory memory(bytes);
    ASSERT_EQ(request.fill(memory.data(), bytes, nullptr), WARPSEAL_OK);
    EXPECT_EQ(memory.get(), request.right(bytes));
}

// Copies a pool's secret keys to their slots and back and zeroizes them, among items without one.
// Neighbouring bytes do not change.
void pool_slots(tests::Random& random) {
    constexpr size_t stride = 48;
    const auto row = [](std::initializer_list<Text> items) {
        Text out;
        for (const Text& item : items) out.insert(out.end(), item.begin(), item.end());
        return out;
    };
    const Text zero(stride, 0), a = random.text(stride), b = random.text(stride),
                                c = random.text(stride), w = random.text(stride),
                                x = random.text(stride), y = random.text(stride);
    const Memory at(row({w, w, x, y, y})), items(row({a, b, c})), numbers(3 * sizeof(uint32_t));
    const uint32_t which[] = {3, warpseal::no_pool_slot, 0};
    ASSERT_EQ(backend().upload(device, numbers.data(), which, sizeof which), WARPSEAL_OK);
    const auto move = [&](warpseal::PoolTransfer what) {
        ASSERT_EQ(warpseal::gpu_backend()->pool_transfer(
                      device, what, at.data(), items.data(), stride,
                      reinterpret_cast<const uint32_t*>(numbers.data()), std::size(which), nullptr),
                  WARPSEAL_OK);
    };
    move(warpseal::PoolTransfer::put);
    EXPECT_EQ(at.get(), row({c, w, x, a, y}));
    EXPECT_EQ(items.get(), row({zero, zero, zero}));
    move(warpseal::PoolTransfer::get);
    EXPECT_EQ(items.get(), row({a, zero, c}));
    EXPECT_EQ(at.get(), row({c, w, x, a, y}));
    move(warpseal::PoolTransfer::wipe);
    EXPECT_EQ(at.get(), row({zero, w, x, zero, y}));
    EXPECT_EQ(items.get(), row({a, zero, c}));
}

// A kernel name without its cipher, and that cipher: empty if it has none.
struct Shared {
    explicit Shared(const std::string& kernel) {
        static const std::regex type("warpseal::ciphers::\\w+::\\w+(<[^<>]*> ?)?");
        std::smatch match;
        if (std::regex_search(kernel, match, type)) cipher = match.str();
        name = std::regex_replace(kernel, type, "Cipher");
    }
    std::string name, cipher;
};

// Returns the kernels under test: those with that layout's types and, for the usual layout, those
// without.
std::vector<Kernel> kernels_of(Layouts layouts) {
    std::vector<Kernel> out;
    for (const Kernel& kernel : kernels()) {
        const auto is_of = [&](const char* name) {
            return kernel.name.find(name) != std::string::npos;
        };
        if (is_of("probe()")) continue;  // only its attributes are read
        if (is_of("warpseal::cuda::SmallestSharedMemory") == (layouts == Layouts::merged) &&
            (is_of("warpseal::cuda::DeviceSharedMemory") ||
             is_of("warpseal::cuda::SmallestSharedMemory") || layouts == Layouts::usual))
            out.push_back(kernel);
    }
    return out;
}

std::set<std::string> launched(const std::vector<Kernel>& kernels) {
    std::set<std::string> out;
    for (const Kernel& kernel : kernels)
        if (kernel.launched) out.insert(Shared(kernel.name).name);
    return out;
}

std::string header_of(const CudaCipher& cipher) {
    return std::string(cipher.name, std::strcspn(cipher.name, "-"));
}

class Small : public OnGpu {
protected:
    // Returns the first cipher of each header.
    static std::vector<const CudaCipher*> one_of_each() {
        std::set<std::string> found;
        std::vector<const CudaCipher*> out;
        for (const CudaCipher* cipher : ciphers())
            if (found.insert(header_of(*cipher)).second) out.push_back(cipher);
        return out;
    }
    static void run(const CudaCipher& cipher, tests::Random& random) {
        for (const bool any_length : {false, true}) {
            warpseal::cuda::accept_any_length(any_length);
            Key key(cipher, random);
            all_calls(key, random);
            if (HasFatalFailure()) return;
        }
    }
    static bool brings_a_kernel(const CudaCipher& cipher) {
        const std::vector<Kernel> all = kernels_of(GetParam());
        const std::set<std::string> had = launched(all);
        return std::any_of(all.begin(), all.end(), [&](const Kernel& kernel) {
            return kernel.name.find("::ciphers::" + header_of(cipher) + "::") !=
                       std::string::npos &&
                   had.count(Shared(kernel.name).name) == 0;
        });
    }
    void TearDown() override { warpseal::cuda::accept_any_length(false); }
};

void drawn_ivs() {
    constexpr uint64_t count = 70;
    const Memory counter(Text(sizeof(warpseal::IvCounter)));
    const Memory ivs(12 * count);
    warpseal_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.message_count = count;
    batch.iv_bytes = 12, batch.iv_stride = 12;
    batch.ivs = ivs.data();
    ASSERT_EQ(backend().draw_ivs(device, counter.data(), warpseal::as_scattered(batch), nullptr),
              WARPSEAL_OK);
    const Text drawn = ivs.get();
    std::set<std::string> all;
    for (uint64_t i = 0; i < count; ++i) all.emplace(&drawn[12 * i], &drawn[12 * i] + 12);
    EXPECT_EQ(all.size(), count);
}

// The fewest ciphers with every representation and every kernel. All kernels of these ciphers must
// have run, and every kernel for some cipher.
TEST_P(Small, EveryKernel) {
    tests::Random random(561);
    std::set<std::string> representations, ran;
    zeroize_all_launches();
    for (const CudaCipher* cipher : one_of_each()) {
        if (!brings_a_kernel(*cipher) && representations.count(cipher->representation) != 0)
            continue;
        representations.insert(cipher->representation);
        run(*cipher, random);
        if (HasFatalFailure()) return;
    }
    // Ciphers of which all calls ran; random_bytes makes one call of another.
    for (const Kernel& kernel : kernels_of(GetParam()))
        if (kernel.launched) ran.insert(Shared(kernel.name).cipher);
    for (const warpseal::KemSet& set : warpseal::kem_sets)
        if (GetParam() == Layouts::usual && set.has_cuda())
            kem(*warpseal::cuda_kem(set.name), random);
    if (GetParam() == Layouts::usual)
        pool_slots(random), random_bytes(random), pinned(random), drawn_ivs();
    const std::vector<Kernel> all = kernels_of(GetParam());
    const std::set<std::string> had = launched(all);
    for (const Kernel& kernel : all) {
        const Shared shared(kernel.name);
        EXPECT_TRUE(kernel.launched || (!shared.cipher.empty() && ran.count(shared.cipher) == 0))
            << "not launched: " << kernel.name;
        EXPECT_TRUE(had.count(shared.name) != 0) << "not launched for any cipher: " << shared.name;
    }
}

TEST_P(Small, EveryCipher) {
    tests::Random random(562);
    for (const CudaCipher* cipher : one_of_each()) {
        run(*cipher, random);
        if (HasFatalFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Small, testing::Values(Layouts::usual, Layouts::merged));

}  // namespace

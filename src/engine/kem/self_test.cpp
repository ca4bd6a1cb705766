// Known-answer tests of key encapsulation by digest: SHAKE256 generates the inputs and hashes the
// outputs.
#include "engine/kem/self_test.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "engine/self_test/shake.h"
#include "platform/secret_memory.h"

namespace warpseal {
namespace {

using Text = TestText;

void shake256(const Text& message, uint8_t* out, size_t bytes) {
    Shake256 shake;
    shake.absorb(message.data(), message.size());
    shake.squeeze(out, bytes);
}

// Inputs and outputs of all operations of the test in one contiguous block of memory.
class Items {
public:
    explicit Items(const KemSet& set)
        : set_(set),
          publics_(reserve(set.public_key_bytes())),
          secrets_(reserve(set.secret_key_bytes())),
          ciphertexts_(reserve(set.ciphertext_bytes())),
          sent_(reserve(set.shared_secret_bytes())),
          received_(reserve(set.shared_secret_bytes())),
          coins_(reserve(std::max(set.keypair_coins(), set.encapsulation_coins()))),
          statuses_(reserve(sizeof(int32_t))) {}

    Text memory;

    // Returns the batch of an operation over that memory or a copy at `base`. Sent and received
    // shared secrets are separate.
    warpseal_kem_batch at(uint8_t* base, KemOperation operation) const {
        warpseal_kem_batch batch{};
        batch.struct_bytes = sizeof batch;
        batch.count = kem_self_test_items;
        batch.public_keys = base + publics_;
        batch.public_key_stride = set_.public_key_bytes();
        batch.secret_keys = base + secrets_;
        batch.secret_key_stride = set_.secret_key_bytes();
        batch.ciphertexts = base + ciphertexts_;
        batch.ciphertext_stride = set_.ciphertext_bytes();
        batch.shared_secrets = base + (operation == KemOperation::decapsulate ? received_ : sent_);
        batch.shared_secret_stride = set_.shared_secret_bytes();
        batch.coins = base + coins_;
        batch.coins_stride = coins_bytes(set_, operation);
        batch.statuses = reinterpret_cast<int32_t*>(base + statuses_);
        return batch;
    }
    bool all_well() const {
        return std::all_of(memory.begin() + static_cast<std::ptrdiff_t>(statuses_), memory.end(),
                           [](uint8_t byte) { return byte == 0; });
    }

    void put_coins(KemOperation operation) {
        kem_self_test_input(set_, operation, KemTestInput::coins, &memory[coins_],
                            kem_self_test_items * coins_bytes(set_, operation));
    }
    // Generates arbitrary public keys. Encapsulation accepts any of NTRU without spare bits, and
    // any of ML-KEM with coefficients below 2^11, and any of X25519 but a few.
    void put_public_keys() {
        const size_t bytes = set_.public_key_bytes();
        kem_self_test_input(set_, KemOperation::encapsulate, KemTestInput::public_keys,
                            &memory[publics_], kem_self_test_items * bytes);
        for (uint64_t i = 0; i < kem_self_test_items; ++i) {
            uint8_t* const key = &memory[publics_ + i * bytes];
            if (set_.ntru != nullptr)
                key[bytes - 1] &= static_cast<uint8_t>(0xff >> set_.ntru->spare_bits());
            const kem::MlKemParams* const mlkem = set_.mlkem_half();
            for (size_t j = 0; mlkem != nullptr && j < mlkem->vector_bytes(); j += 3)
                key[j + 1] &= 0xf7, key[j + 2] &= 0x7f;
        }
    }
    void spoil_every_other_ciphertext() {
        for (uint64_t i = 1; i < kem_self_test_items; i += 2)
            memory[ciphertexts_ + i * set_.ciphertext_bytes() + 5 * i % set_.ciphertext_bytes()] ^=
                1;
    }
    Text outputs(KemOperation operation) const {
        const auto two = [&](size_t first, size_t first_bytes, size_t second, size_t second_bytes) {
            Text both(&memory[first], &memory[first] + kem_self_test_items * first_bytes);
            both.insert(both.end(), &memory[second],
                        &memory[second] + kem_self_test_items * second_bytes);
            return both;
        };
        if (operation == KemOperation::keypair)
            return two(publics_, set_.public_key_bytes(), secrets_, set_.secret_key_bytes());
        if (operation == KemOperation::encapsulate)
            return two(ciphertexts_, set_.ciphertext_bytes(), sent_, set_.shared_secret_bytes());
        return two(received_, set_.shared_secret_bytes(), received_, 0);
    }

private:
    size_t reserve(size_t bytes) {
        const size_t begin = (memory.size() + 15) / 16 * 16;
        memory.resize(begin + kem_self_test_items * bytes);
        return begin;
    }

    const KemSet& set_;
    const size_t publics_, secrets_, ciphertexts_, sent_, received_, coins_, statuses_;
};

// Runs an operation on a target.
using Run = std::function<warpseal_status(KemOperation, Items&)>;

// Prepares the inputs of the operation and runs it.
warpseal_status run_test(KemOperation operation, Items& items, const Run& run) {
    warpseal_status status = WARPSEAL_OK;
    if (operation != KemOperation::encapsulate) {
        items.put_coins(KemOperation::keypair);
        status = run(KemOperation::keypair, items);
    } else {
        items.put_public_keys();
    }
    if (operation == KemOperation::keypair || status != WARPSEAL_OK) return status;
    items.put_coins(KemOperation::encapsulate);
    status = run(KemOperation::encapsulate, items);
    if (operation == KemOperation::encapsulate || status != WARPSEAL_OK) return status;
    items.spoil_every_other_ciphertext();
    return run(operation, items);
}

warpseal_status test(const KemSet& set, KemOperation operation, const Run& run) {
    const KemReferenceDigest* expected = kem_reference_digest(set.name);
    if (expected == nullptr) return WARPSEAL_SELF_TEST_FAILED;
    Items items(set);
    const warpseal_status status = run_test(operation, items, run);
    if (status != WARPSEAL_OK) return status;
    uint8_t digest[16];
    shake256(items.outputs(operation), digest, sizeof digest);
    const bool same =
        std::memcmp(digest, expected->digest[static_cast<int>(operation)], sizeof digest) == 0;
    return same ? WARPSEAL_OK : WARPSEAL_SELF_TEST_FAILED;
}

constexpr KemReferenceDigest reference_digests[] = {
    {"ntruhps2048509",
     {{0x91, 0x07, 0xab, 0x90, 0x41, 0xdc, 0xa6, 0x7d, 0x19, 0x9b, 0x5c, 0x18, 0xfd, 0xd8, 0x0e,
       0x70},
      {0x19, 0x00, 0x1e, 0x84, 0x27, 0x57, 0x3d, 0x85, 0x07, 0x03, 0xf3, 0xb0, 0x92, 0xb4, 0x76,
       0xf1},
      {0x79, 0xed, 0xd7, 0x1c, 0xf4, 0x4e, 0x09, 0x33, 0xfd, 0x9b, 0xbc, 0x58, 0x07, 0x43, 0xe2,
       0xbf}}},
    {"ntruhps2048677",
     {{0x01, 0x04, 0x4f, 0xe8, 0x73, 0xa1, 0x8f, 0xdf, 0x9d, 0xc7, 0x7c, 0x05, 0x08, 0x6e, 0x11,
       0x3c},
      {0xa0, 0x01, 0xaf, 0xfb, 0x9c, 0xf2, 0xc1, 0x92, 0xd2, 0x13, 0xa7, 0x0a, 0xbe, 0x6f, 0xd3,
       0x04},
      {0x72, 0xc6, 0xbd, 0x18, 0xc0, 0xe8, 0xd2, 0x88, 0xad, 0xc9, 0x8f, 0x5b, 0x16, 0x16, 0x28,
       0xaa}}},
    {"ntruhps4096821",
     {{0x9b, 0x58, 0xcf, 0xde, 0x92, 0xe2, 0x41, 0xd8, 0xf8, 0xd9, 0x28, 0x85, 0x14, 0xa1, 0x5d,
       0x9b},
      {0xc1, 0x72, 0xae, 0x30, 0xf0, 0x78, 0xde, 0x7e, 0x55, 0x78, 0x0f, 0x88, 0xfb, 0x6f, 0x29,
       0x1b},
      {0xa7, 0x3f, 0x19, 0x49, 0xcf, 0x2b, 0x7a, 0x33, 0x0e, 0xf7, 0x9d, 0x23, 0x97, 0x61, 0x9e,
       0x52}}},
    {"ntruhps40961229",
     {{0x48, 0x8f, 0xcd, 0x28, 0x33, 0x66, 0xd8, 0x72, 0x75, 0x76, 0x4e, 0x6d, 0xf6, 0x79, 0x89,
       0xd3},
      {0x6a, 0x60, 0x2c, 0xe1, 0xf5, 0xfc, 0xe5, 0xd9, 0xc8, 0x8f, 0xae, 0x3b, 0x78, 0x8b, 0x7a,
       0xe6},
      {0xba, 0xe6, 0xd4, 0xdc, 0x34, 0x52, 0x87, 0xf9, 0xc1, 0x01, 0x47, 0xd4, 0x34, 0x4a, 0xe9,
       0xeb}}},
    {"ntruhrss701",
     {{0x05, 0xbc, 0x39, 0x4b, 0x8c, 0xb3, 0xe3, 0x99, 0xee, 0x04, 0x00, 0xee, 0x22, 0xe3, 0x70,
       0x29},
      {0x9c, 0xe9, 0x86, 0x7d, 0x9d, 0xf1, 0x10, 0x6e, 0x4b, 0x68, 0x49, 0x58, 0x5c, 0x5c, 0x3c,
       0x60},
      {0xb1, 0x6f, 0xc4, 0x7e, 0x83, 0x68, 0xbf, 0xe2, 0x97, 0x9a, 0xf7, 0x42, 0x1c, 0xbc, 0x79,
       0x15}}},
    {"ntruhrss1373",
     {{0xc1, 0x84, 0x96, 0x8c, 0xfc, 0x03, 0x0d, 0x3f, 0x65, 0x1d, 0xbe, 0x43, 0x26, 0xc9, 0x32,
       0x9a},
      {0xe1, 0x05, 0x73, 0xe8, 0x8c, 0x37, 0xfb, 0x55, 0xe8, 0x58, 0xa9, 0x5b, 0xbd, 0xec, 0xf9,
       0x2c},
      {0x44, 0x66, 0x54, 0x9c, 0x6e, 0x78, 0xdf, 0xfe, 0x65, 0xe2, 0x9f, 0x4d, 0x55, 0x6e, 0xb4,
       0xd2}}},
    {"ml-kem-512",
     {{0xdd, 0x65, 0x5e, 0x90, 0xb4, 0x38, 0x3f, 0x3a, 0x58, 0x9f, 0x70, 0xd8, 0x85, 0x51, 0x88,
       0x99},
      {0xf6, 0x3e, 0xbe, 0x02, 0x7b, 0x87, 0x1d, 0x94, 0xeb, 0x03, 0x36, 0xc2, 0x34, 0x44, 0x66,
       0xab},
      {0xd5, 0x92, 0xe7, 0x07, 0x97, 0x26, 0xc8, 0x44, 0x78, 0xc6, 0x3d, 0x61, 0x17, 0xe5, 0x4f,
       0xd9}}},
    {"ml-kem-768",
     {{0x2d, 0xa3, 0x20, 0xc4, 0xab, 0x08, 0x28, 0x3a, 0xa9, 0x70, 0x1b, 0xe7, 0x0b, 0x87, 0xb1,
       0xa3},
      {0xeb, 0x98, 0x91, 0x8a, 0x3a, 0xf9, 0x9e, 0x48, 0x78, 0x27, 0x38, 0xbe, 0x8e, 0x5e, 0x53,
       0xfb},
      {0x24, 0x85, 0x40, 0x76, 0x04, 0x0e, 0x63, 0xdf, 0xe3, 0x2f, 0x6f, 0x04, 0x27, 0x5e, 0x6d,
       0xc5}}},
    {"ml-kem-1024",
     {{0x79, 0x0e, 0x2e, 0xa0, 0xe3, 0x1f, 0x18, 0x43, 0x45, 0xf9, 0xc4, 0x0b, 0x44, 0xa3, 0xdc,
       0x7a},
      {0xab, 0xbc, 0x0e, 0x78, 0x47, 0x43, 0xc5, 0xa7, 0x9c, 0x15, 0x6e, 0x00, 0xf9, 0x86, 0xa6,
       0x28},
      {0xee, 0xfb, 0x07, 0xd5, 0x38, 0x8f, 0xba, 0x85, 0x70, 0xaa, 0x7d, 0xb0, 0xcd, 0x33, 0x5e,
       0xab}}},
    {"x25519",
     {{0x11, 0x8b, 0xc4, 0xa4, 0xc4, 0x41, 0x6b, 0x41, 0x79, 0x2b, 0x7f, 0xbe, 0x40, 0x1c, 0x21,
       0xfe},
      {0x12, 0x6f, 0x74, 0xd5, 0x3a, 0xdf, 0x2f, 0x27, 0x92, 0x3f, 0xfc, 0x68, 0x0e, 0xe6, 0x4b,
       0x54},
      {0xfc, 0x17, 0x34, 0x5e, 0x73, 0xe4, 0x13, 0xe0, 0x35, 0xf5, 0x7b, 0x3a, 0x40, 0xb4, 0x0b,
       0x79}}},
    {"x25519mlkem768",
     {{0x93, 0x83, 0xc4, 0x44, 0x0b, 0xff, 0xa7, 0x0a, 0x66, 0xb5, 0x02, 0xce, 0xd7, 0x69, 0xdc,
       0x64},
      {0x29, 0x88, 0xbf, 0x87, 0x87, 0x4d, 0x48, 0x4f, 0x04, 0xd9, 0xf1, 0xdb, 0x3b, 0x66, 0xb7,
       0xf9},
      {0xbc, 0xcf, 0xb0, 0xf3, 0xdc, 0xac, 0xf7, 0x40, 0x47, 0xc1, 0x0f, 0xdc, 0x64, 0xaa, 0x18,
       0xdd}}},
    {"x-wing",
     {{0xc3, 0xd0, 0x66, 0xd1, 0xdf, 0xc8, 0x61, 0x4e, 0xe4, 0xd3, 0x80, 0xb3, 0x69, 0x1a, 0x9a,
       0x2f},
      {0x93, 0x25, 0xfb, 0x40, 0x3e, 0x60, 0xc1, 0x7a, 0x69, 0xff, 0x5e, 0x7f, 0x05, 0x26, 0x5f,
       0xba},
      {0x0a, 0xdd, 0x91, 0x12, 0x85, 0x9f, 0x19, 0xfd, 0x44, 0x41, 0x73, 0x18, 0x6f, 0x1c, 0x62,
       0x4f}}},
};

}  // namespace

const KemReferenceDigest* kem_reference_digest(const char* set) {
    for (const KemReferenceDigest& digest : reference_digests)
        if (std::strcmp(digest.set, set) == 0) return &digest;
    return nullptr;
}

void kem_self_test_input(const KemSet& set, KemOperation operation, KemTestInput what, uint8_t* out,
                         size_t bytes) {
    Text label(set.name, set.name + std::strlen(set.name));
    label.push_back(static_cast<uint8_t>(operation));
    label.push_back(static_cast<uint8_t>(what));
    shake256(label, out, bytes);
}

namespace {

// Memory for one implementation under test.
struct CoresUnderTest {
    const CpuKem& kem;
    SecretMemory work;

    explicit CoresUnderTest(const CpuKem& test_case) : kem(test_case) {}
    bool allocate() {
        size_t bytes = 0;
        for (int i = 0; i < kem_operation_count; ++i)
            bytes =
                std::max(bytes, kem.work_bytes(static_cast<KemOperation>(i), kem_self_test_items));
        return work.allocate(bytes);
    }
    warpseal_status run(KemOperation step, const warpseal_kem_batch& batch, const Items& items) {
        const bool done = kem.run[static_cast<int>(step)](batch, 0, batch.count, work.data()) == 0;
        return done && items.all_well() ? WARPSEAL_OK : WARPSEAL_SELF_TEST_FAILED;
    }
};

// Prepares the key of the batch's first item and runs all items under it.
bool run_prepared(CoresUnderTest& cores, KemKeyKind kind, warpseal_kem_batch batch,
                  SecretMemory& prepared) {
    const bool with_public = kind == KemKeyKind::public_key;
    uint8_t*& key = with_public ? batch.public_keys : batch.secret_keys;
    (with_public ? batch.public_key_stride : batch.secret_key_stride) = 0;
    const auto i = static_cast<int>(kind);
    if (!cores.kem.prepare[i](key, prepared.data(), cores.work.data())) return false;
    key = static_cast<uint8_t*>(prepared.data());
    return cores.kem.run_prepared[i](batch, 0, batch.count, cores.work.data()) == 0;
}

}  // namespace

warpseal_status test_kem(const KemSet& set, const CpuKem& test_case, KemOperation operation) {
    CoresUnderTest cores(test_case);
    if (!cores.allocate()) return WARPSEAL_OUT_OF_MEMORY;
    return test(set, operation, [&](KemOperation step, Items& items) {
        return cores.run(step, items.at(items.memory.data(), step), items);
    });
}

warpseal_status test_prepared_kem(const KemSet& set, const CpuKem& test_case, KemKeyKind kind) {
    const KemOperation operation = operation_of(kind);
    CoresUnderTest cores(test_case);
    SecretMemory prepared;
    if (!cores.allocate() || !prepared.allocate(test_case.prepared_bytes(kind)))
        return WARPSEAL_OUT_OF_MEMORY;
    const warpseal_status status = test(set, operation, [&](KemOperation step, Items& items) {
        const warpseal_kem_batch batch = items.at(items.memory.data(), step);
        if (step != operation) return cores.run(step, batch, items);
        bool done = true;
        for (uint64_t i = 0; i < batch.count; ++i)
            done = run_prepared(cores, kind, sub_batch(batch, i, 1), prepared) && done;
        return done && items.all_well() ? WARPSEAL_OK : WARPSEAL_SELF_TEST_FAILED;
    });
    if (status != WARPSEAL_OK) return status;
    // All under the first item's key, with and without its prepared form.
    const auto outputs = [&](bool with_prepared, Text& out) {
        Items items(set);
        const Run run = [&](KemOperation step, Items&) {
            warpseal_kem_batch batch = items.at(items.memory.data(), step);
            if (step != operation) return cores.run(step, batch, items);
            batch.public_key_stride = batch.secret_key_stride = 0;
            if (!with_prepared) return cores.run(step, batch, items);
            const bool done = run_prepared(cores, kind, batch, prepared);
            return done && items.all_well() ? WARPSEAL_OK : WARPSEAL_SELF_TEST_FAILED;
        };
        const warpseal_status outcome = run_test(operation, items, run);
        out = items.outputs(operation);
        return outcome;
    };
    Text one, other;
    warpseal_status outcome = outputs(false, one);
    if (outcome == WARPSEAL_OK) outcome = outputs(true, other);
    return outcome == WARPSEAL_OK && one != other ? WARPSEAL_SELF_TEST_FAILED : outcome;
}

// Tests a GPU with few items in flight and, where that selects other kernels, with very many.
template <class Call>
warpseal_status test_few_and_many(const KemSet& set, KemOperation operation, const Call& call) {
    const auto beside = [&](uint64_t in_flight) {
        return test(set, operation,
                    [&](KemOperation step, Items& items) { return call(step, items, in_flight); });
    };
    const warpseal_status status = beside(kem_self_test_items);
    return status == WARPSEAL_OK && operation == KemOperation::keypair ? beside(UINT64_MAX)
                                                                       : status;
}

warpseal_status test_kem_through_gpu(const GpuBackend& backend, int device, const KemSet& set,
                                     const CudaKem& test_case, KemOperation operation) {
    return test_few_and_many(
        set, operation, [&](KemOperation step, Items& items, uint64_t in_flight) {
            const warpseal_kem_batch batch = items.at(items.memory.data(), step);
            uint64_t done = 0, failed = 0;
            const warpseal_status status = backend.kem_host(device, test_case, step, batch,
                                                            in_flight, nullptr, &done, &failed);
            if (status != WARPSEAL_OK) return status;
            return done == batch.count && failed == 0 && items.all_well()
                       ? WARPSEAL_OK
                       : WARPSEAL_SELF_TEST_FAILED;
        });
}

warpseal_status test_kem_device_memory(const GpuBackend& backend, int device, const KemSet& set,
                                       const CudaKem& test_case, KemOperation operation) {
    return test_few_and_many(
        set, operation, [&](KemOperation step, Items& items, uint64_t in_flight) {
            void* copy = nullptr;
            const size_t bytes = items.memory.size();
            warpseal_status status = backend.device_alloc(device, bytes, &copy);
            if (status != WARPSEAL_OK) return status;
            const warpseal_kem_batch batch = items.at(static_cast<uint8_t*>(copy), step);
            status = backend.upload(device, copy, items.memory.data(), bytes);
            if (status == WARPSEAL_OK)
                status =
                    backend.kem_device(device, test_case, step, batch, in_flight, nullptr, nullptr);
            if (status == WARPSEAL_OK) status = backend.synchronize(device, nullptr);
            if (status == WARPSEAL_OK)
                status = backend.download(device, items.memory.data(), copy, bytes);
            if (!backend.lost()) backend.device_free(device, copy, bytes);
            return status == WARPSEAL_OK && !items.all_well() ? WARPSEAL_SELF_TEST_FAILED : status;
        });
}

}  // namespace warpseal

// Key encapsulation through the backend interface (backends/kem_backend.h): each set on each target
// of this machine, one test for each pair.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/gpu_backend.h"
#include "backends/kem_catalogue.h"
#include "guard.h"
#include "reference/ntru.h"
#include "stack_use.h"
#include "targets.h"

namespace tests {

using reference::Text;
using warpseal::KemOperation;

struct TestCase {
    std::string set, target;
    friend void PrintTo(const TestCase& test_case, std::ostream* out) {
        *out << test_case.set << " on " << test_case.target;
    }
};

inline std::vector<TestCase> test_cases() {
    std::vector<TestCase> out;
    for (const warpseal::kem::Params* set : warpseal::kem::sets)
        for (const char* target : {"portable", "avx2", "vaes512", "cuda"})
            out.push_back({set->name, target});
    return out;
}
// A scheme's device code on the host.
inline constexpr const char* device_code = "device_code";
// ML-KEM on the targets that have it.
inline std::vector<TestCase> mlkem_test_cases(bool with_device_code = false) {
    std::vector<TestCase> out;
    for (const warpseal::kem::MlKemParams* set : warpseal::kem::mlkem_sets) {
        for (const char* target : {"portable", "avx2", "vaes512", "cuda"})
            out.push_back({set->name, target});
        if (with_device_code) out.push_back({set->name, device_code});
    }
    return out;
}
// The given sets of X25519 and its hybrids, on the same targets; all of them by default.
inline std::vector<TestCase> hybrid_test_cases(
    const std::vector<std::string>& sets = {"x25519", "x25519mlkem768", "x-wing"},
    bool with_device_code = false) {
    std::vector<TestCase> out;
    for (const std::string& set : sets) {
        for (const char* target : {"portable", "avx2", "vaes512", "cuda"})
            out.push_back({set, target});
        if (with_device_code) out.push_back({set, device_code});
    }
    return out;
}
inline const warpseal::KemSet& kem_set_of(const std::string& name) {
    return warpseal::kem_sets[warpseal::kem_set_number(name)];
}
// Test names take no hyphens.
inline std::string name_of(const testing::TestParamInfo<TestCase>& info) {
    std::string name = info.param.set + "_" + info.param.target;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

inline Text slice(const Text& from, size_t i, size_t bytes) {
    return Text(from.begin() + static_cast<long>(i * bytes),
                from.begin() + static_cast<long>((i + 1) * bytes));
}
inline void append(Text& to, const Text& what) { to.insert(to.end(), what.begin(), what.end()); }

// Returns the secret for an invalid ciphertext under that key.
inline Text rejected(const Text& secret_key, const Text& ciphertext) {
    Text message(32 + ciphertext.size());
    std::copy(secret_key.end() - 32, secret_key.end(), message.begin());
    std::copy(ciphertext.begin(), ciphertext.end(), message.begin() + 32);
    return reference::sha3_256(message);
}

struct Keys {
    Text publics, secrets;
    std::vector<int32_t> statuses;
    uint64_t failed = 0;
};
struct Encapsulated {
    Text ciphertexts, secrets;
    std::vector<int32_t> statuses;
    uint64_t failed = 0;
};

// One set on one target. Items are contiguous.
class Backend {
public:
    explicit Backend(const warpseal::KemSet& set) : set_(set) {}
    virtual ~Backend() = default;
    const warpseal::KemSet& sizes() const { return set_; }
    // For sets of NTRU.
    const warpseal::kem::Params& params() const { return *set_.ntru; }
    // Returns null on a GPU.
    virtual const warpseal::CpuKem* cpu() const { return nullptr; }
    // Returns the number of items computed together.
    virtual uint32_t group(KemOperation operation) const = 0;
    // Computes items [first, first + count) of a batch in host memory. Returns the number of items
    // without a result.
    virtual uint64_t run(KemOperation operation, const warpseal_kem_batch& batch, uint64_t first,
                         uint64_t count) const = 0;
    uint64_t run(KemOperation operation, const warpseal_kem_batch& batch) const {
        return run(operation, batch, 0, batch.count);
    }

    warpseal_kem_batch batch(uint64_t count) const {
        warpseal_kem_batch out{};
        out.struct_bytes = sizeof out;
        out.count = count;
        out.public_key_stride = sizes().public_key_bytes();
        out.secret_key_stride = sizes().secret_key_bytes();
        out.ciphertext_stride = sizes().ciphertext_bytes();
        out.shared_secret_stride = sizes().shared_secret_bytes();
        return out;
    }

    Keys keypairs(const Text& coins) const {
        const uint64_t count = coins.size() / sizes().keypair_coins();
        Keys out{Text(count * sizes().public_key_bytes()), Text(count * sizes().secret_key_bytes()),
                 std::vector<int32_t>(count, -1)};
        warpseal_kem_batch all = batch(count);
        all.public_keys = out.publics.data();
        all.secret_keys = out.secrets.data();
        all.coins = coins.data();
        all.coins_stride = sizes().keypair_coins();
        all.statuses = out.statuses.data();
        out.failed = run(KemOperation::keypair, all);
        return out;
    }

    // Takes one public key for all items, or one each.
    Encapsulated encapsulate(const Text& coins, const Text& public_keys) const {
        const uint64_t count = coins.size() / sizes().encapsulation_coins();
        Encapsulated out{Text(count * sizes().ciphertext_bytes()),
                         Text(count * sizes().shared_secret_bytes()),
                         std::vector<int32_t>(count, -1)};
        Text keys = public_keys;
        warpseal_kem_batch all = batch(count);
        all.public_keys = keys.data();
        if (keys.size() == sizes().public_key_bytes()) all.public_key_stride = 0;
        all.ciphertexts = out.ciphertexts.data();
        all.shared_secrets = out.secrets.data();
        all.coins = coins.data();
        all.coins_stride = sizes().encapsulation_coins();
        all.statuses = out.statuses.data();
        out.failed = run(KemOperation::encapsulate, all);
        return out;
    }

    // Takes one secret key for all items, or one each. Every item succeeds, unless the caller takes
    // the statuses.
    Text decapsulate(const Text& ciphertexts, const Text& secret_keys,
                     std::vector<int32_t>* refused = nullptr) const {
        const uint64_t count = ciphertexts.size() / sizes().ciphertext_bytes();
        Text secrets(count * sizes().shared_secret_bytes()), texts = ciphertexts,
                                                             keys = secret_keys;
        std::vector<int32_t> statuses(count, -1);
        warpseal_kem_batch all = batch(count);
        all.secret_keys = keys.data();
        if (keys.size() == sizes().secret_key_bytes()) all.secret_key_stride = 0;
        all.ciphertexts = texts.data();
        all.shared_secrets = secrets.data();
        all.statuses = statuses.data();
        const uint64_t failed = run(KemOperation::decapsulate, all);
        if (refused == nullptr) {
            EXPECT_EQ(failed, 0u);
            EXPECT_EQ(statuses, std::vector<int32_t>(count, WARPSEAL_OK));
        } else {
            EXPECT_EQ(failed, static_cast<uint64_t>(
                                  std::count(statuses.begin(), statuses.end(),
                                             static_cast<int32_t>(WARPSEAL_INVALID_ARGUMENT))));
            *refused = statuses;
        }
        EXPECT_EQ(texts, ciphertexts);
        EXPECT_EQ(keys, secret_keys);
        return secrets;
    }

private:
    const warpseal::KemSet& set_;
};

class CpuBackend : public Backend {
public:
    CpuBackend(const warpseal::KemSet& set, const warpseal::CpuKem& kem)
        : Backend(set), kem_(kem) {}
    const warpseal::CpuKem* cpu() const override { return &kem_; }
    uint32_t group(KemOperation operation) const override {
        return kem_.group[static_cast<int>(operation)];
    }
    using Backend::run;
    uint64_t run(KemOperation operation, const warpseal_kem_batch& batch, uint64_t first,
                 uint64_t count) const override {
        // Exactly the requested work space, with a guard behind it.
        const size_t bytes = kem_.work_bytes(operation, count);
        EXPECT_EQ(bytes % 64, 0u);
        const Guarded memory(bytes);
        std::memset(memory.at_end(bytes), 0xa5, bytes);
        return kem_.run[static_cast<int>(operation)](batch, first, count, memory.at_end(bytes));
    }

private:
    const warpseal::CpuKem& kem_;
};

// A copy of host memory on the first GPU, of exactly that many bytes, so that a checker detects
// every access outside.
class DeviceCopy {
public:
    explicit DeviceCopy(size_t bytes) : bytes_(bytes) {
        if (bytes_ == 0) return;
        EXPECT_EQ(warpseal::gpu_backend()->device_alloc(0, bytes_, &data_), WARPSEAL_OK);
    }
    DeviceCopy(const void* from, size_t bytes) : DeviceCopy(bytes) {
        if (bytes_ == 0) return;
        EXPECT_EQ(warpseal::gpu_backend()->upload(0, data_, from, bytes_), WARPSEAL_OK);
    }
    ~DeviceCopy() {
        if (bytes_ > 0) warpseal::gpu_backend()->device_free(0, data_, bytes_);
    }
    DeviceCopy(const DeviceCopy&) = delete;
    DeviceCopy& operator=(const DeviceCopy&) = delete;
    template <class T = uint8_t>
    T* data() const {
        return static_cast<T*>(data_);
    }
    void read(void* to) const {
        if (bytes_ == 0) return;
        EXPECT_EQ(warpseal::gpu_backend()->download(0, to, data_, bytes_), WARPSEAL_OK);
    }

private:
    void* data_ = nullptr;
    size_t bytes_;
};

// On the first GPU, on copies of the batch's arrays.
class GpuBackend : public Backend {
public:
    GpuBackend(const warpseal::KemSet& set, const warpseal::CudaKem& kem)
        : Backend(set), kem_(kem) {}
    uint32_t group(KemOperation operation) const override {
        return operation == KemOperation::keypair ? 16 : 32;
    }
    using Backend::run;
    // Generates keys twice, as a large batch, inverted in groups, and one by one: the bytes must be
    // equal.
    uint64_t run(KemOperation operation, const warpseal_kem_batch& batch, uint64_t first,
                 uint64_t count) const override {
        if (operation == KemOperation::keypair && count > 1) {
            const uint64_t failed = once(operation, batch, first, count, UINT64_MAX);
            const auto keys = [&](const uint8_t* array, size_t bytes, uint64_t stride) {
                return Text(array + first * stride, array + (first + count - 1) * stride + bytes);
            };
            const auto publics = [&] {
                return keys(batch.public_keys, sizes().public_key_bytes(), batch.public_key_stride);
            };
            const auto secrets = [&] {
                return keys(batch.secret_keys, sizes().secret_key_bytes(), batch.secret_key_stride);
            };
            const Text in_groups = publics(), secrets_in_groups = secrets();
            EXPECT_EQ(once(operation, batch, first, count, count), failed);
            EXPECT_EQ(publics(), in_groups);
            EXPECT_EQ(secrets(), secrets_in_groups);
            return failed;
        }
        return once(operation, batch, first, count, count);
    }

private:
    uint64_t once(KemOperation operation, const warpseal_kem_batch& batch, uint64_t first,
                  uint64_t count, uint64_t in_flight) const {
        const bool keypair = operation == KemOperation::keypair,
                   encapsulate = operation == KemOperation::encapsulate;
        const size_t coins_bytes =
            keypair ? sizes().keypair_coins() : sizes().encapsulation_coins();
        const auto extent = [&](bool used, size_t bytes, uint64_t stride) {
            return used && count > 0 ? static_cast<size_t>((count - 1) * stride + bytes) : 0;
        };
        const auto at = [&](const uint8_t* array, uint64_t stride) {
            return array == nullptr ? array : array + first * stride;
        };
        uint8_t *pk = const_cast<uint8_t*>(at(batch.public_keys, batch.public_key_stride)),
                *sk = const_cast<uint8_t*>(at(batch.secret_keys, batch.secret_key_stride)),
                *ct = const_cast<uint8_t*>(at(batch.ciphertexts, batch.ciphertext_stride)),
                *ss = const_cast<uint8_t*>(at(batch.shared_secrets, batch.shared_secret_stride));
        const bool decapsulate = !keypair && !encapsulate;
        const DeviceCopy publics(
            pk, extent(!decapsulate, sizes().public_key_bytes(), batch.public_key_stride));
        const DeviceCopy secrets(
            sk, extent(!encapsulate, sizes().secret_key_bytes(), batch.secret_key_stride));
        const DeviceCopy ciphertexts(
            ct, extent(!keypair, sizes().ciphertext_bytes(), batch.ciphertext_stride));
        const DeviceCopy shared(
            ss, extent(!keypair, sizes().shared_secret_bytes(), batch.shared_secret_stride));
        const DeviceCopy coins(at(batch.coins, batch.coins_stride),
                               extent(!decapsulate, coins_bytes, batch.coins_stride));
        std::vector<int32_t> statuses(count, -1);
        const DeviceCopy status_copy(statuses.data(), count * sizeof(int32_t));
        std::vector<uint8_t> work_bytes(kem_.work_bytes(operation, count), 0xa5);
        const DeviceCopy work(work_bytes.data(), work_bytes.size());
        warpseal_kem_batch there = batch;
        there.count = count;
        there.public_keys = publics.data();
        there.secret_keys = secrets.data();
        there.ciphertexts = ciphertexts.data();
        there.shared_secrets = shared.data();
        there.coins = coins.data();
        there.statuses = batch.statuses == nullptr ? nullptr : status_copy.data<int32_t>();
        EXPECT_EQ(kem_.run[static_cast<int>(operation)](there, in_flight, work.data(), nullptr),
                  WARPSEAL_OK);
        EXPECT_EQ(warpseal::gpu_backend()->synchronize(0, nullptr), WARPSEAL_OK);
        if (keypair) publics.read(pk), secrets.read(sk);
        if (encapsulate) ciphertexts.read(ct);
        if (!keypair) shared.read(ss);
        status_copy.read(statuses.data());
        if (batch.statuses == nullptr) return 0;  // nothing says how many
        std::copy(statuses.begin(), statuses.end(), batch.statuses + first);
        return static_cast<uint64_t>(
            std::count_if(statuses.begin(), statuses.end(),
                          [](int32_t status) { return status != WARPSEAL_OK; }));
    }

    const warpseal::CudaKem& kem_;
};

// Makes a backend that runs a set's device code on the host. The file with the code of a scheme
// sets that scheme's entry.
using MakeDeviceCode = std::unique_ptr<Backend> (*)(const warpseal::KemSet& set);
inline std::map<warpseal::KemScheme, MakeDeviceCode>& makers_of_device_code() {
    static std::map<warpseal::KemScheme, MakeDeviceCode> all;
    return all;
}

// A test of one set on one target; reports a skip where this machine or this build does not have
// it.
class KemTest : public testing::TestWithParam<TestCase> {
protected:
    void SetUp() override {
        if (GetParam().target == device_code) {
            const warpseal::KemSet& sizes = kem_set_of(set());
            backend_ = makers_of_device_code().at(sizes.scheme)(sizes);
            return;
        }
        const std::vector<warpseal_target_info> all = targets::all();
        for (size_t i = 0; i < all.size(); ++i) {
            if (all[i].name != GetParam().target) continue;
            if (!all[i].usable) GTEST_SKIP() << "NOT RUN: " << all[i].name << ": " << all[i].reason;
            if (GetParam().target == "cuda") {
                const warpseal::CudaKem* kem = warpseal::cuda_kem(GetParam().set.c_str());
                ASSERT_NE(kem, nullptr);
                backend_ = std::make_unique<GpuBackend>(kem_set_of(set()), *kem);
                return;
            }
            const auto target = static_cast<warpseal::Target>(i);
            const warpseal::CpuKem* kem = warpseal::cpu_kem(target, GetParam().set.c_str());
            if (kem == nullptr || !warpseal::cpu_has_kem(target))
                GTEST_SKIP() << "NOT RUN: no key encapsulation on " << all[i].name << " here";
            backend_ = std::make_unique<CpuBackend>(kem_set_of(set()), *kem);
            return;
        }
        FAIL() << "no target " << GetParam().target;
    }
    const Backend& backend() const { return *backend_; }
    const std::string& set() const { return GetParam().set; }
    bool fast() const { return GetParam().target != "portable"; }
    // Returns true if thousands of cases are feasible: not on a GPU, whose tests run manually, nor
    // under a sanitizer, which slows each many times.
    bool many() const { return backend().cpu() != nullptr && !stacks_are_sanitized; }
    // The reference, made once: it inverts x - 1.
    const reference::Ntru& reference_ntru() const {
        static std::map<std::string, reference::Ntru> all;
        return all.try_emplace(set(), set()).first->second;
    }

private:
    std::unique_ptr<Backend> backend_;
};

}  // namespace tests

#define FOR_EACH_SET_AND_TARGET(suite) \
    INSTANTIATE_TEST_SUITE_P(All, suite, testing::ValuesIn(tests::test_cases()), tests::name_of)

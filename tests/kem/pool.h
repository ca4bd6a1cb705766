// Ephemeral key pools in tests: on the cores and on a GPU, with senders who encapsulate to the keys
// handed out.
#pragma once

#include <set>
#include <string>

#include "support/kem_backends.h"
#include "support/random_source.h"

namespace tests {

using Handles = std::vector<uint64_t>;

struct PoolFreed {
    void operator()(warpseal_kem_pool* pool) const { warpseal_kem_pool_destroy(pool); }
};
using PoolHandle = std::unique_ptr<warpseal_kem_pool, PoolFreed>;

// Key pairs handed out by a call.
struct AcquiredKeys {
    Text publics;
    Handles handles;
};

inline std::set<std::string> items(const Text& text, size_t bytes) {
    std::set<std::string> out;
    for (size_t i = 0; i < text.size() / bytes; ++i)
        out.emplace(reinterpret_cast<const char*>(text.data()) + i * bytes, bytes);
    return out;
}

class PoolTest : public testing::TestWithParam<TestCase> {
protected:
    void SetUp() override {
        if (GetParam().target == "cuda")
            for (const warpseal_target_info& target : targets::all())
                if (target.name == std::string("cuda") && !target.usable)
                    GTEST_SKIP() << "NOT RUN: " << target.reason;
        for (size_t i = 0; warpseal_kem_at(i, &info) == WARPSEAL_OK && info.name != GetParam().set;
             ++i) {
        }
        engine = targets::engine(GetParam().target, 2, targets::unexpected);
    }
    ~PoolTest() override { source = Source::kernel; }

    PoolHandle pool(uint64_t pairs) const {
        warpseal_kem_pool* out = nullptr;
        EXPECT_EQ(warpseal_kem_pool_create(engine.get(), info.name, pairs, &out), WARPSEAL_OK);
        return PoolHandle(out);
    }
    warpseal_status acquire(const PoolHandle& pool, size_t count, AcquiredKeys& out) const {
        out.publics.assign(count * info.public_key_bytes, 0xa5);
        out.handles.assign(count, 0xa5a5a5a5a5a5a5a5);
        return warpseal_kem_pool_acquire(pool.get(), count, out.publics.data(),
                                         info.public_key_bytes, out.handles.data());
    }
    AcquiredKeys acquired(const PoolHandle& pool, size_t count) const {
        AcquiredKeys out;
        EXPECT_EQ(acquire(pool, count, out), WARPSEAL_OK);
        return out;
    }
    // Returns ciphertexts under those keys, and the senders' secrets.
    void encapsulate(const Text& publics, Text& ciphertexts, Text& secrets) const {
        const size_t count = publics.size() / info.public_key_bytes;
        ciphertexts.assign(count * info.ciphertext_bytes, 0);
        secrets.assign(count * 32, 0);
        encapsulate(publics, ciphertexts, secrets,
                    {info.public_key_bytes, info.ciphertext_bytes, 32});
    }
    struct Strides {
        size_t public_key, ciphertext, secret;
    };
    void encapsulate(const Text& publics, Text& ciphertexts, Text& secrets,
                     const Strides& strides) const {
        warpseal_kem_batch batch{};
        batch.struct_bytes = sizeof batch;
        batch.count = publics.size() / strides.public_key;
        batch.public_keys = const_cast<uint8_t*>(publics.data());
        batch.public_key_stride = strides.public_key;
        batch.ciphertexts = ciphertexts.data();
        batch.ciphertext_stride = strides.ciphertext;
        batch.shared_secrets = secrets.data();
        batch.shared_secret_stride = strides.secret;
        EXPECT_EQ(warpseal_kem_encapsulate(engine.get(), info.name, &batch), WARPSEAL_OK);
    }
    warpseal_status decapsulate(const PoolHandle& pool, const Handles& handles,
                                const Text& ciphertexts, Text& secrets,
                                std::vector<int32_t>& statuses) const {
        secrets.assign(handles.size() * 32, 0xa5);
        statuses.assign(handles.size(), -1);
        return warpseal_kem_pool_decapsulate(pool.get(), handles.size(), handles.data(),
                                             ciphertexts.data(), info.ciphertext_bytes,
                                             secrets.data(), 32, statuses.data());
    }
    // Returns true if every handle opens its ciphertext. This uses the handles.
    bool works(const PoolHandle& pool, const AcquiredKeys& pairs) const {
        Text ciphertexts, sent, received;
        std::vector<int32_t> statuses;
        encapsulate(pairs.publics, ciphertexts, sent);
        return decapsulate(pool, pairs.handles, ciphertexts, received, statuses) == WARPSEAL_OK &&
               received == sent &&
               statuses == std::vector<int32_t>(pairs.handles.size(), WARPSEAL_OK);
    }
    // Returns true if each is refused, with a secret of zeros.
    bool refused(const PoolHandle& pool, const Handles& handles) const {
        Text received;
        std::vector<int32_t> statuses;
        return decapsulate(pool, handles, Text(handles.size() * info.ciphertext_bytes, 0), received,
                           statuses) == WARPSEAL_INVALID_ARGUMENT &&
               received == Text(handles.size() * 32, 0) &&
               statuses == std::vector<int32_t>(handles.size(), WARPSEAL_INVALID_ARGUMENT);
    }

    warpseal_kem_info info{};
    targets::EngineHandle engine;
};

inline std::vector<TestCase> pool_test_cases() {
    std::vector<TestCase> out;
    for (const char* set : {"ntruhps2048509", "ntruhrss701", "ml-kem-768"})
        for (const char* target : {"cpu", "cuda"}) out.push_back({set, target});
    return out;
}

}  // namespace tests

#define FOR_EACH_POOL(suite)                                                          \
    INSTANTIATE_TEST_SUITE_P(All, suite, testing::ValuesIn(tests::pool_test_cases()), \
                             tests::name_of)

// Ephemeral key pools in the engine's tests: clients encapsulate to the keys handed out.
#pragma once

#include <gtest/gtest.h>

#include "engine/kem/key_pool/pool.h"
#include "engine/pattern.h"
#include "support/contiguous_batch.h"

namespace pooled {

using namespace warpseal;
using tests::Text;

inline const KemSet& set = kem_sets[0];
inline const size_t pk = set.public_key_bytes(), ct = set.ciphertext_bytes();

inline bool counted(void* out, size_t bytes) {
    static uint64_t calls = 0;
    ++calls;
    for (size_t i = 0; i < bytes; ++i)
        static_cast<uint8_t*>(out)[i] =
            static_cast<uint8_t>(calls * 0x9e3779b97f4a7c15u >> (i % 8 * 8)) ^
            static_cast<uint8_t>(i);
    return true;
}

inline std::unique_ptr<Engine> engine_on(const char* device, const GpuBackend* backend) {
    EngineOptions options;
    options.device = device;
    options.threads = 1;
    options.cuda = backend;
    std::unique_ptr<Engine> engine;
    EXPECT_EQ(Engine::create(options, engine), WARPSEAL_OK);
    return engine;
}

// Key pairs handed out by a pool, with a ciphertext for each.
struct Clients {
    Text publics, ciphertexts, sent, received;
    std::vector<uint64_t> handles;
    std::vector<int32_t> statuses;

    Clients(KemKeyPool& pool, Engine& cores, size_t count)
        : publics(count * pk),
          ciphertexts(count * ct),
          sent(count * 32),
          received(count * 32, 0xa5),
          handles(count),
          statuses(count, -1) {
        EXPECT_EQ(pool.acquire(count, {publics.data(), pk}, handles.data()), WARPSEAL_OK);
        warpseal_kem_batch batch = tests::contiguous_batch(set, count);
        batch.public_keys = publics.data();
        batch.ciphertexts = ciphertexts.data();
        batch.shared_secrets = sent.data();
        EXPECT_EQ(cores.kem(KemOperation::encapsulate, set.name, batch, counted), WARPSEAL_OK);
    }
    // Returns the number of items with their secret. The others have zeros and a status for an
    // invalid handle.
    size_t decapsulate(KemKeyPool& pool) {
        const size_t count = handles.size();
        const warpseal_status status =
            pool.decapsulate(count, handles.data(),
                             {ciphertexts.data(), ct, received.data(), 32, statuses.data(), 32});
        size_t good = 0;
        for (size_t i = 0; i < count; ++i) {
            const Text mine(received.begin() + static_cast<long>(32 * i),
                            received.begin() + static_cast<long>(32 * i + 32)),
                theirs(sent.begin() + static_cast<long>(32 * i),
                       sent.begin() + static_cast<long>(32 * i + 32));
            good += statuses[i] == WARPSEAL_OK;
            EXPECT_EQ(mine, statuses[i] == WARPSEAL_OK ? theirs : Text(32, 0));
            EXPECT_TRUE(statuses[i] == WARPSEAL_OK || statuses[i] == WARPSEAL_INVALID_ARGUMENT)
                << statuses[i];
        }
        EXPECT_EQ(status, good == count ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT);
        return good;
    }
};

}  // namespace pooled

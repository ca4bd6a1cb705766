// The steps of X25519 and its hybrids on a GPU: these headers need no compiler for device code. The
// first step that fails ends the call.
#include "backends/cuda/kem/hybrid/set.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace warpseal;
using cuda::hybrid::Hybrid;

// Counts steps. One of them fails.
struct Steps {
    static inline int made = 0, failing = -1;

    static warpseal_status next() {
        return made++ == failing ? WARPSEAL_OUT_OF_MEMORY : WARPSEAL_OK;
    }
    static warpseal_status multiply(const cuda::x25519::ProductJob& job, void*) {
        EXPECT_EQ(job.count, 3u);
        return next();
    }
    static warpseal_status expand(const cuda::hybrid::ExpandJob&, void*) { return next(); }
    static warpseal_status combine(kem::Combiner, const cuda::hybrid::CombineJob&, void*) {
        return next();
    }
    static warpseal_status clear(int32_t*, uint64_t, void*) { return next(); }
    static size_t mlkem_work_bytes(KemOperation, uint64_t) { return 64; }
    static warpseal_status mlkem(KemOperation, const warpseal_kem_batch&, uint64_t, void*, void*) {
        return next();
    }
};

template <const kem::HybridParams& set, KemOperation operation>
void takes_steps(int count) {
    std::vector<uint8_t> memory(1 << 16), work(Hybrid<set, Steps>::work_bytes(operation, 3));
    std::vector<int32_t> statuses(3);
    warpseal_kem_batch batch = {};
    batch.count = 3;
    batch.public_keys = batch.secret_keys = batch.ciphertexts = memory.data();
    batch.shared_secrets = memory.data();
    batch.coins = memory.data();
    batch.statuses = statuses.data();
    for (Steps::failing = 0; Steps::failing <= count; ++Steps::failing) {
        Steps::made = 0;
        const warpseal_status status =
            Hybrid<set, Steps>::template run<operation>(batch, 3, work.data(), nullptr);
        const bool fails = Steps::failing < count;
        EXPECT_EQ(status, fails ? WARPSEAL_OUT_OF_MEMORY : WARPSEAL_OK) << Steps::failing;
        EXPECT_EQ(Steps::made, fails ? Steps::failing + 1 : count) << set.name;
    }
}

TEST(HybridSteps, TheFirstThatFailsEndsTheCall) {
    takes_steps<kem::x25519_set, KemOperation::keypair>(2);
    takes_steps<kem::x25519_set, KemOperation::encapsulate>(3);
    takes_steps<kem::x25519_set, KemOperation::decapsulate>(2);
    takes_steps<kem::x25519mlkem768, KemOperation::keypair>(2);
    takes_steps<kem::x25519mlkem768, KemOperation::encapsulate>(4);
    takes_steps<kem::x25519mlkem768, KemOperation::decapsulate>(3);
    takes_steps<kem::xwing, KemOperation::keypair>(3);
    takes_steps<kem::xwing, KemOperation::encapsulate>(4);
    takes_steps<kem::xwing, KemOperation::decapsulate>(6);
}

}  // namespace

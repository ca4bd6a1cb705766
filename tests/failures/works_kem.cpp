// Key encapsulation: calls, the pool and the batcher.
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "handles.h"
#include "warpseal/batcher.h"
#include "warpseal/kem.h"
#include "works.h"

namespace works {
namespace {

constexpr const char* set = "ntruhps2048509";
constexpr size_t most = 64;

// Static, as the work's own buffers must not be refused. Large enough for the set.
struct Items {
    uint8_t public_keys[most][1024], secret_keys[most][1024], ciphertexts[most][1024];
    uint8_t sent[most][32], received[most][32];
    int32_t statuses[most];
};
Items items;

warpseal_kem_batch batch_of(uint64_t count, uint8_t (*secrets)[32]) {
    warpseal_kem_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.count = count;
    batch.public_keys = items.public_keys[0], batch.public_key_stride = sizeof items.public_keys[0];
    batch.secret_keys = items.secret_keys[0], batch.secret_key_stride = sizeof items.secret_keys[0];
    batch.ciphertexts = items.ciphertexts[0], batch.ciphertext_stride = sizeof items.ciphertexts[0];
    batch.shared_secrets = secrets[0], batch.shared_secret_stride = sizeof secrets[0];
    batch.statuses = items.statuses;
    return batch;
}

void must_agree(uint64_t count) {
    if (std::memcmp(items.sent, items.received, count * sizeof items.sent[0]) != 0)
        std::_Exit(wrong);
}

warpseal_status exchange(unsigned threads, uint64_t count) {
    Engine engine(threads);
    const warpseal_kem_batch send = batch_of(count, items.sent),
                             receive = batch_of(count, items.received);
    return Steps()
        .then([&] { return engine.status; })
        .then([&] { return warpseal_kem_keypair(engine.get(), set, &send); })
        .then([&] { return warpseal_kem_encapsulate(engine.get(), set, &send); })
        .then([&] { return warpseal_kem_decapsulate(engine.get(), set, &receive); })
        .and_if_all_did([&] { must_agree(count); });
}

// Statuses of a batcher's requests.
struct Completed {
    std::atomic<int> failure{WARPSEAL_OK};

    static void one(void* user, warpseal_status status) {
        if (status != WARPSEAL_OK) static_cast<Completed*>(user)->failure = status;
    }
};

warpseal_kem_request request_of(warpseal_kem_operation operation, size_t i, uint8_t (*secrets)[32],
                                Completed& completed) {
    warpseal_kem_request request = {};
    request.struct_bytes = sizeof request;
    request.operation = operation;
    request.set = set;
    request.public_key = items.public_keys[i];
    request.secret_key = items.secret_keys[i];
    request.ciphertext = items.ciphertexts[i];
    request.shared_secret = secrets[i];
    request.done = Completed::one;
    request.user = &completed;
    return request;
}

// Sends all items of one operation through a batcher, which is then destroyed. Uses run where
// submit refuses.
warpseal_status batched(const Engine& engine, warpseal_kem_operation operation,
                        uint8_t (*secrets)[32]) {
    warpseal_kem_batcher_options options = {};
    options.struct_bytes = sizeof options;
    options.max_batch = 16;
    warpseal_kem_batcher* batcher = nullptr;
    warpseal_status status = warpseal_kem_batcher_create(engine.get(), &options, &batcher);
    if (status != WARPSEAL_OK) return status;
    Completed completed;
    for (size_t i = 0; i < most; ++i) {
        const warpseal_kem_request request = request_of(operation, i, secrets, completed);
        warpseal_status submitted = warpseal_kem_batcher_submit(batcher, &request);
        if (submitted != WARPSEAL_OK) submitted = warpseal_kem_batcher_run(batcher, &request);
        if (status == WARPSEAL_OK) status = submitted;
    }
    warpseal_kem_batcher_destroy(batcher);
    return status != WARPSEAL_OK ? status : static_cast<warpseal_status>(completed.failure.load());
}

}  // namespace

warpseal_status kem_one() { return exchange(1, 1); }
warpseal_status kem_many() { return exchange(4, most); }

warpseal_status pool() {
    static uint64_t handles[most];
    Engine engine(2);
    warpseal_kem_pool* pool = nullptr;
    const warpseal_kem_batch send = batch_of(most / 2, items.sent);
    const warpseal_status status =
        Steps()
            .then([&] { return engine.status; })
            .then([&] { return warpseal_kem_pool_create(engine.get(), set, most, &pool); })
            .then([&] { return warpseal_kem_pool_fill(pool); })
            .then([&] {
                return warpseal_kem_pool_acquire(pool, most, items.public_keys[0],
                                                 sizeof items.public_keys[0], handles);
            })
            .then([&] { return warpseal_kem_encapsulate(engine.get(), set, &send); })
            .then([&] {
                return warpseal_kem_pool_decapsulate(pool, most / 2, handles, items.ciphertexts[0],
                                                     sizeof items.ciphertexts[0], items.received[0],
                                                     sizeof items.received[0], items.statuses);
            })
            .and_if_all_did([&] {
                warpseal_kem_pool_release(pool, most / 2, handles + most / 2);
                must_agree(most / 2);
            });
    warpseal_kem_pool_destroy(pool);
    return status;
}

warpseal_status batcher() {
    Engine engine(2);
    return Steps()
        .then([&] { return engine.status; })
        .then([&] { return batched(engine, WARPSEAL_KEM_KEYPAIR, items.sent); })
        .then([&] { return batched(engine, WARPSEAL_KEM_ENCAPSULATE, items.sent); })
        .then([&] { return batched(engine, WARPSEAL_KEM_DECAPSULATE, items.received); })
        .and_if_all_did([&] { must_agree(most); });
}

}  // namespace works

// Key encapsulation: calls, the pool and the batcher.
#include <algorithm>
#include <atomic>

#include "handles.h"
#include "warpseal/batcher.h"
#include "warpseal/kem.h"
#include "works.h"

namespace works {
namespace {

constexpr const char* set = "ntruhps2048509";
constexpr size_t most = 16;
constexpr size_t public_bytes = 699, secret_bytes = 935, ciphertext_bytes = 699, shared_bytes = 32;

// One value of each item.
template <size_t bytes>
struct Column {
    uint8_t items[most][bytes];

    uint8_t* data() { return items[0]; }
    // Returns true if the item is zero or still as `fill` left it.
    bool is_empty(size_t i) const {
        const uint8_t first = items[i][0];
        return (first == 0 || first == 0xa5) &&
               std::all_of(items[i], items[i] + bytes, [first](uint8_t b) { return b == first; });
    }
};
struct Items {
    Column<public_bytes> public_keys;
    Column<secret_bytes> secret_keys;
    Column<ciphertext_bytes> ciphertexts;
    Column<shared_bytes> shared;
};
Items made;     // right values of all items
Items written;  // by the calls of a work
Column<shared_bytes> received;
int32_t statuses[most];

warpseal_kem_batch batch_of(uint64_t count, Items& keys, Items& rest) {
    warpseal_kem_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.count = count;
    batch.public_keys = keys.public_keys.data(), batch.public_key_stride = public_bytes;
    batch.secret_keys = keys.secret_keys.data(), batch.secret_key_stride = secret_bytes;
    batch.ciphertexts = rest.ciphertexts.data(), batch.ciphertext_stride = ciphertext_bytes;
    batch.shared_secrets = rest.shared.data(), batch.shared_secret_stride = shared_bytes;
    batch.statuses = statuses;
    return batch;
}

// An item without a result has none in part.
template <class... Columns>
void must_be_whole(const char* function, uint64_t count, const Columns&... columns) {
    for (size_t i = 0; i < count; ++i) {
        const bool done = statuses[i] == WARPSEAL_OK;
        if (((columns.is_empty(i) == done) || ...))
            complain(function,
                     done ? "an item without its result" : "an output of an item that failed");
    }
}

template <class Call>
warpseal_status one(const char* function, unsigned threads, const warpseal_kem_batch& batch,
                    Call call) {
    const Engine engine(threads);
    std::fill(statuses, statuses + most, -1);
    return Steps({engine.status}).then(function, [&] { return call(engine.get(), set, &batch); });
}

warpseal_status exchange(unsigned threads, uint64_t count) {
    const warpseal_kem_batch keys = batch_of(count, written, written),
                             there = batch_of(count, made, written);
    warpseal_kem_batch back = batch_of(count, made, made);
    back.shared_secrets = received.data();
    return Steps()
        .run([&] {
            fill({{&written, sizeof written}});
            const warpseal_status status =
                one("warpseal_kem_keypair", threads, keys, warpseal_kem_keypair);
            must_be_whole("warpseal_kem_keypair", count, written.public_keys, written.secret_keys);
            return status;
        })
        .run([&] {
            fill({{&written, sizeof written}});
            const warpseal_status status =
                one("warpseal_kem_encapsulate", threads, there, warpseal_kem_encapsulate);
            must_be_whole("warpseal_kem_encapsulate", count, written.ciphertexts, written.shared);
            return status;
        })
        .run([&] {
            fill({{&received, sizeof received}});
            const warpseal_status status =
                one("warpseal_kem_decapsulate", threads, back, warpseal_kem_decapsulate);
            must_be_whole("warpseal_kem_decapsulate", count, received);
            if (status == WARPSEAL_OK &&
                std::memcmp(&received, &made.shared, count * shared_bytes) != 0)
                complain("warpseal_kem_decapsulate", "a wrong secret");
            return status;
        });
}

// Statuses of a batcher's requests, which `done` receives.
struct Completed {
    std::atomic<int> status{WARPSEAL_OK};

    static void one(void* user, warpseal_status status) {
        if (status != WARPSEAL_OK) static_cast<Completed*>(user)->status = status;
    }
};

warpseal_kem_request request_of(warpseal_kem_operation operation, size_t i, Items& keys,
                                Items& rest, Completed& completed) {
    warpseal_kem_request request = {};
    request.struct_bytes = sizeof request;
    request.operation = operation;
    request.set = set;
    request.public_key = keys.public_keys.items[i];
    request.secret_key = keys.secret_keys.items[i];
    request.ciphertext = rest.ciphertexts.items[i];
    request.shared_secret =
        operation == WARPSEAL_KEM_DECAPSULATE ? received.items[i] : rest.shared.items[i];
    request.done = Completed::one;
    request.user = &completed;
    return request;
}

// Submits all items but the last of one operation, and runs the last. Runs where submit refuses.
warpseal_status send(warpseal_kem_batcher* batcher, warpseal_kem_operation operation, Items& keys,
                     Items& rest, Completed (&completed)[most]) {
    warpseal_status status = WARPSEAL_OK;
    for (size_t i = 0; i < most; ++i) {
        const warpseal_kem_request request = request_of(operation, i, keys, rest, completed[i]);
        warpseal_status sent = WARPSEAL_LIMIT_EXCEEDED;
        if (i + 1 < most)
            sent = checked("warpseal_kem_batcher_submit", {},
                           [&] { return warpseal_kem_batcher_submit(batcher, &request); });
        if (sent != WARPSEAL_OK) {
            sent = checked("warpseal_kem_batcher_run", {},
                           [&] { return warpseal_kem_batcher_run(batcher, &request); });
            completed[i].status = sent;
        }
        if (status == WARPSEAL_OK) status = sent;
    }
    return status;
}

warpseal_status read_counts(warpseal_kem_batcher* batcher) {
    warpseal_kem_batcher_counts counts = {};
    counts.struct_bytes = sizeof counts;
    char metrics[1000];
    return Steps()
        .then("warpseal_kem_batcher_counts_read",
              [&] { return warpseal_kem_batcher_counts_read(batcher, &counts); })
        .then("warpseal_kem_batcher_metrics", [&] {
            return warpseal_kem_batcher_metrics(batcher, metrics, sizeof metrics) == 0
                       ? WARPSEAL_OUT_OF_MEMORY
                       : WARPSEAL_OK;
        });
}

// One operation through a batcher of its own, which is destroyed before its results are read.
template <class... Columns>
warpseal_status batched(warpseal_kem_operation operation, Items& keys, Items& rest,
                        const Columns&... columns) {
    const Engine engine(2);
    warpseal_kem_batcher_options options = {};
    options.struct_bytes = sizeof options;
    options.max_batch = 16;
    warpseal_kem_batcher* batcher = nullptr;
    Completed completed[most];
    fill({{&written, sizeof written}, {&received, sizeof received}});
    warpseal_status status = Steps({engine.status}).then("warpseal_kem_batcher_create", [&] {
        return warpseal_kem_batcher_create(engine.get(), &options, &batcher);
    });
    if (status != WARPSEAL_OK) return status;
    const warpseal_status sent = send(batcher, operation, keys, rest, completed);
    const warpseal_status read = read_counts(batcher);
    called("warpseal_kem_batcher_destroy", [&] { warpseal_kem_batcher_destroy(batcher); });
    for (size_t i = 0; i < most; ++i) {
        statuses[i] = completed[i].status;
        if (statuses[i] == WARPSEAL_OK) continue;
        status = static_cast<warpseal_status>(statuses[i]);
        left("warpseal_kem_batcher_run", status);
    }
    must_be_whole("warpseal_kem_batcher_run", most, columns...);
    return sent != WARPSEAL_OK ? sent : read != WARPSEAL_OK ? read : status;
}

uint64_t handles[most];

warpseal_status decapsulated(warpseal_kem_pool* pool) {
    std::fill(statuses, statuses + most, -1);
    fill({{&received, sizeof received}});
    const warpseal_status status = checked("warpseal_kem_pool_decapsulate", {}, [&] {
        return warpseal_kem_pool_decapsulate(pool, most / 2, handles, written.ciphertexts.data(),
                                             ciphertext_bytes, received.data(), shared_bytes,
                                             statuses);
    });
    must_be_whole("warpseal_kem_pool_decapsulate", most / 2, received);
    return status;
}

// A call that fails leaves no key. key: by reference, as the call is another argument.
warpseal_status made_or_null(const char* function, warpseal_status status,
                             warpseal_kem_key* const& key) {
    if ((status == WARPSEAL_OK) != (key != nullptr)) complain(function, "a key and a failure");
    return status;
}

}  // namespace

warpseal_status kem_one() { return exchange(1, 1); }
warpseal_status kem_many() { return exchange(4, most); }

// Items that share a key of ML-KEM, whose t is 0 here. The call prepares it if it gets the memory.
warpseal_status kem_shared_key() {
    static uint8_t key[1184], texts[8][1088], secrets[8][32];
    const Engine engine(2);
    warpseal_kem_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.count = 8;
    batch.public_keys = key;
    batch.ciphertexts = texts[0], batch.ciphertext_stride = sizeof texts[0];
    batch.shared_secrets = secrets[0], batch.shared_secret_stride = sizeof secrets[0];
    return Steps({engine.status}).then("warpseal_kem_encapsulate", [&] {
        return warpseal_kem_encapsulate(engine.get(), "ml-kem-768", &batch);
    });
}

// Both prepared keys of a pair, and an exchange under them.
warpseal_status kem_keys() {
    const Engine engine(2);
    warpseal_kem_key *public_key = nullptr, *secret_key = nullptr;
    const warpseal_kem_batch there = batch_of(most, made, written);
    const warpseal_status status =
        Steps({engine.status})
            .then("warpseal_kem_public_key_create",
                  [&] {
                      return made_or_null(
                          "warpseal_kem_public_key_create",
                          warpseal_kem_public_key_create(engine.get(), set, made.public_keys.data(),
                                                         public_bytes, &public_key),
                          public_key);
                  })
            .then("warpseal_kem_secret_key_create",
                  [&] {
                      return made_or_null(
                          "warpseal_kem_secret_key_create",
                          warpseal_kem_secret_key_create(engine.get(), set, made.secret_keys.data(),
                                                         secret_bytes, &secret_key),
                          secret_key);
                  })
            .run([&] {
                std::fill(statuses, statuses + most, -1);
                fill({{&written, sizeof written}});
                const warpseal_status outcome = checked("warpseal_kem_key_encapsulate", {}, [&] {
                    return warpseal_kem_key_encapsulate(public_key, &there);
                });
                must_be_whole("warpseal_kem_key_encapsulate", most, written.ciphertexts,
                              written.shared);
                return outcome;
            })
            .run([&] {
                std::fill(statuses, statuses + most, -1);
                fill({{&received, sizeof received}});
                warpseal_kem_batch back = batch_of(most, made, written);
                back.shared_secrets = received.data();
                const warpseal_status outcome = checked("warpseal_kem_key_decapsulate", {}, [&] {
                    return warpseal_kem_key_decapsulate(secret_key, &back);
                });
                must_be_whole("warpseal_kem_key_decapsulate", most, received);
                return outcome;
            })
            .and_if_all_did([&] {
                if (std::memcmp(&received, &written.shared, sizeof received) != 0)
                    complain("warpseal_kem_key_decapsulate", "a wrong secret");
            });
    called("warpseal_kem_key_destroy", [&] {
        warpseal_kem_key_destroy(public_key);
        warpseal_kem_key_destroy(secret_key);
    });
    return status;
}

warpseal_status pool() {
    const Engine engine(2);
    warpseal_kem_pool* pool = nullptr;
    const warpseal_kem_batch there = batch_of(most / 2, written, written);
    const warpseal_status status =
        Steps({engine.status})
            .then("warpseal_kem_pool_create",
                  [&] { return warpseal_kem_pool_create(engine.get(), set, most, &pool); })
            .then("warpseal_kem_pool_fill", [&] { return warpseal_kem_pool_fill(pool); })
            .then("warpseal_kem_pool_acquire", {{handles, sizeof handles}},
                  [&] {
                      return warpseal_kem_pool_acquire(pool, most, written.public_keys.data(),
                                                       public_bytes, handles);
                  })
            .then("warpseal_kem_encapsulate",
                  [&] { return warpseal_kem_encapsulate(engine.get(), set, &there); })
            .run([&] { return decapsulated(pool); })
            .and_if_all_did([&] {
                called("warpseal_kem_pool_release",
                       [&] { warpseal_kem_pool_release(pool, most / 2, handles + most / 2); });
                if (std::memcmp(&received, &written.shared, most / 2 * shared_bytes) != 0)
                    complain("warpseal_kem_pool_decapsulate", "a wrong secret");
            });
    called("warpseal_kem_pool_destroy", [&] { warpseal_kem_pool_destroy(pool); });
    return status;
}

warpseal_status batcher() {
    return Steps()
        .run([] {
            return batched(WARPSEAL_KEM_KEYPAIR, written, written, written.public_keys,
                           written.secret_keys);
        })
        .run([] {
            return batched(WARPSEAL_KEM_ENCAPSULATE, made, written, written.ciphertexts,
                           written.shared);
        })
        .run([] { return batched(WARPSEAL_KEM_DECAPSULATE, made, made, received); })
        .and_if_all_did([] {
            if (std::memcmp(&received, &made.shared, sizeof received) != 0)
                complain("warpseal_kem_batcher_run", "a wrong secret");
        });
}

void prepare_kem() {
    const Engine engine(2);
    warpseal_kem_info info;
    const warpseal_kem_batch all = batch_of(most, made, made);
    if (warpseal_kem_at(0, &info) != WARPSEAL_OK || info.public_key_bytes != public_bytes ||
        info.secret_key_bytes != secret_bytes || info.ciphertext_bytes != ciphertext_bytes ||
        warpseal_kem_keypair(engine.get(), set, &all) != WARPSEAL_OK ||
        warpseal_kem_encapsulate(engine.get(), set, &all) != WARPSEAL_OK)
        complain("prepare_kem", "a call fails");
    if (kem_one() != WARPSEAL_OK || kem_keys() != WARPSEAL_OK || pool() != WARPSEAL_OK ||
        batcher() != WARPSEAL_OK)
        complain("prepare_kem", "a call fails");
}

}  // namespace works

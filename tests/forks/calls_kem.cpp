// Key encapsulation: batches, pools and batchers.
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>

#include "calls.h"

namespace forks {
namespace {

constexpr char set[] = "ntruhps2048509", prepared_set[] = "ml-kem-768";

// Memory for `count` items of a set.
struct Items {
    warpseal_kem_info info{};
    Bytes publics, secrets, ciphertexts, sent, received;
    std::vector<int32_t> statuses;

    explicit Items(size_t count, const char* name = set) {
        for (size_t i = 0;
             warpseal_kem_at(i, &info) == WARPSEAL_OK && std::strcmp(info.name, name) != 0;)
            ++i;
        publics.resize(count * info.public_key_bytes);
        secrets.resize(count * info.secret_key_bytes);
        ciphertexts.resize(count * info.ciphertext_bytes);
        sent.resize(count * info.shared_secret_bytes);
        received.resize(sent.size());
        statuses.resize(count);
    }
    warpseal_kem_batch batch(bool receives) {
        warpseal_kem_batch all{};
        all.struct_bytes = sizeof all;
        all.count = statuses.size();
        all.public_keys = publics.data();
        all.public_key_stride = info.public_key_bytes;
        all.secret_keys = secrets.data();
        all.secret_key_stride = info.secret_key_bytes;
        all.ciphertexts = ciphertexts.data();
        all.ciphertext_stride = info.ciphertext_bytes;
        all.shared_secrets = receives ? received.data() : sent.data();
        all.shared_secret_stride = info.shared_secret_bytes;
        all.statuses = statuses.data();
        return all;
    }
    warpseal_kem_request request(int32_t operation) {
        warpseal_kem_request one{};
        one.struct_bytes = sizeof one;
        one.operation = operation;
        one.set = set;
        one.public_key = publics.data();
        one.secret_key = secrets.data();
        one.ciphertext = ciphertexts.data();
        one.shared_secret = operation == WARPSEAL_KEM_DECAPSULATE ? received.data() : sent.data();
        return one;
    }
};

bool encapsulate(warpseal_engine* engine, Items& items) {
    const warpseal_kem_batch batch = items.batch(false);
    return warpseal_kem_encapsulate(engine, set, &batch) == WARPSEAL_OK;
}

// count: at most the pool's capacity.
bool pool_works(warpseal_engine* engine, warpseal_kem_pool* pool, size_t count) {
    Items items(count);
    std::vector<uint64_t> handles(count);
    RIGHT(warpseal_kem_pool_acquire(pool, count, items.publics.data(), items.info.public_key_bytes,
                                    handles.data()) == WARPSEAL_OK);
    RIGHT(encapsulate(engine, items));
    RIGHT(warpseal_kem_pool_decapsulate(pool, count - 1, handles.data(), items.ciphertexts.data(),
                                        items.info.ciphertext_bytes, items.received.data(),
                                        items.info.shared_secret_bytes,
                                        items.statuses.data()) == WARPSEAL_OK);
    RIGHT(std::memcmp(items.sent.data(), items.received.data(),
                      (count - 1) * items.info.shared_secret_bytes) == 0);
    warpseal_kem_pool_release(pool, 1, &handles[count - 1]);
    return true;
}

// A handle is invalid in a child of the process that acquired it.
bool knows_no_handle(warpseal_kem_pool* pool, uint64_t handle) {
    Items items(1);
    RIGHT(warpseal_kem_pool_decapsulate(pool, 1, &handle, items.ciphertexts.data(),
                                        items.info.ciphertext_bytes, items.received.data(),
                                        items.info.shared_secret_bytes,
                                        items.statuses.data()) == WARPSEAL_INVALID_ARGUMENT);
    return true;
}

struct Done {
    std::atomic<int> status{-1};
    static void set(void* done, warpseal_status status) {
        static_cast<Done*>(done)->status.store(status, std::memory_order_release);
    }
    int wait() const {
        int seen;
        while ((seen = status.load(std::memory_order_acquire)) < 0) usleep(20);
        return seen;
    }
};

bool batcher_works(warpseal_kem_batcher* batcher) {
    Items items(1);
    for (const int32_t operation : {WARPSEAL_KEM_KEYPAIR, WARPSEAL_KEM_ENCAPSULATE}) {
        const warpseal_kem_request one = items.request(operation);
        RIGHT(warpseal_kem_batcher_run(batcher, &one) == WARPSEAL_OK);
    }
    Done done;
    warpseal_kem_request last = items.request(WARPSEAL_KEM_DECAPSULATE);
    last.done = Done::set;
    last.user = &done;
    RIGHT(warpseal_kem_batcher_submit(batcher, &last) == WARPSEAL_OK &&
          done.wait() == WARPSEAL_OK && items.sent == items.received);
    warpseal_kem_batcher_counts counts{};
    counts.struct_bytes = sizeof counts;
    RIGHT(warpseal_kem_batcher_counts_read(batcher, &counts) == WARPSEAL_OK &&
          counts.requests >= 3);
    std::string text(16384, '\0');
    RIGHT(warpseal_kem_batcher_metrics(batcher, text.data(), text.size()) < text.size() &&
          text.starts_with("# HELP"));
    return true;
}

// count: of items, whose coins are drawn.
bool prepared_works(const warpseal_kem_key* public_key, const warpseal_kem_key* secret_key,
                    size_t count) {
    Items items(count, prepared_set);
    const warpseal_kem_batch there = items.batch(false), back = items.batch(true);
    RIGHT(warpseal_kem_key_encapsulate(public_key, &there) == WARPSEAL_OK);
    RIGHT(warpseal_kem_key_decapsulate(secret_key, &back) == WARPSEAL_OK);
    RIGHT(items.sent == items.received);
    return true;
}

}  // namespace

bool make_prepared(warpseal_engine* engine, Owned<warpseal_kem_key>& public_key,
                   Owned<warpseal_kem_key>& secret_key) {
    Items items(1, prepared_set);
    const warpseal_kem_batch pair = items.batch(false);
    warpseal_kem_key* made = nullptr;
    RIGHT(warpseal_kem_keypair(engine, prepared_set, &pair) == WARPSEAL_OK);
    RIGHT(warpseal_kem_public_key_create(engine, prepared_set, items.publics.data(),
                                         items.publics.size(), &made) == WARPSEAL_OK);
    public_key.reset(made);
    RIGHT(warpseal_kem_secret_key_create(engine, prepared_set, items.secrets.data(),
                                         items.secrets.size(), &made) == WARPSEAL_OK);
    secret_key.reset(made);
    return true;
}

bool prepared_keys(const Scene& scene) {
    Owned<warpseal_kem_key> public_key, secret_key;
    RIGHT(make_prepared(scene.engine, public_key, secret_key));
    RIGHT(prepared_works(public_key.get(), secret_key.get(), 2));
    if (scene.parent == nullptr || scene.parent->public_key == nullptr) return true;
    return prepared_works(scene.parent->public_key.get(), scene.parent->secret_key.get(), 20);
}

bool encapsulation(const Scene& scene) {
    Items items(2);
    const warpseal_kem_batch there = items.batch(false), back = items.batch(true);
    RIGHT(warpseal_kem_keypair(scene.engine, set, &there) == WARPSEAL_OK &&
          encapsulate(scene.engine, items));
    RIGHT(warpseal_kem_decapsulate(scene.engine, set, &back) == WARPSEAL_OK &&
          items.sent == items.received);
    return true;
}

bool pools(const Scene& scene) {
    warpseal_kem_pool* made = nullptr;
    RIGHT(warpseal_kem_pool_create(scene.engine, set, 3, &made) == WARPSEAL_OK);
    const Owned<warpseal_kem_pool> own(made);
    RIGHT(warpseal_kem_pool_fill(made) == WARPSEAL_OK && pool_works(scene.engine, made, 3));
    if (scene.parent == nullptr || scene.parent->pool == nullptr) return true;
    RIGHT(!scene.in_child || knows_no_handle(scene.parent->pool.get(), scene.parent->handle));
    return pool_works(scene.engine, scene.parent->pool.get(), 3);
}

bool batchers(const Scene& scene) {
    warpseal_kem_batcher* made = nullptr;
    RIGHT(warpseal_kem_batcher_create(scene.engine, nullptr, &made) == WARPSEAL_OK);
    const Owned<warpseal_kem_batcher> own(made);
    RIGHT(batcher_works(made));
    if (scene.parent == nullptr || scene.parent->batcher == nullptr) return true;
    return batcher_works(scene.parent->batcher.get());
}

}  // namespace forks

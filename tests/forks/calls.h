// Every function of the C interface, called by a forked child and by its parent during the fork.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "warpseal/batch.h"
#include "warpseal/batcher.h"
#include "warpseal/cobblestone.h"
#include "warpseal/device_file.h"
#include "warpseal/drbg.h"
#include "warpseal/error.h"
#include "warpseal/kem.h"
#include "warpseal/reader.h"
#include "warpseal/slots.h"
#include "warpseal/warpseal.h"

namespace forks {

struct Destroy {
    void operator()(warpseal_engine* engine) const { warpseal_engine_destroy(engine); }
    void operator()(warpseal_key* key) const { warpseal_key_destroy(key); }
    void operator()(warpseal_kem_key* key) const { warpseal_kem_key_destroy(key); }
    void operator()(warpseal_kem_pool* pool) const { warpseal_kem_pool_destroy(pool); }
    void operator()(warpseal_drbg* drbg) const { warpseal_drbg_destroy(drbg); }
    void operator()(warpseal_reader* reader) const { warpseal_reader_close(reader); }
    void operator()(warpseal_cobblestone* message) const { warpseal_cobblestone_destroy(message); }
    void operator()(warpseal_kem_batcher* batcher) const { warpseal_kem_batcher_destroy(batcher); }
};
template <class T>
using Owned = std::unique_ptr<T, Destroy>;

using Bytes = std::vector<uint8_t>;

// Returns null on failure.
Owned<warpseal_engine> engine_with(uint32_t threads);
Owned<warpseal_key> key_of(warpseal_engine* engine, const warpseal_cipher_info& cipher);
bool cipher_called(const char* name, warpseal_cipher_info& cipher);

struct Keyed {
    Owned<warpseal_key> key;
    warpseal_cipher_info cipher{};
};

// A reader that all threads use, and a message that none goes on with.
struct ParentReader {
    Bytes file;
    Owned<warpseal_reader> reader;
    Owned<warpseal_cobblestone> message;
    bool make(warpseal_engine* engine);
};
Bytes text_of_readers();

// Objects that a parent uses while it forks.
struct Parent {
    static constexpr size_t threads = 4;
    static constexpr size_t host_bytes = 5000;

    Owned<warpseal_engine> engine;
    Owned<warpseal_kem_key> public_key, secret_key;  // a pair
    Owned<warpseal_kem_pool> pool;
    Owned<warpseal_kem_batcher> batcher;
    Owned<warpseal_drbg> drbg;
    ParentReader reading;
    Keyed key;
    // For each thread, a key before, during or after its first use; null between two.
    std::array<std::atomic<const Keyed*>, threads> fresh{};
    uint64_t handle = 0;  // handle acquired from the pool
    void* host = nullptr;

    ~Parent();
    // Returns false if creation fails.
    bool make();
};

// Makes a pair of prepared keys.
bool make_prepared(warpseal_engine* engine, Owned<warpseal_kem_key>& public_key,
                   Owned<warpseal_kem_key>& secret_key);

// The objects in use. engine: the parent's, or the caller's own.
struct Scene {
    warpseal_engine* engine = nullptr;
    Parent* parent = nullptr;  // null: no objects of the parent
    bool in_child = false;
};

// Prints the position on standard error and returns false.
bool wrong(const char* file, int line, const char* what);
#define RIGHT(condition) \
    if (!(condition)) return wrong(__FILE__, __LINE__, #condition)

// Functions of the interface, and a function that calls them all and checks their results.
struct Calls {
    std::vector<const char*> functions;
    bool (*right)(const Scene& scene);
};
std::span<const Calls> every_call();

bool catalogue(const Scene& scene);
bool engines_and_keys(const Scene& scene);
bool messages(const Scene& scene);
bool batches(const Scene& scene);
bool device_memory(const Scene& scene);
bool host_memory(const Scene& scene);
bool files(const Scene& scene);
bool encapsulation(const Scene& scene);
bool prepared_keys(const Scene& scene);
bool pools(const Scene& scene);
bool batchers(const Scene& scene);
bool generators(const Scene& scene);
bool readers(const Scene& scene);
bool messages_in_updates(const Scene& scene);

// Checks a round trip in each mode of the cipher that has calls for one message.
bool works(const warpseal_key* key, const warpseal_cipher_info& cipher);

}  // namespace forks

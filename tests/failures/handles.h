// Engines and keys whose creation may fail, and sequences of calls whose failures are checked.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <initializer_list>

#include "warpseal/warpseal.h"

namespace works {

// Memory that a call writes. After a failure it must be unchanged or zero.
struct Output {
    void* memory;
    size_t bytes;
};

// Ends the process with the exit status `wrong`, naming the function.
[[noreturn]] void complain(const char* function, const char* what);
// The public function that a call began last of; null: none yet.
extern std::atomic<const char*> current_function;
// A call of the public function begins or has ended.
void entering(const char* function);
void left(const char* function, warpseal_status status);
void fill(std::initializer_list<Output> outputs);
void must_not_be_written(const char* function, std::initializer_list<Output> outputs);

template <class Call>
warpseal_status checked(const char* function, std::initializer_list<Output> outputs, Call call) {
    fill(outputs);
    entering(function);
    const warpseal_status status = call();
    left(function, status);
    if (status != WARPSEAL_OK) must_not_be_written(function, outputs);
    return status;
}

// For functions without a status.
template <class Call>
void called(const char* function, Call call) {
    (void)checked(function, {}, [&] {
        call();
        return WARPSEAL_OK;
    });
}

// The device of every engine: "cpu" but in runs with a GPU.
extern const char* device;
// Makes every engine.
extern decltype(&warpseal_engine_create) create_engine;

class Engine {
public:
    explicit Engine(unsigned threads) {
        warpseal_engine_options options = {};
        options.struct_bytes = sizeof options;
        options.device = device;
        options.threads = threads;
        status = checked("warpseal_engine_create", {},
                         [&] { return create_engine(&options, &engine_); });
        if (status != WARPSEAL_OK && engine_ != nullptr)
            complain("warpseal_engine_create", "a handle after a failure");
    }
    ~Engine() {
        called("warpseal_engine_destroy", [&] { warpseal_engine_destroy(engine_); });
    }
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    warpseal_engine* get() const { return engine_; }

    warpseal_status status = WARPSEAL_OK;

private:
    warpseal_engine* engine_ = nullptr;
};

class Key {
public:
    Key(const Engine& engine, const char* cipher, const void* bytes, size_t count)
        : Key(engine, cipher, bytes, count, "warpseal_key_create", warpseal_key_create) {}
    ~Key() {
        called("warpseal_key_destroy", [&] { warpseal_key_destroy(key_); });
    }
    Key(const Key&) = delete;
    Key& operator=(const Key&) = delete;
    const warpseal_key* get() const { return key_; }

    warpseal_status status = WARPSEAL_OK;

protected:
    Key(const Engine& engine, const char* cipher, const void* bytes, size_t count,
        const char* function, decltype(&warpseal_key_create) create)
        : status(engine.status) {
        if (status != WARPSEAL_OK) return;
        status = checked(function, {},
                         [&] { return create(engine.get(), cipher, bytes, count, &key_); });
        if (status != WARPSEAL_OK && key_ != nullptr)
            complain(function, "a handle after a failure");
    }

private:
    warpseal_key* key_ = nullptr;
};

class XtsKey : public Key {
public:
    XtsKey(const Engine& engine, const char* cipher, const void* bytes, size_t count)
        : Key(engine, cipher, bytes, count, "warpseal_key_create_xts", warpseal_key_create_xts) {}
};

// Makes calls in order until one fails.
class Steps {
public:
    Steps(std::initializer_list<warpseal_status> created = {}) {
        for (const warpseal_status status : created)
            if (status_ == WARPSEAL_OK) status_ = status;
    }
    template <class Call>
    Steps& then(const char* function, std::initializer_list<Output> outputs, Call call) {
        if (status_ == WARPSEAL_OK) status_ = checked(function, outputs, call);
        return *this;
    }
    template <class Call>
    Steps& then(const char* function, Call call) {
        return then(function, {}, call);
    }
    // For other sequences, which check their calls.
    template <class Work>
    Steps& run(Work work) {
        if (status_ == WARPSEAL_OK) status_ = work();
        return *this;
    }
    // For work between the calls.
    template <class Work>
    Steps& and_if_all_did(Work work) {
        if (status_ == WARPSEAL_OK) work();
        return *this;
    }
    operator warpseal_status() const { return status_; }

private:
    warpseal_status status_ = WARPSEAL_OK;
};

}  // namespace works

// Engines and keys whose creation may fail, and sequences of calls.
#pragma once

#include "warpseal/warpseal.h"

namespace works {

class Engine {
public:
    explicit Engine(unsigned threads) {
        warpseal_engine_options options = {};
        options.struct_bytes = sizeof options;
        options.device = "cpu";
        options.threads = threads;
        status = warpseal_engine_create(&options, &engine_);
    }
    ~Engine() { warpseal_engine_destroy(engine_); }
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    warpseal_engine* get() const { return engine_; }

    warpseal_status status = WARPSEAL_OK;

private:
    warpseal_engine* engine_ = nullptr;
};

class Key {
public:
    Key(const Engine& engine, const char* cipher, const uint8_t* bytes, size_t count,
        decltype(&warpseal_key_create) create = warpseal_key_create) {
        status = engine.get() == nullptr ? engine.status
                                         : create(engine.get(), cipher, bytes, count, &key_);
    }
    ~Key() { warpseal_key_destroy(key_); }
    Key(const Key&) = delete;
    Key& operator=(const Key&) = delete;
    const warpseal_key* get() const { return key_; }

    warpseal_status status = WARPSEAL_OK;

private:
    warpseal_key* key_ = nullptr;
};

// Runs calls in order until one fails.
class Steps {
public:
    template <class Call>
    Steps& then(Call call) {
        if (status_ == WARPSEAL_OK) status_ = call();
        return *this;
    }
    template <class Check>
    Steps& and_if_all_did(Check check) {
        if (status_ == WARPSEAL_OK) check();
        return *this;
    }
    operator warpseal_status() const { return status_; }

private:
    warpseal_status status_ = WARPSEAL_OK;
};

}  // namespace works

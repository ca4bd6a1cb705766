// The module in a library context of its own, for one run, and objects whose creation may fail.
#pragma once

#include <openssl/err.h>

#include <cstdint>
#include <string>
#include <vector>

#include "failures/handles.h"
#include "failures/works.h"
#include "provider/functions.h"

namespace works {

using tests::Functions;

// Functions of the provider return 1 for success, or an object.
inline warpseal_status status_of(int returned) {
    return returned == 1 ? WARPSEAL_OK : WARPSEAL_OUT_OF_MEMORY;
}
inline warpseal_status status_of(const void* object) {
    return object != nullptr ? WARPSEAL_OK : WARPSEAL_OUT_OF_MEMORY;
}

class Loaded {
public:
    Loaded();
    ~Loaded();
    Loaded(const Loaded&) = delete;
    Loaded& operator=(const Loaded&) = delete;
    OSSL_LIB_CTX* library() const { return library_; }
    OSSL_PROVIDER* provider() const { return provider_; }
    void* context() const { return OSSL_PROVIDER_get0_provider_ctx(provider_); }

    warpseal_status status = WARPSEAL_OK;

private:
    OSSL_LIB_CTX* library_ = nullptr;
    OSSL_PROVIDER *default_ = nullptr, *provider_ = nullptr;
};

// An object of one algorithm. `Create` is a call that returns it or null.
class Object {
public:
    template <class Create>
    Object(const char* create_name, Create create, const char* free_name, void (*free)(void*))
        : free_name_(free_name), free_(free) {
        status = checked(create_name, {}, [&] { return status_of(object_ = create()); });
    }
    ~Object() {
        if (object_ == nullptr) return;
        called(free_name_, [&] { free_(object_); });
    }
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;
    void* get() const { return object_; }

    warpseal_status status = WARPSEAL_OK;

private:
    const char* const free_name_;
    void (*const free_)(void*);
    void* object_ = nullptr;
};

}  // namespace works

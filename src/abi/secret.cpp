// The inner functions for memory of secrets (inner.h).
#include <new>

#include "engine/secret_memory.h"
#include "warpseal/inner.h"

struct warpseal_inner_secret {
    warpseal::SecretMemory memory;
};

extern "C" {

warpseal_inner_secret* warpseal_inner_secret_create(size_t bytes) {
    warpseal_inner_secret* const made = new (std::nothrow) warpseal_inner_secret;
    if (made == nullptr || made->memory.allocate(bytes)) return made;
    delete made;
    return nullptr;
}

void* warpseal_inner_secret_data(warpseal_inner_secret* secret) { return secret->memory.data(); }

void warpseal_inner_secret_destroy(warpseal_inner_secret* secret) { delete secret; }

}  // extern "C"

// Internal functions of internal.h for secret memory and random bytes.
#include <new>

#include "c_api/internal.h"
#include "container/random.h"
#include "platform/secret_memory.h"

struct warpseal_internal_secret {
    warpseal::SecretMemory memory;
};

extern "C" {

warpseal_internal_secret* warpseal_internal_secret_create(size_t bytes) {
    warpseal_internal_secret* const made = new (std::nothrow) warpseal_internal_secret;
    if (made == nullptr || made->memory.allocate(bytes)) return made;
    delete made;
    return nullptr;
}

void* warpseal_internal_secret_data(warpseal_internal_secret* secret) {
    return secret->memory.data();
}

void warpseal_internal_secret_destroy(warpseal_internal_secret* secret) { delete secret; }

int32_t warpseal_internal_random(void* out, size_t bytes) {
    return warpseal::container::random_bytes(out, bytes) ? 1 : 0;
}

}  // extern "C"

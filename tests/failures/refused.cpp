// The linker's --wrap substitutes these for malloc(3) and others, also in libcrypto, libsodium and
// libstdc++.
#include "refused.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/types.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>

namespace refused {
namespace {

std::atomic<long> requests{0};
std::atomic<long> first{LONG_MAX};
std::atomic<long> last{LONG_MAX};

// Returns true if this request is refused.
bool refuses() {
    const long number = requests.fetch_add(1, std::memory_order_relaxed);
    return number >= first.load(std::memory_order_relaxed) &&
           number <= last.load(std::memory_order_relaxed);
}

}  // namespace

void begin(long number, Which which) {
    requests = 0;
    last = which == Which::that_one ? number : LONG_MAX;
    first = number;
}

long end() {
    first = LONG_MAX;
    return requests.load();
}

}  // namespace refused

extern "C" {

void* __real_malloc(size_t bytes);
void* __real_calloc(size_t count, size_t bytes);
void* __real_realloc(void* memory, size_t bytes);
void* __real_aligned_alloc(size_t alignment, size_t bytes);
int __real_posix_memalign(void** out, size_t alignment, size_t bytes);
void* __real_mmap(void* at, size_t bytes, int protection, int flags, int descriptor, off_t offset);
int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* user);
ssize_t __real_getrandom(void* out, size_t bytes, unsigned flags);

namespace {
void* no_memory() {
    errno = ENOMEM;
    return nullptr;
}
}  // namespace

void* __wrap_malloc(size_t bytes) {
    return refused::refuses() ? no_memory() : __real_malloc(bytes);
}
void* __wrap_calloc(size_t count, size_t bytes) {
    return refused::refuses() ? no_memory() : __real_calloc(count, bytes);
}
void* __wrap_realloc(void* memory, size_t bytes) {
    return refused::refuses() ? no_memory() : __real_realloc(memory, bytes);
}
void* __wrap_aligned_alloc(size_t alignment, size_t bytes) {
    return refused::refuses() ? no_memory() : __real_aligned_alloc(alignment, bytes);
}
int __wrap_posix_memalign(void** out, size_t alignment, size_t bytes) {
    return refused::refuses() ? ENOMEM : __real_posix_memalign(out, alignment, bytes);
}
void* __wrap_mmap(void* at, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
    if (!refused::refuses()) return __real_mmap(at, bytes, protection, flags, descriptor, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* user) {
    return refused::refuses() ? EAGAIN : __real_pthread_create(thread, attributes, run, user);
}
ssize_t __wrap_getrandom(void* out, size_t bytes, unsigned flags) {
    if (!refused::refuses()) return __real_getrandom(out, bytes, flags);
    errno = EIO;
    return -1;
}

}  // extern "C"

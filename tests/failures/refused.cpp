// Replacements of malloc(3) and others. The linker's --wrap substitutes them, also in libcrypto,
// libsodium and libstdc++.
#include "refused.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>

namespace refused {

thread_local bool exempt = false;

namespace {

std::atomic<long> requests{0};
std::atomic<long> first{LONG_MAX};
std::atomic<long> last{LONG_MAX};
std::atomic<bool> refused_one{false};
std::atomic<long> blocks{0}, mapped_bytes{0};

// Returns true if this request is refused.
bool refuses() {
    if (exempt) return false;
    const long number = requests.fetch_add(1, std::memory_order_relaxed);
    if (number < first.load(std::memory_order_relaxed) ||
        number > last.load(std::memory_order_relaxed))
        return false;
    refused_one = true;
    return true;
}

void* granted(void* memory) {
    if (memory != nullptr) blocks.fetch_add(1, std::memory_order_relaxed);
    return memory;
}

}  // namespace

void begin(long number, Which which) {
    requests = 0;
    refused_one = false;
    last = which == Which::that_one ? number : LONG_MAX;
    first = number;
}

bool happened() { return refused_one; }

long end() {
    first = LONG_MAX;
    return requests.load();
}

Held held() { return {blocks, mapped_bytes}; }

}  // namespace refused

extern "C" {
void* __real_malloc(size_t bytes);
void* __real_calloc(size_t count, size_t bytes);
void* __real_realloc(void* memory, size_t bytes);
void* __real_aligned_alloc(size_t alignment, size_t bytes);
int __real_posix_memalign(void** out, size_t alignment, size_t bytes);
void __real_free(void* memory);
void* __real_mmap(void* at, size_t bytes, int protection, int flags, int descriptor, off_t offset);
int __real_munmap(void* at, size_t bytes);
int __real_mlock2(const void* at, size_t bytes, unsigned flags);
int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* user);
ssize_t __real_getrandom(void* out, size_t bytes, unsigned flags);
}

namespace {
void* no_memory() {
    errno = ENOMEM;
    return nullptr;
}
}  // namespace

extern "C" {

void* __wrap_malloc(size_t bytes) {
    return refused::refuses() ? no_memory() : refused::granted(__real_malloc(bytes));
}
void* __wrap_calloc(size_t count, size_t bytes) {
    return refused::refuses() ? no_memory() : refused::granted(__real_calloc(count, bytes));
}
void* __wrap_realloc(void* memory, size_t bytes) {
    if (refused::refuses()) return no_memory();
    void* const moved = __real_realloc(memory, bytes);
    return memory == nullptr ? refused::granted(moved) : moved;
}
void* __wrap_aligned_alloc(size_t alignment, size_t bytes) {
    return refused::refuses() ? no_memory()
                              : refused::granted(__real_aligned_alloc(alignment, bytes));
}
int __wrap_posix_memalign(void** out, size_t alignment, size_t bytes) {
    if (refused::refuses()) return ENOMEM;
    const int error = __real_posix_memalign(out, alignment, bytes);
    if (error == 0) (void)refused::granted(*out);
    return error;
}
void __wrap_free(void* memory) {
    if (memory != nullptr) refused::blocks.fetch_sub(1, std::memory_order_relaxed);
    __real_free(memory);
}
void* __wrap_mmap(void* at, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
    if (refused::refuses()) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void* const pages = __real_mmap(at, bytes, protection, flags, descriptor, offset);
    if (pages != MAP_FAILED) refused::mapped_bytes += static_cast<long>(bytes);
    return pages;
}
int __wrap_munmap(void* at, size_t bytes) noexcept {
    refused::mapped_bytes -= static_cast<long>(bytes);
    return __real_munmap(at, bytes);
}
int __wrap_mlock2(const void* at, size_t bytes, unsigned flags) noexcept {
    if (!refused::refuses()) return __real_mlock2(at, bytes, flags);
    errno = ENOMEM;
    return -1;
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

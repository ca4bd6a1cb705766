// Replacements of malloc(3) and others. Linked with WARPSEAL_REFUSED_EXPORTED they replace the C
// library's, also for modules that the program loads. Otherwise the linker's --wrap substitutes
// them, also in libcrypto, libsodium and libstdc++.
#include "refused.h"

#include <dlfcn.h>
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
namespace {

std::atomic<long> requests{0};
std::atomic<long> first{LONG_MAX};
std::atomic<long> last{LONG_MAX};
std::atomic<bool> refused_one{false};
std::atomic<long> blocks{0}, mapped_bytes{0};

// Returns true if this request is refused.
bool refuses() {
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

#ifdef WARPSEAL_REFUSED_EXPORTED

#define HERE(function) function
#define REAL(function) real_##function

extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* memory);
}

namespace {
void* real_malloc(size_t bytes) { return __libc_malloc(bytes); }
void* real_calloc(size_t count, size_t bytes) { return __libc_calloc(count, bytes); }
void* real_realloc(void* memory, size_t bytes) { return __libc_realloc(memory, bytes); }
void* real_aligned_alloc(size_t alignment, size_t bytes) {
    return __libc_memalign(alignment, bytes);
}
int real_posix_memalign(void** out, size_t alignment, size_t bytes) {
    void* const memory = __libc_memalign(alignment, bytes);
    if (memory == nullptr) return ENOMEM;
    *out = memory;
    return 0;
}
void real_free(void* memory) { __libc_free(memory); }
void* real_mmap(void* at, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
    return reinterpret_cast<void*>(
        syscall(SYS_mmap, at, bytes, protection, flags, descriptor, offset));
}
int real_munmap(void* at, size_t bytes) { return static_cast<int>(syscall(SYS_munmap, at, bytes)); }
int real_mlock(const void* at, size_t bytes) {
    return static_cast<int>(syscall(SYS_mlock, at, bytes));
}
int real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                        void* user) {
    static const auto next =
        reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    return next(thread, attributes, run, user);
}
ssize_t real_getrandom(void* out, size_t bytes, unsigned flags) {
    return syscall(SYS_getrandom, out, bytes, flags);
}
}  // namespace

#else

#define HERE(function) __wrap_##function
#define REAL(function) __real_##function

extern "C" {
void* __real_malloc(size_t bytes);
void* __real_calloc(size_t count, size_t bytes);
void* __real_realloc(void* memory, size_t bytes);
void* __real_aligned_alloc(size_t alignment, size_t bytes);
int __real_posix_memalign(void** out, size_t alignment, size_t bytes);
void __real_free(void* memory);
void* __real_mmap(void* at, size_t bytes, int protection, int flags, int descriptor, off_t offset);
int __real_munmap(void* at, size_t bytes);
int __real_mlock(const void* at, size_t bytes);
int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* user);
ssize_t __real_getrandom(void* out, size_t bytes, unsigned flags);
}

#endif

namespace {
void* no_memory() {
    errno = ENOMEM;
    return nullptr;
}
}  // namespace

extern "C" {

void* HERE(malloc)(size_t bytes) {
    return refused::refuses() ? no_memory() : refused::granted(REAL(malloc)(bytes));
}
void* HERE(calloc)(size_t count, size_t bytes) {
    return refused::refuses() ? no_memory() : refused::granted(REAL(calloc)(count, bytes));
}
void* HERE(realloc)(void* memory, size_t bytes) {
    if (refused::refuses()) return no_memory();
    void* const moved = REAL(realloc)(memory, bytes);
    return memory == nullptr ? refused::granted(moved) : moved;
}
void* HERE(aligned_alloc)(size_t alignment, size_t bytes) {
    return refused::refuses() ? no_memory()
                              : refused::granted(REAL(aligned_alloc)(alignment, bytes));
}
int HERE(posix_memalign)(void** out, size_t alignment, size_t bytes) {
    if (refused::refuses()) return ENOMEM;
    const int error = REAL(posix_memalign)(out, alignment, bytes);
    if (error == 0) (void)refused::granted(*out);
    return error;
}
void HERE(free)(void* memory) {
    if (memory != nullptr) refused::blocks.fetch_sub(1, std::memory_order_relaxed);
    REAL(free)(memory);
}
void* HERE(mmap)(void* at, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
    if (refused::refuses()) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void* const pages = REAL(mmap)(at, bytes, protection, flags, descriptor, offset);
    if (pages != MAP_FAILED) refused::mapped_bytes += static_cast<long>(bytes);
    return pages;
}
int HERE(munmap)(void* at, size_t bytes) noexcept {
    refused::mapped_bytes -= static_cast<long>(bytes);
    return REAL(munmap)(at, bytes);
}
int HERE(mlock)(const void* at, size_t bytes) noexcept {
    if (!refused::refuses()) return REAL(mlock)(at, bytes);
    errno = ENOMEM;
    return -1;
}
int HERE(pthread_create)(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                         void* user) {
    return refused::refuses() ? EAGAIN : REAL(pthread_create)(thread, attributes, run, user);
}
ssize_t HERE(getrandom)(void* out, size_t bytes, unsigned flags) {
    if (!refused::refuses()) return REAL(getrandom)(out, bytes, flags);
    errno = EIO;
    return -1;
}

}  // extern "C"

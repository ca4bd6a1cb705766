// The dynamic linker takes this program's functions in place of the C library's, for the module and
// for libcrypto too. A return address tells which of them calls.
#include "interposed.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "failures/refused.h"

namespace interposed {
namespace {

uintptr_t module_begin = 0, module_end = 0;

// While it exists, requests are exempt unless the module makes them.
class Request {
public:
    explicit Request(const void* caller) : before_(refused::exempt) {
        const auto address = reinterpret_cast<uintptr_t>(caller);
        refused::exempt = address < module_begin || address >= module_end;
    }
    ~Request() { refused::exempt = before_; }
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

private:
    const bool before_;
};

int find_code(dl_phdr_info* info, size_t, void*) {
    if (!std::string_view(info->dlpi_name).ends_with("/warpseal.so")) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
        module_begin = info->dlpi_addr + segment.p_vaddr;
        module_end = module_begin + segment.p_memsz;
    }
    return 1;
}

}  // namespace

bool find_module() { return dl_iterate_phdr(find_code, nullptr) == 1 && module_end != 0; }

}  // namespace interposed

using interposed::Request;

// Declared as in failures/refused.cpp; the real ones are the C library's.
extern "C" {
void* __wrap_malloc(size_t bytes);
void* __wrap_calloc(size_t count, size_t bytes);
void* __wrap_realloc(void* memory, size_t bytes);
void* __wrap_aligned_alloc(size_t alignment, size_t bytes);
int __wrap_posix_memalign(void** out, size_t alignment, size_t bytes);
void __wrap_free(void* memory);
void* __wrap_mmap(void* at, size_t bytes, int protection, int flags, int descriptor, off_t offset);
int __wrap_munmap(void* at, size_t bytes) noexcept;
int __wrap_mlock2(const void* at, size_t bytes, unsigned flags) noexcept;
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* user);
ssize_t __wrap_getrandom(void* out, size_t bytes, unsigned flags);

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* memory);

void* __real_malloc(size_t bytes) { return __libc_malloc(bytes); }
void* __real_calloc(size_t count, size_t bytes) { return __libc_calloc(count, bytes); }
void* __real_realloc(void* memory, size_t bytes) { return __libc_realloc(memory, bytes); }
void* __real_aligned_alloc(size_t alignment, size_t bytes) {
    return __libc_memalign(alignment, bytes);
}
int __real_posix_memalign(void** out, size_t alignment, size_t bytes) {
    void* const made = __libc_memalign(alignment, bytes);
    if (made == nullptr) return ENOMEM;
    *out = made;
    return 0;
}
void __real_free(void* memory) { __libc_free(memory); }
void* __real_mmap(void* at, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
    return reinterpret_cast<void*>(
        syscall(SYS_mmap, at, bytes, protection, flags, descriptor, offset));
}
int __real_munmap(void* at, size_t bytes) {
    return static_cast<int>(syscall(SYS_munmap, at, bytes));
}
int __real_mlock2(const void* at, size_t bytes, unsigned flags) {
    return static_cast<int>(syscall(SYS_mlock2, at, bytes, flags));
}
int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* user) {
    static const auto create =
        reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    return create(thread, attributes, run, user);
}
ssize_t __real_getrandom(void* out, size_t bytes, unsigned flags) {
    return syscall(SYS_getrandom, out, bytes, flags);
}

void* malloc(size_t bytes) noexcept {
    const Request request(__builtin_return_address(0));
    return __wrap_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) noexcept {
    const Request request(__builtin_return_address(0));
    return __wrap_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) noexcept {
    const Request request(__builtin_return_address(0));
    return __wrap_realloc(memory, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
    const Request request(__builtin_return_address(0));
    return __wrap_aligned_alloc(alignment, bytes);
}
int posix_memalign(void** out, size_t alignment, size_t bytes) noexcept {
    const Request request(__builtin_return_address(0));
    return __wrap_posix_memalign(out, alignment, bytes);
}
void free(void* memory) noexcept { __wrap_free(memory); }
void* mmap(void* at, size_t bytes, int protection, int flags, int descriptor,
           off_t offset) noexcept {
    const Request request(__builtin_return_address(0));
    return __wrap_mmap(at, bytes, protection, flags, descriptor, offset);
}
int munmap(void* at, size_t bytes) noexcept { return __wrap_munmap(at, bytes); }
int mlock2(const void* at, size_t bytes, unsigned flags) noexcept {
    const Request request(__builtin_return_address(0));
    return __wrap_mlock2(at, bytes, flags);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* user) noexcept {
    const Request request(__builtin_return_address(0));
    return __wrap_pthread_create(thread, attributes, run, user);
}
ssize_t getrandom(void* out, size_t bytes, unsigned flags) {
    const Request request(__builtin_return_address(0));
    return __wrap_getrandom(out, bytes, flags);
}
}

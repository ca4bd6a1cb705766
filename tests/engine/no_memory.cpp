// Replaces operator new of this program; it can be made to fail.
#include "engine/no_memory.h"

#include <malloc.h>

#include <cstdlib>
#include <new>

namespace tests {
thread_local long requests_met = -1;
thread_local bool refused_once = false;
thread_local void (*before_free)(const void*, size_t) = nullptr;
}  // namespace tests

namespace {

__attribute__((noinline)) void* allocated(size_t bytes) {
    if (tests::requests_met == 0) {
        if (tests::refused_once) tests::requests_met = -1;
        return nullptr;
    }
    if (tests::requests_met > 0) --tests::requests_met;
    return std::malloc(bytes == 0 ? 1 : bytes);
}

void* allocated_or_throw(size_t bytes) {
    void* const memory = allocated(bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
// A separate function, so that the compiler does not pair this free with a new elsewhere.
__attribute__((noinline)) void give_back(void* memory) {
    if (tests::before_free != nullptr && memory != nullptr)
        tests::before_free(memory, malloc_usable_size(memory));
    std::free(memory);
}

}  // namespace

void* operator new(size_t bytes) { return allocated_or_throw(bytes); }
// The library's version would call the one above; AddressSanitizer's does not.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return allocated(bytes); }
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, size_t) noexcept { give_back(memory); }

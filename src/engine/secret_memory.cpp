// Secret pages by mmap(2), mlock(2) and madvise(2).
#include "engine/secret_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include "core/secret.h"

namespace warpseal {

bool SecretMemory::allocate(size_t bytes, AfterFork after) {
    reset();
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    bytes = (bytes + page - 1) / page * page;
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return false;
    // Best effort, all: an unprivileged process may lock little, and must still be able to encrypt; kernels before 4.14 wipe nothing.
    (void)mlock(pages, bytes);
    (void)madvise(pages, bytes, MADV_DONTDUMP);
    if (after == AfterFork::wiped) (void)madvise(pages, bytes, MADV_WIPEONFORK);
    pages_ = pages;
    bytes_ = bytes;
    return true;
}

void SecretMemory::reset() {
    if (pages_ == nullptr) return;
    wipe(pages_, bytes_);
    (void)munmap(pages_, bytes_);
    pages_ = nullptr;
    bytes_ = 0;
}

}  // namespace warpseal

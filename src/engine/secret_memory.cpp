// Secret pages by mmap(2), mlock(2) and madvise(2). Not wiped on fork: a child that enciphers under an all-zero schedule gives its data
// away.
#include "engine/secret_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include "core/secret.h"

namespace warpseal {

bool SecretMemory::allocate(size_t bytes) {
    reset();
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    bytes = (bytes + page - 1) / page * page;
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return false;
    // Best effort, both: an unprivileged process may lock little, and must still be able to encrypt.
    (void)mlock(pages, bytes);
    (void)madvise(pages, bytes, MADV_DONTDUMP);
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

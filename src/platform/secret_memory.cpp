// Secret pages from mmap(2), mlock2(2) and madvise(2), and cells on shared pages.
#include "platform/secret_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include "core/secret.h"
#include "platform/forks.h"

namespace warpseal {
namespace {

size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

// Maps `bytes` bytes at a multiple of `alignment`, which is a multiple of the page size.
void* map(size_t bytes, size_t alignment, SecretMemory::AfterFork after) {
    const size_t spare = alignment - page_bytes();
    void* const mapped =
        mmap(nullptr, bytes + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    auto* const begin = static_cast<uint8_t*>(mapped);
    const size_t skipped = (alignment - reinterpret_cast<uintptr_t>(begin) % alignment) % alignment;
    if (skipped != 0) (void)munmap(begin, skipped);
    if (skipped != spare) (void)munmap(begin + skipped + bytes, spare - skipped);
    void* const pages = begin + skipped;
    // Best effort: an unprivileged process may lock little memory and must still work. Kernels
    // before 4.14 do not support MADV_WIPEONFORK.
    // The kernel locks each page when it is first touched. Touching all pages here would take 5 us
    // a page on a virtual machine, and other threads could not map memory meanwhile.
    (void)mlock2(pages, bytes, MLOCK_ONFAULT);
    (void)madvise(pages, bytes, MADV_DONTDUMP);
    if (after == SecretMemory::AfterFork::wiped) (void)madvise(pages, bytes, MADV_WIPEONFORK);
    return pages;
}

// Keys come and go with connections, thousands at once. A mapping for each would take microseconds,
// a locked page, and eventually all mappings that a process may have.
// So memory of similar sizes shares slabs, divided into cells.
class Slabs {
public:
    static constexpr size_t most_bytes = 8192;  // maximum cell size

    void* take(size_t bytes) {
        const size_t kind = (bytes + grain - 1) / grain;
        const std::lock_guard lock(mutex_);
        if (with_space_[kind] == nullptr && !add(kind)) return nullptr;
        Slab& slab = *with_space_[kind];
        void* cell = slab.free;
        if (cell != nullptr) {
            memcpy(&slab.free, cell, sizeof slab.free);
            memset(cell, 0, sizeof slab.free);
        } else {
            cell = reinterpret_cast<uint8_t*>(&slab) + slab.untouched;
            slab.untouched += slab.cell_bytes;
        }
        ++slab.used;
        if (!slab.has_room()) unlink(kind, slab);
        return cell;
    }

    void give(void* cell) {
        Slab& slab =
            *reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(cell) / slab_bytes * slab_bytes);
        wipe(cell, slab.cell_bytes);
        const size_t kind = slab.cell_bytes / grain;
        const std::lock_guard lock(mutex_);
        if (!slab.has_room()) link(kind, slab);
        memcpy(cell, &slab.free, sizeof slab.free);
        slab.free = cell;
        // Keep one empty slab for the next allocation.
        if (--slab.used != 0 || (with_space_[kind] == &slab && slab.after == nullptr)) return;
        unlink(kind, slab);
        (void)munmap(&slab, slab_bytes);
    }

private:
    static constexpr size_t slab_bytes = size_t{64} << 10;
    static constexpr size_t grain = 64;

    struct alignas(grain) Slab {  // header of a slab
        Slab *before, *after;     // list of slabs with room
        void* free;               // list of freed cells, each of which holds the next pointer
        uint32_t cell_bytes, used;
        size_t untouched;

        bool has_room() const { return free != nullptr || untouched + cell_bytes <= slab_bytes; }
    };
    static_assert(sizeof(Slab) == grain);

    // A slab is aligned to its size, so that a cell's address identifies it.
    bool add(size_t kind) {
        void* const pages = map(slab_bytes, slab_bytes, SecretMemory::AfterFork::copied);
        if (pages == nullptr) return false;
        Slab& slab = *static_cast<Slab*>(pages);
        slab.cell_bytes = static_cast<uint32_t>(kind * grain);
        slab.untouched = sizeof slab;
        link(kind, slab);
        return true;
    }
    void link(size_t kind, Slab& slab) {
        slab.before = nullptr;
        slab.after = with_space_[kind];
        if (slab.after != nullptr) slab.after->before = &slab;
        with_space_[kind] = &slab;
    }
    void unlink(size_t kind, Slab& slab) {
        (slab.before == nullptr ? with_space_[kind] : slab.before->after) = slab.after;
        if (slab.after != nullptr) slab.after->before = slab.before;
    }

    ForkMutex mutex_;
    Slab* with_space_[most_bytes / grain + 1] = {};
};

WARPSEAL_AT_LOAD AtLoad<Slabs> slabs;

}  // namespace

void SecretMemory::measure(size_t bytes, AfterFork after) {
    const size_t page = page_bytes();
    cell_ = after == AfterFork::copied && bytes != 0 && bytes <= Slabs::most_bytes;
    bytes_ = (bytes + page - 1) / page * page;
}

bool SecretMemory::allocate(size_t bytes, AfterFork after) {
    reset();
    measure(bytes, after);
    memory_ = cell_ ? slabs->take(bytes) : map(bytes_, page_bytes(), after);
    return memory_ != nullptr;
}

void* SecretMemory::release() {
    void* const memory = memory_;
    memory_ = nullptr;
    return memory;
}

void SecretMemory::adopt(void* memory, size_t bytes, AfterFork after) {
    reset();
    measure(bytes, after);
    memory_ = memory;
}

void SecretMemory::reset() {
    if (memory_ == nullptr) return;
    if (cell_) {
        slabs->give(memory_);
    } else {
        wipe(memory_, bytes_);
        (void)munmap(memory_, bytes_);
    }
    memory_ = nullptr;
}

}  // namespace warpseal

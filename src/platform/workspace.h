// Workspaces for calls that handle secrets. Reused, because mapping pages costs more than a small
// call; zeroized after each use.
#pragma once

#include <memory>

#include "platform/forks.h"
#include "platform/secret_memory.h"

namespace warpseal {

class Workspaces {
    struct Space {
        SecretMemory memory;
        size_t bytes = 0;
        Space* next = nullptr;  // in the free list
    };

public:
    Workspaces() = default;
    ~Workspaces();
    Workspaces(const Workspaces&) = delete;
    Workspaces& operator=(const Workspaces&) = delete;

    // A workspace in use. The destructor zeroizes and returns it, without allocating, so it cannot
    // fail.
    class Lease {
    public:
        Lease() = default;
        Lease(Lease&&) = default;
        Lease& operator=(Lease&&) = delete;
        ~Lease();
        void* data() const { return space_->memory.data(); }  // page-aligned
        explicit operator bool() const { return space_ != nullptr; }

    private:
        friend class Workspaces;
        Workspaces* owner_ = nullptr;
        std::unique_ptr<Space> space_;
        size_t used_ = 0;
    };

    Lease lease(size_t bytes);  // converts to false if out of memory

private:
    static constexpr size_t most_kept = 256;
    Space* reuse(size_t bytes);  // null if none is large enough

    ForkMutex mutex_;
    Space* free_ = nullptr;
    size_t kept_ = 0;
};

}  // namespace warpseal

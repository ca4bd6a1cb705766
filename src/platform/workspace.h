// Work space for calls that deal in secrets: kept between calls, as pages cost more to come by than
// a small call, and wiped after each.
#pragma once

#include <memory>

#include "platform/forks.h"
#include "platform/secret_memory.h"

namespace warpseal {

class Workspaces {
    struct Space {
        SecretMemory memory;
        size_t bytes = 0;
        Space* next = nullptr;  // of the free ones
    };

public:
    Workspaces() = default;
    ~Workspaces();
    Workspaces(const Workspaces&) = delete;
    Workspaces& operator=(const Workspaces&) = delete;

    // Some of it, until it goes: wiped then, and given back. Giving back allocates nothing, so it
    // cannot fail.
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

    Lease lease(size_t bytes);  // false: out of memory

private:
    static constexpr size_t most_kept = 256;
    Space* reuse(size_t bytes);  // null: none is large enough

    ForkMutex mutex_;
    Space* free_ = nullptr;
    size_t kept_ = 0;
};

}  // namespace warpseal

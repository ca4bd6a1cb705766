// Processes with threads at work that fork over and over, and what becomes of their children.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace forks {

// What one such process does. It is made there, so that whatever happens at first use happens under
// forks.
class Work {
public:
    static constexpr size_t threads = 4;

    virtual ~Work() = default;
    // On one of its threads, again and again, while the first thread forks. False: it went wrong.
    virtual bool load(size_t thread) = 0;
    virtual bool child(uint64_t number) = 0;
};

struct Outcome {
    uint64_t children = 0;
    uint64_t hung =
        0;  // ended by their alarm; a process that cannot fork or end its threads counts too
    uint64_t wrong = 0;  // children and turns of load
};

// As many children as WARPSEAL_FORKS says, else `usual`. Each has WARPSEAL_FORKS_SECONDS, or 120;
// who hangs says where.
Outcome children_of(std::unique_ptr<Work> (*make)(), uint64_t usual);

}  // namespace forks

// Processes with running threads that fork repeatedly, and the results of their children.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace forks {

// The work of one such process. It is constructed there, so that first uses happen during forks.
class Work {
public:
    static constexpr size_t threads = 4;

    virtual ~Work() = default;
    // Called repeatedly on one of its threads while the first thread forks. Returns false if a
    // result is wrong.
    virtual bool load(size_t thread) = 0;
    virtual bool child(uint64_t number) = 0;
};

struct Outcome {
    uint64_t children = 0;
    uint64_t hung =
        0;  // ended by their alarm; includes processes that cannot fork or end their threads
    uint64_t wrong = 0;  // children and load calls
};

// Runs WARPSEAL_FORKS children, or `usual` by default. Each has WARPSEAL_FORKS_SECONDS, or 120; one
// that hangs reports its position.
Outcome children_of(std::unique_ptr<Work> (*make)(), uint64_t usual);

}  // namespace forks

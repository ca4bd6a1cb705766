// How long each thread of this process ran on a core while something was done, by the kernel's own
// account.
#pragma once

#include <chrono>
#include <map>
#include <vector>

namespace warpseal::papers {

class ThreadUse {
public:
    ThreadUse();  // begins
    // Since then: each thread's share of the time on a core, the busiest first, without those below
    // a hundredth. Empty where the kernel keeps no account (/proc/PID/task/TID/schedstat).
    std::vector<double> shares() const;

private:
    using Nanoseconds = std::map<int, double>;  // by thread
    static Nanoseconds on_core();
    const Nanoseconds before_;
    const std::chrono::steady_clock::time_point begin_;
};

}  // namespace warpseal::papers

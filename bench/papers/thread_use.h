// CPU time of each thread of this process during a piece of work, as accounted by the kernel.
#pragma once

#include <chrono>
#include <map>
#include <vector>

namespace warpseal::papers {

class ThreadUse {
public:
    ThreadUse();  // starts the measurement
    // Returns each thread's fraction of the elapsed time on a core, busiest first, without those
    // below a hundredth. Empty if the kernel does not account it (/proc/PID/task/TID/schedstat).
    std::vector<double> shares() const;

private:
    using Nanoseconds = std::map<int, double>;  // by thread
    static Nanoseconds on_core();
    const Nanoseconds before_;
    const std::chrono::steady_clock::time_point begin_;
};

}  // namespace warpseal::papers

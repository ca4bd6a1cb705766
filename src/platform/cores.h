// How many threads this process may keep busy: its CPU affinity and the quotas of its control
// groups.
#pragma once

#include <functional>
#include <string>

namespace warpseal {

// At least 1.
unsigned usable_cores();

// CPUs' worth of time that the control groups grant, rounded up; 0: no limit. cgroups and mounts:
// the text of /proc/self/cgroup and /proc/self/mountinfo; read: a file's text, "" if it cannot be
// read. Both versions, and every group up to the root, count.
unsigned quota_cores(const std::string& cgroups, const std::string& mounts,
                     const std::function<std::string(const std::string&)>& read);

}  // namespace warpseal

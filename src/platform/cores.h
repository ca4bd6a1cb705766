// Number of threads that this process may keep busy, by CPU affinity and cgroup quotas.
#pragma once

#include <functional>
#include <string>

namespace warpseal {

// Returns at least 1.
unsigned usable_cores();

// Returns the CPU quota of the cgroups in CPUs, rounded up; 0 if unlimited. Considers both cgroup
// versions and every group up to the root.
// cgroups, mounts: contents of /proc/self/cgroup and /proc/self/mountinfo. read: returns a file's
// contents, or "" if unreadable.
unsigned quota_cores(const std::string& cgroups, const std::string& mounts,
                     const std::function<std::string(const std::string&)>& read);

}  // namespace warpseal

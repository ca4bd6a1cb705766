// Number of threads that this process may keep busy, by CPU affinity and cgroup quotas.
#pragma once

#include <functional>
#include <string>

namespace warpseal {

// Returns a file's contents, or "" if it is unreadable.
using FileReader = std::function<std::string(const std::string&)>;

// Returns at least 1.
unsigned usable_cores();
// Takes the cgroup quota from `read`, in place of the machine's files.
unsigned usable_cores(const FileReader& read);

// Returns the CPU quota of the cgroups in CPUs, rounded up; 0 if unlimited. Considers both cgroup
// versions and every group up to the root.
// cgroups, mounts: contents of /proc/self/cgroup and /proc/self/mountinfo.
unsigned quota_cores(const std::string& cgroups, const std::string& mounts, const FileReader& read);

}  // namespace warpseal

// Affinity by sched_getaffinity(2), quotas by cgroups(7): cpu.max in version 2, cpu.cfs_quota_us and cpu.cfs_period_us in version 1.
#include "engine/cores.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

namespace warpseal {
namespace {

std::string read_file(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    if (file) text << file.rdbuf();
    return text.str();
}

bool has_word(const std::string& list, const std::string& word) { return ("," + list + ",").find("," + word + ",") != std::string::npos; }

unsigned whole_cores(long long quota, long long period) {
    if (quota <= 0 || period <= 0) return 0;
    return static_cast<unsigned>(std::clamp<long long>((quota + period - 1) / period, 1, 1 << 16));
}

struct Mount {
    std::string root, point;
    bool unified = false;
};

// mountinfo: id parent device ROOT POINT options [tags…] - TYPE source SUPEROPTIONS (proc(5)).
bool cpu_mount(const std::string& line, Mount& mount) {
    std::istringstream words(line);
    std::string skip, type, source, options;
    words >> skip >> skip >> skip >> mount.root >> mount.point;
    while (words >> skip && skip != "-") {
    }
    words >> type >> source >> options;
    mount.unified = type == "cgroup2";
    return mount.unified || (type == "cgroup" && has_word(options, "cpu"));
}

// The group's path below the mount's root: a container sees its own group as the root of the mount.
std::string below(const std::string& group, const std::string& root) {
    if (root == "/" || root.empty()) return group;
    if (group.compare(0, root.size(), root) == 0) return group.substr(root.size());
    return "";
}

}  // namespace

unsigned quota_cores(const std::string& cgroups, const std::string& mounts, const std::function<std::string(const std::string&)>& read) {
    unsigned least = 0;
    std::istringstream lines(mounts);
    for (std::string line; std::getline(lines, line);) {
        Mount mount;
        if (!cpu_mount(line, mount)) continue;
        std::istringstream groups(cgroups);
        for (std::string entry; std::getline(groups, entry);) {  // number:controllers:path
            const size_t first = entry.find(':');
            const size_t second = first == std::string::npos ? first : entry.find(':', first + 1);
            if (second == std::string::npos) continue;
            const std::string controllers = entry.substr(first + 1, second - first - 1);
            if (mount.unified ? !controllers.empty() : !has_word(controllers, "cpu")) continue;
            std::string path = below(entry.substr(second + 1), mount.root);
            while (true) {
                if (path == "/") path.clear();
                const std::string folder = mount.point + path;
                long long quota = 0, period = 0;
                if (mount.unified) {  // "max 100000" leaves the quota at 0
                    std::istringstream(read(folder + "/cpu.max")) >> quota >> period;
                } else {
                    std::istringstream(read(folder + "/cpu.cfs_quota_us")) >> quota;
                    std::istringstream(read(folder + "/cpu.cfs_period_us")) >> period;
                }
                if (const unsigned cores = whole_cores(quota, period)) least = least == 0 ? cores : std::min(least, cores);
                if (path.empty()) break;
                path.erase(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
            }
        }
    }
    return least;
}

unsigned usable_cores() {
    unsigned cores = 0;
    // The kernel refuses sets smaller than its own: grow until it fits.
    for (int cpus = 1024; cores == 0 && cpus <= 1 << 18; cpus *= 2) {
        cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(cpus));
        if (set == nullptr) break;
        const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(cpus));
        if (sched_getaffinity(0, bytes, set) == 0) cores = static_cast<unsigned>(CPU_COUNT_S(bytes, set));
        CPU_FREE(set);
    }
    if (cores == 0) cores = std::max(1u, std::thread::hardware_concurrency());
    const unsigned quota = quota_cores(read_file("/proc/self/cgroup"), read_file("/proc/self/mountinfo"), read_file);
    return quota == 0 ? cores : std::min(cores, quota);
}

}  // namespace warpseal

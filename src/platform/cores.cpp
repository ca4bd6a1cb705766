// Reads the affinity with sched_getaffinity(2), and quotas from cgroups(7): cpu.max in version 2,
// cpu.cfs_quota_us and cpu.cfs_period_us in version 1.
#include "platform/cores.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <thread>

namespace warpseal {
namespace {

struct Closed {
    const int file;
    ~Closed() { (void)close(file); }
};

// Reads a file without iostreams: if the program has set a locale, each stream takes a lock of the
// C++ runtime, which a fork can leave held.
std::string read_file(const std::string& path) {
    std::string text;
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return text;
    const Closed closed{file};  // also when no memory for the text is left
    char some[4096];
    ssize_t got;
    while ((got = ::read(file, some, sizeof some)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0) text.append(some, static_cast<size_t>(got));
    return text;
}

// Removes and returns the text before `end`, or all of it. Also removes `end`.
std::string_view cut(std::string_view& text, char end) {
    const std::string_view first = text.substr(0, text.find(end));
    text.remove_prefix(std::min(text.size(), first.size() + 1));
    return first;
}

// Removes and returns the next word; empty if there is none. Words are separated by blanks.
std::string_view next_word(std::string_view& text) {
    constexpr const char* blanks = " \t\n";
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(blanks)));
    const std::string_view word = text.substr(0, text.find_first_of(blanks));
    text.remove_prefix(word.size());
    return word;
}

// Removes and returns the next number; 0 if the next word is not a number.
long long next_number(std::string_view& text) {
    const std::string_view word = next_word(text);
    long long number = 0;
    (void)std::from_chars(word.data(), word.data() + word.size(), number);
    return number;
}

bool has_word(std::string_view list, std::string_view word) {
    while (!list.empty())
        if (cut(list, ',') == word) return true;
    return false;
}

unsigned whole_cores(long long quota, long long period) {
    if (quota <= 0 || period <= 0) return 0;
    return static_cast<unsigned>(std::clamp<long long>((quota + period - 1) / period, 1, 1 << 16));
}

struct Mount {
    std::string root, point;
    bool unified = false;
};

// mountinfo: id parent device ROOT POINT options [tags…] - TYPE source SUPEROPTIONS (proc(5)).
bool cpu_mount(std::string_view line, Mount& mount) {
    for (int i = 0; i < 3; ++i) (void)next_word(line);
    mount.root = next_word(line);
    mount.point = next_word(line);
    for (std::string_view tag = next_word(line); !tag.empty() && tag != "-";) tag = next_word(line);
    const std::string_view type = next_word(line), source = next_word(line),
                           options = next_word(line);
    (void)source;
    mount.unified = type == "cgroup2";
    return mount.unified || (type == "cgroup" && has_word(options, "cpu"));
}

// Returns the group's path below the mount's root. A container sees its own group as the root of
// the mount.
std::string below(const std::string& group, const std::string& root) {
    if (root == "/" || root.empty()) return group;
    if (group.compare(0, root.size(), root) == 0) return group.substr(root.size());
    return "";
}

}  // namespace

unsigned quota_cores(const std::string& cgroups, const std::string& mounts,
                     const FileReader& read) {
    unsigned least = 0;
    for (std::string_view lines = mounts; !lines.empty();) {
        Mount mount;
        if (!cpu_mount(cut(lines, '\n'), mount)) continue;
        for (std::string_view groups = cgroups; !groups.empty();) {
            std::string_view entry = cut(groups, '\n');  // number:controllers:path
            if (std::count(entry.begin(), entry.end(), ':') < 2) continue;
            (void)cut(entry, ':');
            const std::string_view controllers = cut(entry, ':');
            if (mount.unified ? !controllers.empty() : !has_word(controllers, "cpu")) continue;
            std::string path = below(std::string(entry), mount.root);
            while (true) {
                if (path == "/") path.clear();
                const std::string folder = mount.point + path;
                const std::string limits = mount.unified
                                               ? read(folder + "/cpu.max")
                                               : read(folder + "/cpu.cfs_quota_us") + " " +
                                                     read(folder + "/cpu.cfs_period_us");
                std::string_view numbers = limits;
                const long long quota = next_number(numbers),
                                period = next_number(numbers);  // 0 for "max 100000"
                if (const unsigned cores = whole_cores(quota, period))
                    least = least == 0 ? cores : std::min(least, cores);
                if (path.empty()) break;
                path.erase(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
            }
        }
    }
    return least;
}

unsigned usable_cores() { return usable_cores(read_file); }

unsigned usable_cores(const FileReader& read) {
    unsigned cores = 0;
    // The kernel rejects a set smaller than its own, so grow it until it fits.
    for (int cpus = 1024; cores == 0 && cpus <= 1 << 18; cpus *= 2) {
        cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(cpus));
        if (set == nullptr) break;
        const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(cpus));
        if (sched_getaffinity(0, bytes, set) == 0)
            cores = static_cast<unsigned>(CPU_COUNT_S(bytes, set));
        CPU_FREE(set);
    }
    if (cores == 0) cores = std::max(1u, std::thread::hardware_concurrency());
    const unsigned quota =
        quota_cores(read("/proc/self/cgroup"), read("/proc/self/mountinfo"), read);
    return quota == 0 ? cores : std::min(cores, quota);
}

}  // namespace warpseal

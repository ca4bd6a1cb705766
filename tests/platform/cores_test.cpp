// Cores that this process may use: quotas of both cgroup versions, and affinity.
#include "platform/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <map>
#include <string>

namespace {

using Files = std::map<std::string, std::string>;

unsigned quota(const std::string& groups, const std::string& mounts, const Files& files) {
    return warpseal::quota_cores(groups, mounts, [&](const std::string& path) {
        const auto found = files.find(path);
        return found == files.end() ? std::string() : found->second;
    });
}

const char* const unified =
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
const char* const first_version =
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n";

TEST(Cores, UnifiedGroups) {
    const std::string group = "0::/a/b\n";
    EXPECT_EQ(quota(group, unified, {}), 0u);
    EXPECT_EQ(quota(group, unified, {{"/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"}}), 0u);
    EXPECT_EQ(quota(group, unified, {{"/sys/fs/cgroup/a/b/cpu.max", "200000 100000\n"}}), 2u);
    EXPECT_EQ(quota(group, unified, {{"/sys/fs/cgroup/a/b/cpu.max", "150000 100000\n"}}), 2u);
    EXPECT_EQ(quota(group, unified, {{"/sys/fs/cgroup/a/b/cpu.max", "1000 100000\n"}}), 1u);
    EXPECT_EQ(quota(group, unified,
                    {{"/sys/fs/cgroup/a/b/cpu.max", "400000 100000\n"},
                     {"/sys/fs/cgroup/a/cpu.max", "300000 100000\n"}}),
              3u);
}

TEST(Cores, TheSmallestQuotaOfAllGroupsCounts) {
    EXPECT_EQ(quota("0::/a/b\n", unified,
                    {{"/sys/fs/cgroup/a/b/cpu.max", "200000 100000\n"},
                     {"/sys/fs/cgroup/a/cpu.max", "300000 100000\n"}}),
              2u);
}

TEST(Cores, AGroupOfTheFirstVersionIsNotInTheUnifiedMount) {
    EXPECT_EQ(quota("2:cpu:/old\n0::/new\n", unified,
                    {{"/sys/fs/cgroup/old/cpu.max", "100000 100000\n"}}),
              0u);
}

TEST(Cores, InsideAContainer) {  // the namespace's root is the mount's root
    EXPECT_EQ(quota("0::/\n", unified, {{"/sys/fs/cgroup/cpu.max", "100000 50000\n"}}), 2u);
    const char* const bound = "30 23 0:26 /docker/x /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
    EXPECT_EQ(quota("0::/docker/x\n", bound, {{"/sys/fs/cgroup/cpu.max", "500000 100000\n"}}), 5u);
}

TEST(Cores, FirstVersionGroups) {
    const std::string groups = "3:memory:/m\n2:cpu,cpuacct:/a\n0::/\n";
    EXPECT_EQ(quota(groups, first_version,
                    {{"/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "-1\n"},
                     {"/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"}}),
              0u);
    EXPECT_EQ(quota(groups, first_version,
                    {{"/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "250000\n"},
                     {"/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"}}),
              3u);
}

TEST(Cores, InvalidTextIsIgnored) {
    for (const char* text : {"", "\n", ":::\n", "0::", "garbage", "- - - -\n"}) {
        EXPECT_EQ(quota(text, unified, {}), 0u);
        EXPECT_EQ(quota("0::/a\n", text, {}), 0u);
    }
}

TEST(Cores, AffinityCounts) {
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    EXPECT_LE(warpseal::usable_cores(), static_cast<unsigned>(CPU_COUNT(&before)));
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
        if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(warpseal::usable_cores(), 1u);
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

// Needs two CPUs: with one, a quota changes nothing.
TEST(Cores, TheSmallerOfQuotaAndAffinityCounts) {
    const auto with = [](const std::string& limit) {
        return warpseal::usable_cores([&](const std::string& path) -> std::string {
            if (path == "/proc/self/cgroup") return "0::/a\n";
            if (path == "/proc/self/mountinfo") return unified;
            return path == "/sys/fs/cgroup/a/cpu.max" ? limit : "";
        });
    };
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    const auto cpus = static_cast<unsigned>(CPU_COUNT(&allowed));
    EXPECT_EQ(with("max 100000\n"), cpus);
    EXPECT_EQ(with("99900000 100000\n"), std::min(cpus, 999u));
    EXPECT_EQ(with("100000 100000\n"), 1u);
}

}  // namespace

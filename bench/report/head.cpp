// Head of a report.
#include "bench/report/head.h"

#include <openssl/crypto.h>
#include <sched.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>

#include "bench/report/clocks.h"
#include "bench/report/figures.h"
#include "bench_commit.h"
#include "cli/support/format.h"
#include "warpseal/warpseal.h"

namespace warpseal::bench {
namespace {

std::string cpu_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
    return "unknown";
}

int core_count() {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

std::string now_utc() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

}  // namespace

nlohmann::ordered_json json_head(const std::string& gpu_device, std::optional<double> seconds) {
    utsname system{};
    uname(&system);
    nlohmann::ordered_json head{{"machine", cli::format("{}, {} cores", cpu_name(), core_count())},
                                {"gpu", nullptr},
                                {"driver", nullptr},
                                {"date", now_utc()},
                                {"commit", WARPSEAL_COMMIT},
                                {"warpseal", warpseal_version()},
                                {"openssl", OpenSSL_version(OPENSSL_VERSION)},
                                {"cpu", cpu_name()},
                                {"cores", core_count()},
                                {"system", cli::format("{} {}", system.sysname, system.release)},
                                {"repetitions", bench_repetitions}};
    if (seconds) head["seconds"] = *seconds;
    warpseal_device_info gpu{};
    const size_t colon = gpu_device.find(':');
    // first of several GPUs
    const size_t index = colon == std::string::npos ? 0 : std::stoul(gpu_device.substr(colon + 1));
    if (!gpu_device.empty() && warpseal_device_at(index, &gpu) == WARPSEAL_OK) {
        head["gpu"] = gpu.name;
        head["driver"] = gpu.driver;
        head["gpu_compute_capability"] = gpu.compute_capability;
        head["gpu_multiprocessors"] = gpu.multiprocessors;
        head["gpu_memory_bytes"] = gpu.memory_bytes;
        head["gpu_shared_bytes_per_block"] = gpu.shared_bytes_per_block;
        if (const auto clocks = gpu_clocks(index)) {
            head["gpu_clock_megahertz"] = clocks->megahertz;
            head["gpu_memory_bytes_per_second"] = clocks->memory_bytes_per_second;
        }
        head["machine"] = cli::format("{}, {}", head["machine"].get<std::string>(), gpu.name);
    }
    return head;
}

}  // namespace warpseal::bench

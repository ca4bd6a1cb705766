// CPU time by getrusage.
#include "bench/papers/cpu_time.h"

#include <sys/resource.h>

namespace warpseal::papers {

double process_cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Load measure_load(const Study& study, uint64_t bytes, const std::function<void()>& call) {
    call();
    const auto begin = std::chrono::steady_clock::now();
    const double cpu_before = process_cpu_seconds();
    std::chrono::duration<double> took{};
    uint64_t calls = 0;
    do {
        call();
        ++calls;
        took = std::chrono::steady_clock::now() - begin;
    } while (took.count() < study.options().seconds);
    const double gigabytes = static_cast<double>(calls * bytes) / 1e9;
    return {(process_cpu_seconds() - cpu_before) / gigabytes, gigabytes / took.count()};
}

}  // namespace warpseal::papers

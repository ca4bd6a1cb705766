// CPU time by thread from /proc (proc(5)): the first field of schedstat is nanoseconds on a core.
#include "bench/papers/thread_use.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

namespace warpseal::papers {

ThreadUse::ThreadUse() : before_(on_core()), begin_(std::chrono::steady_clock::now()) {}

ThreadUse::Nanoseconds ThreadUse::on_core() {
    Nanoseconds seen;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
        std::ifstream file(entry.path() / "schedstat");
        double nanoseconds = 0;
        if (file >> nanoseconds) seen[std::stoi(entry.path().filename().string())] = nanoseconds;
    }
    return seen;
}

std::vector<double> ThreadUse::shares() const {
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin_;
    std::vector<double> shares;
    for (const auto& [thread, after] : on_core()) {
        const auto before = before_.find(thread);
        const double share =
            (after - (before == before_.end() ? 0 : before->second)) / took.count();
        if (share >= 0.01) shares.push_back(share);
    }
    std::sort(shares.begin(), shares.end(), std::greater<>());
    return shares;
}

}  // namespace warpseal::papers

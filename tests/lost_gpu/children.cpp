#include "children.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <new>
#include <thread>

namespace lost_gpu {
namespace {

constexpr unsigned longest_seconds = 300;  // a run that takes longer hangs
constexpr size_t most_complaints = 10;

// Each has a context, which takes hundreds of MiB of a real GPU.
unsigned runs_at_once() {
    constexpr unsigned least = 2, most = 8;
    return std::clamp(std::thread::hardware_concurrency() / 2, least, most);
}

[[noreturn]] void child(uint64_t number, Report& run, const Work& work) {
    (void)alarm(longest_seconds);
    watch_in(run.watch);
    std::string complaint;
    try {
        complaint = work(number, run);
    } catch (const std::exception& error) {
        complaint = std::string("it throws: ") + error.what();
    }
    if (complaint.empty() && testing::Test::HasFailure()) complaint = "a check fails, see above";
    std::snprintf(run.complaint, sizeof run.complaint, "%s", complaint.c_str());
    run.is_complete = true;
    (void)std::fflush(nullptr);
    _exit(0);
}

std::string ending(int status, const Report& run) {
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGALRM ? "it hangs"
                                           : std::string("signal ") + strsignal(WTERMSIG(status));
    if (!run.is_complete) return "it exits with " + std::to_string(WEXITSTATUS(status));
    return run.complaint;
}

class Runs {
public:
    Runs(uint64_t count, const Work& work, const Judge& judge)
        : count_(count), work_(work), judge_(judge), at_once_(runs_at_once()) {
        void* const memory = mmap(nullptr, at_once_ * sizeof(Report), PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        runs_ = static_cast<Report*>(memory);
        for (unsigned slot = 0; slot < at_once_; ++slot) free_.push_back(slot);
    }
    ~Runs() { (void)munmap(runs_, at_once_ * sizeof(Report)); }
    Runs(const Runs&) = delete;
    Runs& operator=(const Runs&) = delete;

    std::vector<std::string> all() {
        for (uint64_t number = 0; number < count_; ++number) {
            if (free_.empty()) await_one();
            if (hangs_ || complaints_.size() >= most_complaints) break;
            start(number);
            if (number == 0 && !others_have_the_gpu()) break;
        }
        while (!running_.empty()) await_one();
        return complaints_;
    }

private:
    struct Started {
        uint64_t number;
        unsigned slot;
    };

    void start(uint64_t number) {
        const unsigned slot = free_.back();
        Report& run = *new (runs_ + slot) Report{};
        (void)std::fflush(nullptr);
        const pid_t pid = fork();
        if (pid == 0) child(number, run, work_);
        if (pid < 0) {
            complaints_.push_back(std::string("fork: ") + std::strerror(errno));
            return;
        }
        free_.pop_back();
        running_[pid] = {number, slot};
    }

    // Awaits the first run. It may take the GPU from itself alone, not from the machine.
    bool others_have_the_gpu() {
        await_one();
        const bool have = has_gpu();
        if (!have) complaints_.push_back("after run 0 no process finds the GPU");
        return have;
    }

    void await_one() {
        int status = 0;
        const pid_t pid = wait(&status);
        const auto ended = running_.find(pid);
        if (ended == running_.end()) return;
        const auto [number, slot] = ended->second;
        running_.erase(ended);
        free_.push_back(slot);
        std::string complaint = ending(status, runs_[slot]);
        hangs_ |= WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
        if (complaint.empty()) complaint = judge_(runs_[slot]);
        if (!complaint.empty())
            complaints_.push_back("run " + std::to_string(number) + ": " + complaint);
    }

    const uint64_t count_;
    const Work& work_;
    const Judge& judge_;
    const unsigned at_once_;
    Report* runs_ = nullptr;
    std::vector<unsigned> free_;
    std::map<pid_t, Started> running_;
    bool hangs_ = false;
    std::vector<std::string> complaints_;
};

}  // namespace

std::vector<std::string> in_children(uint64_t count, const Work& work, const Judge& judge) {
    return Runs(count, work, judge).all();
}

bool has_gpu() {
    const pid_t pid = fork();
    if (pid == 0) {
        int count = 0;
        _exit(backend_to_lose()->device_count(&count) == WARPSEAL_OK && count > 0 ? 0 : 1);
    }
    int status = 0;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

uint64_t number_in(const char* variable, uint64_t usual) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

}  // namespace lost_gpu

#include "runner.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "handles.h"
#include "refused.h"

namespace runner {
namespace {

using injection::Fault;

constexpr unsigned longest_seconds = 60;  // a run that takes longer hangs
constexpr int thread_polls = 3000;        // a millisecond apart
constexpr size_t most_complaints = 10;
constexpr size_t at_once = 2;  // runs

// Resources of a child.
struct Held {
    refused::Held memory;
    long threads = 0, descriptors = 0;

    Held operator-(const Held& other) const {
        return {
            {memory.blocks - other.memory.blocks, memory.mapped_bytes - other.memory.mapped_bytes},
            threads - other.threads,
            descriptors - other.descriptors};
    }
    bool is_more_than(const Held& other) const {
        return memory.blocks > other.memory.blocks ||
               memory.mapped_bytes > other.memory.mapped_bytes || threads > other.threads ||
               descriptors > other.descriptors;
    }
};

Held held_now() {
    const auto entries = [](const char* folder) {
        return static_cast<long>(std::distance(std::filesystem::directory_iterator(folder),
                                               std::filesystem::directory_iterator()));
    };
    return {refused::held(), entries("/proc/self/task"), entries("/proc/self/fd")};
}

// Resources held once no more than `threads` threads are left of those begun since `before`. A
// joined thread stays in /proc until the kernel has removed it.
Held held_since(const Held& before, long threads) {
    Held held = held_now() - before;
    for (int i = 0; i < thread_polls && held.threads > threads; ++i) {
        (void)usleep(1000);
        held = held_now() - before;
    }
    return held;
}

// A child's result, in memory that its parent shares.
struct Report {
    const char* function;   // where the fault happened; null: nowhere
    const char* complaint;  // null: none
    warpseal_status status, status_afterwards;
    Held held;  // at the end, when all objects are freed, and not at the beginning
    bool complete;
};

// The work with the fault, and once more without. `threads`: those that it may leave.
[[noreturn]] void child(works::Work work, Fault fault, long number, long threads, Report& report) {
    (void)alarm(longest_seconds);  // SIGALRM ends a hang here
    const Held before = held_now();
    injection::begin(fault, number);
    report.status = work();
    report.complaint = injection::end().complaint;
    report.function = works::failed_function;
    report.status_afterwards = work();
    report.held = held_since(before, threads);
    report.complete = true;
    _exit(0);
}

struct Run {
    pid_t pid = -1;
    int status = 0;
};

std::string ending(const Run& run, const Report& report) {
    if (WIFSIGNALED(run.status))
        return WTERMSIG(run.status) == SIGALRM
                   ? "it hangs"
                   : std::string("signal ") + strsignal(WTERMSIG(run.status));
    if (WEXITSTATUS(run.status) == works::wrong) return "see above";
    if (!report.complete) return "it exits with " + std::to_string(WEXITSTATUS(run.status));
    if (report.complaint != nullptr) return report.complaint;
    if (report.status_afterwards != WARPSEAL_OK)
        return "status " + std::to_string(report.status_afterwards) + " afterwards";
    return "";
}

class Runs {
public:
    explicit Runs(const Named& named, Outcome& outcome)
        : named_(named),
          outcome_(outcome),
          reports_(
              static_cast<Report*>(mmap(nullptr, sizeof(Report) * at_once, PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
    ~Runs() { (void)munmap(reports_, sizeof(Report) * at_once); }
    Runs(const Runs&) = delete;
    Runs& operator=(const Runs&) = delete;

    void every_number(Fault fault) {
        wave(injection::is_of_gpu(fault) ? fault : Fault::nothing, LONG_MAX - 1, 1);
        reference_ = reports_[0].held;
        // The number of requests varies with the threads: consecutive unreached numbers end it.
        for (long number = 0, missed = 0; missed < 4; number += at_once) {
            missed = wave(fault, number, at_once) ? 0 : missed + 2;
            if (outcome_.complaints.size() >= most_complaints) return;
        }
    }

private:
    // Returns true if a fault happened.
    bool wave(Fault fault, long number, size_t count) {
        Run runs[at_once];
        std::memset(static_cast<void*>(reports_), 0, sizeof(Report) * at_once);
        for (size_t i = 0; i < count; ++i) {
            runs[i].pid = fork();
            if (runs[i].pid == 0)
                child(named_.work, fault, number + static_cast<long>(i), reference_.threads,
                      reports_[i]);
        }
        bool happened = false;
        for (size_t i = 0; i < count; ++i) {
            (void)waitpid(runs[i].pid, &runs[i].status, 0);
            happened |= judge(runs[i], fault, number + static_cast<long>(i), reports_[i]);
        }
        return happened;
    }

    bool judge(const Run& run, Fault fault, long number, const Report& report) {
        ++outcome_.runs;
        std::string problem = ending(run, report);
        const bool reference = number == LONG_MAX - 1;
        // The memory of a lost GPU, which is the fake's memory here, is never freed.
        if (problem.empty() && !reference && fault != Fault::gpu_lost &&
            report.held.is_more_than(reference_))
            problem = leak(report.held);
        if (!problem.empty())
            outcome_.complaints.push_back(
                std::string(named_.name) + ", " + injection::name_of(fault) + ", number " +
                std::to_string(number) +
                (report.function == nullptr ? "" : std::string(", in ") + report.function) + ": " +
                problem);
        if (report.function == nullptr) return !report.complete;
        Points& points = outcome_.functions[report.function];
        ++points.points;
        points.statuses += report.status != WARPSEAL_OK;
        return true;
    }

    std::string leak(const Held& held) const {
        const Held more = held - reference_;
        return "it leaks " + std::to_string(more.memory.blocks) + " blocks, " +
               std::to_string(more.memory.mapped_bytes) + " mapped bytes, " +
               std::to_string(more.threads) + " threads, " + std::to_string(more.descriptors) +
               " descriptors";
    }

    const Named& named_;
    Outcome& outcome_;
    Report* const reports_;
    Held reference_;
};

}  // namespace

Outcome run(const Named& named) {
    Outcome outcome;
    Runs runs(named, outcome);
    for (const Fault fault : named.faults)
        if (outcome.complaints.size() < most_complaints) runs.every_number(fault);
    return outcome;
}

}  // namespace runner

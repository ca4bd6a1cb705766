#include "runner.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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

constexpr unsigned longest_seconds = 60;               // a run that takes longer hangs
constexpr unsigned longest_seconds_with_driver = 180;  // which starts in each run
constexpr int thread_polls = 3000;                     // a millisecond apart
constexpr size_t most_complaints = 10;
constexpr size_t most_at_once = 16;  // runs

// The number of a run in which nothing fails.
constexpr long reference_number = LONG_MAX - 1;

bool is_of_real_gpu(Fault fault) {
    return injection::is_of_gpu(fault) && injection::gpu_steps->is_real;
}

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
    Held operator+(const Held& other) const {
        return {
            {memory.blocks + other.memory.blocks, memory.mapped_bytes + other.memory.mapped_bytes},
            threads + other.threads,
            descriptors + other.descriptors};
    }
    bool is_more_than(const Held& other) const {
        return memory.blocks > other.memory.blocks ||
               memory.mapped_bytes > other.memory.mapped_bytes || threads > other.threads ||
               descriptors > other.descriptors;
    }
};

// What a CUDA runtime and driver may hold more of in one run than in another. Memory of the GPU,
// streams and events are counted exactly: GpuSteps::at_end.
constexpr Held driver_slack = {{200, long{64} << 20}, 2, 8};

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
    const bool real = is_of_real_gpu(fault);
    // SIGALRM ends a hang here.
    (void)alarm(real ? longest_seconds_with_driver : longest_seconds);
    const Held before = held_now();
    injection::begin(fault, number);
    report.status = work();
    report.complaint = injection::end().complaint;
    report.function = works::failed_function;
    if (real && fault == Fault::gpu_lost) works::device = "auto";  // the cores go on
    report.status_afterwards = work();
    if (real && report.complaint == nullptr) report.complaint = injection::gpu_steps->at_end();
    report.held = held_since(before, real ? threads + driver_slack.threads : threads);
    report.complete = true;
    _exit(0);
}

struct Run {
    pid_t pid = -1;
    int status = 0;
};

std::string ending(const Run& run, const Report& report, const Named& named, Fault fault) {
    if (WIFSIGNALED(run.status))
        return WTERMSIG(run.status) == SIGALRM
                   ? "it hangs"
                   : std::string("signal ") + strsignal(WTERMSIG(run.status));
    if (WEXITSTATUS(run.status) == works::wrong) return "see above";
    if (!report.complete) return "it exits with " + std::to_string(WEXITSTATUS(run.status));
    if (report.complaint != nullptr) return report.complaint;
    if (named.always_succeeds && report.status != WARPSEAL_OK)
        return "status " + std::to_string(report.status);
    const bool gone = named.needs_gpu && is_of_real_gpu(fault) && fault == Fault::gpu_lost;
    if (report.status_afterwards != WARPSEAL_OK &&
        !(gone && report.status_afterwards == WARPSEAL_NO_DEVICE))
        return "status " + std::to_string(report.status_afterwards) + " afterwards";
    return "";
}

class Runs {
public:
    explicit Runs(const Named& named, Outcome& outcome)
        : named_(named),
          outcome_(outcome),
          reports_(static_cast<Report*>(mmap(nullptr, sizeof(Report) * most_at_once,
                                             PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                                             0))) {}
    ~Runs() { (void)munmap(reports_, sizeof(Report) * most_at_once); }
    Runs(const Runs&) = delete;
    Runs& operator=(const Runs&) = delete;

    void every_number(Fault fault) {
        const bool of_gpu = injection::is_of_gpu(fault);
        const size_t at_once = of_gpu ? injection::gpu_steps->at_once : 2;
        wave(of_gpu ? fault : Fault::nothing, {reference_number});
        reference_ = reports_[0].held;
        if (is_of_real_gpu(fault)) reference_ = reference_ + driver_slack;
        if (of_gpu && injection::gpu_steps->numbers != nullptr)
            return these(fault, injection::gpu_steps->numbers(), at_once);
        // The number of requests varies with the threads: consecutive unreached numbers end it.
        for (long number = 0, missed = 0; missed < 4; number += 2) {
            missed = wave(fault, {number, number + 1}) ? 0 : missed + 2;
            if (outcome_.complaints.size() >= most_complaints) return;
        }
    }

private:
    void these(Fault fault, const std::vector<long>& numbers, size_t at_once) {
        for (size_t at = 0; at < numbers.size(); at += at_once) {
            const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(at);
            const size_t some = std::min(at_once, numbers.size() - at);
            wave(fault, {begin, begin + static_cast<std::ptrdiff_t>(some)});
            if (outcome_.complaints.size() >= most_complaints) return;
        }
    }

    // Returns true if a fault happened.
    bool wave(Fault fault, const std::vector<long>& numbers) {
        Run runs[most_at_once];
        std::memset(static_cast<void*>(reports_), 0, sizeof(Report) * most_at_once);
        for (size_t i = 0; i < numbers.size(); ++i) {
            runs[i].pid = fork();
            if (runs[i].pid == 0)
                child(named_.work, fault, numbers[i], reference_.threads, reports_[i]);
        }
        bool happened = false;
        for (size_t i = 0; i < numbers.size(); ++i) {
            (void)waitpid(runs[i].pid, &runs[i].status, 0);
            happened |= judge(runs[i], fault, numbers[i], reports_[i]);
        }
        return happened;
    }

    bool judge(const Run& run, Fault fault, long number, const Report& report) {
        ++outcome_.runs;
        std::string problem = ending(run, report, named_, fault);
        const bool reference = number == reference_number;
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

// Uses a process for some of the children, so that first uses recur, and an alarm for each.
#include "children.h"

#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <random>
#include <thread>
#include <vector>

namespace forks {
namespace {

constexpr uint64_t least_of_a_process = 40, most_processes = 40, enough_hung = 3;
constexpr unsigned usual_seconds = 120, slots_per_call_limit = 4, longest_pause_us = 400;

uint64_t number_in(const char* variable, uint64_t usual) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

unsigned seconds() {
    static const auto limit =
        static_cast<unsigned>(number_in("WARPSEAL_FORKS_SECONDS", usual_seconds));
    return limit;
}

// Written by all processes.
struct Counts {
    std::atomic<uint64_t> children{0}, hung{0}, wrong{0};
};

void say_where(int number) {
    void* frames[64];
    constexpr char hangs[] = "hangs:\n", crashes[] = "crashes:\n";
    (void)!(number == SIGALRM ? write(STDERR_FILENO, hangs, sizeof hangs - 1)
                              : write(STDERR_FILENO, crashes, sizeof crashes - 1));
    backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
    (void)raise(number);  // again, which ends it
}

void watch_signals() {
    void* frames[1];
    (void)backtrace(frames, 1);  // loads its libraries now, not in a handler
    struct sigaction action {};
    action.sa_handler = say_where;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    for (const int number : {SIGALRM, SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE})
        sigaction(number, &action, nullptr);
    sigset_t alarm_alone;
    sigemptyset(&alarm_alone);
    sigaddset(&alarm_alone, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarm_alone, nullptr);
}

// Starts a thread with signals blocked: a process's alarm goes to its first thread, which prints
// the report.
std::thread thread_that(const std::function<void()>& work) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread made(work);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return made;
}

void await_one(Counts& counts) {
    int status = 0;
    if (wait(&status) < 0) return;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        ++counts.hung;
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        ++counts.wrong;
}

// Runs a process that forks `some` children, from number `first` on.
void fork_under_load(std::unique_ptr<Work> work, uint64_t first, uint64_t some, Counts& counts) {
    std::atomic<bool> enough{false};
    std::vector<std::thread> threads;
    for (size_t i = 0; i < Work::threads; ++i)
        threads.push_back(thread_that([&, i] {
            while (!enough.load(std::memory_order_relaxed)) counts.wrong += work->load(i) ? 0 : 1;
        }));
    std::minstd_rand random(static_cast<unsigned>(first + 1));
    unsigned running = 0;
    for (uint64_t i = 0; i < some && counts.hung < enough_hung; ++i) {
        alarm(seconds());
        const pid_t child = fork();
        if (child == 0) {
            alarm(seconds());
            _exit(work->child(first + i) ? 0 : 1);
        }
        ++counts.children;
        counts.wrong += child < 0 ? 1 : 0;
        running += child < 0 ? 0 : 1;
        alarm(2 * seconds());  // a child ends by its own
        if (running == slots_per_call_limit) {
            await_one(counts);
            --running;
        }
        usleep(random() % longest_pause_us);
    }
    for (; running != 0; --running) await_one(counts);
    alarm(2 * seconds());
    enough = true;
    for (std::thread& thread : threads) thread.join();
    work.reset();
}

}  // namespace

Outcome children_of(std::unique_ptr<Work> (*make)(), uint64_t usual) {
    void* const shared =
        mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return {0, 0, 1};
    Counts& counts = *new (shared) Counts;
    const uint64_t all = number_in("WARPSEAL_FORKS", usual);
    const uint64_t each = std::max(least_of_a_process, all / most_processes);
    watch_signals();
    for (uint64_t first = 0; first < all && counts.hung < enough_hung; first += each) {
        std::printf("%llu children, %llu hung, %llu wrong\n",
                    static_cast<unsigned long long>(counts.children.load()),
                    static_cast<unsigned long long>(counts.hung.load()),
                    static_cast<unsigned long long>(counts.wrong.load()));
        std::fflush(nullptr);
        if (fork() == 0) {
            fork_under_load(make(), first, std::min(each, all - first), counts);
            _exit(0);
        }
        await_one(counts);
    }
    const Outcome outcome{counts.children, counts.hung, counts.wrong};
    (void)munmap(shared, sizeof(Counts));
    return outcome;
}

}  // namespace forks

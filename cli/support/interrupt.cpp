// Handling of SIGINT, SIGTERM, SIGHUP and SIGQUIT. A thread waits for them with sigwait(3), so that
// no code runs in a signal handler.
#include "cli/support/interrupt.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "cli/support/command.h"
#include "cli/support/descriptor.h"
#include "cli/support/format.h"
#include "cli/support/tree/remove_tree.h"

namespace warpseal::cli {
namespace {

// Grace period for work that cannot be asked to stop, such as key derivation and a read from a
// silent pipe.
constexpr std::chrono::seconds grace{2};

std::atomic<int> received{0};
std::atomic<bool> grace_is_limited{true};
int event = -1;

struct Undo {
    std::mutex mutex;
    std::condition_variable changed;
    std::set<std::string> temporaries;
    int terminal = -1;
    termios settings{};
    int shields = 0;
};
// Never destroyed, because the watcher thread may use it while the process exits.
Undo& undo() {
    static Undo* const all = new Undo;
    return *all;
}

// Returns false if it may be tried again.
bool remove_directory(const char* path) {
    Descriptor opened(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat about;
    if (!opened || fstat(opened.get(), &about) != 0) return true;
    // Another directory may have the name by now. Ours is sticky where there are modes, and locked.
    if ((about.st_mode & S_ISVTX) == 0 && flock(opened.get(), LOCK_SH | LOCK_NB) == 0) return true;
    return remove_open_tree(AT_FDCWD, path, opened.release());
}

void remove_temporary(const std::string& path) {
    constexpr int tries = 20;  // threads that still write into a directory may bring more files
    if (unlink(path.c_str()) == 0 || errno != EISDIR) return;
    for (int i = 0; i < tries && !remove_directory(path.c_str()); ++i) {
    }
}

// Does not wait for output: a thread may be at a stopped terminal's, and then tcsetattr(3) with
// TCSAFLUSH waits for that thread. What was typed is discarded, as it may be a passphrase.
void restore_terminal(const Undo& all) {
    tcflush(all.terminal, TCIFLUSH);
    tcsetattr(all.terminal, TCSANOW, &all.settings);
}

[[noreturn]] void end_now(int signal_number) {
    Undo& all = undo();
    std::unique_lock lock(all.mutex);
    all.changed.wait(lock, [&] { return all.shields == 0; });
    for (const std::string& path : all.temporaries) remove_temporary(path);
    if (all.terminal >= 0) restore_terminal(all);
    _exit(128 + signal_number);
}

void watch(sigset_t set) {
    int signal_number = 0;
    while (sigwait(&set, &signal_number) != 0) {
    }
    received = signal_number;
    const uint64_t one = 1;
    while (write(event, &one, sizeof one) < 0 && errno == EINTR) {
    }
    timespec wait{grace.count(), 0};
    // A second signal ends the grace period.
    if (sigtimedwait(&set, nullptr, &wait) < 0 && !grace_is_limited) {
        while (sigwait(&set, &signal_number) != 0) {
        }
    }
    end_now(signal_number);
}

}  // namespace

void watch_interrupts() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        struct sigaction action {};
        sigaction(signal_number, nullptr, &action);
        if (action.sa_handler != SIG_IGN) sigaddset(&set, signal_number);
    }
    event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    undo();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    try {
        std::thread(watch, set).detach();
        // Without the watcher, a signal would leave incomplete files.
    } catch (const std::system_error& error) {
        complain(
            cli::format("cannot start a thread: {}. See `ulimit -u`.", error.code().message()));
        _exit(static_cast<int>(ExitCode::error));
    }
}

int interrupted_by() { return received; }
int interrupt_descriptor() { return event; }
void allow_unlimited_grace() { grace_is_limited = false; }

TemporaryName::TemporaryName(const std::string& path) : path_(path) {
    std::lock_guard lock(undo().mutex);
    undo().temporaries.insert(path_);
}
TemporaryName::~TemporaryName() {
    std::lock_guard lock(undo().mutex);
    undo().temporaries.erase(path_);
}

TerminalSettings::TerminalSettings(int terminal, const termios& settings) {
    std::lock_guard lock(undo().mutex);
    undo().terminal = terminal;
    undo().settings = settings;
}
TerminalSettings::~TerminalSettings() {
    std::lock_guard lock(undo().mutex);
    tcsetattr(undo().terminal, TCSAFLUSH, &undo().settings);
    undo().terminal = -1;
}

Uninterrupted::Uninterrupted() {
    std::lock_guard lock(undo().mutex);
    ++undo().shields;
}
Uninterrupted::~Uninterrupted() {
    {
        std::lock_guard lock(undo().mutex);
        --undo().shields;
    }
    undo().changed.notify_all();
}

}  // namespace warpseal::cli

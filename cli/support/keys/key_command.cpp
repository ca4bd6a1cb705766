// Runs --key-command: a client of a key management service, which prints the key.
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "cli/support/interrupt.h"
#include "cli/support/keys/key_file.h"

namespace warpseal::cli {
namespace {

[[noreturn]] void fail(const std::string& why) {
    throw Failure(ExitCode::input_output, fmt::format("--key-command {}.", why));
}

[[noreturn]] void throw_interrupted(int signal_number) {
    throw Failure(ExitCode(128 + signal_number), "interrupted: nothing was written.");
}

void throw_if_interrupted() {
    if (const int signal_number = interrupted_by()) throw_interrupted(signal_number);
}

// Child process, which is ended and reaped in any case. Without a terminal it has a process group
// of its own, so that all processes of a pipeline can be ended. With one it stays in the
// foreground, so that it may ask for a PIN, and Ctrl-C reaches it.
class Child {
public:
    Child(const std::string& command, int output) {
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        // This program blocks stop signals and ignores these two; the command does neither.
        sigset_t none, restored;
        sigemptyset(&none);
        sigemptyset(&restored);
        sigaddset(&restored, SIGPIPE);
        sigaddset(&restored, SIGXFSZ);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &restored);
        const int group = has_group_ ? POSIX_SPAWN_SETPGROUP : 0;
        posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK |
                                                                 POSIX_SPAWN_SETSIGDEF | group));
        std::string shell = "sh", option = "-c", text = command;
        char* const arguments[] = {shell.data(), option.data(), text.data(), nullptr};
        const int error =
            posix_spawn(&process_, "/bin/sh", &actions, &attributes, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
        if (error != 0) fail(fmt::format("cannot be started: {}", strerror(error)));
    }
    ~Child() {
        if (process_ <= 0) return;
        end(SIGTERM);
        if (ends_within(grace)) return;
        end(SIGKILL);
        while (!ends_within(grace)) {
        }
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // Returns the status of waitpid(2). Throws Failure after a stop signal.
    int wait() {
        while (!ends_within(pause)) throw_if_interrupted();
        return status_;
    }

private:
    using Time = std::chrono::milliseconds;
    // Less than the grace period after a stop signal.
    static constexpr Time grace{1000};
    static constexpr Time pause{2};

    void end(int signal_number) const { kill(has_group_ ? -process_ : process_, signal_number); }

    bool ends_within(Time time) {
        for (const auto end = std::chrono::steady_clock::now() + time;;) {
            const pid_t ended = waitpid(process_, &status_, WNOHANG);
            if (ended > 0 || (ended < 0 && errno != EINTR)) {
                process_ = -1;
                return true;
            }
            if (std::chrono::steady_clock::now() >= end) return false;
            std::this_thread::sleep_for(pause);
        }
    }

    const bool has_group_ = !has_terminal();
    pid_t process_ = -1;
    int status_ = -1;  // not a success, unless waitpid(2) says so
};

}  // namespace

SecretBytes output_of_command(const std::string& command) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail(fmt::format("cannot have a pipe: {}", strerror(errno)));
    Descriptor reading(ends[0]), writing(ends[1]);
    Child child(command, writing.get());
    writing.close();
    SecretBytes secret;
    while (secret.size < SecretBytes::page_bytes) {
        pollfd ready[] = {{reading.get(), POLLIN, 0}, {interrupt_descriptor(), POLLIN, 0}};
        if (poll(ready, 2, -1) < 0 && errno != EINTR)
            fail(fmt::format("cannot be read: {}", strerror(errno)));
        throw_if_interrupted();
        if (ready[0].revents == 0) continue;
        const ssize_t got =
            read(reading.get(), secret.data() + secret.size, SecretBytes::page_bytes - secret.size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail(fmt::format("cannot be read: {}", strerror(errno)));
        if (got == 0) break;
        secret.size += static_cast<size_t>(got);
    }
    reading.close();
    if (secret.size == SecretBytes::page_bytes) fail("printed more than a key");
    const int status = child.wait();
    throw_if_interrupted();
    // Ctrl-C reaches both processes. The command may end before the signal is noticed here.
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGQUIT))
        throw_interrupted(WTERMSIG(status));
    if (WIFSIGNALED(status)) fail(fmt::format("was ended by signal {}", WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        fail(
            fmt::format("failed with exit code {}, so that there is no key: run it by itself to "
                        "see why",
                        WEXITSTATUS(status)));
    return secret;
}

}  // namespace warpseal::cli

// Runs --key-command: a client of a key management service, which prints the key.
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/support/interrupt.h"
#include "cli/support/keys/key_file.h"

namespace warpseal::cli {
namespace {

[[noreturn]] void fail(const std::string& why) {
    throw Failure(ExitCode::input_output, fmt::format("--key-command {}.", why));
}

// Child process, which is reaped in any case.
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
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
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
        kill(process_, SIGTERM);
        (void)wait();
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // Returns the status of waitpid(2).
    int wait() {
        int status = 0;
        while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
        }
        process_ = -1;
        return status;
    }

private:
    pid_t process_ = -1;
};

void throw_if_interrupted() {
    if (const int signal_number = interrupted_by())
        throw Failure(ExitCode(128 + signal_number), "interrupted: nothing was written.");
}

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
    const int status = child.wait();
    throw_if_interrupted();
    if (secret.size == SecretBytes::page_bytes) fail("printed more than a key");
    if (WIFSIGNALED(status)) fail(fmt::format("was ended by signal {}", WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        fail(fmt::format("failed with exit code {}, so that there is no key", WEXITSTATUS(status)));
    return secret;
}

}  // namespace warpseal::cli

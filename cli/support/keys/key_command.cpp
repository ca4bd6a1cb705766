// Runs --key-command: a client of a key management service, which prints the key.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "cli/support/format.h"
#include "cli/support/interrupt.h"
#include "cli/support/keys/key_file.h"
#include "cli/support/run/child.h"

namespace warpseal::cli {
namespace {

// Between two looks at the child and at stop signals.
constexpr Child::Time between_checks{2};

[[noreturn]] void fail_command(const std::string& why) {
    throw Failure(ExitCode::input_output, cli::format("--key-command {}.", why));
}

[[noreturn]] void throw_interrupted(int signal_number) {
    throw Failure(ExitCode(128 + signal_number), "interrupted: nothing was written.");
}

void throw_if_interrupted() {
    if (const int signal_number = interrupted_by()) throw_interrupted(signal_number);
}

}  // namespace

SecretBytes output_of_command(const std::string& command) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        fail_command(cli::format("cannot have a pipe: {}", strerror(errno)));
    Descriptor reading(ends[0]), writing(ends[1]);
    std::optional<Child> child;
    try {
        child.emplace(ChildProgram{"/bin/sh", {"sh", "-c", command}, -1, writing.get()});
    } catch (const std::system_error& error) {
        fail_command(cli::format("cannot be started: {}", error.code().message()));
    }
    writing.close();
    SecretBytes secret;
    while (secret.size < SecretBytes::page_bytes) {
        pollfd ready[] = {{reading.get(), POLLIN, 0}, {interrupt_descriptor(), POLLIN, 0}};
        if (poll(ready, 2, -1) < 0 && errno != EINTR)
            fail_command(cli::format("cannot be read: {}", strerror(errno)));
        throw_if_interrupted();
        if (ready[0].revents == 0) continue;
        const ssize_t got =
            read(reading.get(), secret.data() + secret.size, SecretBytes::page_bytes - secret.size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail_command(cli::format("cannot be read: {}", strerror(errno)));
        if (got == 0) break;
        secret.size += static_cast<size_t>(got);
    }
    reading.close();
    if (secret.size == SecretBytes::page_bytes) fail_command("printed more than a key");
    while (!child->ends_within(between_checks)) throw_if_interrupted();
    throw_if_interrupted();
    const int status = child->status();
    // Ctrl-C reaches both processes. The command may end before the signal is noticed here.
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGQUIT))
        throw_interrupted(WTERMSIG(status));
    if (WIFSIGNALED(status)) fail_command(cli::format("was ended by signal {}", WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        fail_command(
            cli::format("failed with exit code {}, so that there is no key: run it by itself to "
                        "see why",
                        WEXITSTATUS(status)));
    return secret;
}

}  // namespace warpseal::cli

// Starts child processes with posix_spawn(3), and ends them.
#include "cli/support/run/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>

#include "cli/support/companion.h"
#include "cli/support/secrets.h"

namespace warpseal::cli {
namespace {

// Less than the grace period after a stop signal.
constexpr Child::Time time_to_end{1000};
constexpr Child::Time between_looks{2};

void require(int error) {
    if (error != 0) throw std::system_error(error, std::generic_category());
}

class FileActions {
public:
    FileActions() { require(posix_spawn_file_actions_init(&actions_)); }
    ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;
    posix_spawn_file_actions_t* get() { return &actions_; }

private:
    posix_spawn_file_actions_t actions_;
};

class Attributes {
public:
    Attributes() { require(posix_spawnattr_init(&attributes_)); }
    ~Attributes() { posix_spawnattr_destroy(&attributes_); }
    Attributes(const Attributes&) = delete;
    Attributes& operator=(const Attributes&) = delete;
    posix_spawnattr_t* get() { return &attributes_; }

private:
    posix_spawnattr_t attributes_;
};

void add_actions(posix_spawn_file_actions_t* actions, const ChildProgram& program) {
    require(program.input < 0
                ? posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
                : posix_spawn_file_actions_adddup2(actions, program.input, STDIN_FILENO));
    require(posix_spawn_file_actions_adddup2(actions, program.output, STDOUT_FILENO));
    if (program.errors >= 0)
        require(posix_spawn_file_actions_adddup2(actions, program.errors, STDERR_FILENO));
    if (program.standard_descriptors_only)
        require(posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1));
    if (!program.directory.empty())
        require(posix_spawn_file_actions_addchdir_np(actions, program.directory.c_str()));
}

}  // namespace

Child::Child(ChildProgram program) : has_group_(!has_terminal()) {
    FileActions actions;
    Attributes attributes;
    add_actions(actions.get(), program);
    // This program blocks stop signals and ignores these two; the child does neither.
    sigset_t none, restored;
    sigemptyset(&none);
    sigemptyset(&restored);
    sigaddset(&restored, SIGPIPE);
    sigaddset(&restored, SIGXFSZ);
    posix_spawnattr_setsigmask(attributes.get(), &none);
    posix_spawnattr_setsigdefault(attributes.get(), &restored);
    const int group = has_group_ ? POSIX_SPAWN_SETPGROUP : 0;
    posix_spawnattr_setflags(attributes.get(), static_cast<short>(POSIX_SPAWN_SETSIGMASK |
                                                                  POSIX_SPAWN_SETSIGDEF | group));
    require(posix_spawn(&process_, program.path.c_str(), actions.get(), attributes.get(),
                        pointers_to(program.arguments).data(), environ));
}

Child::~Child() {
    if (process_ <= 0) return;
    end(SIGTERM);
    if (ends_within(time_to_end)) return;
    end(SIGKILL);
    while (!ends_within(time_to_end)) {
    }
}

void Child::end(int signal_number) const { kill(has_group_ ? -process_ : process_, signal_number); }

bool Child::ends_within(Time time) {
    if (process_ <= 0) return true;
    for (const auto end = std::chrono::steady_clock::now() + time;;) {
        const pid_t ended = waitpid(process_, &status_, WNOHANG);
        if (ended > 0 || (ended < 0 && errno != EINTR)) {
            process_ = -1;
            return true;
        }
        if (std::chrono::steady_clock::now() >= end) return false;
        std::this_thread::sleep_for(between_looks);
    }
}

}  // namespace warpseal::cli

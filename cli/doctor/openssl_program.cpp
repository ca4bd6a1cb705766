// Runs `openssl` and parses its output.
#include "cli/doctor/openssl_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "cli/support/command.h"
#include "cli/support/companion.h"
#include "cli/support/descriptor.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

constexpr std::chrono::seconds longest_answer{30};

std::string text_of(const Descriptor& file) {
    std::ifstream in(cli::format("/proc/self/fd/{}", file.get()));
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

// Returns the exit status, or nothing if the child was stopped after a timeout.
std::optional<int> wait_for(pid_t child) {
    const auto end = std::chrono::steady_clock::now() + longest_answer;
    for (int status = 0;;) {
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child) return status;
        if ((ended < 0 && errno != EINTR) || interrupted_by() != 0 ||
            std::chrono::steady_clock::now() > end) {
            kill(child, SIGKILL);
            while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
            }
            return std::nullopt;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

}  // namespace

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

OpensslAnswer ask_openssl(const std::string& program, std::vector<std::string> arguments,
                          const std::string& config, std::vector<std::string> more) {
    const Descriptor out(memfd_create("openssl-out", MFD_CLOEXEC)),
        err(memfd_create("openssl-err", MFD_CLOEXEC));
    arguments.insert(arguments.begin(), program);
    std::vector<char*> settings;
    std::string own = "OPENSSL_CONF=" + config;
    for (char** setting = environ; *setting != nullptr; ++setting)
        if (config.empty() || std::strncmp(*setting, "OPENSSL_CONF=", 13) != 0)
            settings.push_back(*setting);
    if (!config.empty()) settings.push_back(own.data());
    for (std::string& setting : more) settings.push_back(setting.data());
    settings.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err.get(), STDERR_FILENO);
    pid_t child = 0;
    const int error = posix_spawnp(&child, program.c_str(), &actions, nullptr,
                                   pointers_to(arguments).data(), settings.data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return {false, false, "", strerror(error)};
    const std::optional<int> status = wait_for(child);
    if (!status)
        return {true, false, text_of(out),
                cli::format("gave no answer in {} s", longest_answer.count())};
    return {true, *status == 0, text_of(out), text_of(err)};
}

std::string quoted_after(const std::string& text, const std::string& name) {
    const size_t at = text.find(name + ": \"");
    if (at == std::string::npos) return "";
    const size_t begin = at + name.size() + 3;
    return text.substr(begin, text.find('"', begin) - begin);
}

std::string reason_in(const std::string& errors) {
    for (const char* sign : {"warpseal:", "dso", "error:"})
        if (const size_t at = errors.find(sign); at != std::string::npos) {
            const size_t begin = errors.rfind('\n', at);
            return first_line(errors.substr(begin == std::string::npos ? 0 : begin + 1));
        }
    return first_line(errors);
}

}  // namespace warpseal::cli

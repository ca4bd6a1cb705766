// Runs bench/page.
#include "bench/papers/page.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "cli/support/command.h"
#include "cli/support/companion.h"

namespace warpseal::papers {
namespace {

constexpr const char* by_hand =
    "write JSON with `warpseal bench papers --format json --output papers.json`, and run "
    "`bench/page papers.json --output papers.html` in the source tree";

// Returns true if the program ran and its exit status is 0. `silent`: without its output.
bool run(std::vector<std::string> arguments, bool silent) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (silent) posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t process = 0;
    const int refused = posix_spawn(&process, arguments.front().c_str(), &actions, nullptr,
                                    cli::pointers_to(arguments).data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    return refused == 0 && waitpid(process, &status, 0) == process && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

}  // namespace

std::string find_page() {
    std::error_code error;
    // A build folder is SOURCE/build/PRESET.
    const auto build = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
    const auto found = build.parent_path().parent_path() / "bench/page";
    if (!std::filesystem::is_regular_file(found, error))
        throw cli::Failure(
            cli::ExitCode::unsupported,
            std::string(
                "--format html needs bench/page of the source tree, and this program is not in "
                "a build folder of it: ") +
                by_hand + ".");
    if (!run({found, "--help"}, true))
        throw cli::Failure(cli::ExitCode::unsupported,
                           "--format html: " + found.string() + " does not start (see above).");
    return found;
}

void draw_page(const std::string& page, const std::string& json, const std::string& html) {
    if (!run({page, json, "--output", html}, false))
        throw cli::Failure(cli::ExitCode::error, "--format html: `" + page + " " + json +
                                                     " --output " + html +
                                                     "` failed; the figures are in " + json + ".");
}

}  // namespace warpseal::papers

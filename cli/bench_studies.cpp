// `warpseal bench papers` and `warpseal bench ladder`: run the program warpseal-bench in place of
// this one, or for a report.
#include <fmt/core.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "bench/bulk/measure.h"
#include "cli/support/companion.h"
#include "cli/support/descriptor.h"

namespace warpseal::cli {

nlohmann::ordered_json study_report(const std::string& study, std::vector<std::string> arguments) {
    const std::string program = find_companion("warpseal-bench").string();
    const Descriptor report(memfd_create("warpseal-bench", 0));  // inherited by the study
    const std::string path = fmt::format("/proc/self/fd/{}", report.get());
    arguments.insert(arguments.begin(), {program, study, "--json", path});
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    pid_t child = 0;
    const int error = posix_spawn(&child, program.c_str(), &actions, nullptr,
                                  pointers_to(arguments).data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        throw Failure(ExitCode::error, fmt::format("cannot run {}: {}.", program, strerror(error)));
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (interrupted_by() != 0)
        throw Failure(static_cast<ExitCode>(128 + interrupted_by()), "interrupted.");
    if (status != 0) throw Failure(ExitCode::error, fmt::format("{} {} failed.", program, study));
    std::ifstream file(path);
    return nlohmann::ordered_json::parse(file);
}

void add_bench_studies(CLI::App& bench, Session& session) {
    for (const auto& [name, about] :
         {std::pair{"papers",
                    "The tables of five papers: as published, by their methods here, and by our "
                    "default path"},
          {"ladder", "Every step from the papers' kernels to ours, within a GPU's memory"}})
        add_companion_command(bench, session, name, about, "warpseal-bench");
}

}  // namespace warpseal::cli

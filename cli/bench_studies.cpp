// `warpseal bench papers` and `warpseal bench ladder`: the program warpseal-bench, run in the place of this one, or for a report.
#include <fmt/core.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "bench.h"
#include "descriptor.h"

namespace warpseal::cli {
namespace {

namespace fs = std::filesystem;

// Beside this program, as the build leaves it, or where it is installed.
fs::path find_program() {
    std::error_code error;
    const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
    for (const fs::path& place : {here / "warpseal-bench", here / WARPSEAL_STUDIES / "warpseal-bench"})
        if (fs::is_regular_file(place, error)) return place.lexically_normal();
    throw Failure(ExitCode::unsupported, fmt::format("the program warpseal-bench is not beside {} nor in {}.", (here / "warpseal").string(),
                                                     (here / WARPSEAL_STUDIES).lexically_normal().string()));
}

std::vector<char*> pointers_to(std::vector<std::string>& arguments) {
    std::vector<char*> pointers;
    pointers.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    return pointers;
}

// Returns only by throwing.
[[noreturn]] void become(const std::string& study, std::vector<std::string> arguments) {
    const std::string program = find_program().string();
    arguments.insert(arguments.begin(), {program, study});
    execv(program.c_str(), pointers_to(arguments).data());
    throw Failure(ExitCode::error, fmt::format("cannot run {}: {}.", program, strerror(errno)));
}

}  // namespace

nlohmann::ordered_json study_report(const std::string& study, std::vector<std::string> arguments) {
    const std::string program = find_program().string();
    const Descriptor report(memfd_create("warpseal-bench", 0));  // the study inherits it
    const std::string path = fmt::format("/proc/self/fd/{}", report.get());
    arguments.insert(arguments.begin(), {program, study, "--json", path});
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    pid_t child = 0;
    const int error = posix_spawn(&child, program.c_str(), &actions, nullptr, pointers_to(arguments).data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw Failure(ExitCode::error, fmt::format("cannot run {}: {}.", program, strerror(error)));
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (interrupted_by() != 0) throw Failure(static_cast<ExitCode>(128 + interrupted_by()), "interrupted.");
    if (status != 0) throw Failure(ExitCode::error, fmt::format("{} {} failed.", program, study));
    std::ifstream file(path);
    return nlohmann::ordered_json::parse(file);
}

void add_bench_studies(CLI::App& bench, Session& session) {
    for (const auto& [name, about] :
         {std::pair{"papers", "The tables of five papers: as published, by their methods here, and by our default path"},
          {"ladder", "Every step from the papers' kernels to ours, within a GPU's memory"}}) {
        CLI::App* study = bench.add_subcommand(name, about);
        study->fallthrough(false);  // its options, --help among them, are not ours
        study->set_help_flag();
        study->allow_extras();
        study->prefix_command();
        study->callback([study, &session] { session.command = [study]() -> ExitCode { become(study->get_name(), study->remaining()); }; });
    }
}

}  // namespace warpseal::cli

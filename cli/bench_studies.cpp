// `warpseal bench papers` and `warpseal bench ladder`: the program warpseal-bench, run in the place of this one.
#include <fmt/core.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "command.h"

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

// Returns only by throwing.
[[noreturn]] void become(const std::string& study, std::vector<std::string> arguments) {
    const std::string program = find_program().string();
    arguments.insert(arguments.begin(), {program, study});
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    execv(program.c_str(), pointers.data());
    throw Failure(ExitCode::error, fmt::format("cannot run {}: {}.", program, strerror(errno)));
}

}  // namespace

void add_bench_studies(CLI::App& bench, Session& session) {
    for (const auto& [name, about] :
         {std::pair{"papers", "The tables of four papers: as published, by their methods here, and by our default path"},
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

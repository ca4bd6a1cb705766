// Main function of `warpseal-bench`: the studies outside the product, run by `warpseal bench
// papers` and `warpseal bench ladder`.
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <exception>
#include <sstream>

#include "bench/commands.h"
#include "cli/support/interrupt.h"

namespace warpseal::papers {
namespace {

cli::ExitCode run(int argument_count, char** arguments) {
    CLI::App program(
        "What papers published about block ciphers, measured again here; and every step from their "
        "kernels to ours.",
        "warpseal-bench");
    cli::Session session;
    program.require_subcommand(1);
    program.set_version_flag("-V,--version", std::string("warpseal-bench ") + warpseal_version());
    add_papers(program, session);
    add_ladder(program, session);
    try {
        program.parse(argument_count, arguments);
    } catch (const CLI::Success& success) {  // --help and --version
        std::ostringstream text;
        program.exit(success, text);
        cli::print_output(text.str());
        return cli::ExitCode::ok;
    } catch (const CLI::ParseError& error) {
        throw cli::Failure(cli::ExitCode::usage,
                           fmt::format("{}. See `warpseal-bench --help`.", error.what()));
    }
    return session.command();
}

}  // namespace

int run_program(int argument_count, char** arguments) {
    cli::watch_interrupts();
    try {
        return static_cast<int>(run(argument_count, arguments));
    } catch (const cli::Failure& failure) {
        cli::complain(failure.what());
        return static_cast<int>(failure.code);
    } catch (const std::exception& error) {
        cli::complain(error.what());
        return static_cast<int>(cli::ExitCode::error);
    }
}

}  // namespace warpseal::papers

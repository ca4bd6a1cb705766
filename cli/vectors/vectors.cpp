// `warpseal vectors`: checks published test vectors, so that users can verify our claims.
#include "cli/vectors/vectors.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "cli/commands.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

struct VectorsOptions {
    std::string device = "auto";
    std::vector<std::string> files;
};

void print_tally(const std::string& path, const Tally& tally) {
    print_output(cli::format("{}: {} passed, {} failed, {} skipped\n", path, tally.passed,
                             tally.failed, tally.skipped));
    for (const std::string& failure : tally.failures)
        print_output(cli::format("    FAILED {}\n", failure));
    if (tally.failed > tally.failures.size())
        print_output(cli::format("    and {} more failed\n", tally.failed - tally.failures.size()));
}

ExitCode run(const VectorsOptions& options, Session& session) {
    // For the provider in this program. There are no other threads yet.
    (void)setenv("WARPSEAL_DEVICE", options.device.c_str(), 1);
    const EngineHandle engine = create_engine({options.device, 0}, session);
    Tested tested(engine.get(), options.device.rfind("cuda", 0) == 0);
    Tally total;
    for (const std::string& path : options.files) {
        const Tally tally = check_file(tested, path);
        print_tally(path, tally);
        total.add(tally);
    }
    for (const auto& [reason, count] : total.reasons)
        print_output(cli::format("skipped {}: {}\n", count, reason));
    print_output(cli::format("{} passed, {} failed, {} skipped\n", total.passed, total.failed,
                             total.skipped));
    return total.failed + total.skipped == 0 ? ExitCode::ok : ExitCode::error;
}

}  // namespace

void add_vectors(CLI::App& program, Session& session) {
    auto options = std::make_shared<VectorsOptions>();
    CLI::App* vectors = program.add_subcommand("vectors", "Check published test vectors");
    vectors->footer(
        "Files: JSON lines of known answers, Monte Carlo chains or bulk messages, Cobblestone "
        "documents, rows of ML-KEM and X25519 with their key files and TLS groups, and\n"
        "NTRU's answer files (.rsp) and digests of batches, gzip-compressed or not, told apart by "
        "content. Every row is run in both\n"
        "directions; it counts once. A file has 64 MiB at most, unpacked too.\n"
        "Exit code 0 only if no row failed and none was skipped.");
    vectors
        ->add_option("--device", options->device,
                     "auto, cpu, cuda, cuda:N, cuda:N,M for several GPUs, or one target of "
                     "`warpseal list`; a named one never falls back")
        ->type_name("DEVICE")
        ->envname("WARPSEAL_DEVICE")
        ->transform(any_case())
        ->capture_default_str();
    vectors->add_option("FILE", options->files, "Vector files")->required();
    vectors->callback([options, &session] {
        session.command = [options, &session] { return run(*options, session); };
    });
}

}  // namespace warpseal::cli

// `warpseal kem bench`: its options.
#include <CLI/CLI.hpp>

#include "bench/commands.h"
#include "bench/kem/kem_bench.h"
#include "cli/support/output.h"

namespace warpseal::bench {

void add_kem(CLI::App& program, cli::Session& session) {
    auto options = std::make_shared<KemBenchOptions>();
    CLI::App* bench = program.add_subcommand(
        "kem",
        "Measure operations a second and how long batches take, or try very many round trips");
    bench->footer(
        "Each item of a batch has a key pair of its own, and coins that the library draws: what is "
        "measured is what a caller gets. Every\n"
        "secret is checked to arrive, or there is no figure, and the exit code is 1.");
    bench->add_option("--set", options->sets, "parameter sets (default: all)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("SET[,SET]");
    bench->add_option("--batch", options->batches, "items of a call (default: 64,256,1024,4096)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 24).description(""))
        ->type_name("N[,N]");
    bench
        ->add_option("--device", options->engine.device,
                     "auto (the cores, and a GPU if there is one), cpu, cuda, cuda:N, or one "
                     "target of `warpseal list`")
        ->envname("WARPSEAL_DEVICE")
        ->transform(cli::any_case())
        ->type_name("DEVICE");
    bench
        ->add_option("--place", options->place,
                     "where a GPU's items lie (default: device, in its memory)")
        ->check(CLI::IsMember({"device", "host"}).description(""))
        ->type_name("device|host");
    bench->add_flag("--prepared", options->prepared,
                    "measure encapsulation and decapsulation under one prepared key, on the cores");
    bench->add_option("--threads", options->engine.threads, "threads on the cores")
        ->check(CLI::Range(1, 4096).description(""))
        ->type_name("N")
        ->capture_default_str();
    bench->add_option("--seconds", options->seconds, "how long to measure for each figure")
        ->check(cli::check_seconds)
        ->type_name("S")
        ->capture_default_str();
    bench
        ->add_option("--round-trips", options->round_trips,
                     "measure nothing: so many key pairs, each with a ciphertext, and count the "
                     "secrets that do not arrive")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40).description(""))
        ->type_name("N");
    bench
        ->add_option("--json", options->json,
                     "write head and rows there; - is stdout, the table then goes to stderr")
        ->type_name("FILE")
        ->check(cli::Output::refused_path);
    bench->callback([options, &session] {
        session.command = [options, &session] { return run_kem_bench(*options, session); };
    });
}

}  // namespace warpseal::bench

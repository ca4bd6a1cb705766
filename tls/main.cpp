// The program `warpseal-tls`, which `warpseal tls-bench`, `tls-serve` and `tls-connect` run: its options.
#include <fmt/core.h>
#include <signal.h>
#include <CLI/CLI.hpp>

#include <exception>
#include <sstream>

#include "interrupt.h"
#include "options.h"

namespace {

using namespace warpseal;

void add_tls_bench(CLI::App& program, cli::Session& session) {
    auto options = std::make_shared<tls::BenchOptions>();
    CLI::App* bench = program.add_subcommand("tls-bench", "TLS 1.3 handshakes of very many clients, by key exchange");
    bench->footer(
        "Full handshakes, without resumption, each on a connection of its own, against OpenSSL's own server side, with an ECDSA P-256 "
        "certificate that clients verify.\n"
        "docs/provider.md says how to read the figures. Exit code 1: a handshake failed.");
    bench
        ->add_option("--group", options->groups,
                     "key exchanges, side by side: X25519, x25519_ntru_hps4096821, ntru_hps4096821, ... (default: these)")
        ->type_name("NAME");
    bench->add_option("--handshakes", options->handshakes, "of each group")
        ->check(CLI::Range(1, 1'000'000'000).description(""))
        ->capture_default_str();
    bench->add_option("--rounds", options->rounds, "in so many parts, groups taking turns; medians of these")
        ->check(CLI::Range(1, 1000).description(""))
        ->capture_default_str();
    bench->add_option("--in-flight", options->in_flight, "connections at once")
        ->check(CLI::Range(1, 1'000'000).description(""))
        ->capture_default_str();
    bench
        ->add_option("--server-threads", options->server_threads, "event loops; without --sockets each drives both ends of its connections")
        ->check(CLI::Range(1, 4096).description(""))
        ->type_name("N");
    bench->add_option("--client-threads", options->client_threads, "event loops of clients, with --sockets or --connect")
        ->check(CLI::Range(1, 4096).description(""))
        ->type_name("N");
    bench->add_flag("--async", options->async, "SSL_MODE_ASYNC: a server's loop goes on with others while a batch is computed");
    bench->add_flag("--sockets", options->sockets, "TCP over loopback; otherwise both ends are joined by memory");
    bench->add_flag("--mixed", options->mixed, "all groups in one row: connections take them in turn");
    CLI::Option* connect =
        bench->add_option("--connect", options->connect, "a server elsewhere, in place of our own: clients alone")->type_name("HOST:PORT");
    bench->add_option("--ca", options->authority, "its certificate must be signed by one of these; otherwise it is not looked at")
        ->type_name("FILE")
        ->needs(connect);
    bench->add_option("--max-delay-us", options->max_delay_us, "how long the first of a batch waits at most; to the provider")
        ->type_name("N");
    bench->add_option("--max-batch", options->max_batch, "how many a batch has at most; to the provider")->type_name("N");
    bench->add_option("--json", options->json, "write head and rows there; - is stdout, the table then goes to stderr")->type_name("FILE");
    bench->callback([options, &session] { session.command = [options, &session] { return tls::run_bench(*options, session); }; });
}

cli::ExitCode run(int argument_count, char** arguments) {
    CLI::App program("TLS 1.3 with key exchange by NTRU: handshakes measured, and a key agreed upon within a connection.", "warpseal-tls");
    cli::Session session;
    program.require_subcommand(1);
    program.set_version_flag("-V,--version", std::string("warpseal-tls ") + warpseal_version());
    add_tls_bench(program, session);
    try {
        program.parse(argument_count, arguments);
    } catch (const CLI::Success& success) {  // --help, --version
        std::ostringstream text;
        program.exit(success, text);
        cli::print_output(text.str());
        return cli::ExitCode::ok;
    } catch (const CLI::ParseError& error) {
        throw cli::Failure(cli::ExitCode::usage, fmt::format("{}. See `warpseal-tls --help`.", error.what()));
    }
    return session.command();
}

}  // namespace

int main(int argument_count, char** arguments) {
    signal(SIGPIPE, SIG_IGN);
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

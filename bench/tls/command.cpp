// The program `warpseal-tls`, which `warpseal tls-bench`, `tls-serve` and `tls-connect` run: its
// options.
#include <fmt/core.h>
#include <signal.h>
#include <CLI/CLI.hpp>

#include <exception>
#include <sstream>

#include "bench/tls/options.h"
#include "cli/support/interrupt.h"
#include "examples/tls_exchange/options.h"

namespace {

using namespace warpseal;

void add_exchanges(CLI::App& bench, cli::Session& session) {
    auto options = std::make_shared<tls::ExchangesOptions>();
    CLI::App* exchanges = bench.add_subcommand(
        "exchanges", "Key exchanges alone, without TLS: through the batcher and key pools");
    exchanges->footer(
        "Encapsulations through the batcher, as a server does them whose clients send their keys; "
        "decapsulations of a pool's pairs, as one "
        "does "
        "that sends keys; beside batched calls and single calls. Then both for 10^2 to 10^5 "
        "clients at once. Every secret is compared. "
        "Exit "
        "code 1: one was wrong.");
    exchanges->add_option("--set", options->sets, "(default: ntruhps4096821)")->type_name("NAME");
    exchanges
        ->add_option("--clients", options->clients, "of the table (default: 100 1000 10000 100000)")
        ->check(CLI::Range(1, 10'000'000).description(""))
        ->type_name("N");
    exchanges->add_option("--threads", options->threads, "that ask the batcher")
        ->check(CLI::Range(1, 4096).description(""))
        ->capture_default_str();
    exchanges
        ->add_option("--outstanding", options->outstanding,
                     "requests that wait at any time, of all threads together")
        ->check(CLI::Range(1, 1 << 20).description(""))
        ->capture_default_str();
    exchanges->add_option("--max-batch", options->max_batch, "of the batcher")
        ->check(CLI::Range(1, 1 << 20).description(""))
        ->type_name("N");
    exchanges->add_option("--max-delay-us", options->max_delay_us, "of the batcher")
        ->check(CLI::Range(1, 1'000'000).description(""))
        ->type_name("N");
    exchanges->add_option("--device", options->device, "auto, cpu, cuda or cuda:N")
        ->type_name("DEVICE")
        ->capture_default_str();
    exchanges->add_option("--seconds", options->seconds, "of each measurement")
        ->check(cli::check_seconds)
        ->capture_default_str();
    exchanges
        ->add_option("--json", options->json,
                     "write head and rows there; - is stdout, the table then goes to stderr")
        ->type_name("FILE");
    exchanges->callback([options, &session] {
        session.command = [options, &session] { return tls::run_exchanges(*options, session); };
    });
}

void add_tls_bench(CLI::App& program, cli::Session& session) {
    auto options = std::make_shared<tls::BenchOptions>();
    CLI::App* bench = program.add_subcommand(
        "tls-bench", "TLS 1.3 handshakes of very many clients, by key exchange");
    bench->footer(
        "Full handshakes, without resumption, each on a connection of its own, against OpenSSL's "
        "own server side, with an ECDSA P-256 "
        "certificate that clients verify.\n"
        "bench/README.md says what a row means. Exit code 1: a handshake failed.");
    bench
        ->add_option("--group", options->groups,
                     "key exchanges, side by side: X25519, x25519_ntru_hps4096821, "
                     "ntru_hps4096821, ... (default: these)")
        ->type_name("NAME");
    bench->add_option("--handshakes", options->handshakes, "of each group")
        ->check(CLI::Range(1, 1'000'000'000).description(""))
        ->capture_default_str();
    bench
        ->add_option("--rounds", options->rounds,
                     "in so many parts, groups taking turns; medians of these")
        ->check(CLI::Range(1, 1000).description(""))
        ->capture_default_str();
    bench->add_option("--in-flight", options->in_flight, "connections at once")
        ->check(CLI::Range(1, 1'000'000).description(""))
        ->capture_default_str();
    bench
        ->add_option("--server-threads", options->server_threads,
                     "event loops; without --sockets each drives both ends of its connections")
        ->check(CLI::Range(1, 4096).description(""))
        ->type_name("N");
    bench
        ->add_option("--client-threads", options->client_threads,
                     "event loops of clients, with --sockets or --connect")
        ->check(CLI::Range(1, 4096).description(""))
        ->type_name("N");
    bench->add_flag(
        "--async", options->async,
        "SSL_MODE_ASYNC: a server's loop goes on with others while a batch is computed");
    bench->add_flag("--sockets", options->sockets,
                    "TCP over loopback; otherwise both ends are joined by memory");
    bench->add_flag("--mixed", options->mixed,
                    "all groups in one row: connections take them in turn");
    CLI::Option* connect =
        bench
            ->add_option("--connect", options->connect,
                         "a server elsewhere, in place of our own: clients alone")
            ->type_name("HOST:PORT");
    bench
        ->add_option(
            "--ca", options->authority,
            "its certificate must be signed by one of these; otherwise it is not looked at")
        ->type_name("FILE")
        ->needs(connect);
    bench
        ->add_option("--device", options->device,
                     "auto, cpu, cuda or cuda:N, of the server's key exchanges; those of clients "
                     "are computed on the cores")
        ->envname("WARPSEAL_DEVICE")
        ->type_name("DEVICE")
        ->capture_default_str();
    bench
        ->add_option("--max-delay-us", options->max_delay_us,
                     "how long the first of a batch waits at most; to the provider")
        ->type_name("N");
    bench
        ->add_option("--max-batch", options->max_batch,
                     "how many a batch has at most; to the provider")
        ->type_name("N");
    bench
        ->add_option("--json", options->json,
                     "write head and rows there; - is stdout, the table then goes to stderr")
        ->type_name("FILE");
    add_exchanges(*bench, session);
    bench->callback([bench, options, &session] {
        if (bench->get_subcommands().empty())
            session.command = [options, &session] { return tls::run_bench(*options, session); };
    });
}

void add_serve(CLI::App& program, cli::Session& session) {
    auto options = std::make_shared<tls::ServeOptions>();
    CLI::App* serve = program.add_subcommand(
        "tls-serve",
        "Accept TLS connections and agree on a further key by NTRU: the server decapsulates");
    serve->footer(
        "Each client has a fresh key pair of a pool, used once, and its ciphertext is decapsulated "
        "together with those of others. What a "
        "client "
        "sends under the key is sent back to it. docs/tls-exchange.md is the protocol.\n"
        "Ends on SIGINT or SIGTERM, and then says what there was.");
    serve
        ->add_option("--cert", options->certificate,
                     "the server's certificate and those above it, PEM")
        ->required()
        ->type_name("FILE");
    serve->add_option("--key", options->key, "its private key, PEM")->required()->type_name("FILE");
    serve
        ->add_option("--listen", options->listen,
                     "port 0: any that is free; it is told on standard output")
        ->required()
        ->type_name("ADDRESS:PORT");
    serve->add_option("--set", options->set, "of NTRU")->type_name("NAME")->capture_default_str();
    serve->add_option("--pairs", options->pairs, "key pairs of the pool, ready and with clients")
        ->check(CLI::Range(1, 1 << 20).description(""))
        ->capture_default_str();
    serve->add_option("--max-batch", options->max_batch, "ciphertexts of a batch at most")
        ->check(CLI::Range(1, 1 << 20).description(""))
        ->capture_default_str();
    serve
        ->add_option("--max-delay-us", options->max_delay_us,
                     "how long the first of a batch waits at most")
        ->check(CLI::Range(0, 1'000'000).description(""))
        ->capture_default_str();
    serve->add_option("--max-clients", options->most_clients, "at once; more are turned away")
        ->check(CLI::Range(1, 1'000'000).description(""))
        ->capture_default_str();
    serve
        ->add_option("--timeout", options->patience_seconds,
                     "for handshake and exchange together, then for a client to send or read on")
        ->check(CLI::Range(1, 86400).description(""))
        ->type_name("SECONDS")
        ->capture_default_str();
    serve->add_option("--threads", options->threads, "event loops (default: one for each core)")
        ->check(CLI::Range(1, 4096).description(""))
        ->type_name("N");
    serve->add_option("--device", options->device, "of the pool: auto, cpu, cuda or cuda:N")
        ->type_name("DEVICE")
        ->capture_default_str();
    serve->callback([options, &session] {
        session.command = [options, &session] { return tls::run_serve(*options, session); };
    });
}

void add_connect(CLI::App& program, cli::Session& session) {
    auto options = std::make_shared<tls::ConnectOptions>();
    CLI::App* connect = program.add_subcommand(
        "tls-connect", "Connect to tls-serve, agree on that key, and send data under it");
    connect->footer(
        "Standard input goes to the server, what it answers to standard output, within TLS and "
        "sealed once more under the new key.");
    connect->add_option("SERVER", options->server, "where tls-serve listens")
        ->required()
        ->type_name("HOST:PORT");
    connect
        ->add_option("--ca", options->authority,
                     "certificates that may sign the server's (default: the system's)")
        ->type_name("FILE");
    connect
        ->add_option("--name", options->name,
                     "the certificate must be of this name or address (default: HOST)")
        ->type_name("NAME");
    connect
        ->add_option("--set", options->sets,
                     "sets of NTRU that are good enough (default: ntruhps4096821)")
        ->type_name("NAME");
    connect
        ->add_option("--timeout", options->patience_seconds, "for handshake and exchange together")
        ->check(CLI::Range(1, 86400).description(""))
        ->type_name("SECONDS")
        ->capture_default_str();
    connect->callback([options, &session] {
        session.command = [options, &session] { return tls::run_connect(*options, session); };
    });
}

cli::ExitCode run(int argument_count, char** arguments) {
    CLI::App program(
        "TLS 1.3 with key exchange by NTRU: handshakes measured, and a key agreed upon within a "
        "connection.",
        "warpseal-tls");
    cli::Session session;
    program.require_subcommand(1);
    program.set_version_flag("-V,--version", std::string("warpseal-tls ") + warpseal_version());
    add_tls_bench(program, session);
    add_serve(program, session);
    add_connect(program, session);
    try {
        program.parse(argument_count, arguments);
    } catch (const CLI::Success& success) {  // --help and --version
        std::ostringstream text;
        program.exit(success, text);
        cli::print_output(text.str());
        return cli::ExitCode::ok;
    } catch (const CLI::ParseError& error) {
        throw cli::Failure(cli::ExitCode::usage,
                           fmt::format("{}. See `warpseal-tls --help`.", error.what()));
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

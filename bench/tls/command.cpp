// `warpseal tls-bench`: its options.
#include <CLI/CLI.hpp>

#include "bench/commands.h"
#include "bench/tls/options.h"
#include "cli/support/output.h"

namespace warpseal::bench {
namespace {

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
        ->envname("WARPSEAL_DEVICE")
        ->transform(cli::any_case())
        ->type_name("DEVICE")
        ->capture_default_str();
    exchanges
        ->add_option("--seconds", options->seconds,
                     "of each measurement; a batcher that many ask is warmed up for as long before")
        ->check(cli::check_seconds)
        ->capture_default_str();
    exchanges
        ->add_option("--json", options->json,
                     "write head and rows there; - is stdout, the table then goes to stderr")
        ->type_name("FILE")
        ->check(cli::Output::refused_path);
    exchanges->callback([options, &session] {
        session.command = [options, &session] { return tls::run_exchanges(*options, session); };
    });
}

}  // namespace

void add_tls(CLI::App& program, cli::Session& session) {
    auto options = std::make_shared<tls::HandshakesOptions>();
    CLI::App* bench =
        program.add_subcommand("tls", "TLS 1.3 handshakes of very many clients, by key exchange");
    bench->footer(
        "Full handshakes, without resumption, each on a connection of its own, against OpenSSL's "
        "own server side, with an ECDSA P-256 "
        "certificate that clients verify.\n"
        "bench/README.md says what a row means. Exit code 1: a handshake failed.");
    bench
        ->add_option("--group", options->groups,
                     "key exchanges, side by side: X25519, x25519_ntru_hps4096821, "
                     "ntru_hps4096821, ... (default: these); NAME=warpseal: the server uses "
                     "Warpseal's algorithms where OpenSSL has them too")
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
    CLI::Option* sockets =
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
        ->type_name("FILE")
        ->check(cli::Output::refused_path);
    bench
        ->add_option(
            "--library-contexts", options->library_contexts,
            "number of OpenSSL's contexts of each side; loops that share one share its locks "
            "and its batcher")
        ->check(CLI::Range(1, 4096).description(""))
        ->capture_default_str()
        ->excludes(sockets)
        ->excludes(connect);
    add_exchanges(*bench, session);
    bench->callback([bench, options, &session] {
        if (bench->get_subcommands().empty())
            session.command = [options, &session] {
                return tls::run_handshakes(*options, session);
            };
    });
}

}  // namespace warpseal::bench

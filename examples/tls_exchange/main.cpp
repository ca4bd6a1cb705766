// The program `tls-exchange`: its options.
#include <CLI/CLI.hpp>

#include "cli/support/program.h"
#include "examples/tls_exchange/options.h"

namespace {

using namespace warpseal;

void add_serve(CLI::App& program, cli::Session& session) {
    auto options = std::make_shared<tls::ServeOptions>();
    CLI::App* serve = program.add_subcommand(
        "serve",
        "Accept TLS connections and agree on a further key by NTRU: the server decapsulates");
    serve->footer(
        "Each client has a fresh key pair of a pool, used once, and its ciphertext is decapsulated "
        "together with those of others. What a "
        "client "
        "sends under the key is sent back to it. docs/tls-exchange.md is the protocol.\n"
        "Ends on SIGINT or SIGTERM, and then says what there was. A second signal ends it at "
        "once.");
    serve
        ->add_option("--cert", options->certificate,
                     "the server's certificate and those above it, PEM")
        ->required()
        ->type_name("FILE");
    serve->add_option("--key", options->key, "its private key, PEM")->required()->type_name("FILE");
    serve
        ->add_option("--listen", options->listen,
                     "port 0: any that is free; standard output has it")
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
        "connect", "Connect to a server, agree on that key, and send data under it");
    connect->footer(
        "Standard input goes to the server, what it answers to standard output, within TLS and "
        "sealed once more under the new key.");
    connect->add_option("SERVER", options->server, "where the server listens")
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

void add_commands(CLI::App& program, cli::Session& session) {
    program.require_subcommand(1);
    add_serve(program, session);
    add_connect(program, session);
}

}  // namespace

int main(int argument_count, char** arguments) {
    return cli::run_program({"tls-exchange",
                             "Agree on a key by NTRU within a TLS connection: the server "
                             "decapsulates for many clients at a time",
                             add_commands},
                            argument_count, arguments);
}

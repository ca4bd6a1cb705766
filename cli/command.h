// What a command of the program is: it registers with CLI11, runs after parsing, returns an exit
// code, and fails by throwing Failure.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "exit_code.h"
#include "warpseal/warpseal.h"

namespace CLI {
class App;  // CLI11 is big: only files that declare options include it
}

namespace warpseal::cli {

// Ends a command: main prints "warpseal: " and the text on stderr and exits with the code. The text
// says what, why and what to do next.
struct Failure : std::runtime_error {
    Failure(ExitCode exit_code, const std::string& text)
        : std::runtime_error(text), code(exit_code) {}
    ExitCode code;
};

struct EngineDelete {
    void operator()(warpseal_engine* engine) const { warpseal_engine_destroy(engine); }
};
using EngineHandle = std::unique_ptr<warpseal_engine, EngineDelete>;

// What all commands share. A command's CLI11 callback only stores `command`; main calls it when
// parsing is over.
//
//     void add_list(CLI::App& program, Session& session) {
//         auto options = std::make_shared<ListOptions>();
//         CLI::App* list = program.add_subcommand("list", "…");
//         list->add_option(…, options->…);
//         list->callback([options, &session] { session.command = [options, &session] { return
//         run(*options, session); }; });
//     }
struct Session {
    bool quiet = false;        // -q: no remarks on stderr, errors only
    bool json_events = false;  // --progress json: a failure is an event, too
    std::function<ExitCode()> command;
};

// --device and --threads, with the same words in every command that computes.
struct EngineChoice {
    std::string device = "auto";
    unsigned threads = 0;
};
void add_engine_options(CLI::App& command, EngineChoice& choice);
// Throws Failure with device_not_usable, usage or self_test_failed. Notices of the engine go to
// stderr. `session` must outlive the engine.
EngineHandle create_engine(const EngineChoice& choice, Session& session);

// One line on stderr, "warpseal: " in front, whatever bytes a name in it holds; `remark` is silent
// under --quiet.
void remark(const Session& session, const std::string& text);
void complain(const std::string& text);
// Text as it is on stderr; a stderr that does not take it is no reason to fail.
void print_error(const std::string& text);
// A command's result on stdout. Throws Failure (input_output) if it does not get there.
void print_output(const std::string& text);

// 0, or the signal (SIGINT, SIGTERM, SIGHUP, SIGQUIT) that asked the program to stop: long work
// asks now and then and returns 128 + it.
int interrupted_by();

// For options that take seconds: "" for a number of 0.001 to 3600, which NaN is not (CLI::Range
// takes it), or what is wrong.
std::string check_seconds(const std::string& text);

// "1.5 GiB" for people.
std::string human_bytes(uint64_t bytes);
// "0a1b" of two bytes.
std::string hexadecimal(const void* bytes, size_t byte_count);
// And back; throws Failure (usage), naming the option that took the text.
std::vector<uint8_t> from_hexadecimal(const std::string& text, const char* option);

// The whole program; returns its exit code.
int run_program(int argument_count, char** arguments);

void add_encrypt(CLI::App& program, Session& session);
void add_decrypt(CLI::App& program, Session& session);
void add_verify(CLI::App& program, Session& session);
void add_raw(CLI::App& program, Session& session);
void add_info(CLI::App& program, Session& session);
void add_keygen(CLI::App& program, Session& session);
void add_devices(CLI::App& program, Session& session);
void add_list(CLI::App& program, Session& session);
void add_doctor(CLI::App& program, Session& session);  // doctor*
void add_bench(CLI::App& program, Session& session);   // bench.h, bench_*.cpp
void add_bench_studies(CLI::App& bench, Session& session);
void add_kem(CLI::App& program, Session& session);      // kem*
void add_vectors(CLI::App& program, Session& session);  // vectors.h, vectors_*.cpp
void add_tls(CLI::App& program, Session& session);

}  // namespace warpseal::cli

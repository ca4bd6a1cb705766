// Interface of a command: it registers with CLI11, runs after parsing, returns an exit code and
// reports failure by throwing Failure.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/support/exit_code.h"
#include "warpseal/warpseal.h"

namespace CLI {
class App;  // CLI11 is large: only files that declare options include it.
class Validator;
}  // namespace CLI

namespace warpseal::cli {

// Ends a command: main prints "warpseal: " and the text on stderr and exits with the code. The text
// says what failed, why, and what to do next.
struct Failure : std::runtime_error {
    Failure(ExitCode exit_code, const std::string& text)
        : std::runtime_error(text), code(exit_code) {}
    ExitCode code;
};

struct EngineDelete {
    bool shared = false;  // another handle destroys it
    void operator()(warpseal_engine* engine) const {
        if (!shared) warpseal_engine_destroy(engine);
    }
};
using EngineHandle = std::unique_ptr<warpseal_engine, EngineDelete>;

struct RunFile;  // cli/support/run/file_run.h

// State that all commands share. The CLI11 callback of a command only stores `command`; main calls
// it after parsing.
//
//   void add_list(CLI::App& program, Session& session) {
//       auto options = std::make_shared<ListOptions>();
//       CLI::App* list = program.add_subcommand("list", "…");
//       list->add_option(…, options->…);
//       list->callback([options, &session] {
//           session.command = [options, &session] { return run(*options, session); };
//       });
//   }
struct Session {
    bool quiet = false;        // -q: print errors only
    bool json_events = false;  // --progress json: report a failure as an event
    std::function<ExitCode()> command;
    RunFile* file = nullptr;  // set if the command works on several files: the one at hand
};

// --device and --threads, with the same meaning in every command that computes.
struct EngineChoice {
    std::string device = "auto";
    unsigned threads = 0;
};
void add_engine_options(CLI::App& command, EngineChoice& choice);
// Throws Failure: device_not_usable, usage or self_test_failed. The engine's notices go to stderr.
EngineHandle create_engine(const EngineChoice& choice);
// The same, but the files of a run share one engine.
EngineHandle create_engine(const EngineChoice& choice, Session& session);

// Prints "warpseal: " and the text as one line on stderr and escapes unprintable bytes. `remark`
// prints nothing under --quiet.
void remark(const Session& session, const std::string& text);
void complain(const std::string& text);
// Escapes bytes of names that would end the line or control the terminal (C0 and C1 controls of
// ECMA-48, C1 in UTF-8).
std::string printable(const std::string& text);
// Prints the text unchanged on stderr. Ignores write errors.
void print_error(const std::string& text);
// Prints a command's result on stdout. Throws Failure (input_output) if writing fails.
void print_output(const std::string& text);

// Returns 0, or the signal (SIGINT, SIGTERM, SIGHUP or SIGQUIT) that asked the program to stop.
// Long work polls this and returns 128 + signal.
int interrupted_by();

// Validator for options in seconds: returns "" for a number from 0.001 to 3600, otherwise the
// error. It rejects NaN, which CLI::Range accepts.
std::string check_seconds(const std::string& text);

// Transforms a number of bytes: 4096, 64KiB (1024 each), 10GB (1000 each). Refuses negative ones
// and those of 2^64 and more, which CLI::AsSizeValue takes for 2^64 - 1.
CLI::Validator size_value();
// Transforms ASCII capitals to small letters, for names of ciphers, formats and devices.
CLI::Validator any_case();

// Returns a size for people, such as "1.5 GiB".
std::string human_bytes(uint64_t bytes);
// Returns two digits for each byte, such as "0a1b".
std::string hexadecimal(const void* bytes, size_t byte_count);
// Inverse of hexadecimal. Throws Failure (usage), which names `option`.
std::vector<uint8_t> from_hexadecimal(const std::string& text, const char* option);

}  // namespace warpseal::cli

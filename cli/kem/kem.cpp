// `warpseal kem`: key encapsulation on files, and a list of the parameter sets.
#include "cli/kem/kem.h"

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/files/file_command.h"
#include "cli/support/companion.h"
#include "cli/support/format.h"
#include "cli/support/kem_sets.h"
#include "cli/support/output.h"

namespace warpseal::cli {
namespace {

// A kind of file that a command reads or writes, with its option's name and help text.
struct FileOption {
    const char* name;
    std::string KemChoice::*path;
    const char* text;
    bool written;
};

std::string lengths() {
    std::string text = cli::format("{:<18}{:>11}{:>12}{:>12}{:>15}\n", "bytes", "public key",
                                   "secret key", "ciphertext", "shared secret");
    for (const warpseal_kem_info& set : all_kem_sets())
        text += cli::format("{:<18}{:>11}{:>12}{:>12}{:>15}\n", set.name, set.public_key_bytes,
                            set.secret_key_bytes, set.ciphertext_bytes, set.shared_secret_bytes);
    return text +
           "Files hold these bytes and nothing else; several values lie side by side, in the same "
           "order in each file.\n";
}

CLI::App* add_file_command(CLI::App& kem, const char* name, const char* text,
                           const std::vector<FileOption>& files,
                           ExitCode (*run)(const KemChoice&, Session&), Session& session) {
    auto choice = std::make_shared<KemChoice>();
    CLI::App* command = kem.add_subcommand(name, text);
    add_progress_option(*command, choice->progress, session);
    for (const FileOption& file : files) {
        CLI::Option* option = command->add_option(file.name, (*choice).*file.path, file.text)
                                  ->type_name("FILE")
                                  ->required();
        if (file.written) option->check(Output::refused_path);
    }
    const bool generates = run == run_kem_keygen;
    command
        ->add_option("--set", choice->set,
                     generates ? "parameter set"
                               : "parameter set; a file with one key tells it by its length")
        ->type_name("SET")
        ->transform(any_case())
        ->required(generates);
    if (run != run_kem_decapsulate) {
        const char* const what = generates
                                     ? "so many key pairs"
                                     : "so many ciphertexts for the one public key of the file";
        command->add_option("--count", choice->count, what)
            ->type_name("N")
            ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 32).description(""));
    }
    command->add_flag("-f,--force", choice->force, "replace existing outputs");
    add_engine_options(*command, choice->engine);
    command->callback([choice, command, run, &session] {
        choice->count_given =
            command->get_option_no_throw("--count") != nullptr && command->count("--count") > 0;
        session.command = [choice, run, &session] { return run(*choice, session); };
    });
    return command;
}

}  // namespace

void add_kem(CLI::App& program, Session& session) {
    CLI::App* kem = program.add_subcommand(
        "kem", "Key encapsulation: ML-KEM (FIPS 203), X25519 and NTRU, one or many at a time");
    kem->require_subcommand(1);
    kem->footer(
        lengths() +
        "NTRU (the round-3 submission) is not a NIST standard: use a shared secret of it beside "
        "one "
        "of X25519 or another established\n"
        "exchange, not alone.\n"
        "Example:\n"
        "  warpseal kem keygen --set ml-kem-768 --secret-key my.sk --public-key my.pk\n"
        "  warpseal kem encapsulate --public-key my.pk --ciphertext to.me --shared-secret theirs\n"
        "  warpseal kem decapsulate --secret-key my.sk --ciphertext to.me --shared-secret mine");
    add_file_command(
        *kem, "keygen", "Make key pairs",
        {{"--secret-key", &KemChoice::secret_key, "file to write, mode 0600; - for standard output",
          true},
         {"--public-key", &KemChoice::public_key, "file to write; - for standard output", true}},
        run_kem_keygen, session);
    add_file_command(
        *kem, "encapsulate",
        "Make a shared secret and the ciphertext that carries it, for each public key",
        {{"--public-key", &KemChoice::public_key, "file to read; - for standard input", false},
         {"--ciphertext", &KemChoice::ciphertext, "file to write; - for standard output", true},
         {"--shared-secret", &KemChoice::shared_secret,
          "file to write, mode 0600; - for standard output", true}},
        run_kem_encapsulate, session);
    add_file_command(
        *kem, "decapsulate", "Find the shared secret that each ciphertext carries",
        {{"--secret-key", &KemChoice::secret_key,
          "file to read, private (mode 0600): one key for all, or one for each", false},
         {"--ciphertext", &KemChoice::ciphertext, "file to read; - for standard input", false},
         {"--shared-secret", &KemChoice::shared_secret,
          "file to write, mode 0600; - for standard output", true}},
        run_kem_decapsulate, session)
        ->footer(
            "What is no ciphertext of that key gives another secret, and no error (implicit "
            "rejection): whether both sides have the same\n"
            "secret is seen when they use it.");
    add_companion_command(*kem, session, "bench",
                          "Measure operations a second and how long batches take",
                          {"warpseal-bench", {"kem"}});
}

}  // namespace warpseal::cli

// `warpseal encrypt`: seals a file or a stream.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "cli/age/age.h"
#include "cli/commands.h"
#include "cli/files/file_command.h"
#include "cli/support/ciphers.h"

namespace warpseal::cli {
namespace {

struct EncryptChoice {
    FileChoice file;
    AgeChoice age;
    OutputChoice output;
    SealChoice seal;
};

ExitCode run_age(const EncryptChoice& choice, Session& session) {
    if (choice.file.foreign.format_given)
        throw Failure(ExitCode::usage, "-r, -R and -a go with age files only.");
    if (!choice.seal.suite.empty() || choice.seal.argon2_memory_mib || choice.seal.argon2_passes)
        throw Failure(ExitCode::usage,
                      "-c and --argon2-… go with Warpseal files only: age has one cipher, and "
                      "scrypt for passphrases.");
    const Descriptor input = open_input(choice.file.input);
    return run_age_encrypt(choice.file, choice.age, input.get(), choice.output, session);
}

ExitCode run(const EncryptChoice& choice, Session& session) {
    check_file_choice(choice.file);
    if (choice.file.age || choice.age.any() || choice.age.armor) return run_age(choice, session);
    if (!choice.seal.suite.empty()) {
        const std::vector<std::string> suites = file_suites();
        if (std::find(suites.begin(), suites.end(), choice.seal.suite) == suites.end())
            throw Failure(ExitCode::unsupported,
                          fmt::format("there is no cipher '{}' for files: use {}.",
                                      choice.seal.suite, fmt::join(suites, " or ")));
    }
    if ((choice.seal.argon2_memory_mib || choice.seal.argon2_passes) &&
        !choice.file.secrets.passphrase())
        throw Failure(ExitCode::usage,
                      "--argon2-memory and --argon2-passes go with a passphrase only.");
    const Descriptor input = open_input(choice.file.input);
    return run_file_task(FileTask::encrypt, choice.file, input.get(), choice.seal, &choice.output,
                         session);
}

}  // namespace

void add_encrypt(CLI::App& program, Session& session) {
    auto choice = std::make_shared<EncryptChoice>();
    CLI::App* command =
        program.add_subcommand("encrypt", "Encrypt and authenticate a file or a stream");
    add_file_options(*command, choice->file, session);
    add_age_encrypt_options(*command, choice->age);
    add_output_options(*command, choice->output);
    add_floe_options(*command, choice->file.foreign);
    add_floe_segment_option(*command, choice->file.foreign);
    command
        ->add_option("-c,--cipher", choice->seal.suite,
                     "aes-256-gcm (default), or another of `warpseal list`")
        ->type_name("CIPHER");
    command
        ->add_option("--argon2-memory", choice->seal.argon2_memory_mib,
                     "memory for the passphrase's key derivation, MiB (default 256)")
        ->type_name("MIB")
        ->check(CLI::Range(1, 1024));
    command
        ->add_option("--argon2-passes", choice->seal.argon2_passes,
                     "passes of the key derivation (default 3)")
        ->type_name("N")
        ->check(CLI::Range(1, 16));
    command->footer(
        "Examples:\n"
        "  warpseal encrypt -k my.key disk.img -o disk.img.ws\n"
        "  tar -c photos | warpseal encrypt -p -o photos.tar.ws\n"
        "  warpseal encrypt -r age1… disk.img -o disk.img.age\n"
        "  warpseal encrypt --format age -p -a notes.txt -o notes.txt.age");
    command->callback([choice, &session] {
        session.command = [choice, &session] { return run(*choice, session); };
    });
}

}  // namespace warpseal::cli

// `warpseal encrypt`: seals a file or a stream.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "cli/age/age.h"
#include "cli/commands.h"
#include "cli/files/file_command.h"
#include "cli/files/resume.h"
#include "cli/many/names.h"
#include "cli/many/run.h"
#include "cli/shards/shards.h"
#include "cli/support/ciphers.h"
#include "cli/support/format.h"
#include "cli/support/words/suggest.h"
#include "cli/tar/tar.h"

namespace warpseal::cli {
namespace {

struct EncryptChoice {
    FileChoice file;
    AgeChoice age;
    OutputChoice output;
    SealChoice seal;
    ManyChoice many;
    ShardChoice shards;
    bool is_age() const { return file.age || age.armor; }
};

void check_age(const EncryptChoice& choice) {
    if (choice.file.foreign.format_given)
        throw Failure(ExitCode::usage, "-a goes with age files only: leave it or --format out.");
    if (!choice.seal.suite.empty() || choice.seal.argon2_memory_mib || choice.seal.argon2_passes)
        throw Failure(ExitCode::usage,
                      "-c and --argon2-… go with Warpseal files only: age has one cipher, and "
                      "scrypt for passphrases.");
}

void check(const EncryptChoice& choice) {
    check_file_choice(choice.file);
    if (choice.is_age()) return check_age(choice);
    if (choice.age.any() && (choice.file.format == WARPSEAL_FORMAT_COBBLESTONE ||
                             choice.file.foreign.format != ForeignFormat::none))
        throw Failure(
            ExitCode::usage,
            "-r, -R and -j go with Warpseal and age files only: leave them or --format out.");
    if (!choice.seal.suite.empty()) {
        const std::vector<std::string> suites = file_suites();
        if (std::find(suites.begin(), suites.end(), choice.seal.suite) == suites.end())
            throw Failure(
                ExitCode::unsupported,
                cli::format("there is no cipher '{}' for files: use {}.{}", choice.seal.suite,
                            fmt::join(suites, " or "), did_you_mean(choice.seal.suite, suites)));
    }
    if ((choice.seal.argon2_memory_mib || choice.seal.argon2_passes) &&
        !choice.file.secrets.passphrase())
        throw Failure(ExitCode::usage,
                      "--argon2-memory and --argon2-passes go with a passphrase only.");
}

ExitCode run_one(const EncryptChoice& choice, const FileChoice& file, int input,
                 const OutputChoice& output, Session& session) {
    if (choice.is_age() && output.resume) refuse_resuming("an age file");
    if (choice.is_age()) return run_age_encrypt(file, choice.age, input, output, session);
    return run_file_task(FileTask::encrypt, file, input, choice.seal, &output, session);
}

const char* suffix(const EncryptChoice& choice) {
    if (choice.is_age()) return ".age";
    return choice.file.foreign.format == ForeignFormat::floe ? ".floe" : ".ws";
}

ExitCode run_all(EncryptChoice& choice, Session& session) {
    const bool floe = choice.file.foreign.format == ForeignFormat::floe;
    if (choice.many.skip_done && (choice.is_age() || floe)) refuse_skipping();
    if (choice.many.skip_done && choice.age.any() && !choice.is_age() && !choice.file.secrets.any())
        throw Failure(ExitCode::usage,
                      "--skip-done opens the files that are there, and a recipient cannot: give -k "
                      "or a passphrase too, or leave it out.");
    refuse_one_use(choice.age.recipient_files, "-R");
    refuse_one_use({choice.file.foreign.aad_file}, "--aad-file");
    ManyTask task{FileTask::encrypt, choice.file, choice.many, choice.output};
    task.file.age = choice.is_age();
    if (!task.file.age) add_recipients(choice.age, task.file.secrets, session);
    task.default_suffix = suffix(choice);
    task.begin = [&choice](const std::vector<std::string>& paths) {
        begin_age_run(choice.age, paths);
    };
    task.one = [&choice](const FileChoice& file, int input, const OutputChoice& output,
                         Session& one) { run_one(choice, file, input, output, one); };
    return run_many(task, session);
}

ExitCode run(EncryptChoice& choice, Session& session) {
    const bool many = choice.many.is_used() && !choice.many.tar && !choice.shards.is_used();
    choice.file.input = many                 ? choice.many.names_file
                        : choice.shards.join ? choice.shards.plan
                                             : choice.many.single_input();
    check(choice);
    refuse_resuming_with(choice.output, choice.shards.is_used(), "--plan");
    refuse_resuming_with(choice.output, choice.many.tar, "--tar");
    if (choice.shards.is_used()) {
        if (!choice.is_age()) add_recipients(choice.age, choice.file.secrets, session);
        choice.file.age = choice.is_age();
        return run_shards(choice.shards, choice.many, choice.file, choice.seal, choice.output,
                          session);
    }
    if (choice.many.tar) {
        if (!choice.is_age()) add_recipients(choice.age, choice.file.secrets, session);
        return run_tar_encrypt(
            choice.many, choice.file, choice.output,
            [&](const FileChoice& file, int input, const OutputChoice& output) {
                run_one(choice, file, input, output, session);
            },
            session);
    }
    if (many) return run_all(choice, session);
    const Descriptor input = open_input(choice.file.input);
    refuse_shared_identities(choice.age, input.get());
    if (!choice.is_age()) add_recipients(choice.age, choice.file.secrets, session);
    if (!choice.age.armor)
        name_output_at_terminal(FileTask::encrypt, choice.file.input, suffix(choice), choice.output,
                                session);
    return run_one(choice, choice.file, input.get(), choice.output, session);
}

}  // namespace

void add_encrypt(CLI::App& program, Session& session) {
    auto choice = std::make_shared<EncryptChoice>();
    CLI::App* command =
        program.add_subcommand("encrypt", "Encrypt and authenticate a file or a stream");
    add_file_options(*command, choice->file, session, &choice->many.inputs);
    add_age_encrypt_options(*command, choice->age);
    add_output_options(*command, choice->output);
    add_preserve_option(*command, choice->output);
    add_resume_option(*command, choice->output);
    add_many_options(*command, choice->many);
    add_many_output_options(*command, choice->many);
    add_tar_option(*command, choice->many,
                   "seal all inputs, files or directories, as one tar archive");
    add_shard_options(*command, choice->shards);
    add_floe_options(*command, choice->file.foreign);
    add_floe_segment_option(*command, choice->file.foreign);
    command
        ->add_option("-c,--cipher", choice->seal.suite,
                     "aes-256-gcm (default), or another of `warpseal list`")
        ->type_name("CIPHER")
        ->transform(any_case());
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
        "Several inputs, or an option of many files, make an output named after each input: "
        "FILE.ws. docs/many-files.md tells more.\n"
        "Without -o, one file at a terminal gives FILE.ws too.\n"
        "Examples:\n"
        "  warpseal encrypt -k my.key disk.img -o disk.img.ws\n"
        "  pg_dump mine | warpseal encrypt -p -o mine.sql.ws\n"
        "  warpseal encrypt -r age1… -r age1… disk.img -o disk.img.ws\n"
        "  warpseal encrypt --format age -r age1… notes.txt -o notes.txt.age\n"
        "  warpseal encrypt -p --recursive photos --output-dir sealed\n"
        "  warpseal encrypt -k my.key --resume disk.img -o disk.img.ws\n"
        "  warpseal encrypt -p --tar photos -o photos.tar.ws\n"
        "One big file on several machines, in shards (docs/shards.md):\n"
        "  warpseal encrypt -k my.key --plan big.plan --shards 8 big\n"
        "  warpseal encrypt -k my.key --plan big.plan --shard 1/8 big\n"
        "  warpseal encrypt -k my.key --plan big.plan --join -o big.ws");
    command->callback([choice, &session] {
        session.command = [choice, &session] { return run(*choice, session); };
    });
}

}  // namespace warpseal::cli

// `warpseal decrypt` and `warpseal verify`: open a sealed file or stream and write or discard the
// plaintext.
#include <CLI/CLI.hpp>

#include "cli/age/age.h"
#include "cli/commands.h"
#include "cli/files/range.h"
#include "cli/files/resume.h"
#include "cli/foreign/foreign.h"
#include "cli/many/names.h"
#include "cli/many/run.h"
#include "cli/support/format.h"
#include "cli/tar/tar.h"

namespace warpseal::cli {
namespace {

// Decrypt and verify.
struct OpenChoice {
    FileChoice file;
    AgeChoice age;
    OutputChoice output;
    ManyChoice many;
    std::optional<Range> range;
};

ExitCode run_one(FileTask task, const OpenChoice& choice, const FileChoice& file, int input,
                 const OutputChoice* output, Session& session) {
    if (is_age(file, choice.age, input)) {
        if (output != nullptr && output->resume) refuse_resuming("an age file");
        // An age file reads its identities itself, so that it can unlock them.
        FileChoice age = file;
        age.secrets.identities = nullptr;
        return run_age_decrypt(task, age, choice.age, input, output,
                               choice.range ? &*choice.range : nullptr, session);
    }
    if (choice.range) return run_range(file, input, *choice.range, *output, session);
    return run_file_task(task, file, input, {}, output, session);
}

void check_format(FileTask task, const OpenChoice& choice, const FileChoice& file, int input) {
    const bool age = is_age(file, choice.age, input);
    const ForeignFormat foreign = age ? ForeignFormat::none : foreign_format(task, file, input);
    if (choice.many.skip_done && (age || foreign != ForeignFormat::none)) refuse_skipping();
    if (choice.many.remove && foreign == ForeignFormat::openssl)
        throw Failure(ExitCode::usage,
                      cli::format("--rm does not remove {}: files of openssl enc are not "
                                  "authenticated, so the output may be wrong.",
                                  shown(file)));
}

ExitCode run_all(FileTask task_kind, OpenChoice& choice, Session& session) {
    if (choice.range) throw Failure(ExitCode::usage, "--range reads one file alone.");
    refuse_one_use(choice.age.identities, "-i");
    refuse_one_use({choice.file.foreign.aad_file}, "--aad-file");
    if (!choice.file.secrets.any() && !choice.age.has_identities() && !has_terminal())
        throw Failure(ExitCode::usage,
                      "no key and no passphrase: give -k KEYFILE, -i IDENTITYFILE, -p, "
                      "--passphrase-file or --passphrase-fd.");
    ManyTask task{task_kind, choice.file, choice.many, choice.output};
    task.begin = [&choice](const std::vector<std::string>& paths) {
        begin_age_run(choice.age, paths);
    };
    task.one = [&choice, task_kind](const FileChoice& file, int input, const OutputChoice& output,
                                    Session& one) {
        run_one(task_kind, choice, file, input, task_kind == FileTask::verify ? nullptr : &output,
                one);
    };
    task.identity_files = choice.age.identities;
    task.check_format = [&choice, task_kind](const FileChoice& file, int input) {
        check_format(task_kind, choice, file, input);
    };
    return run_many(task, session);
}

ExitCode run_tar(const OpenChoice& choice, Session& session) {
    if (choice.range) throw Failure(ExitCode::usage, "--range does not go with --tar.");
    return run_tar_decrypt(
        choice.many, choice.file, choice.output,
        [&](const FileChoice& file, int input, const OutputChoice& output) {
            if (!is_age(file, choice.age, input) &&
                foreign_format(FileTask::decrypt, file, input) == ForeignFormat::openssl)
                throw Failure(ExitCode::unsupported,
                              cli::format("--tar does not unpack {}: files of openssl enc are not "
                                          "authenticated.",
                                          shown(file)));
            run_one(FileTask::decrypt, choice, file, input, &output, session);
        },
        session);
}

ExitCode run(FileTask task, OpenChoice& choice, Session& session) {
    const bool many = choice.many.is_used() && !choice.many.tar;
    choice.file.input = many ? choice.many.names_file : choice.many.single_input();
    if (!choice.file.age) add_identities(choice.age, choice.file.secrets, session, !many);
    check_file_choice(choice.file);
    refuse_resuming_with(choice.output, choice.many.tar, "--tar");
    refuse_resuming_with(choice.output, choice.range.has_value(), "--range");
    if (choice.many.tar) return run_tar(choice, session);
    if (many) return run_all(task, choice, session);
    const Descriptor input = open_input(choice.file.input);
    refuse_shared_identities(choice.age, input.get());
    if (choice.range && choice.output.preserve)
        throw Failure(ExitCode::usage, "--preserve goes with whole files, and not with --range.");
    if (task == FileTask::decrypt && !choice.range)
        name_output_at_terminal(task, choice.file.input, ".ws", choice.output, session);
    return run_one(task, choice, choice.file, input.get(),
                   task == FileTask::verify ? nullptr : &choice.output, session);
}

}  // namespace

void add_decrypt(CLI::App& program, Session& session) {
    auto choice = std::make_shared<OpenChoice>();
    CLI::App* command = program.add_subcommand(
        "decrypt", "Decrypt a file or a stream; only authenticated data is written");
    add_file_options(*command, choice->file, session, &choice->many.inputs);
    add_age_decrypt_options(*command, choice->age);
    add_output_options(*command, choice->output);
    add_preserve_option(*command, choice->output);
    add_resume_option(*command, choice->output);
    add_many_options(*command, choice->many);
    add_many_output_options(*command, choice->many);
    add_tar_option(*command, choice->many,
                   "unpack the tar archive inside into --output-dir, once all of it is authentic");
    add_floe_options(*command, choice->file.foreign);
    add_openssl_options(*command, choice->file.foreign);
    command
        ->add_option_function<std::string>(
            "--range",
            [choice](const std::string& text) {
                choice->range.emplace();
                (void)parse_range(text, *choice->range);
            },
            "LENGTH bytes from OFFSET on; without LENGTH, all from there on")
        ->type_name("OFFSET:[LENGTH]")
        ->check([](const std::string& text) {
            Range range;
            return parse_range(text, range);
        });
    command->footer(
        "Without a key or passphrase option, a passphrase is asked for on the terminal.\n"
        "Files of age, armored or not, are recognised by their first bytes.\n"
        "The output file is private (mode 0600).\n"
        "--range reads the header, the end of the file and the chunks of the range alone. Sizes "
        "are 4096, 64KiB or 10GB. A range that\n"
        "reaches past the end is shortened; one that begins past the end is refused.\n"
        "Files of FLOE and of openssl enc are recognised. The latter are not authenticated, and do "
        "not say how they were encrypted:\n"
        "--cipher, --digest, --pbkdf2 and --iter do.\n"
        "Several inputs, or an option of many files, make an output named after each input: "
        "FILE.ws gives FILE. docs/many-files.md tells more.\n"
        "Check the exit code: what went to standard output is the whole file only if it is 0. In a "
        "pipeline, `set -o pipefail`\n"
        "makes the shell do so.\n"
        "Examples:\n"
        "  warpseal decrypt -k my.key disk.img.ws -o disk.img\n"
        "  warpseal decrypt -p photos.tar.ws | tar -x\n"
        "  warpseal decrypt -i identity.txt disk.img.ws -o disk.img\n"
        "  warpseal decrypt -p -c aes-256-cbc --pbkdf2 old.enc -o old\n"
        "  warpseal decrypt -k my.key --range 1GiB:64KiB disk.img.ws -o part\n"
        "  warpseal decrypt -p --recursive sealed --output-dir photos\n"
        "  warpseal decrypt -p --tar photos.tar.ws --output-dir .");
    command->callback([choice, &session] {
        session.command = [choice, &session] { return run(FileTask::decrypt, *choice, session); };
    });
}

void add_verify(CLI::App& program, Session& session) {
    auto choice = std::make_shared<OpenChoice>();
    CLI::App* command = program.add_subcommand(
        "verify", "Check that a file is whole and authentic, writing nothing");
    add_file_options(*command, choice->file, session, &choice->many.inputs);
    add_age_decrypt_options(*command, choice->age);
    add_many_options(*command, choice->many);
    add_floe_options(*command, choice->file.foreign);
    command->footer(
        "Exit code 26 means damage: a changed or truncated file. A file whose header is damaged in "
        "one of its two copies opens, and\n"
        "verify says so on stderr.\n"
        "Example:\n"
        "  warpseal verify -k my.key disk.img.ws\n"
        "  warpseal verify -p --recursive --keep-going sealed");
    command->callback([choice, &session] {
        session.command = [choice, &session] { return run(FileTask::verify, *choice, session); };
    });
}

}  // namespace warpseal::cli

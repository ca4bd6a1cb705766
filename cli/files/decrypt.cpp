// `warpseal decrypt` and `warpseal verify`: open a sealed file or stream and write or discard the
// plaintext.
#include <CLI/CLI.hpp>

#include "cli/age/age.h"
#include "cli/commands.h"
#include "cli/files/range.h"

namespace warpseal::cli {

void add_decrypt(CLI::App& program, Session& session) {
    struct DecryptChoice {
        FileChoice file;
        AgeChoice age;
        OutputChoice output;
        std::optional<Range> range;
    };
    auto choice = std::make_shared<DecryptChoice>();
    CLI::App* command = program.add_subcommand(
        "decrypt", "Decrypt a file or a stream; only authenticated data is written");
    add_file_options(*command, choice->file, session);
    add_age_decrypt_options(*command, choice->age);
    add_output_options(*command, choice->output);
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
        "Check the exit code: what went to standard output is the whole file only if it is 0. In a "
        "pipeline, `set -o pipefail`\n"
        "makes the shell do so.\n"
        "Examples:\n"
        "  warpseal decrypt -k my.key disk.img.ws -o disk.img\n"
        "  warpseal decrypt -p photos.tar.ws | tar -x\n"
        "  warpseal decrypt -i identity.txt disk.img.age -o disk.img\n"
        "  warpseal decrypt -p -c aes-256-cbc --pbkdf2 old.enc -o old\n"
        "  warpseal decrypt -k my.key --range 1GiB:64KiB disk.img.ws -o part");
    command->callback([choice, &session] {
        session.command = [choice, &session] {
            check_file_choice(choice->file);
            const Descriptor input = open_input(choice->file.input);
            if (is_age(choice->file, choice->age, input.get())) {
                if (choice->range)
                    throw Failure(ExitCode::unsupported,
                                  "--range reads Warpseal files and cobblestone messages only.");
                return run_age_decrypt(FileTask::decrypt, choice->file, choice->age, input.get(),
                                       &choice->output, session);
            }
            if (choice->range)
                return run_range(choice->file, input.get(), *choice->range, choice->output,
                                 session);
            return run_file_task(FileTask::decrypt, choice->file, input.get(), {}, &choice->output,
                                 session);
        };
    });
}

void add_verify(CLI::App& program, Session& session) {
    struct VerifyChoice {
        FileChoice file;
        AgeChoice age;
    };
    auto choice = std::make_shared<VerifyChoice>();
    CLI::App* command = program.add_subcommand(
        "verify", "Check that a file is whole and authentic, writing nothing");
    add_file_options(*command, choice->file, session);
    add_age_decrypt_options(*command, choice->age);
    add_floe_options(*command, choice->file.foreign);
    command->footer(
        "Exit code 26 means damage: a changed or truncated file. A file whose header is damaged in "
        "one of its two copies opens, and\n"
        "verify says so on stderr.\n"
        "Example:\n"
        "  warpseal verify -k my.key disk.img.ws");
    command->callback([choice, &session] {
        session.command = [choice, &session] {
            check_file_choice(choice->file);
            const Descriptor input = open_input(choice->file.input);
            if (is_age(choice->file, choice->age, input.get()))
                return run_age_decrypt(FileTask::verify, choice->file, choice->age, input.get(),
                                       nullptr, session);
            return run_file_task(FileTask::verify, choice->file, input.get(), {}, nullptr, session);
        };
    });
}

}  // namespace warpseal::cli

// Checks and remarks of --resume.
#include "cli/files/resume.h"

#include <sys/stat.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "c_api/internal_resume.h"
#include "cli/foreign/foreign.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

void check_output(const OutputChoice& output) {
    if (output.path.empty() || output.path == "-" || output.pipe >= 0)
        throw Failure(ExitCode::usage,
                      "--resume needs an output that is a file: name it with -o, or give "
                      "--output-dir.");
}

// A recipient seals, and opens nothing. The file key of SSH keys and plugins is another in each
// run, so that the output could never be continued.
void check_secrets(FileTask task, const FileChoice& choice) {
    if (task == FileTask::encrypt && choice.secrets.wrapped)
        throw Failure(ExitCode::usage,
                      "--resume does not go with SSH keys and plugins as recipients: leave it out, "
                      "or add them afterwards with `warpseal key add -r` or -R.");
    if (task != FileTask::encrypt || choice.secrets.key_count() != 0 || choice.secrets.passphrase())
        return;
    throw Failure(ExitCode::usage,
                  "--resume opens the unfinished output that is there, and a recipient cannot: "
                  "give -k or a passphrase too, or leave it out.");
}

void say_how(const ResumableCall& call, const warpseal_internal_resumption& resumption,
             const Session& session) {
    if (resumption.continued != 0)
        remark(session, cli::format("{} was continued: {} of the text were there and verified.",
                                    call.output.shown(), human_bytes(resumption.kept_bytes)));
    else if (resumption.not_continued[0] != 0)
        complain(
            cli::format("the unfinished output of {} could not be continued, and was begun "
                        "anew: {}.",
                        call.output.shown(), resumption.not_continued));
}

}  // namespace

void add_resume_option(CLI::App& command, OutputChoice& choice) {
    command.add_flag("--resume", choice.resume,
                     "keep an unfinished output as OUTPUT.unfinished, and continue the one that "
                     "is there");
}

void refuse_resuming(const char* format) {
    throw Failure(ExitCode::unsupported,
                  cli::format("--resume continues Warpseal files and cobblestone messages only, "
                              "and this is {}: leave it out.",
                              format));
}

void refuse_resuming_with(const OutputChoice& output, bool given, const char* option) {
    if (output.resume && given)
        throw Failure(ExitCode::usage, cli::format("--resume does not go with {}.", option));
}

bool is_resumable(FileTask task, const FileChoice& choice, int input, const OutputChoice& output) {
    if (!output.resume) return false;
    check_output(output);
    struct stat about;
    if (fstat(input, &about) != 0 || !S_ISREG(about.st_mode))
        throw Failure(ExitCode::usage,
                      cli::format("--resume reads the input again, and {} is a pipe or a device: "
                                  "name a file.",
                                  shown(choice)));
    switch (foreign_format(task, choice, input)) {
        case ForeignFormat::none: break;
        case ForeignFormat::floe: refuse_resuming("a FLOE file");
        case ForeignFormat::openssl: refuse_resuming("a file of openssl enc");
    }
    check_secrets(task, choice);
    return about.st_size > std::max<off_t>(lseek(input, 0, SEEK_CUR), 0);
}

warpseal_status run_resumable(const ResumableCall& call, const Session& session,
                              warpseal_file_result& result) {
    warpseal_internal_resumption resumption{};
    resumption.struct_bytes = sizeof resumption;
    const bool sealing = call.task == FileTask::encrypt;
    const auto run =
        sealing ? warpseal_internal_file_seal_resumable : warpseal_internal_file_open_resumable;
    const warpseal_status status = run(call.engine, call.input, call.output.descriptor(),
                                       &call.options, call.keys, &resumption, &result);
    if (resumption.other_file != 0)
        throw Failure(ExitCode::output_exists,
                      cli::format("'{}' exists, is not an unfinished output and was left alone: "
                                  "remove it, or name another output.",
                                  call.output.unfinished()));
    if (sealing && status == WARPSEAL_WRONG_KEY)
        throw Failure(ExitCode::wrong_key,
                      cli::format("cannot continue '{}': none of the keys opens it. Give those "
                                  "that it was begun with, or remove it.",
                                  call.output.unfinished()));
    say_how(call, resumption, session);
    if (status == WARPSEAL_OK) call.output.set_length(resumption.output_bytes);
    return status;
}

}  // namespace warpseal::cli

// Common sequence of encrypt, decrypt and verify, from checked options to a named output or an exit
// code.
#include "cli/files/file_command.h"

#include <sys/stat.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "c_api/internal_slot_keys.h"
#include "cli/files/resume.h"
#include "cli/foreign/foreign.h"
#include "cli/support/format.h"
#include "cli/support/run/file_run.h"
#include "cli/support/words/suggest.h"

namespace warpseal::cli {

std::string shown(const FileChoice& choice) {
    return choice.input == "-" ? "standard input" : "'" + choice.input + "'";
}

namespace {

const char* verb(FileTask task) {
    switch (task) {
        case FileTask::encrypt: return "encrypt";
        case FileTask::decrypt: return "decrypt";
        case FileTask::verify: return "verify";
        case FileTask::rescue: break;
    }
    return "rescue";
}
const char* past(FileTask task) {
    switch (task) {
        case FileTask::encrypt: return "encrypted";
        case FileTask::decrypt: return "decrypted";
        case FileTask::verify: return "verified";
        case FileTask::rescue: break;
    }
    return "rescued";
}

warpseal_format format_named(const std::string& name) {
    if (name == "warpseal") return WARPSEAL_FORMAT_WARPSEAL;
    if (name == "cobblestone") return WARPSEAL_FORMAT_COBBLESTONE;
    throw Failure(
        ExitCode::unsupported,
        cli::format("there is no format '{}': use warpseal, age, cobblestone, floe or "
                    "openssl.{}",
                    name,
                    did_you_mean(name, {"warpseal", "age", "cobblestone", "floe", "openssl"})));
}

// Asks at the terminal, as age does, if no secret was named and a passphrase can open the file.
void ask_if_nothing_named(int input, FileTask task, const FileChoice& choice,
                          SecretChoice& secrets) {
    if (secrets.any()) return;
    const std::string how =
        cli::format("give -k KEYFILE, {}, -p, --passphrase-file or --passphrase-fd.",
                    task == FileTask::encrypt ? "-r RECIPIENT" : "-i IDENTITYFILE");
    if (task == FileTask::encrypt || choice.format == WARPSEAL_FORMAT_COBBLESTONE ||
        !has_terminal())
        throw Failure(ExitCode::usage, std::string("no key and no passphrase: ") + how);
    const off_t position = lseek(input, 0, SEEK_CUR);
    if (position >= 0) {
        warpseal_file_info info{};
        warpseal_file_result result{};
        info.struct_bytes = sizeof info;
        result.struct_bytes = sizeof result;
        const warpseal_status status = warpseal_file_info_read(input, &info, &result);
        if (lseek(input, position, SEEK_SET) != position)
            throw Failure(ExitCode::input_output, "cannot rewind the input.");
        bool passphrase = status != WARPSEAL_OK;  // On an error, the later open reports the cause.
        const uint32_t slots = std::min<uint32_t>(info.slot_count, WARPSEAL_MAX_SLOTS);
        bool identity = false;
        for (uint32_t i = 0; i < slots; ++i) {
            passphrase |= info.slots[i].type == WARPSEAL_SLOT_PASSPHRASE;
            identity |= info.slots[i].type > WARPSEAL_SLOT_PASSPHRASE;
        }
        if (!passphrase)
            throw Failure(ExitCode::usage,
                          identity ? "this file opens with an identity or a key file: give -i "
                                     "IDENTITYFILE or -k KEYFILE."
                                   : "this file opens with a key file only: give -k KEYFILE.");
    }
    secrets.ask = true;
}

const char* next_step(FileTask task, warpseal_status status, const FileChoice& choice,
                      const char* message) {
    const bool foreign = choice.foreign.format != ForeignFormat::none;
    if (foreign && (status == WARPSEAL_WRONG_KEY || status == WARPSEAL_UNSUPPORTED)) return "";
    switch (status) {
        case WARPSEAL_WRONG_KEY:
            return choice.format == WARPSEAL_FORMAT_COBBLESTONE
                       ? " Try another key or --context."
                       : " Try another; `warpseal info` shows what kinds of key the file takes.";
        case WARPSEAL_NOT_AUTHENTIC:
        case WARPSEAL_TRUNCATED:
            return task == FileTask::encrypt ? ""
                                             : " Take the file from its source or a backup again.";
        case WARPSEAL_UNSUPPORTED:
            if (task == FileTask::encrypt) return "";
            // Other messages are of files that are Warpseal files.
            return choice.format == WARPSEAL_FORMAT_COBBLESTONE ||
                           strcmp(message, "not a Warpseal file") != 0
                       ? ""
                       : " A bare Cobblestone message needs --format cobblestone.";
        case WARPSEAL_NO_DEVICE:
            return " `warpseal devices` shows what this machine has; --device auto takes what "
                   "works.";
        default: return "";
    }
}

ExitCode exit_code_for(FileTask task, warpseal_status status) {
    // An interrupt takes precedence over other errors. Ctrl-C also ends the other programs of a
    // pipe, and their output is cut off.
    if (const int signal_number = interrupted_by()) return ExitCode(128 + signal_number);
    const bool damage = status == WARPSEAL_NOT_AUTHENTIC || status == WARPSEAL_TRUNCATED;
    return task == FileTask::verify && damage ? ExitCode::damage_found : exit_code_of(status);
}

std::string failure_text(FileTask task, const FileChoice& choice, warpseal_status status,
                         const warpseal_file_result& result, const Output* output) {
    std::string text;
    if (interrupted_by() != 0) {
        text = "interrupted.";
    } else {
        text = cli::format("cannot {} {}: {}", verb(task), shown(choice),
                           result.message[0] ? result.message : warpseal_status_text(status));
        if (result.system_error != 0 &&
            text.find(strerror(result.system_error)) == std::string::npos)
            text += cli::format(": {}", strerror(result.system_error));
        if (text.back() != '.') text += '.';
        text += next_step(task, status, choice, result.message);
    }
    if (!output) return text;
    if (const std::string kept = output->unfinished(); !kept.empty())
        return cli::format("{} What was done is kept as '{}': the same command continues it.", text,
                           kept);
    if (!output->keeps_failed() || result.output_bytes == 0)
        return text + " Nothing was written to " + output->shown() + ".";
    const char* const what = task == FileTask::encrypt        ? "useless"
                             : status == WARPSEAL_BAD_PADDING ? "not verified and may all be wrong"
                                                              : "not the whole file";
    return cli::format("{} What went to {} is {}.", text, output->shown(), what);
}

}  // namespace

void say_if_header_copies_differ(const FileChoice& choice, const warpseal_file_result& result) {
    if (result.header_copies_differ == 0) return;
    complain(
        cli::format("{} is whole, but the two copies of its header differ: one is damaged, or a "
                    "change of its keys was not finished. It "
                    "opens with the other: make a new copy of the file while it does.",
                    shown(choice)));
}

void say_done(FileTask task, const FileChoice& choice, const warpseal_file_result& result,
              double seconds, const Session& session, double key_seconds) {
    if (session.file != nullptr) return;  // The run has a summary of its own.
    const double rate =
        seconds > 0 ? static_cast<double>(result.plaintext_bytes) / seconds / 1e9 : 0;
    remark(session,
           cli::format(
               "{} {} on {}{} in {:.2f} s ({:.2f} GB/s){}", past(task),
               human_bytes(result.plaintext_bytes),
               result.target && result.target[0] ? result.target : "no target",
               choice.engine.device == "auto" ? " (picked by auto)" : "", seconds, rate,
               key_seconds > 0 ? cli::format(", after {:.2f} s for the key", key_seconds) : ""));
}

Secrets read_secrets(int input, FileTask task, const FileChoice& choice) {
    SecretChoice wanted = choice.secrets;
    ask_if_nothing_named(input, task, choice, wanted);
    return Secrets(wanted, choice.format, task == FileTask::encrypt);
}

warpseal_file_options file_options(const FileChoice& choice, const SealChoice& seal,
                                   Secrets& secrets, const std::vector<uint8_t>& context,
                                   Progress& progress) {
    warpseal_file_options options{};
    options.struct_bytes = sizeof options;
    options.format = choice.format;
    options.suite = seal.suite.empty() ? nullptr : seal.suite.c_str();
    options.secrets = secrets.list().data();
    options.secret_count = secrets.list().size();
    options.context = context.data();
    options.context_bytes = context.size();
    options.argon2_passes = seal.argon2_passes;
    options.argon2_memory_kib = seal.argon2_memory_mib * 1024;
    options.progress = Progress::callback;
    options.progress_user = &progress;
    const std::vector<warpseal_secret>& list = secrets.list();
    progress.derive_key(std::any_of(list.begin(), list.end(),
                                    [](const warpseal_secret& secret) {
                                        return secret.type == WARPSEAL_SECRET_PASSPHRASE;
                                    }),
                        [&secrets] { secrets.wipe(); });
    options.secrets_used = Progress::key_is_ready;
    options.secrets_user = &progress;
    return options;
}

void throw_failure(FileTask task, const FileChoice& choice, warpseal_status status,
                   const warpseal_file_result& result, const Output* output) {
    throw Failure(exit_code_for(task, status), failure_text(task, choice, status, result, output));
}

void refuse_inputs(Output& output, int input, const SecretChoice& secrets) {
    output.refuse_same_file(input);
    for (const std::string& path : secrets.key_files)
        path == "-" ? output.refuse_same_file(STDIN_FILENO) : output.refuse_same_file(path);
    for (const std::string& path : secrets.passphrase_files) output.refuse_same_file(path);
    for (const std::string& path : secrets.public_key_files)
        path == "-" ? output.refuse_same_file(STDIN_FILENO) : output.refuse_same_file(path);
    output.refuse_same_file(secrets.passphrase_descriptor);
}

void add_progress_option(CLI::App& command, Progress::Style& style, Session& session) {
    static const std::map<std::string, Progress::Style> styles{{"auto", Progress::Style::automatic},
                                                               {"none", Progress::Style::none},
                                                               {"json", Progress::Style::json}};
    command
        .add_option_function<std::string>(
            "--progress",
            [&style, &session](const std::string& name) {
                style = styles.at(name);
                session.json_events = style == Progress::Style::json;
            },
            "auto: a bar on a terminal; json: one object a line on stderr")
        ->type_name("auto|none|json")
        ->check(CLI::IsMember(styles).description(""));
}

void add_file_options(CLI::App& command, FileChoice& choice, Session& session,
                      std::vector<std::string>* inputs) {
    // Registered first, so that errors of other options are reported in the chosen style.
    add_progress_option(command, choice.progress, session);
    if (inputs != nullptr)
        command.add_option("input", *inputs, "files to read; - or nothing: standard input")
            ->type_name("INPUT");
    else
        command.add_option("input", choice.input, "file to read; - or nothing: standard input")
            ->type_name("INPUT");
    add_secret_options(command, choice.secrets);
    command
        .add_option_function<std::string>(
            "--format",
            [&choice](const std::string& name) {
                choice.age = name == "age";
                const bool other = choice.age || choose_foreign_format(name, choice.foreign);
                choice.format = other ? WARPSEAL_FORMAT_WARPSEAL : format_named(name);
            },
            "warpseal; age; cobblestone: a bare C2SP message, whose one -k file is the raw input "
            "key; floe; openssl: files of openssl enc, to decrypt")
        ->type_name("warpseal|age|cobblestone|floe|openssl")
        ->transform(any_case());
    command
        .add_option_function<std::string>(
            "--context",
            [&choice](const std::string& text) {
                choice.context = text;
                choice.has_context = true;
            },
            "context of a cobblestone message, hexadecimal")
        ->type_name("HEX");
    add_engine_options(command, choice.engine);
}

void add_output_options(CLI::App& command, OutputChoice& choice) {
    command
        .add_option("-o,--output", choice.path,
                    "file to write, appears when whole; - or nothing: standard output")
        ->type_name("OUTPUT")
        ->check(Output::refused_path);
    command.add_flag("-f,--force", choice.force, "replace an existing output");
}

void add_preserve_option(CLI::App& command, OutputChoice& choice) {
    command.add_flag("--preserve", choice.preserve,
                     "give the output the input's permissions and time, and its owner if root");
}

void check_file_choice(const FileChoice& choice) {
    const bool cobblestone = choice.format == WARPSEAL_FORMAT_COBBLESTONE;
    if (choice.has_context && !cobblestone)
        throw Failure(ExitCode::usage, "--context goes with --format cobblestone only.");
    from_hexadecimal(choice.context, "--context");
    const SecretChoice& secrets = choice.secrets;
    if (cobblestone && (secrets.key_count() != 1 || secrets.passphrase()))
        throw Failure(ExitCode::usage,
                      "--format cobblestone takes exactly one -k KEYFILE (16 or 32 bytes) and "
                      "no passphrase.");
    check_standard_input(secrets, choice.input == "-");
    check_passphrase_descriptor(secrets);
}

ExitCode run_file_task(FileTask task, const FileChoice& choice, int input, const SealChoice& seal,
                       const OutputChoice* output_choice, Session& session) {
    std::optional<Output> output;
    bool resumable = false;
    if (output_choice) {
        OutputChoice chosen = *output_choice;
        chosen.resume = resumable = is_resumable(task, choice, input, chosen);
        output.emplace(chosen, task == FileTask::decrypt ? mode_decrypted : mode_encrypted);
        refuse_inputs(*output, input, choice.secrets);
        if (output_choice->preserve) output->preserve(input);
    }
    // Named secrets are read before the program waits for the input's first bytes.
    std::optional<Secrets> named;
    if (choice.secrets.any()) named.emplace(read_secrets(input, task, choice));
    if (const ForeignFormat format = foreign_format(task, choice, input);
        format != ForeignFormat::none) {
        if (choice.secrets.public_keys())
            throw Failure(ExitCode::usage,
                          cli::format("{} goes with Warpseal and age files only, and {} is "
                                      "another: leave it out.",
                                      choice.secrets.identity_option, shown(choice)));
        FileChoice foreign = choice;
        foreign.foreign.format = format;
        return run_foreign(task, foreign, seal, output ? &*output : nullptr, std::move(named),
                           input, session);
    }
    refuse_foreign_options(choice);
    Secrets secrets = named ? *std::move(named) : read_secrets(input, task, choice);
    if (task == FileTask::encrypt) say_if_short(secrets, session);
    if (output) output->remove_abandoned(session);
    const EngineHandle engine = create_engine(choice.engine, session);
    if (choice.input == "-" && isatty(input))
        remark(session, "reading from the terminal: end with Ctrl-D.");

    const std::vector<uint8_t> context = from_hexadecimal(choice.context, "--context");
    Progress progress(choice.progress, session);
    warpseal_file_options options = file_options(choice, seal, secrets, context, progress);
    // An incomplete file is discarded.
    options.any_order = output && !output->is_stream() ? 1 : 0;
    warpseal_file_result result{};
    result.struct_bytes = sizeof result;
    const int out = output ? output->descriptor() : -1;
    warpseal_internal_slot_keys* const keys =
        session.file != nullptr ? session.file->run.slot_keys() : nullptr;
    const auto call =
        task == FileTask::encrypt ? warpseal_internal_file_seal : warpseal_internal_file_open;
    const warpseal_status status =
        resumable
            ? run_resumable({task, engine.get(), input, *output, options, keys}, session, result)
            : call(engine.get(), input, out, &options, keys, &result);
    if (status != WARPSEAL_OK || interrupted_by() != 0)
        throw_failure(task, choice, status, result, output ? &*output : nullptr);
    if (output) output->commit();
    say_if_header_copies_differ(choice, result);
    const double key_seconds = progress.key_seconds(), seconds = progress.seconds() - key_seconds;
    progress.done(result);
    if (!progress.is_json()) say_done(task, choice, result, seconds, session, key_seconds);
    return ExitCode::ok;
}

}  // namespace warpseal::cli

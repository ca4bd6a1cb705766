// Checks, secrets, error texts and the summary of an age task.
#include "cli/age/task.h"

#include <sys/stat.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <new>
#include <optional>
#include <thread>

#include "cli/age/file_key.h"
#include "cli/age/plugin/run.h"
#include "cli/age/unlock/unlock.h"
#include "cli/support/format.h"

namespace warpseal::cli::age {
namespace {

constexpr uint64_t bytes_for_a_thread = 1 << 20;

const char* verb(FileTask task) {
    switch (task) {
        case FileTask::encrypt: return "encrypt";
        case FileTask::decrypt: return "decrypt";
        case FileTask::verify: return "verify";
        case FileTask::rescue: break;
    }
    return "rescue";
}

const char* next_step(FileTask task, ExitCode code) {
    if (task == FileTask::encrypt) return "";
    switch (code) {
        case ExitCode::wrong_key: return " Try another identity (-i) or passphrase.";
        case ExitCode::not_authentic:
        case ExitCode::truncated: return " Take the file from its source or a backup again.";
        default: return "";
    }
}

}  // namespace

void check_choice(FileTask task, const FileChoice& file, const AgeChoice& choice) {
    if (file.secrets.key_count() != 0)
        throw Failure(ExitCode::usage,
                      cli::format("{} goes with Warpseal files: an age file takes {} or a "
                                  "passphrase.",
                                  file.secrets.key_files.empty() ? "--key-command" : "-k",
                                  task == FileTask::encrypt ? "-r, -R" : "-i"));
    if (file.foreign.has_floe_options())
        throw Failure(ExitCode::usage,
                      "--aad, --aad-file and --segment-bytes go with --format floe only, and this "
                      "is an age file.");
    if (file.foreign.has_openssl_options())
        throw Failure(ExitCode::usage,
                      "--cipher, --digest, --pbkdf2, --iter, --no-salt and --base64 go with files "
                      "of openssl enc only, and this is an age file.");
    if (task == FileTask::encrypt && file.secrets.passphrase() && choice.has_recipients())
        throw Failure(ExitCode::usage,
                      "an age file takes recipients or a passphrase, not both: leave one out.");
    const std::string& device = file.engine.device;
    if (device != "auto" && device != "cpu")
        throw Failure(ExitCode::device_not_usable,
                      "age files are sealed and opened on cores: use --device auto or cpu.");
}

void refuse_shared_stream(int input, const std::vector<std::string>& paths, const char* option) {
    struct stat read, keys;
    if (fstat(input, &read) != 0) return;
    for (const std::string& path : paths) {
        const bool standard = path == "-";
        if ((standard ? fstat(STDIN_FILENO, &keys) : stat(path.c_str(), &keys)) != 0) continue;
        if (keys.st_dev == read.st_dev && keys.st_ino == read.st_ino &&
            (standard || !S_ISREG(keys.st_mode)))
            throw Failure(ExitCode::usage,
                          cli::format("{} {} and the input cannot both be standard input or the "
                                      "same pipe: name a file.",
                                      option, path));
    }
}

Secret read_passphrase(const SecretChoice& choice, bool confirm, const Session& session) {
    const Secrets secrets(choice, WARPSEAL_FORMAT_WARPSEAL, confirm);
    std::optional<Secret> passphrase;
    for (const warpseal_secret& secret : secrets.list()) {
        if (secret.type != WARPSEAL_SECRET_PASSPHRASE) continue;  // of a run's other files
        if (passphrase) throw Failure(ExitCode::usage, "an age file has one passphrase: give one.");
        const auto* const bytes = static_cast<const uint8_t*>(secret.bytes);
        passphrase.emplace(bytes, bytes + secret.byte_count);
    }
    if (!passphrase) throw Failure(ExitCode::usage, "an age file has one passphrase: give one.");
    if (confirm) say_if_short(secrets, session);
    return *std::move(passphrase);
}

std::vector<SecretBytes> passphrases_among(const std::vector<warpseal_secret>& secrets) {
    std::vector<SecretBytes> found;
    for (const warpseal_secret& secret : secrets) {
        if (secret.type != WARPSEAL_SECRET_PASSPHRASE) continue;
        found.emplace_back(std::max(secret.byte_count, SecretBytes::page_bytes));
        std::copy_n(static_cast<const uint8_t*>(secret.bytes), secret.byte_count,
                    found.back().data());
        found.back().size = secret.byte_count;
    }
    return found;
}

std::vector<SecretBytes> read_passphrases(const SecretChoice& choice) {
    return passphrases_among(Secrets(choice, WARPSEAL_FORMAT_WARPSEAL, false).list());
}

unsigned thread_count(const FileChoice& file, uint64_t input_bytes) {
    const unsigned wanted =
        file.engine.threads != 0 ? file.engine.threads : std::thread::hardware_concurrency();
    const uint64_t useful = input_bytes == 0 ? wanted : input_bytes / bytes_for_a_thread + 1;
    return static_cast<unsigned>(std::clamp<uint64_t>(wanted, 1, useful));
}

uint64_t remaining_bytes(int input) {
    struct stat about;
    const off_t position = lseek(input, 0, SEEK_CUR);
    if (position < 0 || fstat(input, &about) != 0 || !S_ISREG(about.st_mode)) return 0;
    return static_cast<uint64_t>(std::max<off_t>(about.st_size - position, 0));
}

uint64_t position_of(int input) {
    const off_t position = lseek(input, 0, SEEK_CUR);
    if (position < 0) throw Failure(ExitCode::input_output, "its position is not known.");
    return static_cast<uint64_t>(position);
}

void Task::run(const std::function<void()>& work, const OutputSink* written) {
    try {
        try {
            work();
        } catch (const std::bad_alloc&) {
            throw Failure(ExitCode::error, "out of memory: fewer --threads need less.");
        }
    } catch (const Failure& failure) {
        ExitCode code = failure.code;
        std::string text = failure.what();
        if (const int signal_number = interrupted_by()) {
            code = ExitCode(128 + signal_number);
            text = "interrupted.";
        } else {
            text = cli::format("cannot {} {}: {}{}", verb(task_), shown(file_), text,
                               next_step(task_, code));
        }
        const bool damage = code == ExitCode::not_authentic || code == ExitCode::truncated;
        if (task_ == FileTask::verify && damage) code = ExitCode::damage_found;
        if (output_ && (!output_->keeps_failed() || !written || written->written() == 0))
            text += " Nothing was written to " + output_->shown() + ".";
        else if (output_)
            text += " What went to " + output_->shown() +
                    (task_ == FileTask::encrypt ? " is useless." : " is not the whole file.");
        throw Failure(code, text);
    }
}

std::function<void(uint64_t)> Task::progress(uint64_t total_bytes) {
    return [this, total = total_bytes == 0 ? UINT64_MAX : total_bytes](uint64_t done) {
        (void)Progress::callback(&progress_, std::min(done, total), total);
        throw_if_interrupted();
    };
}

void Task::say_done(uint64_t text_bytes, uint64_t file_bytes, const Session& session) {
    warpseal_file_result result{};
    result.struct_bytes = sizeof result;
    result.plaintext_bytes = text_bytes;
    result.file_bytes = file_bytes;
    result.target = "libcrypto";
    const double seconds = progress_.seconds();
    progress_.done(result);
    if (!progress_.is_json()) cli::say_done(task_, file_, result, seconds, session);
}

}  // namespace warpseal::cli::age

namespace warpseal::cli {

void add_plugin_option(CLI::App& command, AgeChoice& choice, const char* about) {
    command
        .add_option("-j,--plugin", choice.plugins,
                    cli::format("{}; may be given several times", about))
        ->type_name("NAME")
        ->allow_extra_args(false);
}

void begin_age_run(AgeChoice& choice, std::vector<std::string> paths) {
    choice.run = std::make_shared<age::plugin::Run>(std::move(paths));
    if (!choice.unlocked) choice.unlocked = std::make_shared<age::UnlockedKeys>();
}

}  // namespace warpseal::cli

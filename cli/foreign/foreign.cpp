// Common sequence for files of other programs: checks, secrets, output, and the errors' texts.
#include "cli/foreign/foreign.h"

#include <openssl/crypto.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

constexpr size_t most_aad_bytes = size_t{1} << 20;

uint64_t regular_bytes(int input) {
    struct stat about;
    return fstat(input, &about) == 0 && S_ISREG(about.st_mode)
               ? static_cast<uint64_t>(about.st_size)
               : UINT64_MAX;
}

void check_floe_choice(FileTask task, const FileChoice& choice, const SealChoice& seal) {
    const SecretChoice& secrets = choice.secrets;
    if (secrets.passphrase())
        throw Failure(ExitCode::usage, "FLOE takes a key file and no passphrase: give -k KEYFILE.");
    if (secrets.key_count() == 0 || (task == FileTask::encrypt && secrets.key_count() != 1))
        throw Failure(ExitCode::usage, "FLOE takes one key of 32 bytes: give -k KEYFILE.");
    if (!seal.suite.empty() && seal.suite != "aes-256-gcm")
        throw Failure(ExitCode::unsupported, "FLOE has the cipher aes-256-gcm only.");
    if (choice.foreign.has_openssl_options())
        throw Failure(ExitCode::usage,
                      "--cipher, --digest, --pbkdf2, --iter, --no-salt and --base64 go with files "
                      "of openssl enc only.");
    if (choice.foreign.aad_file == "-" && choice.input == "-")
        throw Failure(ExitCode::usage, "--aad-file - and the input cannot both be standard input.");
    if (choice.foreign.aad_file == "-" &&
        std::count(secrets.key_files.begin(), secrets.key_files.end(), "-") != 0)
        throw Failure(ExitCode::usage,
                      "--aad-file - and -k - cannot both be standard input: name a file.");
    (void)from_hexadecimal(choice.foreign.aad, "--aad");
}

void check_openssl_task(FileTask task, const FileChoice& choice) {
    if (task == FileTask::encrypt)
        throw Failure(ExitCode::unsupported,
                      "files of openssl enc are only read, because nothing in them is "
                      "authenticated: write another format.");
    if (task != FileTask::decrypt)
        throw Failure(ExitCode::unsupported,
                      cli::format("cannot verify {}: it is a file of openssl enc, in which nothing "
                                  "is authenticated.",
                                  shown(choice)));
    if (choice.secrets.key_count() != 0)
        throw Failure(ExitCode::usage,
                      "files of openssl enc take a passphrase: give -p, --passphrase-file or "
                      "--passphrase-fd. For a key and an IV, use `warpseal raw`.");
    if (choice.foreign.has_floe_options())
        throw Failure(ExitCode::usage, "--aad and --aad-file go with --format floe only.");
    check_openssl_choice(choice.foreign);
}

}  // namespace

void refuse_foreign_options(const FileChoice& choice) {
    if (choice.foreign.has_floe_options())
        throw Failure(ExitCode::usage,
                      "--aad, --aad-file and --segment-bytes go with --format floe only.");
    if (choice.foreign.has_openssl_options())
        throw Failure(
            ExitCode::usage,
            cli::format("--cipher, --digest, --pbkdf2, --iter, --no-salt and --base64 go with "
                        "files of openssl enc only, and {} does not begin like one: files "
                        "without a salt need --format openssl.",
                        shown(choice)));
}

void refuse_foreign_format(const FileChoice& choice, const char* what) {
    if (choice.foreign.format != ForeignFormat::none)
        throw Failure(ExitCode::unsupported,
                      cli::format("{} is for sealed files of Warpseal only.", what));
    refuse_foreign_options(choice);
}

ForeignJob::ForeignJob(FileTask task, const FileChoice& choice, int input, Output* output,
                       warpseal_engine* engine, Session& session)
    : task_(task),
      choice_(choice),
      input_(input),
      output_(output),
      engine_(engine),
      session_(session),
      progress_(choice.progress, session),
      input_bytes_(regular_bytes(input)) {
    result_.struct_bytes = sizeof result_;
    if (output) out_.emplace(*output);
}

size_t ForeignJob::read(uint8_t* to, size_t most) {
    for (;;) {
        const ssize_t got = ::read(input_, to, most);
        const int error = errno;
        if (interrupted_by() != 0) fail(WARPSEAL_CANCELLED, "");
        if (got >= 0) {
            result_.file_bytes += static_cast<uint64_t>(got);
            (void)Progress::callback(&progress_, result_.file_bytes, input_bytes_);
            return static_cast<size_t>(got);
        }
        if (error == EINTR) continue;
        result_.system_error = error;
        fail(WARPSEAL_IO, "it cannot be read");
    }
}

void ForeignJob::write(const uint8_t* data, size_t bytes) {
    if (out_) out_->write(data, bytes);
}

void ForeignJob::fail(warpseal_status status, const std::string& why) {
    result_.output_bytes = out_ ? out_->written_bytes() : 0;
    result_.message[why.copy(result_.message, sizeof result_.message - 1)] = '\0';
    throw_failure(task_, choice_, status, result_, output_);
}

void ForeignJob::require(warpseal_status status) {
    if (status != WARPSEAL_OK || interrupted_by() != 0) fail(status, "");
}

void ForeignJob::done(const char* target, uint64_t plaintext_bytes) {
    if (interrupted_by() != 0) fail(WARPSEAL_CANCELLED, "");
    if (output_) output_->commit();
    result_.target = target;
    result_.plaintext_bytes = plaintext_bytes;
    result_.output_bytes = out_ ? out_->written_bytes() : 0;
    if (task_ == FileTask::encrypt) result_.file_bytes = result_.output_bytes;
    const double seconds = progress_.seconds();
    progress_.done(result_);
    if (!progress_.is_json()) say_done(task_, choice_, result_, seconds, session_);
}

std::vector<uint8_t> read_aad(const ForeignJob& job) {
    const ForeignChoice& options = job.options();
    if (options.aad_file.empty()) return from_hexadecimal(options.aad, "--aad");
    const Descriptor file = open_input(options.aad_file);
    std::vector<uint8_t> aad(most_aad_bytes + 1);
    size_t held = 0;
    while (held < aad.size()) {
        const ssize_t got = ::read(file.get(), aad.data() + held, aad.size() - held);
        if (got < 0 && errno == EINTR && interrupted_by() == 0) continue;
        if (got < 0)
            throw Failure(ExitCode::input_output,
                          cli::format("cannot read '{}': {}.", options.aad_file, strerror(errno)));
        if (got == 0) break;
        held += static_cast<size_t>(got);
    }
    if (held > most_aad_bytes)
        throw Failure(ExitCode::limit_exceeded,
                      cli::format("'{}' is longer than the {} that --aad-file may have.",
                                  options.aad_file, human_bytes(most_aad_bytes)));
    aad.resize(held);
    return aad;
}

namespace {

// Checks what concerns the input and the output together, before secrets are read.
void prepare(const FileChoice& choice, Output* output) {
    const std::string& aad_file = choice.foreign.aad_file;
    if (output && !aad_file.empty() && aad_file != "-") output->refuse_same_file(aad_file);
    // Without the system's configuration, which could load providers.
    if (OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) != 1)
        throw Failure(ExitCode::error, "libcrypto cannot start.");
}

}  // namespace

warpseal_status rescue_foreign(const FileChoice& choice, Output& output, int input,
                               Session& session, warpseal_rescue& report,
                               warpseal_file_result& result) {
    if (choice.foreign.format == ForeignFormat::openssl)
        throw Failure(ExitCode::unsupported,
                      cli::format("cannot rescue {}: it is a file of openssl enc, in which nothing "
                                  "is authenticated.",
                                  shown(choice)));
    check_floe_choice(FileTask::rescue, choice, {});
    prepare(choice, &output);
    Secrets secrets = read_secrets(input, FileTask::rescue, choice);
    const EngineHandle engine = create_engine(choice.engine, session);
    ForeignJob job(FileTask::rescue, choice, input, &output, engine.get(), session);
    return rescue_floe(job, secrets, output, report, result);
}

ExitCode run_foreign(FileTask task, const FileChoice& choice, const SealChoice& seal,
                     Output* output, std::optional<Secrets> named, int input, Session& session,
                     const Range* range) {
    const bool floe = choice.foreign.format == ForeignFormat::floe;
    if (floe)
        check_floe_choice(task, choice, seal);
    else
        check_openssl_task(task, choice);
    prepare(choice, output);
    Secrets secrets = named ? *std::move(named) : read_secrets(input, task, choice);
    if (output) output->remove_abandoned(session);
    const EngineHandle engine = create_engine(choice.engine, session);
    ForeignJob job(task, choice, input, output, engine.get(), session);
    if (!floe)
        open_openssl(job, secrets);
    else if (task == FileTask::encrypt)
        seal_floe(job, secrets);
    else
        open_floe(job, secrets, range);
    return ExitCode::ok;
}

}  // namespace warpseal::cli

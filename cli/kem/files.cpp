// `warpseal kem keygen`, `encapsulate` and `decapsulate`: keys, ciphertexts and shared secrets as
// raw bytes in files.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "cli/kem/kem.h"
#include "cli/raw/raw.h"
#include "cli/support/format.h"
#include "cli/support/kem_sets.h"
#include "cli/support/secrets.h"

namespace warpseal::cli {
namespace {

constexpr mode_t mode_secret = 0600;
constexpr mode_t mode_public = 0666;
// Items of one call. Interrupts are handled between calls.
constexpr uint64_t chunk_items = 4096;

std::string named(const char* what, const std::string& path) {
    return path == "-" ? cli::format("the {} on standard input", what)
                       : cli::format("{} '{}'", what, path);
}

// Throws Failure if two paths name the same file, or if more than one is a standard stream.
void refuse_same(const std::vector<std::string>& paths, const char* stream) {
    std::vector<std::filesystem::path> seen;
    bool stream_seen = false;
    for (const std::string& path : paths) {
        if (path == "-" && std::exchange(stream_seen, true))
            throw Failure(ExitCode::usage,
                          cli::format("{} can take only one of the two: name a file.", stream));
        std::error_code error;
        if (path == "-" || std::filesystem::is_character_file(path, error)) continue;
        std::filesystem::path whole =
            std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
        if (error) continue;  // Opening the path reports the error.
        if (std::find(seen.begin(), seen.end(), whole) != seen.end())
            throw Failure(
                ExitCode::usage,
                cli::format("'{}' is the same file as another one here: name two.", path));
        seen.push_back(std::move(whole));
    }
}

// Output for values of one kind.
class KemOutput {
public:
    KemOutput(const std::string& path, mode_t mode, bool force)
        : output_(path, force, mode), written_(output_) {
        if (output_.is_stream() && isatty(output_.descriptor()))
            throw Failure(ExitCode::usage,
                          "refused to write binary data to the terminal: name a file.");
    }
    RawOutput& raw() { return written_; }
    void write(const uint8_t* data, size_t bytes) { written_.write(data, bytes); }
    void commit() { output_.commit(); }
    void refuse_same_file(const std::string& input) { output_.refuse_same_file(input); }
    // Removes abandoned temporary files, except files passed to refuse_same_file.
    void remove_abandoned(const Session& session) const { output_.remove_abandoned(session); }
    // Detects a pipe under two names, such as "-" and /dev/stdout, by comparing open descriptors.
    static void refuse_same_stream(const KemOutput& one, const KemOutput& other) {
        struct stat a, b;
        const bool known = one.output_.is_stream() && other.output_.is_stream() &&
                           fstat(one.output_.descriptor(), &a) == 0 &&
                           fstat(other.output_.descriptor(), &b) == 0;
        if (known && !S_ISCHR(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
            throw Failure(ExitCode::usage,
                          cli::format("{} and {} are the same: name a file for one.",
                                      one.output_.shown(), other.output_.shown()));
    }
    // Commits both files or none, even with `force`: if the second fails, the first is taken back.
    // A stream comes last, because it cannot be taken back. Of two files the secret comes last, so
    // that the old one exists until nothing can fail.
    static void commit(KemOutput& secret, KemOutput& other) {
        secret.output_.sync();
        other.output_.sync();
        Output& first = other.output_.is_stream() ? secret.output_ : other.output_;
        Output& second = other.output_.is_stream() ? other.output_ : secret.output_;
        Uninterrupted shield;
        first.finish(true);
        try {
            second.finish(true);
        } catch (...) {
            first.take_back();
            throw;
        }
        first.settle();
        second.settle();
    }

private:
    Output output_;
    RawOutput written_;
};

// Values of one kind, concatenated in a file that is read as a whole.
class KemInput {
public:
    KemInput(Descriptor file, const char* what, const std::string& path, const RawOutput& output)
        : shown_(named(what, path)), bytes_(file.get(), shown_, 0, output) {}

    uint8_t* at(uint64_t item, uint64_t each) const { return bytes_.data() + item * each; }
    size_t bytes() const { return bytes_.size(); }
    // Returns the number of values of `each` bytes. Throws Failure with `code` unless the size is a
    // positive multiple of `each`.
    uint64_t count(const warpseal_kem_info& set, uint32_t each, ExitCode code) const {
        if (bytes() == 0 || bytes() % each != 0)
            throw Failure(
                code,
                cli::format("{} has the wrong size: {} bytes, where {} takes {} or a multiple.",
                            shown_, bytes(), set.name, each));
        return bytes() / each;
    }
    // Returns the set of --set, or the only set whose keys have this length. Keys of 32 bytes do
    // not name their set: any other file may be cut to that. Throws Failure.
    warpseal_kem_info set(const KemChoice& choice, uint32_t warpseal_kem_info::*each) const {
        if (!choice.set.empty()) return kem_set(choice.set);
        std::vector<warpseal_kem_info> fit;
        for (const warpseal_kem_info& one : all_kem_sets())
            if (one.*each == bytes() && bytes() > 32) fit.push_back(one);
        if (fit.size() == 1) return fit[0];
        if (!fit.empty())
            throw Failure(ExitCode::usage,
                          cli::format("{} has {} bytes, as keys of {} and {} have: name the set "
                                      "with --set.",
                                      shown_, bytes(), fit[0].name, fit[1].name));
        throw Failure(ExitCode::usage, cli::format("{} has {} bytes, which is one key of no set: "
                                                   "name the set with --set if it holds several.",
                                                   shown_, bytes()));
    }

private:
    const std::string shown_;
    const WholeInput bytes_;
};

// Memory for a call's output; zeroized on destruction.
SecretBytes capacity_for(uint64_t items, uint64_t each) {
    return SecretBytes(std::max<uint64_t>(items * each, 1));
}

using KemCall = warpseal_status (*)(warpseal_engine*, const char*, const warpseal_kem_batch*);

// Processes one chunk. Throws Failure with a text if the call fails.
void call(KemCall operation, const char* task, warpseal_engine* engine,
          const warpseal_kem_info& set, uint64_t first, warpseal_kem_batch& batch) {
    std::vector<int32_t> statuses(batch.count, WARPSEAL_OK);
    batch.statuses = statuses.data();
    const warpseal_status status = operation(engine, set.name, &batch);
    if (status == WARPSEAL_OK) return;
    const auto bad = std::find_if(statuses.begin(), statuses.end(),
                                  [](int32_t each) { return each != WARPSEAL_OK; });
    if (operation != warpseal_kem_keypair && status == WARPSEAL_INVALID_ARGUMENT &&
        bad != statuses.end())
        throw Failure(
            ExitCode::usage,
            cli::format(
                "cannot {}: number {} is no key of {}: {}. Take the key from its owner "
                "again.",
                task, first + static_cast<uint64_t>(bad - statuses.begin()) + 1, set.name,
                operation == warpseal_kem_encapsulate
                    ? "it has unused bits set, a number outside its range, or a point of low order"
                    : "the hash in it is not that of its public key, or its ciphertext has "
                      "a point of low order"));
    if (status == WARPSEAL_UNSUPPORTED)
        throw Failure(
            ExitCode::device_not_usable,
            cli::format("cannot {} with {} on this device: no GPU code for this set is in "
                        "the program. Use --device auto or cpu.",
                        task, set.name));
    throw Failure(exit_code_of(status), cli::format("cannot {} with {}: {}", task, set.name,
                                                    warpseal_status_text(status)));
}

// Calls work(batch, first) for each chunk of at most chunk_items items. The batch has their number
// only; the items begin with number `first`. Each item writes `item_bytes` bytes.
template <class Work>
void each_chunk(uint64_t count, uint64_t item_bytes, Progress& progress, const Work& work) {
    for (uint64_t first = 0; first < count; first += chunk_items) {
        warpseal_kem_batch batch{};
        batch.struct_bytes = sizeof batch;
        batch.count = std::min(chunk_items, count - first);
        (void)Progress::callback(&progress, first * item_bytes, count * item_bytes);
        work(batch, first);
    }
}

// Counts the bytes written as both plaintext and file.
void say_done(Progress& progress, uint64_t bytes) {
    warpseal_file_result result{};
    result.plaintext_bytes = result.file_bytes = bytes;
    progress.done(result);
}

}  // namespace

ExitCode run_kem_keygen(const KemChoice& choice, Session& session) {
    const warpseal_kem_info set = kem_set(choice.set);
    refuse_same({choice.secret_key, choice.public_key}, "standard output");
    KemOutput secret_out(choice.secret_key, mode_secret, choice.force);
    KemOutput public_out(choice.public_key, mode_public, choice.force);
    KemOutput::refuse_same_stream(secret_out, public_out);
    for (const KemOutput* out : {&secret_out, &public_out}) out->remove_abandoned(session);
    const EngineHandle engine = create_engine(choice.engine, session);
    const uint64_t most = std::min(choice.count, chunk_items);
    SecretBytes secrets = capacity_for(most, set.secret_key_bytes),
                publics = capacity_for(most, set.public_key_bytes);
    const uint64_t item_bytes = uint64_t{set.secret_key_bytes} + set.public_key_bytes;
    Progress progress(choice.progress, session);
    each_chunk(choice.count, item_bytes, progress, [&](warpseal_kem_batch& batch, uint64_t first) {
        batch.secret_keys = secrets.data();
        batch.secret_key_stride = set.secret_key_bytes;
        batch.public_keys = publics.data();
        batch.public_key_stride = set.public_key_bytes;
        call(warpseal_kem_keypair, "make keys", engine.get(), set, first, batch);
        secret_out.write(secrets.data(), batch.count * set.secret_key_bytes);
        public_out.write(publics.data(), batch.count * set.public_key_bytes);
    });
    KemOutput::commit(secret_out, public_out);
    say_done(progress, choice.count * item_bytes);
    return ExitCode::ok;
}

ExitCode run_kem_encapsulate(const KemChoice& choice, Session& session) {
    refuse_same({choice.shared_secret, choice.ciphertext}, "standard output");
    if (choice.public_key != "-")
        refuse_same({choice.public_key, choice.shared_secret, choice.ciphertext},
                    "standard output");
    Descriptor file = open_input(choice.public_key);
    KemOutput secret_out(choice.shared_secret, mode_secret, choice.force);
    KemOutput ciphertext_out(choice.ciphertext, mode_public, choice.force);
    KemOutput::refuse_same_stream(secret_out, ciphertext_out);
    for (KemOutput* out : {&secret_out, &ciphertext_out}) out->refuse_same_file(choice.public_key);
    const KemInput keys(std::move(file), "public key", choice.public_key, secret_out.raw());
    const warpseal_kem_info set = keys.set(choice, &warpseal_kem_info::public_key_bytes);
    const uint64_t key_count = keys.count(set, set.public_key_bytes, ExitCode::usage);
    if (choice.count_given && key_count > 1)
        throw Failure(
            ExitCode::usage,
            cli::format(
                "--count is for one public key, and the file holds {}: each gets one ciphertext.",
                key_count));
    const uint64_t count = key_count > 1 ? key_count : choice.count;
    for (const KemOutput* out : {&secret_out, &ciphertext_out}) out->remove_abandoned(session);
    const EngineHandle engine = create_engine(choice.engine, session);
    const uint64_t most = std::min(count, chunk_items);
    SecretBytes secrets = capacity_for(most, set.shared_secret_bytes),
                ciphertexts = capacity_for(most, set.ciphertext_bytes);
    const uint64_t item_bytes = uint64_t{set.shared_secret_bytes} + set.ciphertext_bytes;
    Progress progress(choice.progress, session);
    each_chunk(count, item_bytes, progress, [&](warpseal_kem_batch& batch, uint64_t first) {
        batch.public_key_stride = key_count > 1 ? set.public_key_bytes : 0;
        batch.public_keys = keys.at(first, batch.public_key_stride);
        batch.ciphertexts = ciphertexts.data();
        batch.ciphertext_stride = set.ciphertext_bytes;
        batch.shared_secrets = secrets.data();
        batch.shared_secret_stride = set.shared_secret_bytes;
        call(warpseal_kem_encapsulate, "encapsulate", engine.get(), set, first, batch);
        secret_out.write(secrets.data(), batch.count * set.shared_secret_bytes);
        ciphertext_out.write(ciphertexts.data(), batch.count * set.ciphertext_bytes);
    });
    KemOutput::commit(secret_out, ciphertext_out);
    say_done(progress, count * item_bytes);
    return ExitCode::ok;
}

ExitCode run_kem_decapsulate(const KemChoice& choice, Session& session) {
    refuse_same({choice.secret_key, choice.ciphertext}, "standard input");
    if (choice.shared_secret != "-")
        refuse_same({choice.shared_secret, choice.secret_key, choice.ciphertext}, "standard input");
    Descriptor key_file =
        choice.secret_key == "-"
            ? open_input("-")
            : open_private(choice.secret_key, named("secret key", choice.secret_key));
    Descriptor ciphertext_file = open_input(choice.ciphertext);
    KemOutput secret_out(choice.shared_secret, mode_secret, choice.force);
    for (const std::string& input : {choice.secret_key, choice.ciphertext})
        secret_out.refuse_same_file(input);
    const KemInput keys(std::move(key_file), "secret key", choice.secret_key, secret_out.raw());
    const KemInput ciphertexts(std::move(ciphertext_file), "ciphertext", choice.ciphertext,
                               secret_out.raw());
    const warpseal_kem_info set = keys.set(choice, &warpseal_kem_info::secret_key_bytes);
    const uint64_t key_count = keys.count(set, set.secret_key_bytes, ExitCode::usage);
    const uint64_t count = ciphertexts.count(set, set.ciphertext_bytes, ExitCode::truncated);
    if (key_count > 1 && key_count != count)
        throw Failure(
            ExitCode::usage,
            cli::format(
                "there are {} secret keys and {} ciphertexts: one key for all, or one for each.",
                key_count, count));
    secret_out.remove_abandoned(session);
    const EngineHandle engine = create_engine(choice.engine, session);
    const uint64_t most = std::min(count, chunk_items);
    SecretBytes secrets = capacity_for(most, set.shared_secret_bytes);
    const uint64_t item_bytes = set.shared_secret_bytes;
    Progress progress(choice.progress, session);
    each_chunk(count, item_bytes, progress, [&](warpseal_kem_batch& batch, uint64_t first) {
        batch.secret_key_stride = key_count > 1 ? set.secret_key_bytes : 0;
        batch.secret_keys = keys.at(first, batch.secret_key_stride);
        batch.ciphertexts = ciphertexts.at(first, set.ciphertext_bytes);
        batch.ciphertext_stride = set.ciphertext_bytes;
        batch.shared_secrets = secrets.data();
        batch.shared_secret_stride = set.shared_secret_bytes;
        call(warpseal_kem_decapsulate, "decapsulate", engine.get(), set, first, batch);
        secret_out.write(secrets.data(), batch.count * set.shared_secret_bytes);
    });
    secret_out.commit();
    say_done(progress, count * item_bytes);
    return ExitCode::ok;
}

}  // namespace warpseal::cli

// Reads old and new secrets once, then changes each file.
#include "cli/key/change.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <optional>

#include "c_api/internal_slot_keys.h"
#include "cli/key/files.h"
#include "cli/support/format.h"
#include "cli/support/interrupt.h"
#include "warpseal/slots.h"

namespace warpseal::cli {
namespace {

std::string in_quotes(const std::string& path) { return "'" + path + "'"; }

// Two secrets must not be read from one stream. Reads nothing.
void check_streams(const KeyChoice& choice) {
    const SecretChoice &old = choice.old, &fresh = choice.fresh;
    check_standard_input(old, false);
    check_standard_input(fresh, false);
    const auto reads_input = [](const SecretChoice& secrets) {
        return secrets.passphrase_descriptor == STDIN_FILENO ||
               std::find(secrets.public_key_files.begin(), secrets.public_key_files.end(), "-") !=
                   secrets.public_key_files.end() ||
               std::find(secrets.key_files.begin(), secrets.key_files.end(), "-") !=
                   secrets.key_files.end();
    };
    const bool one_descriptor =
        old.passphrase_descriptor >= 0 && old.passphrase_descriptor == fresh.passphrase_descriptor;
    if (one_descriptor || (reads_input(old) && reads_input(fresh)))
        throw Failure(ExitCode::usage,
                      "the old and the new secret cannot both be read from one descriptor.");
}

// Checks the options that every file has in common, before any is touched.
void check_choice(KeyTask task, const KeyChoice& choice) {
    const SecretChoice &old = choice.old, &fresh = choice.fresh;
    if ((choice.argon2_memory_mib != 0 || choice.argon2_passes != 0) && !fresh.passphrase())
        throw Failure(ExitCode::usage,
                      "--argon2-memory and --argon2-passes go with a new passphrase only.");
    if (task == KeyTask::rotate && old.key_count() != 1)
        throw Failure(ExitCode::usage,
                      "key rotate takes one old key: -k KEYFILE or --key-command.");
    const auto passphrases = [](const SecretChoice& secrets) {
        return secrets.passphrase_files.size() + (secrets.ask ? 1 : 0) +
               (secrets.passphrase_descriptor >= 0 ? 1 : 0);
    };
    if (task == KeyTask::passwd && (passphrases(old) != 1 || passphrases(fresh) != 1))
        throw Failure(ExitCode::usage, "key passwd takes one old and one new passphrase.");
    check_passphrase_descriptor(old);
    check_passphrase_descriptor(fresh);
    // Key commands must not read the new passphrase.
    if (fresh.passphrase_descriptor > STDERR_FILENO)
        fcntl(fresh.passphrase_descriptor, F_SETFD, FD_CLOEXEC);
}

const char* next_step_of(const warpseal_file_result& result, const warpseal_slots_change& change,
                         warpseal_status status) {
    switch (status) {
        case WARPSEAL_WRONG_KEY:
            return " `warpseal key list` shows what kinds of key the file takes.";
        case WARPSEAL_IO:
            if (result.system_error == EWOULDBLOCK) return " Try again when that has ended.";
            return change.in_force != 0 ? " Run a key command again, which repairs it."
                                        : " The old keys open the file.";
        case WARPSEAL_UNSUPPORTED:
            return " Only Warpseal's own files have keys that can be changed.";
        default: return "";
    }
}

std::string failure_of(const std::string& path, warpseal_status status,
                       const warpseal_file_result& result, const warpseal_slots_change& change) {
    std::string text =
        cli::format("cannot change the keys of {}: {}", in_quotes(path),
                    result.message[0] ? result.message : warpseal_status_text(status));
    if (text.back() != '.') text += '.';
    return text + next_step_of(result, change, status);
}

std::string done_text(KeyTask task, const KeyChoice& choice, const std::string& path,
                      const warpseal_slots_change& change) {
    const std::string count =
        cli::format("{} slot{}", change.slot_count, change.slot_count == 1 ? "" : "s");
    switch (task) {
        case KeyTask::add: return cli::format("{}: key added, {} now.", in_quotes(path), count);
        case KeyTask::remove:
            return cli::format("{}: slot {} removed, {} left. Later slots have new numbers.",
                               in_quotes(path), choice.slot, count);
        case KeyTask::passwd:
            return cli::format("{}: passphrase changed, {}.", in_quotes(path), count);
        case KeyTask::rotate: break;
    }
    return cli::format("{}: key replaced, {}.", in_quotes(path), count);
}

struct SlotKeysDelete {
    void operator()(warpseal_internal_slot_keys* keys) const {
        warpseal_internal_slot_keys_destroy(keys);
    }
};

class KeyChange {
public:
    KeyChange(KeyTask task, const KeyChoice& choice, Session& session)
        : task_(task),
          choice_(choice),
          session_(session),
          old_(choice.old, WARPSEAL_FORMAT_WARPSEAL, false),
          fresh_(choice.fresh, WARPSEAL_FORMAT_WARPSEAL, true),
          engine_(create_engine({"cpu", 1}, session)),
          slot_keys_(warpseal_internal_slot_keys_create()) {
        if (!slot_keys_) throw std::bad_alloc();
        if (fresh_.has_short_passphrase())
            remark(session, cli::format("a passphrase of fewer than {} characters is soon guessed "
                                        "by who has the file: take a longer one.",
                                        Secrets::short_characters));
    }

    // Returns the number of slots. Throws Failure.
    uint32_t change(const std::string& path) {
        const Descriptor file = open_in_place(path);
        const uint32_t number = choice_.slot - 1;
        warpseal_file_options options{};
        options.struct_bytes = sizeof options;
        options.secrets = old_.list().data();
        options.secret_count = old_.list().size();
        options.argon2_passes = choice_.argon2_passes;
        options.argon2_memory_kib = choice_.argon2_memory_mib * 1024;
        warpseal_slots_change change{};
        change.struct_bytes = sizeof change;
        change.add = fresh_.list().data();
        change.add_count = fresh_.list().size();
        if (task_ == KeyTask::remove) {
            change.remove = &number;
            change.remove_count = 1;
        }
        // A stop signal waits until both header copies are written.
        std::optional<Uninterrupted> shield;
        options.secrets_used = [](void* user) {
            static_cast<std::optional<Uninterrupted>*>(user)->emplace();
        };
        options.secrets_user = &shield;
        change.remove_opened = task_ == KeyTask::passwd || task_ == KeyTask::rotate ? 1 : 0;
        warpseal_file_result result{};
        result.struct_bytes = sizeof result;
        const warpseal_status status = warpseal_internal_file_slots_change(
            engine_.get(), file.get(), &options, slot_keys_.get(), &change, &result);
        if (change.in_force != 0) warn_once();
        if (status == WARPSEAL_CANCELLED && interrupted_by() != 0)
            throw Failure(ExitCode(128 + interrupted_by()), "interrupted.");
        if (status != WARPSEAL_OK)
            throw Failure(exit_code_of(status), failure_of(path, status, result, change));
        remark(session_, done_text(task_, choice_, path, change));
        if (result.header_copies_differ != 0)
            remark(session_, in_quotes(path) +
                                 ": one of the two copies of its header was damaged or "
                                 "outdated. Both are whole now.");
        return change.slot_count;
    }

private:
    void warn_once() {
        if (task_ == KeyTask::add || warned_) return;
        warned_ = true;
        remark(session_,
               "this does not revoke the old key: who had it may have kept the data key or a copy "
               "of the file. To exclude somebody, encrypt the contents again.");
    }

    const KeyTask task_;
    const KeyChoice& choice_;
    const Session& session_;
    const Secrets old_, fresh_;
    const EngineHandle engine_;
    // Files of one run have one salt, so that Argon2id runs once for all.
    const std::unique_ptr<warpseal_internal_slot_keys, SlotKeysDelete> slot_keys_;
    bool warned_ = false;
};

}  // namespace

ExitCode change_keys(KeyTask task, const KeyChoice& given, Session& session) {
    KeyChoice choice = given;
    add_identities(choice.age, choice.old, session);
    choice.fresh.public_key_files = choice.age.recipient_files;
    check_streams(choice);
    AgeChoice recipients = choice.age;
    // Plugins open the file.
    recipients.plugins.clear();
    add_recipients(recipients, choice.fresh, session);
    const bool terminal = has_terminal();
    if (!choice.old.any() && task != KeyTask::rotate) {
        if (!terminal)
            throw Failure(
                ExitCode::usage,
                cli::format("no key and no passphrase that opens the file: give {}"
                            "-p, --passphrase-file or --passphrase-fd.",
                            task == KeyTask::passwd ? "" : "-k KEYFILE, -i IDENTITYFILE, "));
        choice.old.ask = true;
    }
    if (!choice.fresh.any() && (task == KeyTask::add || task == KeyTask::passwd)) {
        if (!terminal)
            throw Failure(
                ExitCode::usage,
                cli::format("no new key and no new passphrase: give {}--new-passphrase, "
                            "--new-passphrase-file or --new-passphrase-fd.",
                            task == KeyTask::passwd ? "" : "--new-key KEYFILE, -r RECIPIENT, "));
        choice.fresh.ask = true;
    }
    choice.fresh.prompt = "New passphrase";
    if (task == KeyTask::passwd) choice.old.prompt = "Old passphrase";
    check_choice(task, choice);
    std::vector<KeyFile> files = find_key_files(choice.many, session);
    check_key_files(files, choice.many);
    KeyChange change(task, choice, session);
    return for_each_key_file(files, choice.many, true,
                             [&](const std::string& path, nlohmann::ordered_json& line) {
                                 line["slots"] = change.change(path);
                             });
}

}  // namespace warpseal::cli

// Recipients and identities for Warpseal files, whose slots take their text.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "cli/age/file_key.h"
#include "cli/age/plugin/group.h"
#include "cli/age/recipients.h"
#include "cli/age/slots/identities.h"
#include "cli/age/slots/recipients.h"
#include "cli/age/task.h"
#include "cli/age/unlock/unlock.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

using namespace age;

bool has_slots(KeyType type) { return type == KeyType::x25519 || is_post_quantum(type); }

// Each has a page of locked memory, and is tried on each slot.
constexpr size_t max_identities = 1024;

void require_few(size_t identities) {
    if (identities > max_identities)
        throw Failure(ExitCode::limit_exceeded,
                      cli::format("-i names {} identities, and at most {} are tried on a Warpseal "
                                  "file: give fewer.",
                                  identities, max_identities));
}

void add(std::vector<Identity>& to, std::vector<Identity> more) {
    for (Identity& identity : more) to.push_back(std::move(identity));
    require_few(to.size());
}

// Asks for the passphrase of a file that nothing else can stand in for.
std::vector<Identity> ask_for(const LockedFile& file, const Session& session) {
    if (!has_terminal())
        throw Failure(ExitCode::usage,
                      cli::format("{} is itself encrypted: give its passphrase with "
                                  "--passphrase-file or --passphrase-fd.",
                                  file.shown));
    remark(session, cli::format("{} is itself encrypted.", file.shown));
    SecretChoice asked;
    asked.ask = true;
    asked.prompt = cli::format("Passphrase of {}", printable(file.shown));
    std::vector<Identity> found =
        identities_in(file, read_passphrase(asked, false, session), session);
    if (found.empty())
        throw Failure(ExitCode::wrong_key,
                      cli::format("the passphrase does not open {}.", file.shown));
    return found;
}

// Tries the passphrases among `others` on a locked file. Those may also be of the sealed file
// itself, so that a wrong one is only remarked.
void unlock(const LockedFile& file, const std::vector<warpseal_secret>& others, bool one_file,
            std::vector<Identity>& to, const Session& session) {
    const auto say = [&](const std::string& text) {
        if (one_file) remark(session, text);
    };
    bool has_passphrase = false;
    for (const warpseal_secret& secret : others) {
        if (secret.type != WARPSEAL_SECRET_PASSPHRASE) continue;
        has_passphrase = true;
        try {
            std::vector<Identity> found = identities_in(
                file, {static_cast<const uint8_t*>(secret.bytes), secret.byte_count}, session);
            if (!found.empty()) return add(to, std::move(found));
        } catch (const Failure& failure) {
            if (!is_about_one_identity(failure)) throw;
            return say(failure.what());
        }
    }
    say(has_passphrase
            ? cli::format("the passphrase does not open {}.", file.shown)
            : cli::format("{} is itself encrypted, and was not tried: --passphrase-file and "
                          "--passphrase-fd give its passphrase.",
                          file.shown));
}

// Reads and unlocks identity files. What stays in `locked` are SSH keys in PEM.
std::vector<Identity> read_all(const AgeChoice& choice, std::vector<LockedFile>& locked,
                               bool one_file, const std::vector<warpseal_secret>& others,
                               const Session& session) {
    Identities read = read_identities(choice);
    require_few(read.open.size());
    const auto files = std::stable_partition(read.locked.begin(), read.locked.end(),
                                             [](const LockedFile& file) { return file.is_pem; });
    bool has_other = !others.empty() || !read.open.empty() || files != read.locked.begin();
    for (auto file = files; file != read.locked.end(); ++file) {
        if (one_file && !has_other)
            add(read.open, ask_for(*file, session));
        else
            unlock(*file, others, one_file, read.open, session);
        has_other = true;
    }
    read.locked.erase(files, read.locked.end());
    locked = std::move(read.locked);
    return std::move(read.open);
}

std::vector<MadeSecret> identity_secrets(const AgeChoice& choice, bool one_file,
                                         const std::vector<warpseal_secret>& others,
                                         const Session& session) {
    std::vector<LockedFile> locked;
    std::vector<Identity> identities = read_all(choice, locked, one_file, others, session);
    const auto own =
        std::stable_partition(identities.begin(), identities.end(),
                              [](const Identity& identity) { return !has_slots(identity.type); });
    std::vector<MadeSecret> secrets;
    for (auto identity = own; identity != identities.end(); ++identity) {
        const Secret text = identity_text(identity->type, identity->key);
        SecretBytes bytes;
        memcpy(bytes.data(), text.data(), text.size());
        bytes.size = text.size();
        secrets.push_back({WARPSEAL_SECRET_IDENTITY, std::move(bytes)});
    }
    identities.erase(own, identities.end());
    const bool has_locked =
        !locked.empty() || std::any_of(identities.begin(), identities.end(),
                                       [](const Identity& one) { return one.is_locked(); });
    const std::shared_ptr<UnlockedKeys> keys =
        choice.unlocked ? choice.unlocked : std::make_shared<UnlockedKeys>();
    const auto by_program = std::make_shared<SlotIdentities>(
        std::move(identities), std::move(locked),
        has_locked ? passphrases_among(others) : std::vector<SecretBytes>(), keys, session);
    for (MadeSecret& secret : SlotIdentities::secrets(by_program))
        secrets.push_back(std::move(secret));
    return secrets;
}

// Recipients of one plugin share a slot.
size_t slots_for(const std::vector<Recipient>& recipients) {
    std::set<std::string> plugins;
    size_t others = 0;
    for (const Recipient& recipient : recipients)
        if (recipient.type == KeyType::plugin)
            plugins.insert(plugin::name_of(recipient));
        else
            ++others;
    return others + plugins.size();
}

}  // namespace

void add_recipients(const AgeChoice& choice, SecretChoice& secrets, const Session& session) {
    secrets.public_key_files = choice.recipient_files;
    check_standard_input(secrets, false);
    const std::vector<Recipient> recipients = read_recipients(choice, session);
    if (const size_t slots = slots_for(recipients); slots > WARPSEAL_MAX_SLOTS)
        throw Failure(ExitCode::limit_exceeded,
                      cli::format("{} recipients need {} key slots, and a Warpseal file has at "
                                  "most {}: give fewer.",
                                  recipients.size(), slots, WARPSEAL_MAX_SLOTS));
    for (const Recipient& recipient : recipients)
        if (has_slots(recipient.type))
            secrets.recipients.push_back(recipient_text(recipient.type, recipient.key));
    // A plugin may ask a person, so it is started when the other secrets are read.
    if (secrets.recipients.size() != recipients.size())
        secrets.wrapped = [recipients] { return slot_secrets(recipients); };
}

void add_identities(AgeChoice& choice, SecretChoice& secrets, const Session& session,
                    bool one_file) {
    if (!choice.has_identities()) return;
    // A command with one file zeroizes unlocked keys before it opens the payload.
    if (!one_file && !choice.unlocked) choice.unlocked = std::make_shared<UnlockedKeys>();
    secrets.identities = [choice, one_file, &session](const std::vector<warpseal_secret>& others) {
        return identity_secrets(choice, one_file, others, session);
    };
    secrets.identity_option = choice.identity_option();
    secrets.public_key_files = choice.identities;
}

void refuse_shared_identities(const AgeChoice& choice, int input) {
    refuse_shared_stream(input, choice.identities, "-i");
    refuse_shared_stream(input, choice.recipient_files, "-R");
}

}  // namespace warpseal::cli

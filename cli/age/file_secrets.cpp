// Recipients and identities for Warpseal files, whose slots take their text.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "cli/age/recipients.h"
#include "cli/age/task.h"
#include "cli/age/unlock/unlock.h"

namespace warpseal::cli {
namespace {

using namespace age;

bool has_slots(KeyType type) { return type == KeyType::x25519 || is_post_quantum(type); }

// Each has a page of locked memory, and is tried on each slot.
constexpr size_t max_identities = 1024;

void require_few(size_t identities) {
    if (identities > max_identities)
        throw Failure(ExitCode::limit_exceeded,
                      fmt::format("-i names {} identities, and at most {} are tried on a Warpseal "
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
                      fmt::format("{} is itself encrypted: give its passphrase with "
                                  "--passphrase-file or --passphrase-fd.",
                                  file.shown));
    remark(session, fmt::format("{} is itself encrypted.", file.shown));
    SecretChoice asked;
    asked.ask = true;
    asked.prompt = fmt::format("Passphrase of {}", printable(file.shown));
    std::vector<Identity> found =
        identities_in(file, read_passphrase(asked, false, session), session);
    if (found.empty())
        throw Failure(ExitCode::wrong_key,
                      fmt::format("the passphrase does not open {}.", file.shown));
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
            ? fmt::format("the passphrase does not open {}.", file.shown)
            : fmt::format("{} is itself encrypted, and was not tried: --passphrase-file and "
                          "--passphrase-fd give its passphrase.",
                          file.shown));
}

std::vector<SecretBytes> identity_texts(const std::vector<std::string>& paths, bool one_file,
                                        const std::vector<warpseal_secret>& others,
                                        const Session& session) {
    std::vector<Identity> identities;
    std::vector<LockedFile> locked;
    for (const std::string& path : paths) read_identity_file(path, identities, &locked);
    require_few(identities.size());
    // SSH keys are of age files alone.
    locked.erase(std::remove_if(locked.begin(), locked.end(),
                                [](const LockedFile& file) { return file.is_pem; }),
                 locked.end());
    bool has_other = !others.empty() ||
                     std::any_of(identities.begin(), identities.end(),
                                 [](const Identity& identity) { return has_slots(identity.type); });
    for (const LockedFile& file : locked) {
        if (one_file && !has_other)
            add(identities, ask_for(file, session));
        else
            unlock(file, others, one_file, identities, session);
        has_other = true;
    }
    std::vector<SecretBytes> texts;
    texts.reserve(identities.size());
    for (const Identity& identity : identities) {
        if (!has_slots(identity.type)) continue;
        const Secret text = identity_text(identity.type, identity.key);
        texts.emplace_back();
        memcpy(texts.back().data(), text.data(), text.size());
        texts.back().size = text.size();
    }
    if (texts.empty() && one_file && (locked.empty() || others.empty()))
        throw Failure(ExitCode::unsupported,
                      fmt::format("'{}' has identities of age files only: Warpseal files take "
                                  "AGE-SECRET-KEY-1, AGE-SECRET-KEY-PQ-1 and "
                                  "WARPNTRU-SECRET-KEY-1 identities.",
                                  paths.front()));
    return texts;
}

}  // namespace

void add_recipients(const AgeChoice& choice, SecretChoice& secrets, const Session& session) {
    secrets.public_key_files = choice.recipient_files;
    check_standard_input(secrets, false);
    const std::vector<Recipient> recipients = read_recipients(choice, session);
    if (recipients.size() > WARPSEAL_MAX_SLOTS)
        throw Failure(
            ExitCode::limit_exceeded,
            fmt::format("-r and -R name {} recipients, and a Warpseal file has at most {} "
                        "key slots: give fewer.",
                        recipients.size(), WARPSEAL_MAX_SLOTS));
    for (const Recipient& recipient : recipients) {
        if (!has_slots(recipient.type))
            throw Failure(ExitCode::unsupported,
                          fmt::format("{} is a recipient of age files only: add --format age, or "
                                      "give an age1 or age1pq1 recipient.",
                                      recipient.shown));
        secrets.recipients.push_back(recipient_text(recipient.type, recipient.key));
    }
}

void add_identities(const AgeChoice& choice, SecretChoice& secrets, const Session& session,
                    bool one_file) {
    if (choice.identities.empty()) return;
    secrets.identities = [paths = choice.identities, one_file,
                          &session](const std::vector<warpseal_secret>& others) {
        return identity_texts(paths, one_file, others, session);
    };
    secrets.public_key_files = choice.identities;
}

void refuse_shared_identities(const AgeChoice& choice, int input) {
    refuse_shared_stream(input, choice.identities, "-i");
    refuse_shared_stream(input, choice.recipient_files, "-R");
}

}  // namespace warpseal::cli

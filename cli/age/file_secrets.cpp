// Recipients and identities for Warpseal files, whose slots take their text.
#include <fmt/core.h>
#include <unistd.h>

#include <cstring>

#include "cli/age/recipients.h"
#include "cli/age/task.h"

namespace warpseal::cli {
namespace {

using namespace age;

bool has_slots(KeyType type) { return type == KeyType::x25519 || is_post_quantum(type); }

// Each has a page of locked memory, and is tried on each slot.
constexpr size_t max_identities = 1024;

std::vector<SecretBytes> identity_texts(const std::vector<std::string>& paths, bool one_file) {
    std::vector<Identity> identities;
    for (const std::string& path : paths) read_identity_file(path, identities, nullptr);
    if (identities.size() > max_identities)
        throw Failure(ExitCode::limit_exceeded,
                      fmt::format("-i names {} identities, and at most {} are tried on a Warpseal "
                                  "file: give fewer.",
                                  identities.size(), max_identities));
    std::vector<SecretBytes> texts;
    texts.reserve(identities.size());
    for (const Identity& identity : identities) {
        if (!has_slots(identity.type)) continue;
        const Secret text = identity_text(identity.type, identity.key);
        texts.emplace_back();
        memcpy(texts.back().data(), text.data(), text.size());
        texts.back().size = text.size();
    }
    if (texts.empty() && one_file)
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

void add_identities(const AgeChoice& choice, SecretChoice& secrets, bool one_file) {
    if (choice.identities.empty()) return;
    secrets.identities = [paths = choice.identities, one_file] {
        return identity_texts(paths, one_file);
    };
    secrets.public_key_files = choice.identities;
}

void refuse_shared_identities(const AgeChoice& choice, int input) {
    refuse_shared_stream(input, choice.identities, "-i");
    refuse_shared_stream(input, choice.recipient_files, "-R");
}

}  // namespace warpseal::cli

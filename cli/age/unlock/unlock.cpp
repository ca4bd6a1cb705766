// Unlocks SSH keys in OpenSSH's format and in PEM, and identity files that are age files.
#include "cli/age/unlock/unlock.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/age/file_key.h"
#include "cli/age/format/armor.h"
#include "cli/age/payload/payload.h"
#include "cli/age/ssh/keys.h"
#include "cli/age/stanzas.h"
#include "cli/age/task.h"

namespace warpseal::cli::age {
namespace {

class MemorySource final : public Source {
public:
    explicit MemorySource(View bytes) : rest_(bytes) {}
    size_t read(uint8_t* to, size_t most) override {
        const size_t bytes = std::min(most, rest_.size());
        std::copy_n(rest_.begin(), bytes, to);
        rest_ = rest_.subspan(bytes);
        return bytes;
    }

private:
    View rest_;
};

class MemorySink final : public Sink {
public:
    void write(View bytes) override { append(content, bytes); }
    Secret content;
};

// The content of an identity file that is an age file. Empty for another passphrase.
std::optional<Secret> decrypt(const LockedFile& locked, View passphrase, const Session& session) {
    MemorySource memory(locked.content);
    AgeSource source(memory);
    const Header header = read_header(source.binary());
    check_stanzas(header.stanzas);
    if (!opens_by_passphrase(header.stanzas))
        throw Failure(ExitCode::unsupported,
                      "it is encrypted to a recipient: decrypt it to a private file first.");
    say_if_costly(header.stanzas[0], session);
    const std::optional<Secret> file_key = unwrap_by_passphrase(passphrase, header.stanzas[0]);
    if (!file_key) return std::nullopt;
    require_mac(header, *file_key);
    MemorySink sink;
    Payload payload(Direction::open, payload_key(*file_key, source.binary()), source.binary(), sink,
                    [](uint64_t) { throw_if_interrupted(); });
    payload.run(1);
    return std::move(sink.content);
}

// Empty for another passphrase.
std::vector<Identity> read_locked(const LockedFile& locked, View passphrase,
                                  const Session& session) {
    std::vector<Identity> identities;
    if (locked.is_pem) {
        std::optional<Identity> key = unlock_pem(text_of(locked.content), locked.shown, passphrase);
        if (key) identities.push_back(std::move(*key));
    } else if (const std::optional<Secret> content = decrypt(locked, passphrase, session)) {
        parse_identities(*content, locked.shown, identities);
    }
    return identities;
}

[[noreturn]] void throw_wrong(const std::string& shown) {
    throw Failure(ExitCode::wrong_key, fmt::format("the passphrase does not open {}.", shown));
}

}  // namespace

std::vector<Identity> identities_in(const LockedFile& file, View passphrase,
                                    const Session& session) {
    try {
        return read_locked(file, passphrase, session);
    } catch (const Failure& failure) {
        // Damage here is not damage of the input.
        const bool damage =
            failure.code == ExitCode::not_authentic || failure.code == ExitCode::truncated;
        const std::string text = failure.what();
        throw Failure(damage ? ExitCode::usage : failure.code,
                      text.find(file.shown) != std::string::npos
                          ? text
                          : fmt::format("cannot read {}: {}", file.shown, text));
    }
}

bool is_about_one_identity(const Failure& failure) {
    switch (failure.code) {
        case ExitCode::wrong_key:
        case ExitCode::usage:
        case ExitCode::unsupported:
        case ExitCode::limit_exceeded:
        case ExitCode::weak_key: return interrupted_by() == 0;
        default: return false;
    }
}

const std::vector<Identity>& KeyRing::once(View locked,
                                           const std::function<std::vector<Identity>()>& work) {
    const std::lock_guard lock(keys_.mutex);
    for (const UnlockedKeys::Entry& entry : keys_.entries) {
        if (entry.locked.size() != locked.size() || !equal(entry.locked, locked)) continue;
        if (entry.failure) throw *entry.failure;
        return entry.identities;
    }
    UnlockedKeys::Entry made{Secret(locked.begin(), locked.end()), {}, {}};
    try {
        made.identities = work();
    } catch (const Failure& failure) {
        if (is_about_one_identity(failure)) {
            made.failure = failure;
            keys_.entries.push_back(std::move(made));
        }
        throw;
    }
    keys_.entries.push_back(std::move(made));
    return keys_.entries.back().identities;
}

// `how` says why a passphrase is needed, after the name of the file.
std::vector<Secret> KeyRing::passphrases_for(const std::string& shown, const char* how) {
    if (!given_.empty()) return given_;
    if (file_ != nullptr && file_->secrets.passphrase()) {
        if (!keys_.passphrase) keys_.passphrase = read_passphrase(file_->secrets, false, session_);
        return {*keys_.passphrase};
    }
    if (!has_terminal())
        throw Failure(ExitCode::usage,
                      fmt::format("{} {}: give its passphrase with --passphrase-file or "
                                  "--passphrase-fd.",
                                  shown, how));
    remark(session_, fmt::format("{} {}.", shown, how));
    SecretChoice asked;  // Another identity may have another passphrase.
    asked.ask = true;
    asked.prompt = fmt::format("Passphrase of {}", printable(shown));
    return {read_passphrase(asked, false, session_)};
}

const std::vector<Identity>& KeyRing::unlock(const Identity& ssh_key) {
    return once(ssh_key.locked, [&] {
        for (const Secret& passphrase : passphrases_for(ssh_key.shown, "is under a passphrase")) {
            std::optional<Identity> key =
                unlock_ssh_identity(ssh_key, passphrase, throw_if_interrupted);
            if (key) return std::vector<Identity>{std::move(*key)};
        }
        throw_wrong(ssh_key.shown);
    });
}

const std::vector<Identity>& KeyRing::unlock(const LockedFile& file) {
    return once(file.content, [&] {
        for (const Secret& passphrase : passphrases_for(
                 file.shown, file.is_pem ? "is under a passphrase" : "is itself encrypted")) {
            std::vector<Identity> identities = identities_in(file, passphrase, session_);
            if (!identities.empty()) return identities;
        }
        throw_wrong(file.shown);
    });
}

}  // namespace warpseal::cli::age

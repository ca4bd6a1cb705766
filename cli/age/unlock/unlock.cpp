// Unlocks SSH keys in OpenSSH's format and in PEM, and identity files that are age files.
#include "cli/age/unlock/unlock.h"

#include <algorithm>

#include "cli/age/file_key.h"
#include "cli/age/format/armor.h"
#include "cli/age/payload/payload.h"
#include "cli/age/ssh/keys.h"
#include "cli/age/stanzas.h"
#include "cli/age/task.h"
#include "cli/support/format.h"

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
    throw Failure(ExitCode::wrong_key, cli::format("the passphrase does not open {}.", shown));
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
                          : cli::format("cannot read {}: {}", file.shown, text));
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

const std::vector<Identity>& KeyRing::once(View locked, const std::string& shown, const char* how,
                                           const Opening& open) {
    const std::lock_guard lock(keys_.mutex);
    // A failure to read them is not one of the key.
    const std::vector<SecretBytes>& passphrases = passphrases_of_options();
    for (const UnlockedKeys::Entry& entry : keys_.entries) {
        if (entry.locked.size() != locked.size() || !equal(entry.locked, locked)) continue;
        if (entry.failure) throw *entry.failure;
        return entry.identities;
    }
    UnlockedKeys::Entry made{Secret(locked.begin(), locked.end()), {}, {}};
    try {
        made.identities = try_all(passphrases, shown, how, open);
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

const std::vector<SecretBytes>& KeyRing::passphrases_of_options() {
    if (file_ == nullptr) return given_;
    if (!keys_.passphrases)
        keys_.passphrases = file_->secrets.passphrase() ? read_passphrases(file_->secrets)
                                                        : std::vector<SecretBytes>();
    return *keys_.passphrases;
}

std::vector<Identity> KeyRing::try_all(const std::vector<SecretBytes>& passphrases,
                                       const std::string& shown, const char* how,
                                       const Opening& open) {
    for (const SecretBytes& passphrase : passphrases) {
        std::vector<Identity> identities = open({passphrase.data(), passphrase.size});
        if (!identities.empty()) return identities;
    }
    if (!passphrases.empty()) throw_wrong(shown);
    if (!has_terminal())
        throw Failure(ExitCode::usage,
                      cli::format("{} {}: give its passphrase with --passphrase-file or "
                                  "--passphrase-fd.",
                                  shown, how));
    remark(session_, cli::format("{} {}.", shown, how));
    SecretChoice asked;  // Another identity may have another passphrase.
    asked.ask = true;
    asked.prompt = cli::format("Passphrase of {}", printable(shown));
    std::vector<Identity> identities = open(read_passphrase(asked, false, session_));
    if (identities.empty()) throw_wrong(shown);
    return identities;
}

const std::vector<Identity>& KeyRing::unlock(const Identity& ssh_key) {
    return once(ssh_key.locked, ssh_key.shown, "is under a passphrase", [&](View passphrase) {
        std::vector<Identity> identities;
        std::optional<Identity> key =
            unlock_ssh_identity(ssh_key, passphrase, throw_if_interrupted);
        if (key) identities.push_back(std::move(*key));
        return identities;
    });
}

const std::vector<Identity>& KeyRing::unlock(const LockedFile& file) {
    return once(file.content, file.shown,
                file.is_pem ? "is under a passphrase" : "is itself encrypted",
                [&](View passphrase) { return identities_in(file, passphrase, session_); });
}

}  // namespace warpseal::cli::age

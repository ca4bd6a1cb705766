// Finds file keys. Secrets that cost more come later: identities, plugins, then locked identities.
#include "cli/age/file_key.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "cli/age/crypto.h"
#include "cli/age/format/armor.h"
#include "cli/age/plugin/group.h"
#include "cli/age/plugin/run.h"
#include "cli/age/ssh/keys.h"
#include "cli/age/ssh/stanzas.h"
#include "cli/age/stanzas.h"
#include "cli/age/task.h"

namespace warpseal::cli::age {
namespace {

// The passphrase of a file that takes one, asked for if no option names another secret.
Secret passphrase_for(const FileChoice& file, const AgeChoice& choice, const Session& session) {
    SecretChoice secrets = file.secrets;
    if (!secrets.passphrase()) {
        if (choice.has_identities())
            throw Failure(ExitCode::wrong_key,
                          "it opens with a passphrase, not with an identity: give -p, "
                          "--passphrase-file or --passphrase-fd.");
        if (!has_terminal())
            throw Failure(ExitCode::usage,
                          "it opens with a passphrase: give --passphrase-file or "
                          "--passphrase-fd.");
        secrets.ask = true;
    }
    return read_passphrase(secrets, false, session);
}

// age takes that work too, but many machines do not have the memory.
void say_if_costly(const Stanza& stanza, const Session& session) {
    const unsigned cost = log2_cost_of(stanza);
    if (cost > quiet_scrypt_log2_cost)
        remark(session, fmt::format("the passphrase of this file needs {} of memory for scrypt.",
                                    human_bytes(uint64_t{1024} << cost)));
}

// A locked SSH key opens nothing.
std::optional<Secret> find_without_plugins(const std::vector<Stanza>& stanzas,
                                           const std::vector<Identity>& identities,
                                           Hybrid& hybrid) {
    for (const Identity& identity : identities)
        for (const Stanza& stanza : stanzas)
            if (!identity.is_locked())
                if (std::optional<Secret> found = unwrap(identity, stanza, hybrid)) return found;
    return std::nullopt;
}

void require_mac(const Header& header, View file_key) {
    if (file_key.size() != file_key_bytes ||
        !equal(header_mac(file_key, header.authenticated), header.mac))
        throw Failure(ExitCode::not_authentic, "the MAC of its header does not verify.");
}

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

// Empty for another passphrase. Throws Failure, whose text is about the locked file.
std::optional<Secret> unlock(const LockedFile& locked, View passphrase, const Session& session) {
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

// `how` says why a passphrase is needed, after the name of the file.
Secret passphrase_of_locked(const std::string& shown, const char* how, const FileChoice& file,
                            const Session& session) {
    SecretChoice secrets = file.secrets;
    if (!secrets.passphrase()) {
        if (!has_terminal())
            throw Failure(ExitCode::usage,
                          fmt::format("{} {}: give its passphrase with --passphrase-file or "
                                      "--passphrase-fd.",
                                      shown, how));
        remark(session, fmt::format("{} {}.", shown, how));
        secrets.ask = true;
    }
    return read_passphrase(secrets, false, session);
}

// The keys of a run that were unlocked before, and those that this file unlocks.
class KeyRing {
public:
    KeyRing(const FileChoice& file, const AgeChoice& choice, const Session& session)
        : file_(file), kept_(choice.unlocked.get()), session_(session) {}

    // Unlocks the SSH key. Throws Failure, also (wrong_key) for a wrong passphrase.
    Identity unlock(const Identity& locked) {
        std::unique_lock<std::mutex> lock;
        if (kept_ != nullptr) {
            lock = std::unique_lock(kept_->mutex);
            for (const Identity& key : kept_->keys)
                if (key.wire == locked.wire) return key;
        }
        const Secret passphrase =
            passphrase_of_locked(locked.shown, "is under a passphrase", file_, session_);
        std::optional<Identity> key = unlock_ssh_identity(locked, passphrase, throw_if_interrupted);
        if (!key)
            throw Failure(ExitCode::wrong_key,
                          fmt::format("the passphrase does not open {}.", locked.shown));
        if (kept_ != nullptr) kept_->keys.push_back(*key);
        return std::move(*key);
    }
    // Tries the locked SSH keys that a stanza names.
    std::optional<Secret> find(const std::vector<Stanza>& stanzas,
                               const std::vector<Identity>& identities) {
        for (const Identity& identity : identities) {
            if (!identity.is_locked()) continue;
            std::optional<Identity> key;  // unlocked once, whatever number of stanzas names it
            for (const Stanza& stanza : stanzas) {
                if (!is_for_ssh(identity, stanza)) continue;
                if (!key) key = unlock(identity);
                if (std::optional<Secret> found = unwrap_ssh(*key, stanza)) return found;
            }
        }
        return std::nullopt;
    }

private:
    const FileChoice& file_;
    UnlockedKeys* const kept_;
    const Session& session_;
};

// The identities in a locked file. Returns false for another passphrase. Throws Failure, whose text
// is about the locked file.
bool read_locked(const LockedFile& locked, View passphrase, std::vector<Identity>& to,
                 const Session& session) {
    if (locked.is_pem) {
        std::optional<Identity> key = unlock_pem(text_of(locked.content), locked.shown, passphrase);
        if (key) to.push_back(std::move(*key));
        return key.has_value();
    }
    const std::optional<Secret> content = unlock(locked, passphrase, session);
    if (content) parse_identities(*content, locked.shown, to);
    return content.has_value();
}

// Tries the identities in locked files, which have one passphrase.
std::optional<Secret> find_in_locked(const std::vector<Stanza>& stanzas,
                                     const std::vector<LockedFile>& files, const FileChoice& file,
                                     KeyRing& ring, Hybrid& hybrid, std::optional<Failure>& failure,
                                     const Session& session) {
    Secret passphrase;
    std::string wrong;
    for (const LockedFile& locked : files) {
        if (passphrase.empty())
            passphrase = passphrase_of_locked(
                locked.shown, locked.is_pem ? "is under a passphrase" : "is itself encrypted", file,
                session);
        std::vector<Identity> identities;
        try {
            if (!read_locked(locked, passphrase, identities, session)) {
                wrong = locked.shown;
                continue;
            }
        } catch (const Failure& failure) {
            // Damage here is not damage of the input.
            const bool damage =
                failure.code == ExitCode::not_authentic || failure.code == ExitCode::truncated;
            throw Failure(damage ? ExitCode::usage : failure.code,
                          fmt::format("cannot read {}: {}", locked.shown, failure.what()));
        }
        if (std::optional<Secret> found = find_without_plugins(stanzas, identities, hybrid))
            return found;
        std::optional<Secret> found =
            std::move(plugin::unwrap_by_plugins(identities, {&stanzas}, failure)[0]);
        if (!found) found = ring.find(stanzas, identities);
        if (found) return found;
    }
    if (!wrong.empty())
        throw Failure(ExitCode::wrong_key, fmt::format("the passphrase does not open {}.", wrong));
    return std::nullopt;
}

// The header of a file, if only a plugin may open it. What is wrong with the file is said later.
std::optional<Header> header_for_plugins(const std::string& path,
                                         const std::vector<Identity>& identities, Hybrid& hybrid) {
    try {
        const Descriptor file = open_input(path, O_NONBLOCK);
        struct stat about;
        if (fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
        DescriptorSource descriptor(file.get());
        AgeSource source(descriptor);
        Header header = read_header(source.binary());
        check_stanzas(header.stanzas);
        if (opens_by_passphrase(header.stanzas) ||
            find_without_plugins(header.stanzas, identities, hybrid))
            return std::nullopt;
        return header;
    } catch (const Failure&) {
        throw_if_interrupted();
        return std::nullopt;
    }
}

// Plugins come after other identities, as they may ask a person. One that failed leaves `failure`.
std::optional<Secret> find_by_plugins(const Header& header, const AgeChoice& choice,
                                      const std::vector<Identity>& identities, Hybrid& hybrid,
                                      std::optional<Failure>& failure) {
    if (std::none_of(identities.begin(), identities.end(),
                     [](const Identity& one) { return one.type == KeyType::plugin; }))
        return std::nullopt;
    if (!choice.run)
        return std::move(plugin::unwrap_by_plugins(identities, {&header.stanzas}, failure)[0]);
    const auto read = [&](const std::string& path) {
        return header_for_plugins(path, identities, hybrid);
    };
    return choice.run->unwrap(header, identities, read, failure);
}

}  // namespace

Identities read_identities(const AgeChoice& choice) {
    Identities identities;
    for (const std::string& path : choice.identities)
        read_identity_file(path, identities.open, &identities.locked);
    for (const std::string& name : choice.plugins)
        identities.open.push_back({KeyType::plugin, plugin::identity_without_data(name)});
    return identities;
}

Secret payload_key(View file_key, BufferedSource& source) {
    uint8_t nonce[payload_nonce_bytes];
    if (source.read(nonce, sizeof nonce) != sizeof nonce)
        throw Failure(ExitCode::truncated, "it ends right after its header.");
    return hkdf_sha256(file_key, nonce, view("payload"));
}

Secret file_key_of(const Header& header, const FileChoice& file, const AgeChoice& choice,
                   const Identities& identities, Session& session) {
    check_stanzas(header.stanzas);
    std::optional<Secret> found;
    if (opens_by_passphrase(header.stanzas)) {
        say_if_costly(header.stanzas[0], session);
        found = unwrap_by_passphrase(passphrase_for(file, choice, session), header.stanzas[0]);
    } else {
        if (!choice.has_identities() && !file.secrets.passphrase())
            throw Failure(ExitCode::usage, "it opens with an identity: give -i IDENTITYFILE.");
        Hybrid hybrid(file.engine, session);
        std::optional<Failure> failure;
        found = find_without_plugins(header.stanzas, identities.open, hybrid);
        if (!found) found = find_by_plugins(header, choice, identities.open, hybrid, failure);
        KeyRing ring(file, choice, session);
        try {
            if (!found) found = ring.find(header.stanzas, identities.open);
        } catch (const Failure& wrong) {
            // The passphrase may be that of another locked identity.
            if (wrong.code != ExitCode::wrong_key || identities.locked.empty()) throw;
            failure = wrong;
        }
        if (!found)
            found = find_in_locked(header.stanzas, identities.locked, file, ring, hybrid, failure,
                                   session);
        if (!found && failure) throw *failure;
    }
    if (!found) throw Failure(ExitCode::wrong_key, "no identity or passphrase opens it.");
    require_mac(header, *found);
    return std::move(*found);
}

}  // namespace warpseal::cli::age

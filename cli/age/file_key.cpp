// Finds file keys. Secrets that cost more come later: identities, plugins, then locked identities.
#include "cli/age/file_key.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "cli/age/crypto.h"
#include "cli/age/format/armor.h"
#include "cli/age/plugin/group.h"
#include "cli/age/plugin/run.h"
#include "cli/age/ssh/stanzas.h"
#include "cli/age/stanzas.h"
#include "cli/age/task.h"
#include "cli/age/unlock/unlock.h"
#include "cli/support/format.h"

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

// The failure of locked identities, none of which opens the file: the first.
void keep_first(std::optional<Failure>& kept, const Failure& failure) {
    if (!is_about_one_identity(failure)) throw failure;
    if (!kept) kept = failure;
}

// Tries the locked SSH keys that a stanza names.
std::optional<Secret> find_in_locked_keys(const std::vector<Stanza>& stanzas,
                                          const std::vector<Identity>& identities, KeyRing& ring,
                                          std::optional<Failure>& failure) {
    for (const Identity& identity : identities) {
        const auto names_it = [&](const Stanza& stanza) { return is_for_ssh(identity, stanza); };
        if (!identity.is_locked() || std::none_of(stanzas.begin(), stanzas.end(), names_it))
            continue;
        const std::vector<Identity>* unlocked = nullptr;
        try {
            unlocked = &ring.unlock(identity);
        } catch (const Failure& reason) {
            keep_first(failure, reason);
            continue;
        }
        for (const Stanza& stanza : stanzas)
            if (std::optional<Secret> found = unwrap_ssh(unlocked->front(), stanza)) return found;
    }
    return std::nullopt;
}

// Tries the identities in locked files. A plugin that failed leaves `plugin_failure`.
std::optional<Secret> find_in_locked_files(const std::vector<Stanza>& stanzas,
                                           const std::vector<LockedFile>& files, KeyRing& ring,
                                           Hybrid& hybrid, std::optional<Failure>& failure,
                                           std::optional<Failure>& plugin_failure) {
    for (const LockedFile& locked : files) {
        const std::vector<Identity>* identities = nullptr;
        try {
            identities = &ring.unlock(locked);
        } catch (const Failure& reason) {
            keep_first(failure, reason);
            continue;
        }
        std::optional<Secret> found = find_without_plugins(stanzas, *identities, hybrid);
        if (!found)
            found =
                std::move(plugin::unwrap_by_plugins(*identities, {&stanzas}, plugin_failure)[0]);
        if (!found) found = find_in_locked_keys(stanzas, *identities, ring, failure);
        if (found) return found;
    }
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

void say_if_costly(const Stanza& stanza, const Session& session) {
    const unsigned cost = log2_cost_of(stanza);
    if (cost > quiet_scrypt_log2_cost)
        remark(session, cli::format("the passphrase of this file needs {} of memory for scrypt.",
                                    human_bytes(uint64_t{1024} << cost)));
}

void require_mac(const Header& header, View file_key) {
    if (file_key.size() != file_key_bytes ||
        !equal(header_mac(file_key, header.authenticated), header.mac))
        throw Failure(ExitCode::not_authentic, "the MAC of its header does not verify.");
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
        UnlockedKeys of_this_file;
        KeyRing ring(file, choice.unlocked ? *choice.unlocked : of_this_file, session);
        std::optional<Failure> locked;
        if (!found) found = find_in_locked_keys(header.stanzas, identities.open, ring, locked);
        if (!found)
            found = find_in_locked_files(header.stanzas, identities.locked, ring, hybrid, locked,
                                         failure);
        if (!found && locked) throw *locked;
        if (!found && failure) throw *failure;
    }
    if (!found) throw Failure(ExitCode::wrong_key, "no identity or passphrase opens it.");
    require_mac(header, *found);
    return std::move(*found);
}

}  // namespace warpseal::cli::age

// Decrypts or verifies an age file.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>

#include "cli/age/format/armor.h"
#include "cli/age/plugin/group.h"
#include "cli/age/plugin/run.h"
#include "cli/age/range.h"
#include "cli/age/stanzas.h"
#include "cli/age/task.h"

namespace warpseal::cli {
namespace {

using namespace age;

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

// Throws Failure for a locked SSH key that a stanza is for.
void refuse_locked(const std::vector<Stanza>& stanzas, const std::vector<Identity>& identities,
                   Hybrid& hybrid) {
    for (const Identity& identity : identities)
        for (const Stanza& stanza : stanzas)
            if (identity.is_locked()) (void)unwrap(identity, stanza, hybrid);
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

Secret passphrase_of_locked(const LockedFile& locked, const FileChoice& file,
                            const Session& session) {
    SecretChoice secrets = file.secrets;
    if (!secrets.passphrase()) {
        if (!has_terminal())
            throw Failure(ExitCode::usage, fmt::format("{} is itself encrypted: give its "
                                                       "passphrase with --passphrase-file or "
                                                       "--passphrase-fd.",
                                                       locked.shown));
        remark(session, locked.shown + " is itself encrypted.");
        secrets.ask = true;
    }
    return read_passphrase(secrets, false, session);
}

// Tries the identities in locked files, which have one passphrase.
std::optional<Secret> find_in_locked(const std::vector<Stanza>& stanzas,
                                     const std::vector<LockedFile>& files, const FileChoice& file,
                                     Hybrid& hybrid, std::optional<Failure>& failure,
                                     const Session& session) {
    Secret passphrase;
    std::string wrong;
    for (const LockedFile& locked : files) {
        if (passphrase.empty()) passphrase = passphrase_of_locked(locked, file, session);
        std::vector<Identity> identities;
        try {
            const std::optional<Secret> content = unlock(locked, passphrase, session);
            if (!content) {
                wrong = locked.shown;
                continue;
            }
            parse_identities(*content, locked.shown, identities);
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
        if (found) return found;
        refuse_locked(stanzas, identities, hybrid);
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

struct Identities {
    std::vector<Identity> open;
    std::vector<LockedFile> locked;
};

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
        if (!found)
            found =
                find_in_locked(header.stanzas, identities.locked, file, hybrid, failure, session);
        if (!found) refuse_locked(header.stanzas, identities.open, hybrid);
        if (!found && failure) throw *failure;
    }
    if (!found) throw Failure(ExitCode::wrong_key, "no identity or passphrase opens it.");
    require_mac(header, *found);
    return std::move(*found);
}

}  // namespace

void add_identity_option(CLI::App& command, AgeChoice& choice) {
    command
        .add_option(
            "-i,--identity", choice.identities,
            "file of age identities or of an SSH private key, private (mode 0600); - is standard "
            "input; may be given several times")
        ->type_name("IDENTITYFILE")
        ->allow_extra_args(false);
}

void add_age_decrypt_options(CLI::App& command, AgeChoice& choice) {
    add_identity_option(command, choice);
    add_plugin_option(command, choice);
}

ExitCode run_age_decrypt(FileTask file_task, const FileChoice& file, const AgeChoice& choice,
                         int input, const OutputChoice* output_choice, const Range* range,
                         Session& session) {
    check_choice(file_task, file, choice);
    if (range) refuse_streams(input, file);
    refuse_shared_stream(input, choice.identities, "-i");
    Identities identities;
    for (const std::string& path : choice.identities)
        read_identity_file(path, identities.open, &identities.locked);
    for (const std::string& name : choice.plugins)
        identities.open.push_back({KeyType::plugin, plugin::identity_without_data(name)});
    std::optional<Output> output;
    if (output_choice) {
        output.emplace(*output_choice, mode_decrypted);
        if (output_choice->preserve) output->preserve(input);
        refuse_inputs(*output, input, file.secrets);
        for (const std::string& path : choice.identities)
            path == "-" ? output->refuse_same_file(STDIN_FILENO) : output->refuse_same_file(path);
        output->remove_abandoned(session);
    }
    Task task(file_task, file, output ? &*output : nullptr, session);
    std::optional<OutputSink> written;
    if (output) written.emplace(*output);
    NoSink none;
    uint64_t text_bytes = 0, file_bytes = 0;
    task.run(
        [&] {
            DescriptorSource descriptor(input);
            const uint64_t total = remaining_bytes(input);
            const uint64_t begin = total > 0 ? position_of(input) : 0;
            AgeSource read(descriptor);
            BufferedSource& source = read.binary();
            const Header header = read_header(source);
            const Secret file_key = file_key_of(header, file, choice, identities, session);
            identities = {};
            if (range) {
                const Secret key = payload_key(file_key, source);
                if (read.within)
                    throw Failure(ExitCode::unsupported,
                                  "--range does not read an armor: decrypt it as a whole.");
                const uint64_t header_bytes = read.text.taken();
                text_bytes =
                    open_range({input, begin + header_bytes, total - std::min(total, header_bytes)},
                               key, *range, file, *written, thread_count(file, range->length),
                               [&](uint64_t bytes) { return task.progress(bytes); });
                file_bytes = total;
                return;
            }
            Payload payload(Direction::open, payload_key(file_key, source), source,
                            written ? static_cast<Sink&>(*written) : none, task.progress(total));
            const uint64_t begun = read.text.taken();
            const bool positioned = total >= begun && total > 0 && !read.within;
            if (positioned) payload.read_at(input, begin + begun, total - begun);
            if (output && !output->is_stream()) payload.write_at(output->descriptor(), 0);
            payload.run(thread_count(file, total));
            text_bytes = payload.text_bytes();
            file_bytes = positioned ? total : read.text.taken();
        },
        written ? &*written : nullptr);
    if (output) output->commit();
    if (range) say_if_shortened(*range, text_bytes, session);
    task.say_done(text_bytes, file_bytes, session);
    return ExitCode::ok;
}

}  // namespace warpseal::cli

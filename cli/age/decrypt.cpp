// Decrypts or verifies an age file.
#include <fmt/core.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <optional>

#include "cli/age/armor.h"
#include "cli/age/stanzas.h"
#include "cli/age/task.h"

namespace warpseal::cli {
namespace {

using namespace age;

// The passphrase of a file that takes one, asked for if no option names another secret.
Secret passphrase_for(const FileChoice& file, const AgeChoice& choice, const Session& session) {
    SecretChoice secrets = file.secrets;
    if (!secrets.passphrase()) {
        if (!choice.identities.empty())
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

std::optional<Secret> find_file_key(const std::vector<Stanza>& stanzas,
                                    const std::vector<Identity>& identities, Hybrid& hybrid) {
    for (const Identity& identity : identities)
        for (const Stanza& stanza : stanzas)
            if (std::optional<Secret> found = unwrap(identity, stanza, hybrid)) return found;
    return std::nullopt;
}

Secret file_key_of(const Header& header, const FileChoice& file, const AgeChoice& choice,
                   const std::vector<Identity>& identities, Session& session) {
    check_stanzas(header.stanzas);
    std::optional<Secret> found;
    if (opens_by_passphrase(header.stanzas)) {
        say_if_costly(header.stanzas[0], session);
        found = unwrap_by_passphrase(passphrase_for(file, choice, session), header.stanzas[0]);
    } else {
        if (identities.empty() && !file.secrets.passphrase())
            throw Failure(ExitCode::usage, "it opens with an identity: give -i IDENTITYFILE.");
        Hybrid hybrid(file.engine, session);
        found = find_file_key(header.stanzas, identities, hybrid);
    }
    if (!found) throw Failure(ExitCode::wrong_key, "no identity or passphrase opens it.");
    if (found->size() != file_key_bytes ||
        !equal(header_mac(*found, header.authenticated), header.mac))
        throw Failure(ExitCode::not_authentic, "the MAC of its header does not verify.");
    return std::move(*found);
}

Secret payload_key(View file_key, BufferedSource& source) {
    uint8_t nonce[payload_nonce_bytes];
    if (source.read(nonce, sizeof nonce) != sizeof nonce)
        throw Failure(ExitCode::truncated, "it ends right after its header.");
    return hkdf_sha256(file_key, nonce, view("payload"));
}

// An armor may follow white space; a header may not.
bool is_armored(BufferedSource& source) {
    const int first = source.peek();
    return first == '-' || first == ' ' || first == '\t' || first == '\r' || first == '\n';
}

}  // namespace

void add_age_decrypt_options(CLI::App& command, AgeChoice& choice) {
    command
        .add_option("-i,--identity", choice.identities,
                    "file of age identities, private (mode 0600); may be given several times")
        ->type_name("IDENTITYFILE")
        ->allow_extra_args(false);
}

ExitCode run_age_decrypt(FileTask file_task, const FileChoice& file, const AgeChoice& choice,
                         int input, const OutputChoice* output_choice, Session& session) {
    check_choice(file_task, file, choice);
    refuse_shared_stream(input, choice.identities, "-i");
    std::vector<Identity> identities;
    for (const std::string& path : choice.identities) read_identity_file(path, identities);
    std::optional<Output> output;
    if (output_choice) {
        output.emplace(output_choice->path, output_choice->force, mode_decrypted);
        refuse_inputs(*output, input, file.secrets);
        for (const std::string& path : choice.identities) output->refuse_same_file(path);
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
            BufferedSource text(descriptor);
            ArmorSource armor(text);
            std::optional<BufferedSource> within;
            const uint64_t total = remaining_bytes(input);
            const uint64_t begin = total > 0 ? position_of(input) : 0;
            if (is_armored(text)) within.emplace(armor);
            BufferedSource& source = within ? *within : text;
            const Header header = read_header(source);
            const Secret file_key = file_key_of(header, file, choice, identities, session);
            identities.clear();
            Payload payload(Direction::open, payload_key(file_key, source), source,
                            written ? static_cast<Sink&>(*written) : none, task.progress(total));
            const uint64_t begun = text.taken();
            const bool positioned = total >= begun && total > 0 && !within;
            if (positioned) payload.read_at(input, begin + begun, total - begun);
            if (output && !output->is_stream()) payload.write_at(output->descriptor(), 0);
            payload.run(thread_count(file, total));
            text_bytes = payload.text_bytes();
            file_bytes = positioned ? total : text.taken();
        },
        written ? &*written : nullptr);
    if (output) output->commit();
    task.say_done(text_bytes, file_bytes, session);
    return ExitCode::ok;
}

}  // namespace warpseal::cli

// Makes identities and prints their recipients.
#include "cli/age/keygen.h"

#include <unistd.h>

#include <ctime>

#include "cli/age/crypto.h"
#include "cli/age/hybrid.h"
#include "cli/age/keys.h"
#include "cli/age/payload/sink.h"
#include "cli/age/ssh/keys.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

using namespace age;

std::string recipient_of(const Identity& identity, Hybrid& hybrid) {
    if (identity.type == KeyType::plugin)
        throw Failure(ExitCode::unsupported,
                      "-y does not know the recipients of plugins: ask the plugin.");
    if (is_ssh(identity.type)) return ssh_recipient_text(identity.wire);
    if (identity.type == KeyType::hybrid)
        return recipient_text(identity.type, hybrid.public_key(identity.key));
    if (identity.type == KeyType::ntru)
        return recipient_text(identity.type, hybrid.ntru_public_key(identity.key));
    return recipient_text(identity.type, x25519_public(identity.key));
}

std::string time_now() {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    char text[sizeof "2026-01-01T00:00:00Z"] = "";
    if (gmtime_r(&now, &utc) == nullptr ||
        std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        return "unknown";
    return text;
}

}  // namespace

ExitCode run_age_keygen(const std::string& path, IdentityKind kind, Session& session) {
    Output output(path, 0600);
    if (output.is_stream() && isatty(output.descriptor()))
        throw Failure(ExitCode::usage, "refused to write a key to the terminal: name a file.");
    output.remove_abandoned(session);
    const EngineChoice engine;
    Hybrid hybrid(engine, session);
    const KeyType type = kind == IdentityKind::ntru           ? KeyType::ntru
                         : kind == IdentityKind::post_quantum ? KeyType::hybrid
                                                              : KeyType::x25519;
    const Identity identity{type, random_secret(key_bytes)};
    const std::string recipient = recipient_of(identity, hybrid);
    OutputSink sink(output);
    sink.write(view(cli::format("# created: {}\n# public key: {}\n", time_now(), recipient)));
    Secret line = identity_text(identity.type, identity.key);
    line.push_back('\n');
    sink.write(line);
    output.commit();
    if (!output.is_stream()) remark(session, "public key: " + recipient);
    return ExitCode::ok;
}

ExitCode print_age_recipients(const std::string& path, Session& session) {
    std::vector<Identity> identities;
    read_identity_file(path, identities, nullptr);
    const EngineChoice engine;
    Hybrid hybrid(engine, session);
    std::string text;
    for (const Identity& identity : identities) text += recipient_of(identity, hybrid) + "\n";
    print_output(text);
    return ExitCode::ok;
}

}  // namespace warpseal::cli

// Contexts of OpenSSL for both ends of the handshakes.
#include "bench/tls/contexts.h"

#include <algorithm>

#include "cli/support/command.h"
#include "cli/support/format.h"

namespace warpseal::tls {

GroupChoice::GroupChoice(const std::string& text)
    : name(text), group(text.substr(0, text.find('='))), provider("default") {
    if (group.size() < text.size()) provider = text.substr(group.size() + 1);
    if (provider != "default" && provider != "warpseal")
        throw cli::Failure(cli::ExitCode::usage,
                           cli::format("--group {}: the provider is default or warpseal.", text));
}

bool GroupChoice::is_ours() const {
    return provider == "warpseal" || group.find("ntru") != std::string::npos ||
           group.find("MLKEM") != std::string::npos;
}

bool any_of_ours(const std::vector<GroupChoice>& groups) {
    return std::any_of(groups.begin(), groups.end(),
                       [](const GroupChoice& choice) { return choice.is_ours(); });
}

Contexts::Contexts(const std::vector<GroupChoice>& groups, const ProviderSettings& server_settings,
                   const RemoteServer& remote)
    : groups_(groups),
      clients_(any_of_ours(groups), {{"device", "cpu"}}),
      servers_(any_of_ours(groups), server_settings) {
    const Identity identity = make_identity(servers_.get());
    server_ = server_of("default", identity);
    server_of_ours_ = server_of("warpseal", identity);
    if (!remote.host.empty() && server_of_ours_)
        throw cli::Failure(cli::ExitCode::usage,
                           "--connect: the server chooses its provider; give groups alone.");
    for (const GroupChoice& choice : groups) make_client(choice, identity, remote);
}

// Returns a server of every group chosen with this provider, or null if there is none.
SslContext Contexts::server_of(const std::string& provider, const Identity& identity) const {
    std::string all;
    for (const GroupChoice& choice : groups_)
        if (choice.provider == provider) all += (all.empty() ? "" : ":") + choice.group;
    if (all.empty()) return nullptr;
    SslContext server = servers_.context(TLS_server_method(), all, provider);
    if (SSL_CTX_use_certificate(server.get(), identity.certificate.get()) != 1 ||
        SSL_CTX_use_PrivateKey(server.get(), identity.key.get()) != 1 ||
        SSL_CTX_set_num_tickets(server.get(), 0) != 1)
        fail("set up the server");
    return server;
}

void Contexts::make_client(const GroupChoice& choice, const Identity& identity,
                           const RemoteServer& remote) {
    SSL_CTX* const client =
        client_contexts_.emplace_back(clients_.context(TLS_client_method(), choice.group)).get();
    const bool external = !remote.host.empty();
    if (external && remote.authority.empty()) return;
    SSL_CTX_set_verify(client, SSL_VERIFY_PEER, nullptr);
    if (external) require_file(remote.authority);
    const int trusts =
        external ? SSL_CTX_load_verify_locations(client, remote.authority.c_str(), nullptr)
                 : X509_STORE_add_cert(SSL_CTX_get_cert_store(client), identity.certificate.get());
    if (trusts != 1) fail("trust the server's certificate");
}

Ends Contexts::ends(size_t group) const {
    const bool use_default = groups_[group].provider == "default";
    return {{client_contexts_[group].get()}, (use_default ? server_ : server_of_ours_).get()};
}

Ends Contexts::mixed_ends() const {
    if (server_of_ours_)
        throw cli::Failure(cli::ExitCode::usage, "--mixed: give groups without a provider.");
    Ends ends{{}, server_.get()};
    for (const SslContext& client : client_contexts_) ends.clients.push_back(client.get());
    return ends;
}

}  // namespace warpseal::tls

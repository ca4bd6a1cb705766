// Contexts of OpenSSL for both ends of the handshakes, in library contexts of their own.
#pragma once

#include <string>
#include <vector>

#include "bench/tls/library.h"
#include "bench/tls/load.h"

namespace warpseal::tls {

// A group, and the provider whose algorithms a server uses for it: "X25519MLKEM768=warpseal".
struct GroupChoice {
    explicit GroupChoice(const std::string& text);
    // True if the group may need our provider. OpenSSL has ML-KEM from 3.5 on.
    bool is_ours() const;

    std::string name, group, provider;
};

// A server elsewhere, if it has a host.
struct RemoteServer {
    std::string host;
    std::string authority;  // Certificates that sign the server's; empty: not verified.
};

// Clients and server have separate library contexts and therefore separate batchers. A client's key
// exchanges are never in the server's batches. A loop waits for its clients' key exchanges one by
// one, so they do not run on a GPU.
class Contexts {
public:
    Contexts(const std::vector<GroupChoice>& groups, const ProviderSettings& server_settings,
             const RemoteServer& remote);

    // Returns the ends of connections with one group.
    Ends ends(size_t group) const;
    // Returns ends whose connections take the groups in turn.
    Ends mixed_ends() const;
    OSSL_LIB_CTX* servers() const { return servers_.get(); }
    // Returns the metrics of the server's provider as Prometheus text.
    std::string metrics() const { return servers_.metrics(); }

private:
    SslContext server_of(const std::string& provider, const Identity& identity) const;
    void make_client(const GroupChoice& choice, const Identity& identity,
                     const RemoteServer& remote);

    const std::vector<GroupChoice>& groups_;
    const Library clients_, servers_;
    SslContext server_, server_of_ours_;  // null: no group with that provider
    std::vector<SslContext> client_contexts_;
};

// Returns true if a group may need our provider.
bool any_of_ours(const std::vector<GroupChoice>& groups);

}  // namespace warpseal::tls

// TCP: non-blocking sockets and addresses.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <string>
#include <vector>

#include "cli/support/descriptor.h"

namespace warpseal::tls {

struct Address {
    sockaddr_storage storage{};
    socklen_t length = 0;
    std::string text() const;  // such as "127.0.0.1:443"
};

// Parses "host:port" or "[::1]:443". A port is 0 to 65535 or a service name. Throws Failure
// (usage).
struct HostAndPort {
    std::string host, port;
};
HostAndPort split_address(const std::string& text);
// Returns all addresses of a name. Throws Failure if there is none.
std::vector<Address> resolve(const HostAndPort& name, bool to_listen);

// Throw Failure. connect_to returns while connecting; the socket becomes writable when it has
// connected or failed.
cli::Descriptor listen_on(const Address& address);
cli::Descriptor connect_to(const Address& address);
// Connects to the first of the name's addresses that accepts, and stores it in `taken`. `patience`
// limits the wait for each address.
cli::Descriptor connect_to_any(const HostAndPort& name, std::chrono::seconds patience,
                               Address& taken);
// Returns no descriptor if no connection is waiting.
cli::Descriptor accept_from(int listening);
Address address_of(int socket);
// Returns 0, or the errno of a failed connection.
int error_of(int socket);

// Raises the process's descriptor limit to its maximum. Throws Failure (usage) if `wanted` exceeds
// it.
void allow_descriptors(uint64_t wanted);

}  // namespace warpseal::tls

// TCP: sockets that do not block, and addresses.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <string>
#include <vector>

#include "descriptor.h"

namespace warpseal::tls {

struct Address {
    sockaddr_storage storage{};
    socklen_t length = 0;
    std::string text() const;  // "127.0.0.1:443"
};

// "host:port", "[::1]:443"; a port is 0 to 65535, or a service's name. Throws Failure (usage).
struct HostAndPort {
    std::string host, port;
};
HostAndPort split_address(const std::string& text);
// All addresses of a name. Throws Failure if there is none.
std::vector<Address> resolve(const HostAndPort& name, bool to_listen);

// They throw Failure. connect_to has begun when it returns; a socket says by writability that it is
// connected, or failed.
cli::Descriptor listen_on(const Address& address);
cli::Descriptor connect_to(const Address& address);
// Of a name's addresses the first that accepts a connection, which is `taken`. Waits so long for
// each at most.
cli::Descriptor connect_to_any(const HostAndPort& name, std::chrono::seconds patience,
                               Address& taken);
// No descriptor: nobody is waiting.
cli::Descriptor accept_from(int listening);
Address address_of(int socket);
// 0, or the errno of a connection that failed.
int error_of(int socket);

// Lets the process have as many descriptors as it may. Throws Failure (usage) if `wanted` are more
// than that.
void allow_descriptors(uint64_t wanted);

}  // namespace warpseal::tls

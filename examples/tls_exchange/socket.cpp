// TCP: non-blocking sockets and addresses.
#include "examples/tls_exchange/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <memory>

#include "cli/support/command.h"
#include "cli/support/format.h"
#include "cli/support/interrupt.h"

namespace warpseal::tls {
namespace {

using cli::Descriptor;
using cli::ExitCode;
using cli::Failure;

[[noreturn]] void give_up(const char* what, const Address& address) {
    throw Failure(ExitCode::input_output,
                  cli::format("cannot {} {}: {}.", what, address.text(), strerror(errno)));
}

Descriptor open_socket(const Address& address) {
    Descriptor made(
        socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!made) give_up("open a socket for", address);
    return made;
}

void send_at_once(int socket) {
    const int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// getaddrinfo reads a port without letters as a number. It accepts signs and blanks, and keeps the
// low 16 bits of a large one.
bool is_port(const std::string& text) {
    if (std::any_of(text.begin(), text.end(),
                    [](unsigned char letter) { return std::isalpha(letter) != 0; }))
        return true;
    uint16_t port = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    return error == std::errc() && stop == text.data() + text.size();
}

}  // namespace

std::string Address::text() const {
    char host[NI_MAXHOST], port[NI_MAXSERV];
    const auto* address = reinterpret_cast<const sockaddr*>(&storage);
    if (getnameinfo(address, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return "an address";
    return storage.ss_family == AF_INET6 ? cli::format("[{}]:{}", host, port)
                                         : cli::format("{}:{}", host, port);
}

HostAndPort split_address(const std::string& text) {
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == text.size())
        throw Failure(ExitCode::usage, cli::format("'{}' is no HOST:PORT.", text));
    HostAndPort parts{text.substr(0, colon), text.substr(colon + 1)};
    if (!is_port(parts.port))
        throw Failure(ExitCode::usage,
                      cli::format("'{}' of '{}' is no port: 0 to 65535 are.", parts.port, text));
    if (parts.host.front() == '[' && parts.host.back() == ']')
        parts.host = parts.host.substr(1, parts.host.size() - 2);
    return parts;
}

std::vector<Address> resolve(const HostAndPort& name, bool to_listen) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = to_listen ? AI_PASSIVE : 0;
    addrinfo* list = nullptr;
    const int error = getaddrinfo(name.host.c_str(), name.port.c_str(), &hints, &list);
    if (error != 0)
        throw Failure(ExitCode::input_output, cli::format("cannot find {}:{}: {}.", name.host,
                                                          name.port, gai_strerror(error)));
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> found(list, freeaddrinfo);
    std::vector<Address> addresses;
    for (const addrinfo* one = list; one; one = one->ai_next) {
        Address& address = addresses.emplace_back();
        address.length = one->ai_addrlen;
        std::memcpy(&address.storage, one->ai_addr, one->ai_addrlen);
    }
    return addresses;
}

Descriptor listen_on(const Address& address) {
    Descriptor listening = open_socket(address);
    const int on = 1;
    setsockopt(listening.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listening.get(), reinterpret_cast<const sockaddr*>(&address.storage),
             address.length) != 0)
        give_up("listen on", address);
    if (listen(listening.get(), SOMAXCONN) != 0) give_up("listen on", address);
    return listening;
}

Descriptor connect_to(const Address& address) {
    Descriptor connecting = open_socket(address);
    send_at_once(connecting.get());
    if (connect(connecting.get(), reinterpret_cast<const sockaddr*>(&address.storage),
                address.length) != 0 &&
        errno != EINPROGRESS)
        give_up("connect to", address);
    return connecting;
}

Descriptor connect_to_any(const HostAndPort& name, std::chrono::seconds patience, Address& taken) {
    std::string why;
    for (const Address& address : resolve(name, false)) {
        Descriptor connecting = connect_to(address);
        pollfd polled[] = {{connecting.get(), POLLOUT, 0},
                           {cli::interrupt_descriptor(), POLLIN, 0}};
        const int count = poll(polled, std::size(polled),
                               static_cast<int>(std::chrono::milliseconds(patience).count()));
        if (cli::interrupted_by() != 0)
            throw Failure(static_cast<ExitCode>(128 + cli::interrupted_by()), "interrupted.");
        const int error = count == 0 ? ETIMEDOUT : error_of(connecting.get());
        if (error == 0) {
            taken = address;
            return connecting;
        }
        why = cli::format("cannot connect to {}: {}.", address.text(), strerror(error));
    }
    throw Failure(ExitCode::input_output, why);
}

Descriptor accept_from(int listening) {
    Descriptor accepted(accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (accepted) send_at_once(accepted.get());
    return accepted;
}

Address address_of(int socket) {
    Address address;
    address.length = sizeof address.storage;
    if (getsockname(socket, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0)
        give_up("ask for", address);
    return address;
}

int error_of(int socket) {
    int error = 0;
    socklen_t length = sizeof error;
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

void allow_descriptors(uint64_t wanted) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (wanted > limit.rlim_cur)
        throw Failure(
            ExitCode::usage,
            cli::format(
                "this process may have {} descriptors, and {} are wanted: see `ulimit -Hn`.",
                limit.rlim_cur, wanted));
}

}  // namespace warpseal::tls

// Stock libssl as a robust peer: a server of many connections at once, and a client that connects
// repeatedly.
//
//   serve CERTIFICATE KEY GROUPS   prints `port N`, echoes what clients send. Each line of its
//   input
//                                  is answered by `counts`: handshakes, failed handshakes,
//                                  connections open now. At the end of its input it prints why
//                                  handshakes failed, and ends
//   serve-async …                  the same, with each handshake on a fibre (SSL_MODE_ASYNC)
//   connect PORT GROUPS COUNT      prints for each connection in turn `shaken` or `failed` and why
//
// Providers come from OPENSSL_CONF, as in any program.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace {

struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using Context = std::unique_ptr<SSL_CTX, Free>;
using Ssl = std::unique_ptr<SSL, Free>;

class Socket {
public:
    explicit Socket(int fd) : fd_(fd) {
        if (fd < 0) throw std::system_error(errno, std::generic_category());
    }
    Socket(Socket&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    Socket& operator=(Socket&&) = delete;
    ~Socket() {
        if (fd_ >= 0) close(fd_);
    }
    int fd() const { return fd_; }

private:
    int fd_;
};

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

void check(bool worked, const char* what) {
    if (worked) return;
    const char* reason = ERR_reason_error_string(ERR_peek_last_error());
    throw std::runtime_error(std::string(what) + ": " + (reason != nullptr ? reason : "no reason"));
}

// Returns the first error, which is the cause.
std::string why() {
    const unsigned long error = ERR_peek_error();
    const char* reason = error != 0 ? ERR_reason_error_string(error) : nullptr;
    return reason != nullptr ? reason
           : error != 0      ? "error " + std::to_string(error)
                             : "closed by the peer";
}

Context context(const SSL_METHOD* method, const char* groups) {
    Context context(SSL_CTX_new(method));
    check(context && SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) == 1,
          "a context");
    check(SSL_CTX_set1_groups_list(context.get(), groups) == 1, "the groups");
    return context;
}

class Server {
public:
    Server(const char* certificate, const char* key, const char* groups, bool on_fibres)
        : context_(context(TLS_server_method(), groups)),
          listener_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
          epoll_(epoll_create1(EPOLL_CLOEXEC)) {
        check(SSL_CTX_use_certificate_chain_file(context_.get(), certificate) == 1,
              "the certificate");
        check(SSL_CTX_use_PrivateKey_file(context_.get(), key, SSL_FILETYPE_PEM) == 1, "the key");
        SSL_CTX_set_session_cache_mode(context_.get(), SSL_SESS_CACHE_OFF);
        SSL_CTX_set_num_tickets(context_.get(), 0);
        if (on_fibres) SSL_CTX_set_mode(context_.get(), SSL_MODE_ASYNC);
        sockaddr_in address = loopback(0);
        socklen_t bytes = sizeof address;
        auto* any = reinterpret_cast<sockaddr*>(&address);
        if (bind(listener_.fd(), any, bytes) != 0 || listen(listener_.fd(), 4096) != 0 ||
            getsockname(listener_.fd(), any, &bytes) != 0)
            throw std::system_error(errno, std::generic_category());
        port_ = ntohs(address.sin_port);
        watch(EPOLL_CTL_ADD, listener_.fd(), EPOLLIN);
        watch(EPOLL_CTL_ADD, STDIN_FILENO, EPOLLIN);
    }

    void run() {
        std::printf("port %d\n", port_);
        for (bool more = true; more;) {
            std::array<epoll_event, 64> events;
            const int count = epoll_wait(epoll_.fd(), events.data(), events.size(), -1);
            for (int i = 0; i < count; ++i) {
                const int fd = events[static_cast<size_t>(i)].data.fd;
                if (fd == listener_.fd())
                    accept_all();
                else if (fd == STDIN_FILENO)
                    more = tell();
                else if (const auto found = connections_.find(fd);
                         found != connections_.end() && !go_on(found->second))
                    connections_.erase(found);
            }
        }
        for (const auto& [reason, count] : reasons_)
            std::printf("failed %lld %s\n", count, reason.c_str());
    }

private:
    struct Connection {
        Socket socket;
        Ssl ssl;
        bool shaken = false;
        int fibre = -1;  // becomes readable when a paused fibre can continue
    };

    void watch(int how, int fd, uint32_t events) { watch(how, fd, events, fd); }
    // reported: the descriptor named in its events.
    void watch(int how, int fd, uint32_t events, int reported) {
        epoll_event event{};
        event.events = events;
        event.data.fd = reported;
        if (epoll_ctl(epoll_.fd(), how, fd, &event) != 0)
            throw std::system_error(errno, std::generic_category());
    }

    void accept_all() {
        for (int fd;
             (fd = accept4(listener_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
            Connection made{Socket(fd), Ssl(SSL_new(context_.get()))};
            check(made.ssl && SSL_set_fd(made.ssl.get(), fd) == 1, "a connection");
            SSL_set_accept_state(made.ssl.get());
            watch(EPOLL_CTL_ADD, fd, EPOLLIN);
            connections_.emplace(fd, std::move(made));
        }
    }

    bool tell() {
        char asked[256];
        if (read(STDIN_FILENO, asked, sizeof asked) <= 0) return false;
        std::printf("counts %lld %lld %zu\n", handshakes_, failed_, connections_.size());
        return true;
    }

    bool go_on(Connection& connection) {
        if (connection.fibre >= 0) {
            watch(EPOLL_CTL_DEL, connection.fibre, 0);
            watch(EPOLL_CTL_ADD, connection.socket.fd(), EPOLLIN);
            connection.fibre = -1;
        }
        return step(connection);
    }

    // Returns true if the connection continues.
    bool step(Connection& connection) {
        ERR_clear_error();
        SSL* ssl = connection.ssl.get();
        if (!connection.shaken) {
            const int result = SSL_do_handshake(ssl);
            if (result != 1) return waits(connection, result) || count_failure();
            connection.shaken = true;
            ++handshakes_;
        }
        for (char data[4096];;) {
            const int got = SSL_read(ssl, data, sizeof data);
            if (got <= 0) return waits(connection, got);
            if (SSL_write(ssl, data, got) != got) return false;
        }
    }

    bool waits(Connection& connection, int result) {
        const int error = SSL_get_error(connection.ssl.get(), result);
        if (error == SSL_ERROR_WANT_ASYNC) return waits_for_fibre(connection);
        if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return false;
        watch(EPOLL_CTL_MOD, connection.socket.fd(),
              error == SSL_ERROR_WANT_READ ? EPOLLIN : EPOLLOUT);
        return true;
    }

    // Ignores the connection's events meanwhile: libssl cannot free a paused fibre.
    bool waits_for_fibre(Connection& connection) {
        size_t count = 0;
        if (SSL_get_all_async_fds(connection.ssl.get(), nullptr, &count) != 1 || count != 1)
            return false;
        SSL_get_all_async_fds(connection.ssl.get(), &connection.fibre, &count);
        watch(EPOLL_CTL_DEL, connection.socket.fd(), 0);
        watch(EPOLL_CTL_ADD, connection.fibre, EPOLLIN, connection.socket.fd());
        return true;
    }

    bool count_failure() {
        ++failed_;
        ++reasons_[why()];
        return false;
    }

    Context context_;
    Socket listener_, epoll_;
    int port_ = 0;
    std::map<int, Connection> connections_;
    std::map<std::string, long long> reasons_;
    long long handshakes_ = 0, failed_ = 0;
};

std::string one_connection(SSL_CTX* context, int port) {
    const Socket connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback(port);
    if (connect(connection.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        throw std::system_error(errno, std::generic_category());
    const Ssl ssl(SSL_new(context));
    check(ssl && SSL_set_fd(ssl.get(), connection.fd()) == 1, "a connection");
    ERR_clear_error();
    if (SSL_connect(ssl.get()) != 1) return "failed " + why();
    SSL_shutdown(ssl.get());
    return "shaken";
}

void connect_again_and_again(int port, const char* groups, int count) {
    const Context made = context(TLS_client_method(), groups);
    for (int i = 0; i < count; ++i) std::printf("%s\n", one_connection(made.get(), port).c_str());
}

}  // namespace

int main(int count, char** arguments) {
    std::signal(SIGPIPE, SIG_IGN);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    const std::string_view what = count == 5 ? arguments[1] : "";
    try {
        if (what == "serve" || what == "serve-async") {
            Server(arguments[2], arguments[3], arguments[4], what == "serve-async").run();
        } else if (what == "connect") {
            connect_again_and_again(std::atoi(arguments[2]), arguments[3], std::atoi(arguments[4]));
        } else {
            std::fprintf(
                stderr,
                "usage: %s serve|serve-async CERTIFICATE KEY GROUPS | connect PORT GROUPS COUNT\n",
                arguments[0]);
            return 2;
        }
    } catch (const std::exception& wrong) {
        std::fprintf(stderr, "%s\n", wrong.what());
        return 1;
    }
}

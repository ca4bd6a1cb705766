// X25519 in TLS: a property query takes both halves of a handshake to the provider's batcher, and
// shares of low order end in an alert.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "provider/handshakes/connection.h"

namespace tests {
namespace {

constexpr char query[] = "?provider=warpseal";

// Requests that the provider's batcher has done, alone or in batches.
uint64_t requests(const Library& library) {
    std::string text(size_t{1} << 16, '\0');
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string("warpseal-metrics", text.data(), text.size()),
        OSSL_PARAM_construct_end()};
    require(OSSL_PROVIDER_get_params(library.provider(), params) == 1, "no metrics");
    std::istringstream lines(text.c_str());
    uint64_t sum = 0;
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("warpseal_kem_requests_total{"))
            sum += std::stoull(line.substr(line.rfind(' ')));
    return sum;
}

bool shake_hands(const Connection& connection) {
    size_t pauses = 0;
    for (int i = 0; i < 20 && !connection.done(); ++i)
        if (!connection.step(pauses)) return false;
    return connection.done() && !connection.exported().empty();
}

uint64_t requests_of_a_handshake(const Library& library, const Ends& ends) {
    const uint64_t before = requests(library);
    EXPECT_TRUE(shake_hands(Connection(ends))) << ERR_error_string(ERR_peek_error(), nullptr);
    return requests(library) - before;
}

// Each side makes a key and agrees.
TEST(X25519Handshakes, GoThroughTheBatcherByPropertyOnly) {
    const Library library;
    EXPECT_EQ(requests_of_a_handshake(library, Ends(library, "X25519", query)), 4u);
    EXPECT_EQ(requests_of_a_handshake(library, Ends(library, "X25519")), 0u);
    EXPECT_EQ(requests_of_a_handshake(library, Ends(library, "P-256", query)), 0u);
}

// A key, an encapsulation and a decapsulation, each of both halves.
TEST(X25519Handshakes, OfTheHybridHaveBothHalvesInOneRequest) {
    const Library library;
    EXPECT_EQ(requests_of_a_handshake(library, Ends(library, "X25519MLKEM768", query)), 3u);
}

// The certificate's curve is in the list, as TLS 1.2 wants it there.
TEST(X25519Handshakes, InTls12) {
    const Library library;
    const Ends ends(library, "X25519:P-256", query);
    for (SSL_CTX* const context : {ends.client(), ends.server()}) {
        ASSERT_EQ(SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION), 1);
        ASSERT_EQ(SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION), 1);
    }
    EXPECT_EQ(requests_of_a_handshake(library, ends), 4u);
}

// One side alone has the query: the other's keys are OpenSSL's.
TEST(X25519Handshakes, WithOpenSslAsThePeer) {
    const Library library;
    const Ends ours(library, "X25519", query), theirs(library, "X25519");
    const auto shake = [](SSL_CTX* client, SSL_CTX* server) {
        const Tls one(SSL_new(client)), other(SSL_new(server));
        BIO *at_one = nullptr, *at_other = nullptr;
        require(BIO_new_bio_pair(&at_one, 1 << 16, &at_other, 1 << 16) == 1, "no pair");
        SSL_set_bio(one.get(), at_one, at_one);
        SSL_set_bio(other.get(), at_other, at_other);
        SSL_set_connect_state(one.get());
        SSL_set_accept_state(other.get());
        size_t pauses = 0;
        for (int i = 0; i < 20; ++i)
            if (!Connection::step(one.get(), pauses) || !Connection::step(other.get(), pauses))
                return false;
        return SSL_is_init_finished(one.get()) != 0 && SSL_is_init_finished(other.get()) != 0;
    };
    const uint64_t before = requests(library);
    EXPECT_TRUE(shake(ours.client(), theirs.server()));
    EXPECT_EQ(requests(library) - before, 2u);
    EXPECT_TRUE(shake(theirs.client(), ours.server()));
    EXPECT_EQ(requests(library) - before, 4u);
}

TEST(X25519Handshakes, PauseOnFibres) {
    const Library library;
    const Ends ends(library, "X25519", query);
    std::vector<std::unique_ptr<Connection>> all;
    for (int i = 0; i < 50; ++i) all.push_back(std::make_unique<Connection>(ends, SSL_MODE_ASYNC));
    size_t pauses = 0;
    for (size_t done = 0; done < all.size();) {
        done = 0;
        for (const auto& one : all) {
            ASSERT_TRUE(one->step(pauses));
            done += one->done() ? 1 : 0;
        }
    }
    EXPECT_GE(pauses, all.size());
    for (const auto& one : all) EXPECT_NE(one->exported(), "");
}

// ---- shares of low order

constexpr size_t point_bytes = 32;

// One end between two memory BIOs.
class End {
public:
    End(SSL_CTX* context, bool accepts) : end_(SSL_new(context)) {
        in_ = BIO_new(BIO_s_mem()), out_ = BIO_new(BIO_s_mem());
        require(end_ && in_ != nullptr && out_ != nullptr, "no end");
        SSL_set_bio(end_.get(), in_, out_);
        accepts ? SSL_set_accept_state(end_.get()) : SSL_set_connect_state(end_.get());
    }
    // Returns what it answers.
    Bytes hear(const Bytes& said) {
        if (!said.empty()) BIO_write(in_, said.data(), static_cast<int>(said.size()));
        (void)SSL_do_handshake(end_.get());
        Bytes out(BIO_ctrl_pending(out_));
        if (!out.empty()) BIO_read(out_, out.data(), static_cast<int>(out.size()));
        ERR_clear_error();
        return out;
    }

private:
    Tls end_;
    BIO *in_, *out_;
};

// The place of the only share in a hello: its group, its length, and the point.
size_t place_of_share(const Bytes& hello) {
    constexpr uint8_t entry[] = {0x00, 0x1d, 0x00, 0x20};
    const auto at = std::search(hello.begin(), hello.end(), std::begin(entry), std::end(entry));
    require(static_cast<size_t>(hello.end() - at) >= sizeof entry + point_bytes, "no share");
    return static_cast<size_t>(at - hello.begin());
}

Bytes with_point(Bytes hello, const Bytes& point) {
    std::copy(point.begin(), point.end(),
              hello.begin() + static_cast<ptrdiff_t>(place_of_share(hello) + 4));
    return hello;
}

// Gives the share another length, and all lengths around it (RFC 8446 4.1.2, 4.1.3, 5.1).
Bytes with_length(Bytes hello, size_t bytes, bool of_client) {
    const size_t share = place_of_share(hello);
    size_t extensions = 44 + hello[43];  // behind the header, the version, random and session
    extensions += of_client ? 2 + hello[extensions] * size_t{256} + hello[extensions + 1] : 3;
    if (of_client) extensions += 1 + hello[extensions];
    std::vector<size_t> lengths = {3, 7, extensions, share - 2, share + 2};
    if (of_client) lengths.push_back(share - 4);
    for (const size_t at : lengths) {
        const size_t length = hello[at] * size_t{256} + hello[at + 1] + bytes - point_bytes;
        hello[at] = static_cast<uint8_t>(length >> 8);
        hello[at + 1] = static_cast<uint8_t>(length);
    }
    const auto begin = hello.begin() + static_cast<ptrdiff_t>(share + 4);
    hello.erase(begin, begin + point_bytes);
    hello.insert(hello.begin() + static_cast<ptrdiff_t>(share + 4), bytes, uint8_t{9});
    return hello;
}

std::vector<Bytes> points_of_low_order() {
    std::vector<Bytes> all;
    for (const uint8_t high : {0x00, 0x80}) {  // X25519 ignores the highest bit
        for (const uint8_t first : {0, 1}) {
            all.emplace_back(point_bytes, uint8_t{0});
            all.back().front() = first;
        }
        for (const uint8_t first : {0xec, 0xed, 0xee}) {  // p - 1, p, p + 1
            all.emplace_back(point_bytes, uint8_t{0xff});
            all.back().front() = first;
            all.back().back() = 0x7f;
        }
        for (size_t i = all.size() - 5; i < all.size(); ++i) all[i].back() |= high;
    }
    return all;
}

const Bytes illegal_parameter = {0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x2f},
            decode_error = {0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x32};

TEST(X25519Handshakes, WithAShareOfLowOrderEndInAnAlert) {
    const Library library;
    const Ends ends(library, "X25519", query);
    for (const Bytes& point : points_of_low_order()) {
        End client(ends.client(), false), server(ends.server(), true);
        const Bytes hello = client.hear({});
        EXPECT_EQ(server.hear(with_point(hello, point)), illegal_parameter);
        End another(ends.server(), true);
        const Bytes answer = another.hear(hello);
        EXPECT_EQ(client.hear(with_point(answer, point)), illegal_parameter);
    }
    EXPECT_TRUE(shake_hands(Connection(ends)));
}

TEST(X25519Handshakes, WithAShareOfAnotherLengthEndInAnAlert) {
    const Library library;
    const Ends ends(library, "X25519", query);
    for (const size_t bytes :
         {size_t{0}, size_t{1}, point_bytes - 1, point_bytes + 1, 2 * point_bytes, size_t{1216}}) {
        const Bytes& alert = bytes == 0 ? decode_error : illegal_parameter;
        End client(ends.client(), false), server(ends.server(), true);
        const Bytes hello = client.hear({});
        EXPECT_EQ(server.hear(with_length(hello, bytes, true)), alert) << bytes;
        End another(ends.server(), true);
        EXPECT_EQ(client.hear(with_length(another.hear(hello), bytes, false)), alert) << bytes;
    }
    EXPECT_TRUE(shake_hands(Connection(ends)));
}

}  // namespace
}  // namespace tests

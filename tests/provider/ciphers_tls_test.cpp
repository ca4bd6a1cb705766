// TLS between a side whose records are ours and one that has never heard of us: data both ways in many sizes, and no record that was
// changed.
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "cipher.h"

namespace {

using namespace tests;

struct FreeTls {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    void operator()(SSL* connection) const { SSL_free(connection); }
    void operator()(X509* certificate) const { X509_free(certificate); }
};
using TlsContext = std::unique_ptr<SSL_CTX, FreeTls>;
using Connection = std::unique_ptr<SSL, FreeTls>;

struct Suite {
    const char* name;
    int version;
    bool encrypt_then_mac;  // or MAC, then encrypt: in CBC alone
    const char* cipher;     // whose records it has
};

// AES-CBC with MAC, then encrypt, and SHA-1 or SHA-256 is one cipher with its MAC in OpenSSL, which has those records itself.
constexpr Suite suites[] = {
    {"AES128-SHA", TLS1_2_VERSION, true, "AES-128-CBC"},
    {"AES256-SHA256", TLS1_2_VERSION, true, "AES-256-CBC"},
    {"AES128-SHA", TLS1_2_VERSION, false, "AES-128-CBC-HMAC-SHA1"},
    {"ECDHE-ECDSA-AES256-SHA384", TLS1_2_VERSION, true, "AES-256-CBC"},
    {"ECDHE-ECDSA-AES256-SHA384", TLS1_2_VERSION, false, "AES-256-CBC"},
    {"CAMELLIA128-SHA", TLS1_2_VERSION, true, "CAMELLIA-128-CBC"},
    {"CAMELLIA128-SHA", TLS1_2_VERSION, false, "CAMELLIA-128-CBC"},
    {"CAMELLIA256-SHA256", TLS1_2_VERSION, false, "CAMELLIA-256-CBC"},
    {"ECDHE-ECDSA-CAMELLIA256-SHA384", TLS1_2_VERSION, true, "CAMELLIA-256-CBC"},
    {"ECDHE-ECDSA-CAMELLIA256-SHA384", TLS1_2_VERSION, false, "CAMELLIA-256-CBC"},
    {"CAMELLIA128-SHA", TLS1_VERSION, false, "CAMELLIA-128-CBC"},
    {"CAMELLIA128-SHA", TLS1_1_VERSION, false, "CAMELLIA-128-CBC"},
    {"CAMELLIA128-SHA", TLS1_VERSION, true, "CAMELLIA-128-CBC"},
    {"ECDHE-ECDSA-AES128-GCM-SHA256", TLS1_2_VERSION, true, "AES-128-GCM"},
    {"AES256-GCM-SHA384", TLS1_2_VERSION, true, "AES-256-GCM"},
    {"ECDHE-ECDSA-ARIA128-GCM-SHA256", TLS1_2_VERSION, true, "ARIA-128-GCM"},
    {"ECDHE-ECDSA-ARIA256-GCM-SHA384", TLS1_2_VERSION, true, "ARIA-256-GCM"},
    {"ARIA128-GCM-SHA256", TLS1_2_VERSION, true, "ARIA-128-GCM"},
    {"AES128-CCM", TLS1_2_VERSION, true, "AES-128-CCM"},
    {"AES256-CCM8", TLS1_2_VERSION, true, "AES-256-CCM"},
    {"ECDHE-ECDSA-AES256-CCM", TLS1_2_VERSION, true, "AES-256-CCM"},
    {"TLS_AES_128_GCM_SHA256", TLS1_3_VERSION, true, "AES-128-GCM"},
    {"TLS_AES_256_GCM_SHA384", TLS1_3_VERSION, true, "AES-256-GCM"},
    {"TLS_AES_128_CCM_SHA256", TLS1_3_VERSION, true, "AES-128-CCM"},
    {"TLS_AES_128_CCM_8_SHA256", TLS1_3_VERSION, true, "AES-128-CCM"},
};

struct Identity {
    Key key;
    std::unique_ptr<X509, FreeTls> certificate;
};

Identity identity(const char* type) {
    Identity out{Key(std::string_view(type) == "RSA" ? EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", size_t{2048})
                                                     : EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256")),
                 std::unique_ptr<X509, FreeTls>(X509_new())};
    X509* const certificate = out.certificate.get();
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, out.key.get());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("here"), -1,
                               -1, 0);
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
    if (X509_sign(certificate, out.key.get(), EVP_sha256()) == 0) throw std::runtime_error("no certificate");
    return out;
}

const Identity& rsa() {
    static const Identity& made = *new Identity(identity("RSA"));
    return made;
}
const Identity& ecdsa() {
    static const Identity& made = *new Identity(identity("EC"));
    return made;
}

TlsContext tls_context(const Suite& suite, bool server, bool with_ours) {
    TlsContext context(with_ours
                           ? SSL_CTX_new_ex(ours().context(), "?provider=warpseal", server ? TLS_server_method() : TLS_client_method())
                           : SSL_CTX_new_ex(stock().context(), nullptr, server ? TLS_server_method() : TLS_client_method()));
    SSL_CTX* const to = context.get();
    SSL_CTX_set_security_level(to, 0);
    SSL_CTX_set_min_proto_version(to, suite.version);
    SSL_CTX_set_max_proto_version(to, suite.version);
    SSL_CTX_set_options(to, suite.encrypt_then_mac ? 0 : SSL_OP_NO_ENCRYPT_THEN_MAC);
    SSL_CTX_set1_groups_list(to, "P-256");
    if (suite.version == TLS1_3_VERSION) {
        EXPECT_EQ(SSL_CTX_set_ciphersuites(to, suite.name), 1);
    } else {
        EXPECT_EQ(SSL_CTX_set_cipher_list(to, suite.name), 1) << suite.name;
    }
    const bool with_rsa = std::string_view(suite.name).find("ECDSA") == std::string_view::npos && suite.version != TLS1_3_VERSION;
    const Identity& who = with_rsa ? rsa() : ecdsa();
    if (server) {
        EXPECT_EQ(SSL_CTX_use_certificate(to, who.certificate.get()), 1);
        EXPECT_EQ(SSL_CTX_use_PrivateKey(to, who.key.get()), 1);
    }
    return context;
}

struct Side {
    Connection connection;
    BIO *in = nullptr, *out = nullptr;  // the connection's own
    int alert = 0;                      // sent, or received

    explicit Side(const TlsContext& context, bool server)
        : connection(SSL_new(context.get())), in(BIO_new(BIO_s_mem())), out(BIO_new(BIO_s_mem())) {
        SSL_set_bio(connection.get(), in, out);
        server ? SSL_set_accept_state(connection.get()) : SSL_set_connect_state(connection.get());
        SSL_set_msg_callback(connection.get(), [](int, int, int type, const void* text, size_t bytes, SSL*, void* side) {
            if (type == SSL3_RT_ALERT && bytes == 2) static_cast<Side*>(side)->alert = static_cast<const uint8_t*>(text)[1];
        });
        SSL_set_msg_callback_arg(connection.get(), this);
    }
    Bytes sent() {
        char* data = nullptr;
        const long bytes = BIO_get_mem_data(out, &data);
        const Bytes taken(data, data + bytes);
        BIO_reset(out);
        return taken;
    }
    void receive(const Bytes& bytes) { BIO_write(in, bytes.data(), static_cast<int>(bytes.size())); }
};

bool shake(Side& client, Side& server) {
    for (int i = 0; i < 20; ++i) {
        const int a = SSL_do_handshake(client.connection.get());
        server.receive(client.sent());
        const int b = SSL_do_handshake(server.connection.get());
        client.receive(server.sent());
        if (a == 1 && b == 1) return true;
    }
    return false;
}

bool carry(Side& from, Side& to, const Bytes& text) {
    size_t n = 0;
    if (SSL_write_ex(from.connection.get(), text.data(), text.size(), &n) != 1 || n != text.size()) return false;
    to.receive(from.sent());
    Bytes out(text.size());
    for (size_t done = 0; done < out.size(); done += n)
        if (SSL_read_ex(to.connection.get(), out.data() + done, out.size() - done, &n) != 1) return false;
    return out == text;
}

class EachSuite : public testing::TestWithParam<std::tuple<Suite, bool>> {
protected:
    EachSuite()
        : suite_(std::get<0>(GetParam())),
          we_serve_(std::get<1>(GetParam())),
          random_(31),
          client_context_(tls_context(suite_, false, !we_serve_)),
          server_context_(tls_context(suite_, true, we_serve_)) {}

    Suite suite_;
    bool we_serve_;
    Random random_;
    TlsContext client_context_, server_context_;
};

// What libssl fetches by our context's properties is ours.
TEST_P(EachSuite, RecordsAreOurs) {
    const Cipher fetched(EVP_CIPHER_fetch(ours().context(), suite_.cipher, "?provider=warpseal"));
    ASSERT_TRUE(fetched);
    const bool with_its_mac = std::string_view(suite_.cipher).find("HMAC") != std::string_view::npos;
    EXPECT_EQ(EVP_CIPHER_get0_provider(fetched.get()) == ours().provider(), !with_its_mac);
}

TEST_P(EachSuite, CarriesDataBothWays) {
    Side client(client_context_, false), server(server_context_, true);
    ASSERT_TRUE(shake(client, server)) << ERR_reason_error_string(ERR_peek_last_error());
    ASSERT_STREQ(SSL_get_cipher(client.connection.get()), suite_.name);
    for (const size_t bytes : {1u,  2u,  11u,  12u,  13u,  15u,  16u,   17u,   31u,    32u,    33u,    63u,
                               64u, 65u, 100u, 255u, 256u, 257u, 1000u, 4095u, 16383u, 16384u, 16385u, 50'000u})
        for (const bool from_client : {true, false})
            ASSERT_TRUE(from_client ? carry(client, server, random_.text(bytes)) : carry(server, client, random_.text(bytes)))
                << bytes << (from_client ? " to the server: " : " to the client: ") << ERR_reason_error_string(ERR_peek_last_error());
}

// A bit anywhere behind a record's head.
TEST_P(EachSuite, RefusesRecordsThatWereChanged) {
    for (int i = 0; i < 12; ++i) {
        Side client(client_context_, false), server(server_context_, true);
        ASSERT_TRUE(shake(client, server));
        Side &to = we_serve_ ? server : client, &from = we_serve_ ? client : server;
        ASSERT_TRUE(carry(from, to, random_.text(20)));
        const Bytes text = random_.text(1 + random_.length(600));
        size_t n;
        ASSERT_EQ(SSL_write_ex(from.connection.get(), text.data(), text.size(), &n), 1);
        Bytes sent = from.sent(), out(1000);
        // The first, the last, and any other.
        const size_t at = i == 0 ? 5 : i == 1 ? sent.size() - 1 : 5 + random_.below(sent.size() - 5);
        sent[at] ^= static_cast<uint8_t>(1 << random_.below(8));
        to.receive(sent);
        ASSERT_NE(SSL_read_ex(to.connection.get(), out.data(), out.size(), &n), 1) << at << " of " << sent.size();
        EXPECT_EQ(SSL_get_error(to.connection.get(), 0), SSL_ERROR_SSL);
        EXPECT_EQ(to.alert, SSL_AD_BAD_RECORD_MAC) << at << " of " << sent.size();
        // The other side hears of it.
        from.receive(to.sent());
        ASSERT_NE(SSL_read_ex(from.connection.get(), out.data(), out.size(), &n), 1);
        EXPECT_EQ(from.alert, SSL_AD_BAD_RECORD_MAC);
        ERR_clear_error();
    }
}

INSTANTIATE_TEST_SUITE_P(Tls, EachSuite, testing::Combine(testing::ValuesIn(suites), testing::Bool()), [](const auto& info) {
    const Suite& suite = std::get<0>(info.param);
    std::string name = suite.name;
    for (char& letter : name)
        if (letter == '-') letter = '_';
    name += suite.version == TLS1_VERSION ? "_1_0" : suite.version == TLS1_1_VERSION ? "_1_1" : "";
    return name + (suite.encrypt_then_mac ? "" : "_mac_first") + (std::get<1>(info.param) ? "_served" : "");
});

}  // namespace

// TLS between a side with our records and one without the provider: data both ways in many sizes,
// and no changed record accepted.
#include "tls.h"

namespace {

using namespace tests;

// In OpenSSL AES-CBC with MAC-then-encrypt and SHA-1 or SHA-256 is one cipher with its MAC, so it
// handles those records itself.
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

// libssl fetches our cipher with our context's properties.
TEST_P(EachSuite, RecordsAreOurs) {
    const Cipher fetched(EVP_CIPHER_fetch(ours().context(), suite_.cipher, "?provider=warpseal"));
    ASSERT_TRUE(fetched);
    const bool with_its_mac =
        std::string_view(suite_.cipher).find("HMAC") != std::string_view::npos;
    EXPECT_EQ(EVP_CIPHER_get0_provider(fetched.get()) == ours().provider(), !with_its_mac);
}

TEST_P(EachSuite, CarriesDataBothWays) {
    Side client(client_context_, false), server(server_context_, true);
    ASSERT_TRUE(shake(client, server)) << ERR_reason_error_string(ERR_peek_last_error());
    ASSERT_STREQ(SSL_get_cipher(client.connection.get()), suite_.name);
    for (const size_t bytes :
         {1u,  2u,  11u,  12u,  13u,  15u,  16u,   17u,   31u,    32u,    33u,    63u,
          64u, 65u, 100u, 255u, 256u, 257u, 1000u, 4095u, 16383u, 16384u, 16385u, 50'000u})
        for (const bool from_client : {true, false})
            ASSERT_TRUE(from_client ? carry(client, server, random_.text(bytes))
                                    : carry(server, client, random_.text(bytes)))
                << bytes << (from_client ? " to the server: " : " to the client: ")
                << ERR_reason_error_string(ERR_peek_last_error());
}

// Flips a bit anywhere after a record's head.
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
        const size_t at = i == 0   ? 5
                          : i == 1 ? sent.size() - 1
                                   : 5 + random_.below(sent.size() - 5);
        sent[at] ^= static_cast<uint8_t>(1 << random_.below(8));
        to.receive(sent);
        ASSERT_NE(SSL_read_ex(to.connection.get(), out.data(), out.size(), &n), 1)
            << at << " of " << sent.size();
        EXPECT_EQ(SSL_get_error(to.connection.get(), 0), SSL_ERROR_SSL);
        EXPECT_EQ(to.alert, SSL_AD_BAD_RECORD_MAC) << at << " of " << sent.size();
        // The other side gets an alert.
        from.receive(to.sent());
        ASSERT_NE(SSL_read_ex(from.connection.get(), out.data(), out.size(), &n), 1);
        EXPECT_EQ(from.alert, SSL_AD_BAD_RECORD_MAC);
        ERR_clear_error();
    }
}

INSTANTIATE_TEST_SUITE_P(Tls, EachSuite,
                         testing::Combine(testing::ValuesIn(suites), testing::Bool()),
                         [](const auto& info) {
                             const Suite& suite = std::get<0>(info.param);
                             std::string name = suite.name;
                             for (char& letter : name)
                                 if (letter == '-') letter = '_';
                             name += suite.version == TLS1_VERSION     ? "_1_0"
                                     : suite.version == TLS1_1_VERSION ? "_1_1"
                                                                       : "";
                             return name + (suite.encrypt_then_mac ? "" : "_mac_first") +
                                    (std::get<1>(info.param) ? "_served" : "");
                         });

}  // namespace

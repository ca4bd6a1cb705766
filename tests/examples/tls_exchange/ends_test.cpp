// The two ends of the exchange against each other and against an attacker who changes, truncates,
// repeats or reorders messages (docs/tls-exchange.md).
#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <functional>
#include <random>

#include "examples/tls_exchange/exchange_ends.h"

namespace warpseal::tls {
namespace {

using Text = std::vector<uint8_t>;

warpseal_engine* engine() {
    static warpseal_engine* const one = [] {
        warpseal_engine_options options{};
        options.struct_bytes = sizeof options;
        options.device = "cpu";
        options.threads = 1;
        warpseal_engine* made = nullptr;
        if (warpseal_engine_create(&options, &made) != WARPSEAL_OK) std::abort();
        return made;
    }();
    return one;
}

SecretKey exporter(uint8_t first) {
    SecretKey key;
    for (size_t i = 0; i < SecretKey::size(); ++i) key.data()[i] = static_cast<uint8_t>(first + i);
    return key;
}

Text some_bytes(size_t count, unsigned seed) {
    std::mt19937 generator(seed);
    Text bytes(count);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(generator());
    return bytes;
}

// A key pair like the pool's, reusable here.
struct Pair {
    explicit Pair(uint8_t set_number)
        : set(*exchange_set(set_number)),
          public_key(set.public_key_bytes),
          secret_key(set.secret_key_bytes) {
        warpseal_kem_batch one = batch();
        EXPECT_EQ(warpseal_kem_keypair(engine(), set.name, &one), WARPSEAL_OK);
    }
    SecretKey decapsulate(Text ciphertext) {
        SecretKey secret;
        warpseal_kem_batch one = batch();
        one.ciphertexts = ciphertext.data();
        one.ciphertext_stride = set.ciphertext_bytes;
        one.shared_secrets = secret.data();
        one.shared_secret_stride = set.shared_secret_bytes;
        EXPECT_EQ(warpseal_kem_decapsulate(engine(), set.name, &one), WARPSEAL_OK);
        return secret;
    }
    warpseal_kem_batch batch() {
        warpseal_kem_batch one{};
        one.struct_bytes = sizeof one;
        one.count = 1;
        one.public_keys = public_key.data();
        one.public_key_stride = set.public_key_bytes;
        one.secret_keys = secret_key.data();
        one.secret_key_stride = set.secret_key_bytes;
        return one;
    }
    warpseal_kem_info set;
    Text public_key, secret_key;
};

Text next_output(ExchangeEnd& end) { return std::exchange(end.output, {}); }

constexpr uint8_t small_set = 1;

// One exchange, step by step.
struct Talk {
    explicit Talk(uint8_t set = small_set, SecretKey of_client = exporter(1),
                  SecretKey of_server = exporter(1), Pair* own = nullptr)
        : made(own ? nullptr : std::make_unique<Pair>(set)),
          pair(own ? *own : *made),
          client(engine(), std::move(of_client), {set}),
          server(engine(), std::move(of_server), set) {}

    Text hello() { return next_output(client); }
    Text key_for(const Text& hello) {
        server.take(hello);
        server.give_key(pair.public_key);
        return next_output(server);
    }
    Text answer_to(const Text& key) {
        client.take(key);
        return next_output(client);
    }
    Text confirmation_of(const Text& ciphertext) {
        server.take(ciphertext);
        if (server.wants_secret()) server.give_secret(pair.decapsulate(server.ciphertext()));
        return next_output(server);
    }
    void run() { client.take(confirmation_of(answer_to(key_for(hello())))); }

    std::unique_ptr<Pair> made;
    Pair& pair;
    ClientExchange client;
    ServerExchange server;
};

std::string refused(const std::function<void()>& work) {
    try {
        work();
    } catch (const ExchangeError& error) {
        return error.what();
    }
    return "";
}

TEST(Exchange, AgreesInEverySetAndCarriesData) {
    for (uint8_t set = 1; exchange_set(set); ++set) {
        Talk talk(set);
        talk.run();
        ASSERT_TRUE(talk.client.open() && talk.server.open()) << int{set};
        for (const size_t bytes : {0U, 1U, 16384U, 16385U, 100000U}) {
            const Text data = some_bytes(bytes, set);
            talk.client.send(data);
            talk.server.take(next_output(talk.client));
            EXPECT_EQ(std::exchange(talk.server.text, {}), data);
            talk.server.send(data);
            talk.client.take(next_output(talk.server));
            EXPECT_EQ(std::exchange(talk.client.text, {}), data);
        }
        talk.client.send_last();
        talk.server.take(next_output(talk.client));
        EXPECT_TRUE(talk.server.finished());
        EXPECT_FALSE(talk.client.finished());
    }
}

TEST(Exchange, IsTheSameInSegmentsOfOneByte) {
    Talk talk;
    const auto drip = [](ExchangeEnd& end, const Text& bytes) {
        for (const uint8_t byte : bytes) end.take({&byte, 1});
    };
    drip(talk.server, talk.hello());
    ASSERT_TRUE(talk.server.wants_key());
    talk.server.give_key(talk.pair.public_key);
    drip(talk.client, next_output(talk.server));
    drip(talk.server, next_output(talk.client));
    ASSERT_TRUE(talk.server.wants_secret());
    talk.server.give_secret(talk.pair.decapsulate(talk.server.ciphertext()));
    drip(talk.client, next_output(talk.server));
    EXPECT_TRUE(talk.client.open() && talk.server.open());
}

TEST(Exchange, RefusesEachChangedCiphertextByteEqually) {
    Pair pair(small_set);
    Talk first(small_set, exporter(1), exporter(1), &pair);
    const Text hello = first.hello(), key = first.key_for(hello), ciphertext = first.answer_to(key);
    ASSERT_EQ(ciphertext.size(), header_bytes + 699 + mac_bytes);
    for (size_t at = 0; at < ciphertext.size(); ++at) {
        Talk talk(small_set, exporter(1), exporter(1), &pair);
        talk.key_for(hello);
        Text changed = ciphertext;
        changed[at] ^= static_cast<uint8_t>(1 << at % 8);
        const bool waits_for_more = at == 6 || at == 7;  // of a longer frame
        const std::string why = refused([&] { talk.confirmation_of(changed); });
        EXPECT_FALSE(talk.server.open()) << at;
        EXPECT_TRUE(talk.server.output.empty()) << at;
        if (at >= header_bytes) {
            EXPECT_EQ(why, "the client has another secret") << at;
        } else if (!waits_for_more) {
            EXPECT_NE(why, "") << at;
        }
    }
    EXPECT_EQ(refused([&] { first.confirmation_of(ciphertext); }), "");
    EXPECT_TRUE(first.server.open());
}

TEST(Exchange, FailsAfterAChangeOfAnyOtherByte) {
    Pair pair(small_set);
    Talk first(small_set, exporter(1), exporter(1), &pair);
    const Text hello = first.hello(), key = first.key_for(hello);
    const size_t lengths[] = {hello.size(), key.size(), header_bytes + mac_bytes};
    for (int frame = 0; frame < 3; ++frame)
        for (size_t at = 0; at < lengths[frame]; ++at) {
            Talk talk(small_set, exporter(1), exporter(1), &pair);
            const auto passed_on = [&](int number, Text bytes) {
                if (number == frame && at < bytes.size())
                    bytes[at] ^= static_cast<uint8_t>(1 << at % 8);
                return bytes;
            };
            refused([&] {
                talk.server.take(passed_on(0, talk.hello()));
                if (!talk.server.wants_key()) return;
                talk.server.give_key(pair.public_key);
                const Text confirmation =
                    talk.confirmation_of(talk.answer_to(passed_on(1, next_output(talk.server))));
                talk.client.take(passed_on(2, confirmation));
            });
            EXPECT_FALSE(talk.client.open()) << frame << " " << at;
            EXPECT_EQ(talk.server.open(), frame == 2) << frame << " " << at;
        }
}

TEST(Exchange, WaitsForTheRestOfATruncatedFrame) {
    Pair pair(small_set);
    Talk first(small_set, exporter(1), exporter(1), &pair);
    const Text hello = first.hello(), key = first.key_for(hello), ciphertext = first.answer_to(key);
    for (size_t bytes = 0; bytes < ciphertext.size(); ++bytes) {
        Talk talk(small_set, exporter(1), exporter(1), &pair);
        talk.key_for(hello);
        EXPECT_EQ(refused([&] { talk.server.take({ciphertext.data(), bytes}); }), "");
        EXPECT_FALSE(talk.server.wants_secret() || talk.server.open());
    }
}

TEST(Exchange, IsBoundToTheConnection) {
    Talk two_connections(small_set, exporter(1), exporter(2));
    EXPECT_EQ(refused([&] { two_connections.run(); }), "the client has another secret");

    Pair pair(
        small_set);  // even if the key pair could be reused, a recording is worthless elsewhere
    Talk recorded(small_set, exporter(1), exporter(1), &pair);
    const Text hello = recorded.hello(), key = recorded.key_for(hello),
               ciphertext = recorded.answer_to(key);
    Talk replayed(small_set, exporter(3), exporter(3), &pair);
    replayed.key_for(hello);
    EXPECT_EQ(refused([&] { replayed.confirmation_of(ciphertext); }),
              "the client has another secret");
}

TEST(Exchange, AcceptsFramesOnlyInOrder) {
    Pair pair(small_set);
    const auto frame = [](FrameType type, uint8_t set, size_t bytes) {
        Text out;
        append_frame(out, type, set, Text(bytes, 1));
        return out;
    };
    const size_t lengths[] = {0, 1, 31, 32, 33, 698, 699, 700, 730, 731, 732};
    for (int type = 0; type <= 8; ++type)
        for (const size_t bytes : lengths)
            for (int set = 0; set <= 7; ++set) {
                const Text one =
                    frame(static_cast<FrameType>(type), static_cast<uint8_t>(set), bytes);
                const bool good_hello = type == 1 && bytes > 0 && bytes < 256 && set == 0;
                Talk before_hello(small_set, exporter(1), exporter(1), &pair);
                const bool hello_refused = !refused([&] { before_hello.server.take(one); }).empty();
                EXPECT_EQ(hello_refused, !good_hello) << type << " " << bytes << " " << set;
                Talk after_hello(small_set, exporter(1), exporter(1), &pair);
                (void)after_hello.key_for(after_hello.hello());
                const bool good_ciphertext = type == 3 && bytes == 731 && set == small_set;
                EXPECT_EQ(refused([&] { after_hello.server.take(one); }).empty(), good_ciphertext)
                    << type << " " << bytes << " " << set;
                Talk client_alone(small_set, exporter(1), exporter(1), &pair);
                const bool may_be_key = type == 2 && bytes == 699 && set == small_set;
                EXPECT_TRUE(may_be_key || !refused([&] { client_alone.client.take(one); }).empty())
                    << type << " " << bytes << " " << set;
            }
}

TEST(Exchange, DetectsAWrongFrameByItsFirstBytes) {
    Pair pair(small_set);
    for (int length = 0; length <= 0xFFFF; length += 7) {
        Talk talk(small_set, exporter(1), exporter(1), &pair);
        Text header = {'W',
                       'S',
                       'X',
                       1,
                       1,
                       0,
                       static_cast<uint8_t>(length >> 8),
                       static_cast<uint8_t>(length)};
        const bool refusal = !refused([&] { talk.server.take(header); }).empty();
        EXPECT_EQ(refusal, length == 0 || length > 16400) << length;
    }
    for (size_t at = 0; at < 4; ++at) {
        Talk talk(small_set, exporter(1), exporter(1), &pair);
        Text start = {'W', 'S', 'X', 1};
        start[at] ^= 0x20;
        start.resize(at + 1);
        EXPECT_NE(refused([&] { talk.server.take(start); }), "");
    }
    for (unsigned seed = 0; seed < 2000; ++seed) {
        Talk talk(small_set, exporter(1), exporter(1), &pair);
        EXPECT_NE(refused([&] { talk.server.take(some_bytes(64, seed)); }), "");
    }
}

TEST(Exchange, RefusesForeignSets) {
    ServerExchange server(engine(), exporter(1), 3);
    ClientExchange client(engine(), exporter(1), {1, 2, 4, 200});
    EXPECT_THROW(server.take(next_output(client)), NoCommonSet);
    Talk talk;
    Text key;
    append_frame(key, FrameType::key, 2, Text(930));  // of a set that the client did not request
    EXPECT_NE(refused([&] { talk.client.take(key); }), "");
}

TEST(Records, AreRefusedWhenChangedSwappedDroppedOrRepeated) {
    Pair pair(small_set);
    const auto with_records = [&](const std::function<void(std::vector<Text>&)>& meddle) {
        Talk talk(small_set, exporter(1), exporter(1), &pair);
        talk.run();
        std::vector<Text> records;
        for (unsigned i = 0; i < 3; ++i) {
            talk.client.send(some_bytes(20, i));
            records.push_back(next_output(talk.client));
        }
        talk.client.send_last();
        records.push_back(next_output(talk.client));
        meddle(records);
        const std::string why = refused([&] {
            for (const Text& record : records) talk.server.take(record);
        });
        return std::pair{why, talk.server.finished()};
    };
    EXPECT_EQ(with_records([](auto&) {}), (std::pair<std::string, bool>{"", true}));
    EXPECT_NE(with_records([](auto& records) { std::swap(records[0], records[1]); }).first, "");
    EXPECT_NE(with_records([](auto& records) { records.erase(records.begin()); }).first, "");
    EXPECT_NE(with_records([](auto& records) { records[1] = records[0]; }).first, "");
    EXPECT_NE(with_records([](auto& records) { records.push_back(records[3]); }).first, "");
    EXPECT_NE(with_records([](auto& records) {
                  records[0][4] = static_cast<uint8_t>(FrameType::last_record);
              }).first,
              "");
    EXPECT_NE(with_records([](auto& records) {
                  records[3][4] = static_cast<uint8_t>(FrameType::record);
              }).first,
              "");
    EXPECT_EQ(with_records([](auto& records) { records.pop_back(); }),
              (std::pair<std::string, bool>{"", false}));
    for (size_t at = 0; at < header_bytes + 20 + tag_bytes; ++at) {
        const auto [why, finished] = with_records([&](auto& records) { records[1][at] ^= 4; });
        EXPECT_FALSE(finished) << at;
        EXPECT_EQ(why.empty(), at == 6) << at;  // there the frame is longer than all the data
    }
}

TEST(Keys, EqualTheDocumentation) {
    Transcript transcript;
    transcript.bytes = some_bytes(1500, 1);
    SecretKey shared;
    std::copy_n(some_bytes(32, 2).begin(), 32, shared.data());
    const SecretKey from_tls = exporter(9);
    const ExchangeKeys keys = derive_keys(from_tls, shared, transcript, "ntruhrss701");

    Text text;
    for (const char c : std::string("warpseal exchange 1")) text.push_back(static_cast<uint8_t>(c));
    text.push_back(0);
    for (const char c : std::string("ntruhrss701")) text.push_back(static_cast<uint8_t>(c));
    text.push_back(0);
    text.insert(text.end(), transcript.bytes.begin(), transcript.bytes.end());
    Text said(32), both(from_tls.data(), from_tls.data() + 32);
    both.insert(both.end(), shared.data(), shared.data() + 32);
    ASSERT_EQ(EVP_Digest(text.data(), text.size(), said.data(), nullptr, EVP_sha256(), nullptr), 1);
    const auto output = [&](std::string purpose) {
        const std::unique_ptr<EVP_KDF, void (*)(EVP_KDF*)> kdf(
            EVP_KDF_fetch(nullptr, "HKDF", nullptr), EVP_KDF_free);
        const std::unique_ptr<EVP_KDF_CTX, void (*)(EVP_KDF_CTX*)> context(
            EVP_KDF_CTX_new(kdf.get()), EVP_KDF_CTX_free);
        std::string info = "warpseal exchange 1 " + purpose, digest = "SHA256";
        const OSSL_PARAM params[] = {
            OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
            OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, said.data(), said.size()),
            OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, both.data(), both.size()),
            OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
            OSSL_PARAM_construct_end()};
        Text out(32);
        EXPECT_EQ(EVP_KDF_derive(context.get(), out.data(), out.size(), params), 1);
        return out;
    };
    const auto mac = [&](const Text& key) {
        Text out(32);
        size_t bytes = 0;
        EXPECT_TRUE(EVP_Q_mac(nullptr, "HMAC", nullptr, "SHA256", nullptr, key.data(), key.size(),
                              said.data(), said.size(), out.data(), 32, &bytes));
        return out;
    };
    EXPECT_TRUE(equal(keys.client_data, output("client data")));
    EXPECT_TRUE(equal(keys.server_data, output("server data")));
    EXPECT_TRUE(equal(keys.client_confirmation, mac(output("client confirmation"))));
    EXPECT_TRUE(equal(keys.server_confirmation, mac(output("server confirmation"))));
}

}  // namespace
}  // namespace warpseal::tls

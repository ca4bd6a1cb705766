// All nonces under a key differ: those of TLS records in both directions, and those that a context
// draws or counts.
#include <unordered_set>

#include "tls.h"

namespace {

using namespace tests;

constexpr size_t record_count = size_t{1} << 16;
constexpr size_t header_bytes = 5, explicit_bytes = 8;

size_t distinct(const std::vector<Bytes>& all) {
    std::unordered_set<std::string> seen;
    for (const Bytes& one : all) seen.emplace(one.begin(), one.end());
    return seen.size();
}

constexpr Suite suites[] = {
    {"ECDHE-ECDSA-AES128-GCM-SHA256", TLS1_2_VERSION, true, "AES-128-GCM"},
    {"ECDHE-ECDSA-ARIA256-GCM-SHA384", TLS1_2_VERSION, true, "ARIA-256-GCM"},
    {"AES256-CCM8", TLS1_2_VERSION, true, "AES-256-CCM"},
    {"TLS_AES_256_GCM_SHA384", TLS1_3_VERSION, true, "AES-256-GCM"},
    {"TLS_AES_128_CCM_SHA256", TLS1_3_VERSION, true, "AES-128-CCM"},
};

class RecordNonces : public testing::TestWithParam<std::tuple<Suite, bool>> {};

// Sends records in one direction with the same text. In TLS 1.2 the nonces are compared. In TLS
// 1.3, where libssl counts it, two records under one nonce would be equal.
void send_records(Side& from, Side& to, bool explicit_nonce) {
    const Bytes text(4, 0x3c);
    std::vector<Bytes> seen;
    seen.reserve(record_count);
    Bytes out(text.size());
    size_t n = 0;
    for (size_t i = 0; i < record_count; ++i) {
        ASSERT_EQ(SSL_write_ex(from.connection.get(), text.data(), text.size(), &n), 1) << i;
        const Bytes record = from.sent();
        ASSERT_EQ(record.size(), header_bytes + (size_t{record[3]} << 8 | record[4]))
            << "one record";
        const auto begin = record.begin() + header_bytes;
        seen.emplace_back(begin, explicit_nonce ? begin + explicit_bytes : record.end());
        to.receive(record);
        ASSERT_EQ(SSL_read_ex(to.connection.get(), out.data(), out.size(), &n), 1) << i;
        ASSERT_EQ(out, text) << i;
    }
    EXPECT_EQ(distinct(seen), record_count);
}

TEST_P(RecordNonces, AllDiffer) {
    const auto& [suite, we_serve] = GetParam();
    const TlsContext client_context = tls_context(suite, false, !we_serve),
                     server_context = tls_context(suite, true, we_serve);
    Side client(client_context, false), server(server_context, true);
    ASSERT_TRUE(shake(client, server)) << ERR_reason_error_string(ERR_peek_last_error());
    ASSERT_STREQ(SSL_get_cipher(client.connection.get()), suite.name);
    send_records(client, server, suite.version == TLS1_2_VERSION);
    send_records(server, client, suite.version == TLS1_2_VERSION);
}

INSTANTIATE_TEST_SUITE_P(Tls, RecordNonces,
                         testing::Combine(testing::ValuesIn(suites), testing::Bool()),
                         [](const auto& info) {
                             std::string name = std::get<0>(info.param).name;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name + (std::get<1>(info.param) ? "_served" : "");
                         });

// ---- past libssl

// A context as libssl uses it: the IV's first four bytes, and the head of each record.
class Records {
public:
    Records(const Cipher& cipher, bool seals, const Bytes& key, Bytes fixed)
        : one_(cipher.get()), ccm_(mode(cipher) == EVP_CIPH_CCM_MODE) {
        if (!one_.init(seals, nullptr, nullptr) ||
            (ccm_ && !one_.control(EVP_CTRL_AEAD_SET_IVLEN, 12, nullptr)) ||
            (ccm_ && !one_.control(EVP_CTRL_AEAD_SET_TAG, 16, nullptr)) ||
            !one_.more(key.data(), nullptr) ||
            !one_.control(ccm_ ? EVP_CTRL_CCM_SET_IV_FIXED : EVP_CTRL_GCM_SET_IV_FIXED,
                          fixed.size(), fixed.data()))
            throw std::runtime_error("no context for records");
    }
    Evp& evp() { return one_; }

    // In place: explicit nonce, text, tag. Returns the number of output bytes; 0 or less: none.
    int work(uint64_t number, Bytes& record, size_t text_bytes) {
        uint8_t head[13] = {};
        for (int i = 0; i < 8; ++i) head[i] = static_cast<uint8_t>(number >> (56 - 8 * i));
        const size_t reported = explicit_bytes + text_bytes + (seals() ? 0 : 16);
        head[8] = 23, head[9] = 3, head[10] = 3;
        head[11] = static_cast<uint8_t>(reported >> 8), head[12] = static_cast<uint8_t>(reported);
        if (!one_.control(EVP_CTRL_AEAD_TLS1_AAD, sizeof head, head)) return 0;
        return EVP_Cipher(one_.get(), record.data(), record.data(),
                          static_cast<unsigned>(record.size()));
    }

private:
    bool seals() const { return EVP_CIPHER_CTX_is_encrypting(one_.get()) != 0; }
    Evp one_;
    bool ccm_;
};

Bytes nonce_of(const Bytes& record) { return {record.begin(), record.begin() + explicit_bytes}; }

TEST(CountedNonces, OfRecordsDiffer) {
    Random random(41);
    for (const char* name : {"AES-128-GCM", "ARIA-128-GCM", "AES-256-CCM"}) {
        const Cipher mine = our_cipher(name), other = stock_cipher(name);
        const Bytes key = random.text(key_bytes(mine)), fixed = random.text(4),
                    text = random.text(5);
        Records sealer(mine, true, key, fixed), opener(other, false, key, fixed);
        std::vector<Bytes> seen;
        for (size_t i = 0; i < record_count; ++i) {
            Bytes record(explicit_bytes + text.size() + 16);
            std::copy(text.begin(), text.end(), record.begin() + explicit_bytes);
            ASSERT_EQ(sealer.work(i, record, text.size()), static_cast<int>(record.size()))
                << name << i;
            seen.push_back(nonce_of(record));
            if (i % 64 != 0) continue;
            ASSERT_GT(opener.work(i, record, text.size()), 0) << name << i;
            ASSERT_TRUE(std::equal(text.begin(), text.end(), record.begin() + explicit_bytes))
                << name << i;
        }
        EXPECT_EQ(distinct(seen), record_count) << name;
    }
}

// ---- records whose head does not fit

bool announce(Evp& one, size_t reported) {
    uint8_t head[13] = {0, 0, 0, 0, 0, 0, 0, 1, 23, 3, 3};
    head[11] = static_cast<uint8_t>(reported >> 8), head[12] = static_cast<uint8_t>(reported);
    return one.control(EVP_CTRL_AEAD_TLS1_AAD, sizeof head, head);
}

TEST(RecordHeads, HaveRoomForNonceAndTag) {
    Random random(43);
    for (const char* name : {"AES-128-GCM", "AES-128-CCM"})
        for (const bool seals : {true, false})
            for (const size_t around = explicit_bytes + (seals ? 0 : 16);
                 const size_t reported : {size_t{0}, size_t{7}, around - 1, around, around + 1}) {
                const Cipher mine = our_cipher(name);
                Records records(mine, seals, random.text(16), random.text(4));
                EXPECT_EQ(announce(records.evp(), reported), reported >= around)
                    << name << seals << reported;
            }
    ERR_clear_error();
}

TEST(RecordHeads, HaveTheLengthOfTheirRecord) {
    Random random(44);
    for (const char* name : {"AES-128-GCM", "AES-128-CCM"}) {
        const Cipher mine = our_cipher(name), other = stock_cipher(name);
        const Bytes key = random.text(16), fixed = random.text(4);
        for (const size_t announced : {size_t{0}, size_t{31}, size_t{32}, size_t{33}}) {
            Bytes record(explicit_bytes + 32 + 16);
            Records sealer(mine, true, key, fixed);
            EXPECT_EQ(sealer.work(1, record, announced) > 0, announced == 32) << announced;
            Records stock(other, true, key, fixed), opener(mine, false, key, fixed);
            ASSERT_GT(stock.work(1, record, 32), 0);
            EXPECT_EQ(opener.work(1, record, announced) > 0, announced == 32) << announced;
        }
    }
    ERR_clear_error();
}

TEST(RecordHeads, NeedAFixedPartOfTheNonce) {
    Random random(45);
    for (const char* name : {"AES-128-GCM", "AES-128-CCM"})
        for (const bool seals : {true, false}) {
            const Cipher mine = our_cipher(name);
            const bool ccm = mode(mine) == EVP_CIPH_CCM_MODE;
            const Bytes key = random.text(16), iv = random.text(12);
            Evp one(mine.get());
            ASSERT_TRUE(one.init(seals, nullptr, nullptr) &&
                        (!ccm || (one.control(EVP_CTRL_AEAD_SET_IVLEN, 12, nullptr) &&
                                  one.control(EVP_CTRL_AEAD_SET_TAG, 16, nullptr))) &&
                        one.more(key.data(), iv.data()));
            Bytes record(explicit_bytes + 5 + 16);
            ASSERT_TRUE(announce(one, seals ? explicit_bytes + 5 : record.size()));
            EXPECT_LE(EVP_Cipher(one.get(), record.data(), record.data(),
                                 static_cast<unsigned>(record.size())),
                      0)
                << name << seals;
            if (!seals) continue;
            EXPECT_EQ(std::count(record.begin(), record.end(), 0), 5 + 8 + 16) << name;
        }
    ERR_clear_error();
}

// A block of keystream under each nonce, and the nonce reported to the program.
struct Counted {
    Bytes nonce, keystream;
};

bool count(Evp& one, Counted& out) {
    out = {Bytes(explicit_bytes), Bytes(16)};
    size_t n = 0;
    return one.control(EVP_CTRL_GCM_IV_GEN, out.nonce.size(), out.nonce.data()) &&
           one.update(out.keystream.data(), out.keystream.size(), out.keystream.data(), &n);
}

TEST(CountedNonces, AreNotRepeatedByAContext) {
    Random random(42);
    const Cipher gcm = our_cipher("AES-128-GCM");
    const Bytes key = random.text(16);
    Bytes fixed = random.text(4);
    Evp one(gcm.get());
    ASSERT_TRUE(one.init(true, key.data(), nullptr) &&
                one.control(EVP_CTRL_GCM_SET_IV_FIXED, 4, fixed.data()));
    std::vector<Bytes> nonces, keystreams;
    for (size_t i = 0; i < record_count; ++i) {
        Counted counted;
        ASSERT_TRUE(count(one, counted)) << i;
        nonces.push_back(counted.nonce);
        keystreams.push_back(counted.keystream);
    }
    EXPECT_EQ(distinct(nonces), record_count);
    EXPECT_EQ(distinct(keystreams), record_count);
}

// Nor by a message under the same IV that did not request a count, before it or after.
TEST(CountedNonces, SkipUsedIvs) {
    Random random(43);
    const Cipher gcm = our_cipher("AES-128-GCM");
    const Bytes key = random.text(16), iv = random.text(12);
    Bytes fixed = random.text(4), tag(16);
    for (const bool given : {true, false}) {
        Evp one(gcm.get());
        ASSERT_TRUE(one.init(true, key.data(), nullptr) &&
                    one.control(EVP_CTRL_GCM_SET_IV_FIXED, 4, fixed.data()));
        ASSERT_TRUE(!given || one.more(nullptr, iv.data()));
        Bytes text(16);
        size_t n = 0;
        ASSERT_TRUE(one.update(text.data(), 16, text.data(), &n) && one.final(tag.data(), &n));
        std::vector<Bytes> keystreams = {text};
        for (int i = 0; i < 10; ++i) {
            Counted counted;
            ASSERT_TRUE(count(one, counted));
            keystreams.push_back(counted.keystream);
        }
        EXPECT_EQ(distinct(keystreams), keystreams.size());
    }
    ERR_clear_error();
}

// A copy does not continue the count of its original, nor does one that opened meanwhile count from
// a peer's nonce.
TEST(CountedNonces, AreOfOneContext) {
    Random random(44);
    const Cipher gcm = our_cipher("AES-128-GCM");
    const Bytes key = random.text(16);
    Bytes fixed = random.text(4), out(16);
    Evp one(gcm.get());
    Counted counted;
    ASSERT_TRUE(one.init(true, key.data(), nullptr) &&
                one.control(EVP_CTRL_GCM_SET_IV_FIXED, 4, fixed.data()));
    Evp before(one);
    EXPECT_FALSE(count(before, counted)) << "a copy";
    size_t n = 0;
    EXPECT_FALSE(before.update(key.data(), 16, out.data(), &n)) << "nor under the next IV";
    ASSERT_TRUE(count(one, counted));
    Evp after(one);
    EXPECT_FALSE(count(after, counted)) << "a copy";
    ASSERT_TRUE(before.control(EVP_CTRL_GCM_SET_IV_FIXED, 4, fixed.data()) &&
                count(before, counted))
        << "but for a number of its own";
    Bytes number(8);
    ASSERT_TRUE(one.turn(false) && one.control(EVP_CTRL_GCM_SET_IV_FIXED, 4, fixed.data()) &&
                one.control(EVP_CTRL_GCM_SET_IV_INV, 8, number.data()));
    ASSERT_TRUE(one.turn(true));
    EXPECT_FALSE(count(one, counted)) << "after opening";
    ERR_clear_error();
}

// ---- after a forged record

TEST(ForgedRecord, ReleasesNoTextAndTheNextOpens) {
    Random random(45);
    for (const char* name :
         {"AES-128-GCM", "AES-256-GCM", "ARIA-128-GCM", "AES-128-CCM", "ARIA-256-CCM"})
        for (const size_t bytes :
             {size_t{1}, size_t{16}, size_t{100}, size_t{1000}, size_t{16384}}) {
            const Cipher mine = our_cipher(name);
            const Bytes key = random.text(key_bytes(mine)), fixed = random.text(4),
                        text = random.text(bytes);
            Records sealer(mine, true, key, fixed), opener(mine, false, key, fixed);
            for (uint64_t number = 0; number < 4; ++number) {
                Bytes record(explicit_bytes + bytes + 16);
                std::copy(text.begin(), text.end(), record.begin() + explicit_bytes);
                ASSERT_EQ(sealer.work(number, record, bytes), static_cast<int>(record.size()));
                Bytes forged = record;
                forged.back() ^= 1;
                ASSERT_LE(opener.work(number, forged, bytes), 0) << name;
                const Bytes left(forged.begin() + explicit_bytes,
                                 forged.begin() + static_cast<ptrdiff_t>(explicit_bytes + bytes));
                EXPECT_EQ(left, Bytes(bytes, 0)) << name << " " << bytes;
                ASSERT_EQ(opener.work(number, record, bytes), static_cast<int>(bytes)) << name;
                EXPECT_TRUE(std::equal(text.begin(), text.end(), record.begin() + explicit_bytes))
                    << name;
            }
        }
    ERR_clear_error();
}

}  // namespace

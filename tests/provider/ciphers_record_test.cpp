// The end of CBC records: constant-time results against plain code, and the provider against
// OpenSSL's.
#include <openssl/prov_ssl.h>

#include "cipher.h"
#include "direct.h"
#include "provider/cipher_record.h"

namespace {

using namespace tests;
using warpseal::provider::copy_record_mac;
using warpseal::provider::find_record_end;

// Computes it without constant-time code.
bool padding_is_right(const Bytes& record, size_t mac_bytes) {
    const size_t padding = record.back();
    if (padding + 1 + mac_bytes > record.size()) return false;
    return std::all_of(record.end() - static_cast<ptrdiff_t>(padding) - 1, record.end(),
                       [&](uint8_t byte) { return byte == padding; });
}

TEST(RecordEnd, EqualsThePlainComputation) {
    Random random(21);
    size_t right = 0, wrong = 0;
    for (const size_t mac_bytes : {0u, 1u, 16u, 20u, 32u, 48u, 64u})
        for (size_t padding = 0; padding < 256; ++padding)
            for (int kind = 0; kind < 6; ++kind) {
                const size_t text_bytes = random.length(kind < 3 ? 40 : 700);
                Bytes record = random.text(text_bytes + mac_bytes), mac(64, 0xa5);
                record.insert(record.end(), padding + 1, static_cast<uint8_t>(padding));
                if (kind % 3 == 1)
                    record[record.size() - 1 - random.below(padding + 1)] ^=
                        static_cast<uint8_t>(1 + random.below(255));
                if (kind % 3 == 2) record.back() = static_cast<uint8_t>(random.next());
                const bool good = padding_is_right(record, mac_bytes);
                const auto end = find_record_end(record.data(), record.size(), mac_bytes);
                ASSERT_EQ(end.valid, good ? ~size_t{0} : 0)
                    << mac_bytes << " " << padding << " " << kind;
                ASSERT_EQ(end.text_bytes,
                          record.size() - mac_bytes - (good ? record.back() + size_t{1} : 0));
                if (mac_bytes != 0) {
                    copy_record_mac(record.data(), record.size(), end.text_bytes, mac.data(),
                                    mac_bytes);
                    ASSERT_TRUE(
                        std::equal(mac.begin(), mac.begin() + static_cast<ptrdiff_t>(mac_bytes),
                                   record.begin() + static_cast<ptrdiff_t>(end.text_bytes)));
                    ASSERT_EQ(std::count(mac.begin() + static_cast<ptrdiff_t>(mac_bytes), mac.end(),
                                         0xa5),
                              static_cast<ptrdiff_t>(64 - mac_bytes));
                }
                (good ? right : wrong) += 1;
            }
    EXPECT_GT(right, 3000u);
    EXPECT_GT(wrong, 3000u);
}

struct Opened {
    bool good;
    size_t text_bytes;
    Bytes text, mac;
};

bool to_records(Evp& one, unsigned version, size_t mac_bytes) {
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_TLS_VERSION, &version),
        OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_TLS_MAC_SIZE, &mac_bytes),
        OSSL_PARAM_construct_end()};
    return EVP_CIPHER_CTX_set_params(one.get(), params) == 1;
}

Opened open_record(Evp& one, Bytes record, size_t iv_bytes, size_t mac_bytes) {
    Opened out{};
    out.good = one.update(record.data(), record.size(), record.data(), &out.text_bytes);
    if (!out.good) return out;
    out.text.assign(record.begin() + static_cast<ptrdiff_t>(iv_bytes),
                    record.begin() + static_cast<ptrdiff_t>(iv_bytes + out.text_bytes));
    void* mac = nullptr;
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_octet_ptr(OSSL_CIPHER_PARAM_TLS_MAC, &mac, mac_bytes),
        OSSL_PARAM_construct_end()};
    if (mac_bytes == 0) return out;
    EXPECT_EQ(EVP_CIPHER_CTX_get_params(one.get(), params), 1);
    EXPECT_EQ(params[0].return_size, mac_bytes);
    out.mac.assign(static_cast<uint8_t*>(mac), static_cast<uint8_t*>(mac) + mac_bytes);
    return out;
}

// Consecutive records, of any padding, through both providers.
TEST(RecordEnd, EqualsOpenSsls) {
    Random random(22);
    size_t random_macs = 0;
    for (const char* name : {"AES-128-CBC", "CAMELLIA-256-CBC", "DES-EDE3-CBC", "ARIA-128-CBC"})
        for (const unsigned version :
             {TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION, DTLS1_VERSION, DTLS1_2_VERSION})
            for (const size_t mac_bytes : {0u, 20u, 32u, 48u}) {
                const Cipher mine = our_cipher(name), other = stock_cipher(name);
                const size_t block = iv_bytes(mine), head = version == TLS1_VERSION ? 0 : block;
                const Bytes key = random.text(key_bytes(mine)), iv = random.text(block);
                Evp sealer(other.get()), one(mine.get()), theirs(other.get());
                ASSERT_TRUE(sealer.init(true, key.data(), iv.data()) && sealer.pad(false));
                for (Evp* evp : {&one, &theirs})
                    ASSERT_TRUE(evp->init(false, key.data(), iv.data()) &&
                                to_records(*evp, version, mac_bytes));
                for (int i = 0; i < 20; ++i) {
                    Bytes text = random.text(head + mac_bytes + random.length(400));
                    const size_t least = block - text.size() % block;
                    const size_t padding = least + block * random.below((256 - least) / block + 1);
                    text.insert(text.end(), padding, static_cast<uint8_t>(padding - 1));
                    if (random.one_in(3))
                        text[text.size() - 1 - random.below(padding)] ^=
                            static_cast<uint8_t>(1 + random.below(255));
                    const Bytes content(text.begin() + static_cast<ptrdiff_t>(head), text.end());
                    const bool good = padding_is_right(content, mac_bytes);
                    Bytes record(text.size());
                    size_t n;
                    ASSERT_TRUE(sealer.update(text.data(), text.size(), record.data(), &n));
                    const Opened mine_opened = open_record(one, record, head, mac_bytes),
                                 their_opened = open_record(theirs, record, head, mac_bytes);
                    ASSERT_EQ(mine_opened.good, their_opened.good)
                        << name << " " << mac_bytes << " " << good;
                    ASSERT_EQ(mine_opened.good, good || mac_bytes != 0);
                    if (!mine_opened.good) continue;
                    ASSERT_EQ(mine_opened.text, their_opened.text);
                    if (good) {
                        ASSERT_EQ(mine_opened.mac, their_opened.mac);
                    } else {
                        const Bytes last(content.end() - static_cast<ptrdiff_t>(mac_bytes),
                                         content.end());
                        ASSERT_NE(mine_opened.mac, last) << "the record has no valid MAC";
                        ++random_macs;
                    }
                }
            }
    EXPECT_GT(random_macs, 100u);
    ERR_clear_error();
}

// Publicly invalid.
TEST(RecordEnd, RefusesInvalidRecords) {
    Random random(23);
    const Cipher mine = our_cipher("AES-128-CBC");
    const Bytes key = random.text(16), iv = random.text(16);
    for (const bool sends : {true, false})
        for (size_t bytes = 0; bytes <= 80; ++bytes) {
            Evp one(mine.get());
            ASSERT_TRUE(one.init(sends, key.data(), iv.data()) &&
                        to_records(one, TLS1_2_VERSION, 20));
            Bytes in = random.text(128), apart(128);
            size_t n;
            const bool fits = sends || (bytes % 16 == 0 && bytes >= 16 + 20 + 1);
            EXPECT_EQ(one.update(in.data(), bytes, in.data(), &n), fits) << bytes;
            EXPECT_FALSE(one.update(in.data(), 64, apart.data(), &n)) << "records are in place";
            EXPECT_FALSE(one.final(apart.data(), &n)) << "and have no final call";
        }
    for (const unsigned version : {SSL3_VERSION, 0x0304, 1, 0xffff}) {
        Evp one(mine.get());
        ASSERT_TRUE(one.init(false, key.data(), iv.data()));
        EXPECT_FALSE(to_records(one, version, 20)) << version;
    }
    Evp one(mine.get());
    ASSERT_TRUE(one.init(false, key.data(), iv.data()));
    EXPECT_FALSE(to_records(one, TLS1_2_VERSION, 65)) << "no MAC is so long";
    ERR_clear_error();
}

// EVP itself refuses the impossible length that such a record would give.
TEST(RecordEnd, RefusesRecordsWithoutRoomForTheirMac) {
    Random random(24);
    unsigned version = TLS1_2_VERSION;
    size_t mac_bytes = 32, made = 0;
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_TLS_VERSION, &version),
        OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_TLS_MAC_SIZE, &mac_bytes),
        OSSL_PARAM_construct_end()};
    for (const size_t bytes : {16u, 32u, 48u, 64u}) {
        Direct one(our_cipher("AES-128-CBC"));
        ASSERT_TRUE(one.init(false, random.text(16), random.text(16), params));
        Bytes record = random.text(bytes);
        EXPECT_EQ(one.update(record, record.data(), record.size(), &made), bytes >= 16 + 32 + 1)
            << bytes;
    }
    ERR_clear_error();
}

}  // namespace

// Object identifiers: those of an encoded key, and the names by which libcrypto knows its
// algorithm, equal docs/provider.md's.
#include <gtest/gtest.h>
#include <openssl/x509.h>

#include <map>

#include "provider/library.h"

namespace {

const std::string ntru = "1.3.6.1.4.1.22554.5.5.",
                  hybrids = "2.25.288558176082678323885897844765479869605.",
                  mlkem = "2.16.840.1.101.3.4.4.";

const std::map<std::string, std::string> identifiers = {
    {"ntru_hps2048509", ntru + "1"},
    {"ntru_hps2048677", ntru + "2"},
    {"ntru_hps4096821", ntru + "3"},
    {"ntru_hrss701", ntru + "4"},
    {"ntru_hps40961229", ntru + "5"},
    {"ntru_hrss1373", ntru + "6"},
    {"x25519_ntru_hps2048509", hybrids + "6"},
    {"x25519_ntru_hps2048677", hybrids + "7"},
    {"x25519_ntru_hps4096821", hybrids + "8"},
    {"x25519_ntru_hps40961229", hybrids + "9"},
    {"x25519_ntru_hrss701", hybrids + "10"},
    {"x25519_ntru_hrss1373", hybrids + "11"},
    {"p256_ntru_hps2048509", hybrids + "12"},
    {"p384_ntru_hps2048677", hybrids + "13"},
    {"p521_ntru_hps4096821", hybrids + "14"},
    {"p384_ntru_hrss701", hybrids + "15"},
    {"p521_ntru_hps40961229", hybrids + "16"},
    {"p521_ntru_hrss1373", hybrids + "17"},
    {"X25519MLKEM768", hybrids + "18"},
    {"SecP256r1MLKEM768", hybrids + "19"},
    {"SecP384r1MLKEM1024", hybrids + "20"},
    {"MLKEM512", mlkem + "1"},
    {"MLKEM768", mlkem + "2"},
    {"MLKEM1024", mlkem + "3"},
};

std::string encoded_identifier(EVP_PKEY* key) {
    X509_PUBKEY* encoded = nullptr;
    ASN1_OBJECT* identifier = nullptr;
    char text[128] = "";
    if (X509_PUBKEY_set(&encoded, key) == 1 &&
        X509_PUBKEY_get0_param(&identifier, nullptr, nullptr, nullptr, encoded) == 1)
        (void)OBJ_obj2txt(text, sizeof text, identifier, 1);
    X509_PUBKEY_free(encoded);
    return text;
}

TEST(ProviderIdentifiers, OfEncodedKeysAndAlgorithms) {
    const tests::Library library;
    EXPECT_EQ(library.groups().size(), identifiers.size());
    for (const auto& [group, identifier] : identifiers) {
        const tests::Key key = library.generate(group);
        ASSERT_NE(key, nullptr) << group;
        EXPECT_EQ(encoded_identifier(key.get()), identifier) << group;
        const tests::KeyContext by_number(
            EVP_PKEY_CTX_new_from_name(library.context(), identifier.c_str(), tests::our_own));
        EXPECT_NE(by_number, nullptr) << identifier;
        EXPECT_EQ(EVP_PKEY_is_a(key.get(), identifier.c_str()), 1) << identifier;
    }
}

}  // namespace

// EVP names of the catalogue's ciphers in each mode: OpenSSL's names with aliases and OIDs.
#pragma once

#include "warpseal/warpseal.h"

namespace warpseal::provider {

struct CipherNames {
    const char* cipher;  // as in warpseal_cipher_at
    warpseal_mode mode;
    const char* names;    // in the form of OSSL_ALGORITHM
    bool parity = false;  // each key byte ends with a parity bit
};

// Rows whose cipher or mode is not in the catalogue are not offered.
// clang-format off
inline constexpr CipherNames cipher_names[] = {
    {"aes-128", WARPSEAL_ECB, "AES-128-ECB:2.16.840.1.101.3.4.1.1"},
    {"aes-128", WARPSEAL_CBC, "AES-128-CBC:AES128:2.16.840.1.101.3.4.1.2"},
    {"aes-128", WARPSEAL_OFB, "AES-128-OFB:2.16.840.1.101.3.4.1.3"},
    {"aes-128", WARPSEAL_CFB, "AES-128-CFB:2.16.840.1.101.3.4.1.4"},
    {"aes-128", WARPSEAL_CTR, "AES-128-CTR"},
    {"aes-128", WARPSEAL_GCM, "AES-128-GCM:id-aes128-GCM:2.16.840.1.101.3.4.1.6"},
    {"aes-128", WARPSEAL_CCM, "AES-128-CCM:id-aes128-CCM:2.16.840.1.101.3.4.1.7"},
    {"aes-128", WARPSEAL_XTS, "AES-128-XTS:1.3.111.2.1619.0.1.1"},
    {"aes-192", WARPSEAL_ECB, "AES-192-ECB:2.16.840.1.101.3.4.1.21"},
    {"aes-192", WARPSEAL_CBC, "AES-192-CBC:AES192:2.16.840.1.101.3.4.1.22"},
    {"aes-192", WARPSEAL_OFB, "AES-192-OFB:2.16.840.1.101.3.4.1.23"},
    {"aes-192", WARPSEAL_CFB, "AES-192-CFB:2.16.840.1.101.3.4.1.24"},
    {"aes-192", WARPSEAL_CTR, "AES-192-CTR"},
    {"aes-192", WARPSEAL_GCM, "AES-192-GCM:id-aes192-GCM:2.16.840.1.101.3.4.1.26"},
    {"aes-192", WARPSEAL_CCM, "AES-192-CCM:id-aes192-CCM:2.16.840.1.101.3.4.1.27"},
    {"aes-256", WARPSEAL_ECB, "AES-256-ECB:2.16.840.1.101.3.4.1.41"},
    {"aes-256", WARPSEAL_CBC, "AES-256-CBC:AES256:2.16.840.1.101.3.4.1.42"},
    {"aes-256", WARPSEAL_OFB, "AES-256-OFB:2.16.840.1.101.3.4.1.43"},
    {"aes-256", WARPSEAL_CFB, "AES-256-CFB:2.16.840.1.101.3.4.1.44"},
    {"aes-256", WARPSEAL_CTR, "AES-256-CTR"},
    {"aes-256", WARPSEAL_GCM, "AES-256-GCM:id-aes256-GCM:2.16.840.1.101.3.4.1.46"},
    {"aes-256", WARPSEAL_CCM, "AES-256-CCM:id-aes256-CCM:2.16.840.1.101.3.4.1.47"},
    {"aes-256", WARPSEAL_XTS, "AES-256-XTS:1.3.111.2.1619.0.1.2"},
    {"aria-128", WARPSEAL_ECB, "ARIA-128-ECB:1.2.410.200046.1.1.1"},
    {"aria-128", WARPSEAL_CBC, "ARIA-128-CBC:ARIA128:1.2.410.200046.1.1.2"},
    {"aria-128", WARPSEAL_CFB, "ARIA-128-CFB:1.2.410.200046.1.1.3"},
    {"aria-128", WARPSEAL_OFB, "ARIA-128-OFB:1.2.410.200046.1.1.4"},
    {"aria-128", WARPSEAL_CTR, "ARIA-128-CTR:1.2.410.200046.1.1.5"},
    {"aria-128", WARPSEAL_GCM, "ARIA-128-GCM:1.2.410.200046.1.1.34"},
    {"aria-128", WARPSEAL_CCM, "ARIA-128-CCM:1.2.410.200046.1.1.37"},
    {"aria-192", WARPSEAL_ECB, "ARIA-192-ECB:1.2.410.200046.1.1.6"},
    {"aria-192", WARPSEAL_CBC, "ARIA-192-CBC:ARIA192:1.2.410.200046.1.1.7"},
    {"aria-192", WARPSEAL_CFB, "ARIA-192-CFB:1.2.410.200046.1.1.8"},
    {"aria-192", WARPSEAL_OFB, "ARIA-192-OFB:1.2.410.200046.1.1.9"},
    {"aria-192", WARPSEAL_CTR, "ARIA-192-CTR:1.2.410.200046.1.1.10"},
    {"aria-192", WARPSEAL_GCM, "ARIA-192-GCM:1.2.410.200046.1.1.35"},
    {"aria-192", WARPSEAL_CCM, "ARIA-192-CCM:1.2.410.200046.1.1.38"},
    {"aria-256", WARPSEAL_ECB, "ARIA-256-ECB:1.2.410.200046.1.1.11"},
    {"aria-256", WARPSEAL_CBC, "ARIA-256-CBC:ARIA256:1.2.410.200046.1.1.12"},
    {"aria-256", WARPSEAL_CFB, "ARIA-256-CFB:1.2.410.200046.1.1.13"},
    {"aria-256", WARPSEAL_OFB, "ARIA-256-OFB:1.2.410.200046.1.1.14"},
    {"aria-256", WARPSEAL_CTR, "ARIA-256-CTR:1.2.410.200046.1.1.15"},
    {"aria-256", WARPSEAL_GCM, "ARIA-256-GCM:1.2.410.200046.1.1.36"},
    {"aria-256", WARPSEAL_CCM, "ARIA-256-CCM:1.2.410.200046.1.1.39"},
    {"camellia-128", WARPSEAL_ECB, "CAMELLIA-128-ECB:0.3.4401.5.3.1.9.1"},
    {"camellia-128", WARPSEAL_CBC, "CAMELLIA-128-CBC:CAMELLIA128:1.2.392.200011.61.1.1.1.2"},
    {"camellia-128", WARPSEAL_OFB, "CAMELLIA-128-OFB:0.3.4401.5.3.1.9.3"},
    {"camellia-128", WARPSEAL_CFB, "CAMELLIA-128-CFB:0.3.4401.5.3.1.9.4"},
    {"camellia-128", WARPSEAL_GCM, "CAMELLIA-128-GCM:0.3.4401.5.3.1.9.6"},
    {"camellia-128", WARPSEAL_CCM, "CAMELLIA-128-CCM:0.3.4401.5.3.1.9.7"},
    {"camellia-128", WARPSEAL_CTR, "CAMELLIA-128-CTR:0.3.4401.5.3.1.9.9"},
    {"camellia-192", WARPSEAL_ECB, "CAMELLIA-192-ECB:0.3.4401.5.3.1.9.21"},
    {"camellia-192", WARPSEAL_CBC, "CAMELLIA-192-CBC:CAMELLIA192:1.2.392.200011.61.1.1.1.3"},
    {"camellia-192", WARPSEAL_OFB, "CAMELLIA-192-OFB:0.3.4401.5.3.1.9.23"},
    {"camellia-192", WARPSEAL_CFB, "CAMELLIA-192-CFB:0.3.4401.5.3.1.9.24"},
    {"camellia-192", WARPSEAL_GCM, "CAMELLIA-192-GCM:0.3.4401.5.3.1.9.26"},
    {"camellia-192", WARPSEAL_CCM, "CAMELLIA-192-CCM:0.3.4401.5.3.1.9.27"},
    {"camellia-192", WARPSEAL_CTR, "CAMELLIA-192-CTR:0.3.4401.5.3.1.9.29"},
    {"camellia-256", WARPSEAL_ECB, "CAMELLIA-256-ECB:0.3.4401.5.3.1.9.41"},
    {"camellia-256", WARPSEAL_CBC, "CAMELLIA-256-CBC:CAMELLIA256:1.2.392.200011.61.1.1.1.4"},
    {"camellia-256", WARPSEAL_OFB, "CAMELLIA-256-OFB:0.3.4401.5.3.1.9.43"},
    {"camellia-256", WARPSEAL_CFB, "CAMELLIA-256-CFB:0.3.4401.5.3.1.9.44"},
    {"camellia-256", WARPSEAL_GCM, "CAMELLIA-256-GCM:0.3.4401.5.3.1.9.46"},
    {"camellia-256", WARPSEAL_CCM, "CAMELLIA-256-CCM:0.3.4401.5.3.1.9.47"},
    {"camellia-256", WARPSEAL_CTR, "CAMELLIA-256-CTR:0.3.4401.5.3.1.9.49"},
    {"sm4-128", WARPSEAL_ECB, "SM4-ECB:1.2.156.10197.1.104.1"},
    {"sm4-128", WARPSEAL_CBC, "SM4-CBC:SM4:1.2.156.10197.1.104.2"},
    {"sm4-128", WARPSEAL_OFB, "SM4-OFB:SM4-OFB128:1.2.156.10197.1.104.3"},
    {"sm4-128", WARPSEAL_CFB, "SM4-CFB:SM4-CFB128:1.2.156.10197.1.104.4"},
    {"sm4-128", WARPSEAL_CTR, "SM4-CTR:1.2.156.10197.1.104.7"},
    {"sm4-128", WARPSEAL_GCM, "SM4-GCM:1.2.156.10197.1.104.8"},
    {"sm4-128", WARPSEAL_CCM, "SM4-CCM:1.2.156.10197.1.104.9"},
    {"seed-128", WARPSEAL_ECB, "SEED-ECB:1.2.410.200004.1.3"},
    {"seed-128", WARPSEAL_CBC, "SEED-CBC:SEED:1.2.410.200004.1.4"},
    {"seed-128", WARPSEAL_CFB, "SEED-CFB:SEED-CFB128:1.2.410.200004.1.5"},
    {"seed-128", WARPSEAL_OFB, "SEED-OFB:SEED-OFB128:1.2.410.200004.1.6"},
    {"des", WARPSEAL_ECB, "DES-ECB:1.3.14.3.2.6", true},
    {"des", WARPSEAL_CBC, "DES-CBC:DES:1.3.14.3.2.7", true},
    {"des", WARPSEAL_OFB, "DES-OFB:1.3.14.3.2.8", true},
    {"des", WARPSEAL_CFB, "DES-CFB:1.3.14.3.2.9", true},
    {"des-ede2", WARPSEAL_ECB, "DES-EDE-ECB:DES-EDE:1.3.14.3.2.17", true},
    {"des-ede2", WARPSEAL_CBC, "DES-EDE-CBC", true},
    {"des-ede2", WARPSEAL_OFB, "DES-EDE-OFB", true},
    {"des-ede2", WARPSEAL_CFB, "DES-EDE-CFB", true},
    {"des-ede3", WARPSEAL_ECB, "DES-EDE3-ECB:DES-EDE3", true},
    {"des-ede3", WARPSEAL_CBC, "DES-EDE3-CBC:DES3:1.2.840.113549.3.7", true},
    {"des-ede3", WARPSEAL_OFB, "DES-EDE3-OFB", true},
    {"des-ede3", WARPSEAL_CFB, "DES-EDE3-CFB", true},
};
// clang-format on

}  // namespace warpseal::provider

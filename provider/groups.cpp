// Names of groups for libcrypto, and the TLS-GROUP capability by which libssl learns of them (provider-base(7)).
#include "provider/groups.h"

#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/ssl3.h>
#include <openssl/tls1.h>

#include <algorithm>

#include "provider/algorithms.h"
#include "provider/context.h"

namespace warpseal::provider {
namespace {

// The order of Bouncy Castle's arcs.
constexpr const Set* numbered_sets[] = {&hps2048509, &hps2048677, &hps4096821, &hrss701, &hps40961229, &hrss1373};

OSSL_PARAM text(const char* key, const char* value) { return OSSL_PARAM_construct_utf8_string(key, const_cast<char*>(value), 0); }

int tell(const Group& group, unsigned number, OSSL_CALLBACK* callback, void* user) {
    unsigned security_bits = group.set.security_bits, is_kem = 1;
    int from = TLS1_3_VERSION, no_limit = 0, never = -1;
    const OSSL_PARAM params[] = {
        text(OSSL_CAPABILITY_TLS_GROUP_NAME, group.name),
        text(OSSL_CAPABILITY_TLS_GROUP_NAME_INTERNAL, group.name),
        text(OSSL_CAPABILITY_TLS_GROUP_ALG, group.name),
        OSSL_PARAM_construct_uint(OSSL_CAPABILITY_TLS_GROUP_ID, &number),
        OSSL_PARAM_construct_uint(OSSL_CAPABILITY_TLS_GROUP_SECURITY_BITS, &security_bits),
        OSSL_PARAM_construct_uint(OSSL_CAPABILITY_TLS_GROUP_IS_KEM, &is_kem),
        OSSL_PARAM_construct_int(OSSL_CAPABILITY_TLS_GROUP_MIN_TLS, &from),
        OSSL_PARAM_construct_int(OSSL_CAPABILITY_TLS_GROUP_MAX_TLS, &no_limit),
        OSSL_PARAM_construct_int(OSSL_CAPABILITY_TLS_GROUP_MIN_DTLS, &never),
        OSSL_PARAM_construct_int(OSSL_CAPABILITY_TLS_GROUP_MAX_DTLS, &never),
        OSSL_PARAM_construct_end(),
    };
    return callback(params, user);
}

std::array<std::string, groups.size()> every_name() {
    std::array<std::string, groups.size()> names;
    for (size_t i = 0; i < groups.size(); ++i) names[i] = std::string(groups[i].name) + ":" + object_identifier(groups[i]);
    return names;
}

}  // namespace

// Fewer than 50 characters: OpenSSL 3.0 cuts longer names short.
std::string object_identifier(const Group& group) {
    if (group.classical != nullptr) return "2.25.288558176082678323885897844765479869605." + std::to_string(&group - groups.data());
    size_t arc = 1;
    while (numbered_sets[arc - 1] != &group.set) ++arc;
    return "1.3.6.1.4.1.22554.5.5." + std::to_string(arc);
}

bool same_name(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::ranges::equal(a, b, {}, lower, lower);
}

const char* algorithm_names(size_t group) {
    static const std::array names = every_name();
    return names[group].c_str();
}

int tell_groups(const Context& context, OSSL_CALLBACK* callback, void* user) {
    for (size_t i = 0; i < groups.size(); ++i) {
        const GroupSetting& setting = context.settings().by_group[i];
        if (setting.offered && tell(groups[i], setting.number, callback, user) == 0) return 0;
    }
    return 1;
}

}  // namespace warpseal::provider

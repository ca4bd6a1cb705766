// Group names for libcrypto, and the TLS-GROUP capability for libssl (provider-base(7)).
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

OSSL_PARAM text(const char* key, const char* value) {
    return OSSL_PARAM_construct_utf8_string(key, const_cast<char*>(value), 0);
}

// X25519 is described as OpenSSL describes its own.
int report_group(const Group& group, unsigned number, OSSL_CALLBACK* callback, void* user) {
    const bool agrees = group.is_x25519();
    unsigned security_bits = group.set.security_bits, is_kem = agrees ? 0 : 1;
    int from = agrees ? TLS1_VERSION : TLS1_3_VERSION, no_limit = 0;
    int datagrams_from = agrees ? DTLS1_VERSION : -1, datagrams_to = agrees ? 0 : -1;
    const OSSL_PARAM params[] = {
        text(OSSL_CAPABILITY_TLS_GROUP_NAME, agrees ? "x25519" : group.name),
        text(OSSL_CAPABILITY_TLS_GROUP_NAME_INTERNAL, group.name),
        text(OSSL_CAPABILITY_TLS_GROUP_ALG, group.name),
        OSSL_PARAM_construct_uint(OSSL_CAPABILITY_TLS_GROUP_ID, &number),
        OSSL_PARAM_construct_uint(OSSL_CAPABILITY_TLS_GROUP_SECURITY_BITS, &security_bits),
        OSSL_PARAM_construct_uint(OSSL_CAPABILITY_TLS_GROUP_IS_KEM, &is_kem),
        OSSL_PARAM_construct_int(OSSL_CAPABILITY_TLS_GROUP_MIN_TLS, &from),
        OSSL_PARAM_construct_int(OSSL_CAPABILITY_TLS_GROUP_MAX_TLS, &no_limit),
        OSSL_PARAM_construct_int(OSSL_CAPABILITY_TLS_GROUP_MIN_DTLS, &datagrams_from),
        OSSL_PARAM_construct_int(OSSL_CAPABILITY_TLS_GROUP_MAX_DTLS, &datagrams_to),
        OSSL_PARAM_construct_end(),
    };
    return callback(params, user);
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
    const auto lower = [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    };
    return std::ranges::equal(a, b, {}, lower, lower);
}

int report_groups(const Context& context, OSSL_CALLBACK* callback, void* user) {
    for (size_t i = 0; i < groups.size(); ++i) {
        if (!context.offer().has(i)) continue;
        const GroupSetting& setting = context.settings().by_group[i];
        // libssl drops OpenSSL's own X25519 where a query selects our keys, so ours must be there.
        const bool offered = setting.offered || groups[i].is_x25519();
        if (offered && report_group(groups[i], setting.number, callback, user) == 0) return 0;
    }
    return 1;
}

}  // namespace warpseal::provider

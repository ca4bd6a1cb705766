// Order of registration of our algorithms and another provider's of the same names
// (provider-base(7), OSSL_METHOD_STORE(3)).
#include "provider/precedence.h"

#include <dlfcn.h>
#include <openssl/core_dispatch.h>
#include <openssl/crypto.h>
#include <openssl/encoder.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include "provider/context.h"
#include "provider/hybrid.h"

namespace warpseal::provider {
namespace {

// True while this thread searches for another provider's algorithms, which queries us as well.
constinit thread_local bool is_searching = false;

// fetched: by name alone, which is fast. listed: also where default properties hide it.
enum class Search : uint8_t { fetched, listed };

// Returns true if another provider has the algorithm for the operation whose functions are given.
// libcrypto then has registered all that active providers have for it.
template <class Method, auto fetch, auto release, auto visit_all, auto is_a>
bool others_have(OSSL_LIB_CTX* context, const char* name, Search by) {
    // libcrypto caches fetches, so this is the fast path.
    if (Method* const method = fetch(context, name, not_us)) {
        release(method);
        return true;
    }
    if (by == Search::fetched) return false;
    // The program's default properties, such as fips=yes, may have hidden it from the fetch. Ours
    // is among the methods only if it was registered for good, and then the answer changes nothing.
    struct Wanted {
        const char* name;
        bool found;
    } search{name, false};
    const auto examine = [](Method* method, void* data) {
        Wanted& wanted = *static_cast<Wanted*>(data);
        if (is_a(method, wanted.name) != 0) wanted.found = true;
    };
    visit_all(context, examine, &search);
    return search.found;
}

bool others_have(OSSL_LIB_CTX* context, int operation, const char* name, Search by) {
    switch (operation) {
        case OSSL_OP_KEYMGMT:
            return others_have<EVP_KEYMGMT, EVP_KEYMGMT_fetch, EVP_KEYMGMT_free,
                               EVP_KEYMGMT_do_all_provided, EVP_KEYMGMT_is_a>(context, name, by);
        case OSSL_OP_KEYEXCH:
            return others_have<EVP_KEYEXCH, EVP_KEYEXCH_fetch, EVP_KEYEXCH_free,
                               EVP_KEYEXCH_do_all_provided, EVP_KEYEXCH_is_a>(context, name, by);
        case OSSL_OP_KEM:
            return others_have<EVP_KEM, EVP_KEM_fetch, EVP_KEM_free, EVP_KEM_do_all_provided,
                               EVP_KEM_is_a>(context, name, by);
        default:
            return others_have<OSSL_ENCODER, OSSL_ENCODER_fetch, OSSL_ENCODER_free,
                               OSSL_ENCODER_do_all_provided, OSSL_ENCODER_is_a>(context, name, by);
    }
}

// libcrypto tries the decoders of all providers that a query admits, those registered for good
// first, and the newest of them first. So ours are never registered for good: without a query they
// get what OpenSSL's own have declined. Before OpenSSL 3.5 no query selects decoders, and those of
// X25519 would never be reached.
Answer answer_for_decoders(const Context& context) {
    Offer offer = context.offer();
    if (!context.has_decoder_queries()) offer.x25519 = false;
    return {context.mlkem_waits() || offer.x25519 ? Turn::once : Turn::now, offer};
}

}  // namespace

OSSL_LIB_CTX* core_context(const OSSL_CORE_HANDLE* core, const CoreCalls& calls) {
    Dl_info of_core, ours;
    if (calls.get_libctx == nullptr ||
        dladdr(reinterpret_cast<const void*>(calls.get_libctx), &of_core) == 0 ||
        dladdr(reinterpret_cast<const void*>(OSSL_LIB_CTX_new_child), &ours) == 0 ||
        of_core.dli_fbase != ours.dli_fbase)
        return nullptr;
    // provider-base(7) warns against this cast, because a provider may have another libcrypto than
    // the core. This one does not.
    auto* const context = reinterpret_cast<OSSL_LIB_CTX*>(calls.get_libctx(core));
    // Null stands for the thread's default context. This call returns it and changes nothing.
    return context == nullptr ? OSSL_LIB_CTX_set0_default(nullptr) : context;
}

Answer answer_to(const Context& context, int operation) {
    Offer offer = context.offer();
    if (operation == OSSL_OP_DECODER) return answer_for_decoders(context);
    const bool keys = operation == OSSL_OP_KEYMGMT || operation == OSSL_OP_ENCODER,
               with_mlkem = offer.mlkem && (keys || operation == OSSL_OP_KEM),
               with_x25519 = offer.x25519 && (keys || operation == OSSL_OP_KEYEXCH);
    if (context.program() == nullptr || (!with_mlkem && !with_x25519)) return {Turn::now, offer};
    if (is_searching) return {Turn::later, offer};
    is_searching = true;
    ERR_set_mark();
    const auto have = [&](const char* name, Search by) {
        return others_have(context.program(), operation, name, by);
    };
    // Where ML-KEM does not wait, one search has libcrypto register the others, and its listing
    // would take 1 ms.
    const bool x25519_found = with_x25519 && have("X25519", Search::listed),
               is_wanted = context.mlkem_waits() || (with_x25519 && !x25519_found),
               mlkem_found = with_mlkem && (is_wanted || !x25519_found) &&
                             have("ML-KEM-768", is_wanted ? Search::listed : Search::fetched);
    ERR_pop_to_mark();
    is_searching = false;
    const bool mlkem_waits = with_mlkem && !mlkem_found && context.mlkem_waits(),
               x25519_waits = with_x25519 && !x25519_found;
    if (!mlkem_waits && !x25519_waits) return {Turn::now, offer};
    // libcrypto prefers what serves a single fetch, so that must not have another provider's names.
    offer.mlkem = offer.mlkem && !mlkem_found;
    offer.x25519 = offer.x25519 && !x25519_found;
    return {Turn::once, offer};
}

}  // namespace warpseal::provider

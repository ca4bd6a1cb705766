// Order of registration of our ML-KEM and another provider's (provider-base(7),
// OSSL_METHOD_STORE(3)).
#include "provider/precedence.h"

#include <dlfcn.h>
#include <openssl/core_dispatch.h>
#include <openssl/crypto.h>
#include <openssl/decoder.h>
#include <openssl/encoder.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

#include "provider/context.h"
#include "provider/hybrid.h"

namespace warpseal::provider {
namespace {

// True while this thread searches for another provider's ML-KEM, which queries us as well.
constinit thread_local bool is_searching = false;

struct Search {
    const Context* ours;
    bool found;
};

// Returns true if another provider has ML-KEM for the operation whose functions are given.
// libcrypto then has registered all that active providers have for it.
template <class Method, auto fetch, auto release, auto visit_all, auto is_a, auto provider_of>
bool others_registered(const Context& ours) {
    constexpr const char* name = "ML-KEM-768";
    // libcrypto caches fetches, so this is the fast path.
    if (Method* const method = fetch(ours.yields_in(), name, not_us)) {
        release(method);
        return true;
    }
    // The program's default properties, such as fips=yes, may have hidden it from the fetch.
    Search search{&ours, false};
    const auto examine = [](Method* method, void* data) {
        Search& one = *static_cast<Search*>(data);
        if (is_a(method, name) != 0 &&
            OSSL_PROVIDER_get0_provider_ctx(provider_of(method)) != one.ours)
            one.found = true;
    };
    visit_all(ours.yields_in(), examine, &search);
    return search.found;
}

bool others_registered(const Context& ours, int operation) {
    switch (operation) {
        case OSSL_OP_KEYMGMT:
            return others_registered<EVP_KEYMGMT, EVP_KEYMGMT_fetch, EVP_KEYMGMT_free,
                                     EVP_KEYMGMT_do_all_provided, EVP_KEYMGMT_is_a,
                                     EVP_KEYMGMT_get0_provider>(ours);
        case OSSL_OP_KEM:
            return others_registered<EVP_KEM, EVP_KEM_fetch, EVP_KEM_free, EVP_KEM_do_all_provided,
                                     EVP_KEM_is_a, EVP_KEM_get0_provider>(ours);
        case OSSL_OP_ENCODER:
            return others_registered<OSSL_ENCODER, OSSL_ENCODER_fetch, OSSL_ENCODER_free,
                                     OSSL_ENCODER_do_all_provided, OSSL_ENCODER_is_a,
                                     OSSL_ENCODER_get0_provider>(ours);
        default:
            return others_registered<OSSL_DECODER, OSSL_DECODER_fetch, OSSL_DECODER_free,
                                     OSSL_DECODER_do_all_provided, OSSL_DECODER_is_a,
                                     OSSL_DECODER_get0_provider>(ours);
    }
}

}  // namespace

OSSL_LIB_CTX* core_context(const OSSL_CORE_HANDLE* core, const CoreCalls& calls) {
    Dl_info of_core, ours;
    if (calls.get_libctx == nullptr ||
        dladdr(reinterpret_cast<const void*>(calls.get_libctx), &of_core) == 0 ||
        dladdr(reinterpret_cast<const void*>(OSSL_LIB_CTX_new_child), &ours) == 0 ||
        of_core.dli_fbase != ours.dli_fbase)
        return nullptr;
    // provider-base(7) forbids this cast to providers with another libcrypto. This is the same one.
    auto* const context = reinterpret_cast<OSSL_LIB_CTX*>(calls.get_libctx(core));
    // Null stands for the thread's default context. This call returns it and changes nothing.
    return context == nullptr ? OSSL_LIB_CTX_set0_default(nullptr) : context;
}

Turn turn_of(const Context& context, int operation) {
    if (context.yields_in() == nullptr) return Turn::now;
    if (operation != OSSL_OP_KEYMGMT && operation != OSSL_OP_KEM && operation != OSSL_OP_ENCODER &&
        operation != OSSL_OP_DECODER)
        return Turn::now;
    if (is_searching) return Turn::later;
    is_searching = true;
    ERR_set_mark();
    const bool found = others_registered(context, operation);
    ERR_pop_to_mark();
    is_searching = false;
    return found ? Turn::now : Turn::once;
}

}  // namespace warpseal::provider

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

#include "provider/context.h"
#include "provider/hybrid.h"

namespace warpseal::provider {
namespace {

// True while this thread searches for another provider's ML-KEM, which queries us as well.
constinit thread_local bool is_searching = false;

// Returns true if another provider has ML-KEM for the operation whose functions are given.
// libcrypto then has registered all that active providers have for it.
template <class Method, auto fetch, auto release, auto visit_all, auto is_a>
bool others_registered(OSSL_LIB_CTX* context) {
    constexpr const char* name = "ML-KEM-768";
    // libcrypto caches fetches, so this is the fast path.
    if (Method* const method = fetch(context, name, not_us)) {
        release(method);
        return true;
    }
    // The program's default properties, such as fips=yes, may have hidden it from the fetch. Ours
    // is among the methods only if it was registered for good, and then the answer changes nothing.
    bool found = false;
    const auto examine = [](Method* method, void* data) {
        if (is_a(method, name) != 0) *static_cast<bool*>(data) = true;
    };
    visit_all(context, examine, &found);
    return found;
}

bool others_registered(OSSL_LIB_CTX* context, int operation) {
    switch (operation) {
        case OSSL_OP_KEYMGMT:
            return others_registered<EVP_KEYMGMT, EVP_KEYMGMT_fetch, EVP_KEYMGMT_free,
                                     EVP_KEYMGMT_do_all_provided, EVP_KEYMGMT_is_a>(context);
        case OSSL_OP_KEM:
            return others_registered<EVP_KEM, EVP_KEM_fetch, EVP_KEM_free, EVP_KEM_do_all_provided,
                                     EVP_KEM_is_a>(context);
        case OSSL_OP_ENCODER:
            return others_registered<OSSL_ENCODER, OSSL_ENCODER_fetch, OSSL_ENCODER_free,
                                     OSSL_ENCODER_do_all_provided, OSSL_ENCODER_is_a>(context);
        default:
            return others_registered<OSSL_DECODER, OSSL_DECODER_fetch, OSSL_DECODER_free,
                                     OSSL_DECODER_do_all_provided, OSSL_DECODER_is_a>(context);
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
    // provider-base(7) warns against this cast, because a provider may have another libcrypto than
    // the core. This one does not.
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
    const bool found = others_registered(context.yields_in(), operation);
    ERR_pop_to_mark();
    is_searching = false;
    return found ? Turn::now : Turn::once;
}

}  // namespace warpseal::provider

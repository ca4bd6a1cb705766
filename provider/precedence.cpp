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

// True while this thread fetches another provider's ML-KEM, which queries us as well.
constinit thread_local bool is_fetching = false;

template <class Method>
bool fetched(OSSL_LIB_CTX* context, Method* (*fetch)(OSSL_LIB_CTX*, const char*, const char*),
             void (*release)(Method*)) {
    Method* const method = fetch(context, "ML-KEM-768", not_us);
    release(method);
    return method != nullptr;
}

// Fetches another provider's ML-KEM. libcrypto then registers all that other active providers have
// for the operation, if it has not done so before. Returns false if there is none.
bool others_registered(OSSL_LIB_CTX* context, int operation) {
    switch (operation) {
        case OSSL_OP_KEYMGMT: return fetched(context, EVP_KEYMGMT_fetch, EVP_KEYMGMT_free);
        case OSSL_OP_KEM: return fetched(context, EVP_KEM_fetch, EVP_KEM_free);
        case OSSL_OP_ENCODER: return fetched(context, OSSL_ENCODER_fetch, OSSL_ENCODER_free);
        case OSSL_OP_DECODER: return fetched(context, OSSL_DECODER_fetch, OSSL_DECODER_free);
        default: return true;
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
    // The handle is opaque to providers with a libcrypto of their own. This is the same library.
    return reinterpret_cast<OSSL_LIB_CTX*>(calls.get_libctx(core));
}

Turn turn_of(const Context& context, int operation) {
    if (context.yields_in() == nullptr) return Turn::now;
    if (operation != OSSL_OP_KEYMGMT && operation != OSSL_OP_KEM && operation != OSSL_OP_ENCODER &&
        operation != OSSL_OP_DECODER)
        return Turn::now;
    if (is_fetching) return Turn::later;
    is_fetching = true;
    ERR_set_mark();
    const bool found = others_registered(context.yields_in(), operation);
    ERR_pop_to_mark();
    is_fetching = false;
    return found ? Turn::now : Turn::once;
}

}  // namespace warpseal::provider

// Exported entry point of the module, and libcrypto's functions for the provider as a whole
// (provider(7)).
#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/params.h>

#include <exception>
#include <string>

#include "provider/algorithms.h"
#include "provider/context.h"
#include "provider/groups.h"
#include "provider/precedence.h"

namespace warpseal::provider {
namespace {

// Parameter with the batcher's metrics as Prometheus text, for programs without a metrics folder.
constexpr const char* metrics_name = "warpseal-metrics";

const OSSL_PARAM* gettable_params(void*) {
    static const OSSL_PARAM params[] = {OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_NAME, nullptr, 0),
                                        OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_VERSION, nullptr, 0),
                                        OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_BUILDINFO, nullptr, 0),
                                        OSSL_PARAM_int(OSSL_PROV_PARAM_STATUS, nullptr),
                                        OSSL_PARAM_utf8_string(metrics_name, nullptr, 0),
                                        OSSL_PARAM_END};
    return params;
}

bool set_text(OSSL_PARAM params[], const char* name, const char* text) {
    OSSL_PARAM* const wanted = OSSL_PARAM_locate(params, name);
    return wanted == nullptr || OSSL_PARAM_set_utf8_ptr(wanted, text) != 0;
}

bool set_metrics(const Context& context, OSSL_PARAM params[]) {
    OSSL_PARAM* const wanted = OSSL_PARAM_locate(params, metrics_name);
    if (wanted == nullptr) return true;
    warpseal_kem_batcher* const batcher = context.batcher();
    if (batcher == nullptr) return false;
    // The extra room is for numbers that grow in the meantime. No bytes: memory is exhausted.
    std::string text(warpseal_kem_batcher_metrics(batcher, nullptr, 0) + 256, '\0');
    if (warpseal_kem_batcher_metrics(batcher, text.data(), text.size()) == 0) {
        raise(context, Reason::out_of_memory);
        return false;
    }
    return OSSL_PARAM_set_utf8_string(wanted, text.c_str()) != 0;
}

int get_params(void* context, OSSL_PARAM params[]) try {
    if (!set_text(params, OSSL_PROV_PARAM_NAME, "Warpseal") ||
        !set_text(params, OSSL_PROV_PARAM_VERSION, WARPSEAL_VERSION) ||
        !set_text(params, OSSL_PROV_PARAM_BUILDINFO, WARPSEAL_VERSION) ||
        !set_metrics(*static_cast<const Context*>(context), params))
        return 0;
    OSSL_PARAM* const status = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_STATUS);
    return status == nullptr || OSSL_PARAM_set_int(status, 1) != 0;
} catch (const std::exception&) {
    return 0;
}

const OSSL_ALGORITHM* query_operation(void* data, int operation, int* no_cache) {
    const Answer answer = answer_to(*static_cast<const Context*>(data), operation);
    *no_cache = answer.turn == Turn::now ? 0 : 1;
    if (answer.turn == Turn::later) return nullptr;
    switch (operation) {
        case OSSL_OP_CIPHER: return cipher_algorithms();
        case OSSL_OP_KEYMGMT: return key_algorithms(answer.offer);
        case OSSL_OP_KEYEXCH: return agreement_algorithms(answer.offer);
        case OSSL_OP_KEM: return kem_algorithms(answer.offer);
        case OSSL_OP_ENCODER: return encoder_algorithms(answer.offer);
        case OSSL_OP_DECODER: return decoder_algorithms(answer.offer);
        default: return nullptr;
    }
}

int get_capabilities(void* context, const char* capability, OSSL_CALLBACK* callback, void* user) {
    if (!same_name(capability, "TLS-GROUP")) return 0;
    return report_groups(*static_cast<const Context*>(context), callback, user);
}

const OSSL_ITEM* get_reason_strings(void*) { return reason_strings(); }

void teardown(void* context) { delete static_cast<Context*>(context); }

const OSSL_DISPATCH functions[] = {
    dispatch(OSSL_FUNC_PROVIDER_TEARDOWN, teardown),
    dispatch(OSSL_FUNC_PROVIDER_GETTABLE_PARAMS, gettable_params),
    dispatch(OSSL_FUNC_PROVIDER_GET_PARAMS, get_params),
    dispatch(OSSL_FUNC_PROVIDER_QUERY_OPERATION, query_operation),
    dispatch(OSSL_FUNC_PROVIDER_GET_CAPABILITIES, get_capabilities),
    dispatch(OSSL_FUNC_PROVIDER_GET_REASON_STRINGS, get_reason_strings),
    {0, nullptr},
};

}  // namespace
}  // namespace warpseal::provider

extern "C" __attribute__((visibility("default"))) int OSSL_provider_init(
    const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* in, const OSSL_DISPATCH** out,
    void** provctx) {
    using namespace warpseal::provider;
    try {
        *provctx = Context::create(handle, in).release();
    } catch (const std::exception&) {
        return 0;
    }
    *out = functions;
    return *provctx != nullptr;
}

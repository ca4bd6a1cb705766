// State of one loaded provider: functions of libcrypto, settings, and the engine that all its
// algorithms share.
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <openssl/types.h>

#include <atomic>
#include <memory>

#include "provider/errors.h"
#include "provider/settings.h"
#include "warpseal/batcher.h"
#include "warpseal/warpseal.h"

namespace warpseal::provider {

// Functions of the core that loads the provider (provider-base(7)).
struct CoreCalls {
    OSSL_FUNC_core_get_params_fn* get_params = nullptr;
    OSSL_FUNC_core_get_libctx_fn* get_libctx = nullptr;
    OSSL_FUNC_core_new_error_fn* new_error = nullptr;
    OSSL_FUNC_core_set_error_debug_fn* set_error_debug = nullptr;
    OSSL_FUNC_core_vset_error_fn* set_error = nullptr;
    OSSL_FUNC_BIO_read_ex_fn* read = nullptr;
    OSSL_FUNC_BIO_write_ex_fn* write = nullptr;
};

struct CipherAlgorithm;

class Context {
public:
    // Returns null, with an error raised, if the core is too old or a setting is invalid.
    static std::unique_ptr<Context> create(const OSSL_CORE_HANDLE* core,
                                           const OSSL_DISPATCH* calls);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    const OSSL_CORE_HANDLE* core() const { return core_; }
    const CoreCalls& calls() const { return calls_; }
    const Settings& settings() const { return settings_; }
    // Returns which algorithms are provided that OpenSSL may have too: X25519 and ML-KEM.
    Offer offer() const { return offer_; }
    // The program's library context, in which ours are registered after OpenSSL's own
    // (precedence.h). Null if it is of another libcrypto.
    OSSL_LIB_CTX* program() const { return program_; }
    // True if ML-KEM waits for OpenSSL's own to be registered, as X25519 always does.
    bool mlkem_waits() const { return mlkem_waits_; }
    // True if decoders of a key file are selected by a property query (OpenSSL 3.5).
    bool has_decoder_queries() const { return has_decoder_queries_; }
    // Library context for fetching other providers' algorithms; it has the same ones as the
    // program's context.
    OSSL_LIB_CTX* libctx() const { return libctx_; }

    // Returns the engine, which the first call in each process creates; a forked child gets its
    // own. Keys that its parent prepared keep the parent's engine (prepared_key.h). Returns null,
    // with an error raised, if it cannot be created. It lives as long as the context.
    warpseal_engine* engine() const;
    // Returns a model key of the engine. New keys copy its path selection for streaming in that
    // direction, so the path is selected once. Returns null, without an error, if there is none.
    const warpseal_key* model(const CipherAlgorithm& algorithm, bool decrypt) const;
    // Returns the batcher for requests of all connections, with the same rules as engine(). The
    // first request creates it.
    warpseal_kem_batcher* batcher() const;

private:
    // Objects of one process, linked to those of its parents.
    struct ProcessState;

    Context() = default;
    void choose_offer();
    const ProcessState* state() const;
    const ProcessState* make_state() const;
    warpseal_status fill(ProcessState& state) const;
    warpseal_status create_batcher(const ProcessState& state, warpseal_kem_batcher** batcher) const;
    static void destroy(const ProcessState& state);
    static const warpseal_key* make_model(const ProcessState& state,
                                          const CipherAlgorithm& algorithm);

    const OSSL_CORE_HANDLE* core_ = nullptr;
    CoreCalls calls_;
    Settings settings_;
    Offer offer_{};
    bool mlkem_waits_ = false, has_decoder_queries_ = false;
    OSSL_LIB_CTX* program_ = nullptr;
    OSSL_LIB_CTX* libctx_ = nullptr;
    mutable std::atomic<const ProcessState*> states_{nullptr};
};

}  // namespace warpseal::provider

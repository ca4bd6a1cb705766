// The state of one loaded provider: what libcrypto lends it, what was configured, and the engine
// that all its algorithms share.
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

// Functions of the core that is loading us (provider-base(7)).
struct CoreCalls {
    OSSL_FUNC_core_get_params_fn* get_params = nullptr;
    OSSL_FUNC_core_new_error_fn* new_error = nullptr;
    OSSL_FUNC_core_set_error_debug_fn* set_error_debug = nullptr;
    OSSL_FUNC_core_vset_error_fn* set_error = nullptr;
    OSSL_FUNC_BIO_read_ex_fn* read = nullptr;
    OSSL_FUNC_BIO_write_ex_fn* write = nullptr;
};

struct CipherAlgorithm;

class Context {
public:
    // Null, with an error raised, if the core is too old or a setting is wrong.
    static std::unique_ptr<Context> create(const OSSL_CORE_HANDLE* core,
                                           const OSSL_DISPATCH* calls);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    const OSSL_CORE_HANDLE* core() const { return core_; }
    const CoreCalls& calls() const { return calls_; }
    const Settings& settings() const { return settings_; }
    // Where other providers' algorithms are fetched: they are the same as in the program's context.
    OSSL_LIB_CTX* libctx() const { return libctx_; }

    // Made by the first call in each process: a forked child never works on its parent's. Null,
    // with an error raised, if it cannot be made. It lives as long as the context.
    warpseal_engine* engine() const;
    // A key of that engine that first keys of contexts are made like, so that what runs messages in
    // that direction is chosen once. Null: there is none, and nothing was raised.
    const warpseal_key* model(const CipherAlgorithm& algorithm, bool decrypt) const;
    // Likewise: where the requests of all connections meet.
    warpseal_kem_batcher* batcher() const;

private:
    // What one process has made; its parents' stand behind it.
    struct Works;

    Context() = default;
    const Works* works() const;
    const Works* make_works() const;
    warpseal_status fill(Works& works) const;
    static void end(const Works& works);
    static const warpseal_key* make_model(const Works& works, const CipherAlgorithm& algorithm);

    const OSSL_CORE_HANDLE* core_ = nullptr;
    CoreCalls calls_;
    Settings settings_;
    OSSL_LIB_CTX* libctx_ = nullptr;
    mutable std::atomic<const Works*> works_{nullptr};
};

}  // namespace warpseal::provider

// Context of the provider, one for each library context that loads it.
#include "provider/context.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/proverr.h>
#include <pthread.h>

#include <array>
#include <charconv>
#include <cstring>
#include <iterator>
#include <new>

#include "c_api/internal.h"
#include "c_api/internal_stream.h"
#include "provider/cipher_context.h"
#include "provider/cipher_names.h"
#include "provider/precedence.h"
#include "provider/stack.h"

namespace warpseal::provider {
namespace {

constinit std::atomic<unsigned long> forks{0};

// Registered when the module is loaded.
const bool forks_are_watched =
    pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); }) == 0;

CoreCalls read_calls(const OSSL_DISPATCH* in) {
    CoreCalls calls;
    for (; in->function_id != 0; ++in) switch (in->function_id) {
            case OSSL_FUNC_CORE_GET_PARAMS: calls.get_params = OSSL_FUNC_core_get_params(in); break;
            case OSSL_FUNC_CORE_GET_LIBCTX: calls.get_libctx = OSSL_FUNC_core_get_libctx(in); break;
            case OSSL_FUNC_CORE_NEW_ERROR: calls.new_error = OSSL_FUNC_core_new_error(in); break;
            case OSSL_FUNC_CORE_SET_ERROR_DEBUG:
                calls.set_error_debug = OSSL_FUNC_core_set_error_debug(in);
                break;
            case OSSL_FUNC_CORE_VSET_ERROR: calls.set_error = OSSL_FUNC_core_vset_error(in); break;
            case OSSL_FUNC_BIO_READ_EX: calls.read = OSSL_FUNC_BIO_read_ex(in); break;
            case OSSL_FUNC_BIO_WRITE_EX: calls.write = OSSL_FUNC_BIO_write_ex(in); break;
            default: break;
        }
    return calls;
}

bool complete(const CoreCalls& calls) {
    return calls.get_params != nullptr && calls.new_error != nullptr &&
           calls.set_error_debug != nullptr && calls.set_error != nullptr &&
           calls.read != nullptr && calls.write != nullptr;
}

// True if the core is OpenSSL 3.5 or later, or says nothing of its version.
bool is_3_5_or_later(const OSSL_CORE_HANDLE* core, const CoreCalls& calls) {
    char* version = nullptr;
    OSSL_PARAM wanted[] = {OSSL_PARAM_construct_utf8_ptr(OSSL_PROV_PARAM_CORE_VERSION, &version, 0),
                           OSSL_PARAM_construct_end()};
    if (calls.get_params(core, wanted) == 0 || version == nullptr) return true;
    unsigned major = 0, minor = 0;
    const char* const end = version + strlen(version);
    const auto [dot, bad_major] = std::from_chars(version, end, major);
    if (bad_major != std::errc() || dot == end || *dot != '.' ||
        std::from_chars(dot + 1, end, minor).ec != std::errc())
        return true;
    return major > 3 || (major == 3 && minor >= 5);
}

}  // namespace

struct Context::ProcessState {
    struct Model {
        std::atomic<warpseal_key*> key{nullptr};
        std::atomic<bool> chosen[2] = {false, false};  // for sealing and opening
    };
    unsigned long forks;
    warpseal_engine* engine;
    const ProcessState* before;
    mutable std::atomic<warpseal_kem_batcher*> batcher{nullptr};
    mutable std::array<Model, std::size(cipher_names)> models;
};

std::unique_ptr<Context> Context::create(const OSSL_CORE_HANDLE* core, const OSSL_DISPATCH* calls) {
    std::unique_ptr<Context> made(new Context);
    made->core_ = core;
    made->calls_ = read_calls(calls);
    if (!complete(made->calls_) || !forks_are_watched) {
        ERR_raise(ERR_LIB_PROV, ERR_R_INIT_FAIL);
        return nullptr;
    }
    if (!read_settings(core, made->calls_, made->settings_)) return nullptr;
    made->choose_offer();
    made->libctx_ = OSSL_LIB_CTX_new_child(core, calls);
    if (made->libctx_ == nullptr) return nullptr;
    return made;
}

void Context::choose_offer() {
    program_ = core_context(core_, calls_);
    has_decoder_queries_ = is_3_5_or_later(core_, calls_);
    const bool is_automatic = settings_.mlkem == MlKemSetting::automatic;
    mlkem_waits_ = is_automatic && has_decoder_queries_ && program_ != nullptr;
    offer_.mlkem = settings_.mlkem == MlKemSetting::always || mlkem_waits_ ||
                   (is_automatic && !has_decoder_queries_);
    offer_.x25519 = settings_.x25519 && program_ != nullptr;
}

// Leaves objects of a parent process alone: its threads and its GPU do not exist in this process.
Context::~Context() {
    for (const ProcessState* one = states_.load(); one != nullptr;) {
        const std::unique_ptr<const ProcessState> last(one);
        one = last->before;
        if (last->forks == forks.load(std::memory_order_relaxed)) destroy(*last);
    }
    OSSL_LIB_CTX_free(libctx_);
}

warpseal_engine* Context::engine() const {
    const ProcessState* const found = state();
    return found == nullptr ? nullptr : found->engine;
}

// Created with the first request: a batcher opens the GPU in the background, which a program that
// only encrypts, and a process that only forks workers, must not do. If several threads arrive
// first, one thread's batcher is kept.
warpseal_kem_batcher* Context::batcher() const {
    const ProcessState* const found = state();
    if (found == nullptr) return nullptr;
    warpseal_kem_batcher *made = nullptr, *before = found->batcher.load(std::memory_order_acquire);
    if (before != nullptr) return before;
    warpseal_status status = WARPSEAL_OUT_OF_MEMORY;
    (void)with_stack([&]() noexcept { status = create_batcher(*found, &made); });
    if (status != WARPSEAL_OK) {
        raise(*this, Reason::no_engine, warpseal_status_text(status));
        return nullptr;
    }
    if (found->batcher.compare_exchange_strong(before, made, std::memory_order_acq_rel))
        return made;
    warpseal_kem_batcher_destroy(made);
    return before;
}

const Context::ProcessState* Context::state() const {
    const ProcessState* const newest = states_.load(std::memory_order_acquire);
    if (newest != nullptr && newest->forks == forks.load(std::memory_order_relaxed)) return newest;
    return make_state();
}

const warpseal_key* Context::make_model(const ProcessState& state,
                                        const CipherAlgorithm& algorithm) {
    uint8_t bytes[64];  // fixed key for the model
    for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = static_cast<uint8_t>(37 * i + 11);
    warpseal_key *made = nullptr, *before = nullptr;
    const auto create =
        algorithm.mode == WARPSEAL_XTS ? warpseal_key_create_xts : warpseal_key_create;
    if (create(state.engine, algorithm.cipher, bytes, algorithm.key_bytes, &made) != WARPSEAL_OK)
        return nullptr;
    if (state.models[algorithm.number].key.compare_exchange_strong(before, made,
                                                                   std::memory_order_acq_rel))
        return made;
    warpseal_key_destroy(made);
    return before;
}

// CCM has no streaming; it selects and self-tests its path when it is used.
const warpseal_key* Context::model(const CipherAlgorithm& algorithm, bool decrypt) const {
    const ProcessState* const found = state();
    if (found == nullptr) return nullptr;
    ProcessState::Model& model = found->models[algorithm.number];
    const warpseal_key* key = model.key.load(std::memory_order_acquire);
    if (key == nullptr) key = make_model(*found, algorithm);
    if (key == nullptr || model.chosen[decrypt ? 1 : 0].exchange(true, std::memory_order_relaxed))
        return key;
    warpseal_internal_stream* message = nullptr;
    (void)warpseal_internal_stream_create(key, algorithm.mode, decrypt ? 1 : 0, &message);
    warpseal_internal_stream_destroy(message);
    return key;
}

void Context::destroy(const ProcessState& state) {
    for (const ProcessState::Model& model : state.models)
        warpseal_key_destroy(model.key.load(std::memory_order_acquire));
    warpseal_kem_batcher_destroy(state.batcher.load(std::memory_order_acquire));
    warpseal_engine_destroy(state.engine);
}

warpseal_status Context::fill(ProcessState& state) const {
    warpseal_engine_options options{};
    options.struct_bytes = sizeof options;
    options.device = settings_.device.c_str();
    options.threads = settings_.threads;
    return warpseal_engine_create(&options, &state.engine);
}

warpseal_status Context::create_batcher(const ProcessState& state,
                                        warpseal_kem_batcher** batcher) const {
    warpseal_kem_batcher_options batching{};
    batching.struct_bytes = sizeof batching;
    batching.max_batch = settings_.max_batch;
    batching.max_delay_us = settings_.max_delay_us;
    batching.max_waiting = settings_.max_waiting;
    batching.metrics_directory =
        settings_.metrics_directory.empty() ? nullptr : settings_.metrics_directory.c_str();
    return warpseal_kem_batcher_create(state.engine, &batching, batcher);
}

// Uses no lock, because a fork could copy it while held. If several threads arrive first, one
// thread's objects are kept.
const Context::ProcessState* Context::make_state() const {
    const ProcessState* before = states_.load(std::memory_order_acquire);
    const unsigned long now = forks.load(std::memory_order_relaxed);
    if (before != nullptr && before->forks == now) return before;
    std::unique_ptr<ProcessState> made(new (std::nothrow)
                                           ProcessState{now, nullptr, before, {}, {}});
    if (made == nullptr) {
        raise(*this, Reason::out_of_memory);
        return nullptr;
    }
    warpseal_status status = WARPSEAL_OUT_OF_MEMORY;
    (void)with_stack([&]() noexcept { status = fill(*made); });
    if (status == WARPSEAL_OK &&
        states_.compare_exchange_strong(before, made.get(), std::memory_order_acq_rel))
        return made.release();
    destroy(*made);
    if (status == WARPSEAL_OK) return state();
    raise(*this, Reason::no_engine, warpseal_status_text(status));
    return nullptr;
}

}  // namespace warpseal::provider

// Our ML-KEM and X25519 beside another provider's, in any version of OpenSSL: the module is told
// that the core is OpenSSL 3.5, and a provider of the test has methods of the same names.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <openssl/core_dispatch.h>
#include <openssl/crypto.h>
#include <openssl/decoder.h>
#include <openssl/encoder.h>

#include <cstdlib>
#include <optional>
#include <vector>

#include "library.h"

namespace {

using namespace tests;

// ---- the other provider: methods that libcrypto accepts, and that nobody calls

void* create(void*) { return nullptr; }
void release(void*) {}
int refuse() { return 0; }

template <class Function>
void (*any(Function* function))() {
    return reinterpret_cast<void (*)()>(function);
}

const OSSL_DISPATCH keymgmt[] = {{OSSL_FUNC_KEYMGMT_NEW, any(create)},
                                 {OSSL_FUNC_KEYMGMT_FREE, any(release)},
                                 {OSSL_FUNC_KEYMGMT_HAS, any(refuse)},
                                 {0, nullptr}};
const OSSL_DISPATCH kem[] = {{OSSL_FUNC_KEM_NEWCTX, any(create)},
                             {OSSL_FUNC_KEM_FREECTX, any(release)},
                             {OSSL_FUNC_KEM_ENCAPSULATE_INIT, any(refuse)},
                             {OSSL_FUNC_KEM_ENCAPSULATE, any(refuse)},
                             {OSSL_FUNC_KEM_DECAPSULATE_INIT, any(refuse)},
                             {OSSL_FUNC_KEM_DECAPSULATE, any(refuse)},
                             {0, nullptr}};
const OSSL_DISPATCH agreement[] = {{OSSL_FUNC_KEYEXCH_NEWCTX, any(create)},
                                   {OSSL_FUNC_KEYEXCH_FREECTX, any(release)},
                                   {OSSL_FUNC_KEYEXCH_INIT, any(refuse)},
                                   {OSSL_FUNC_KEYEXCH_DERIVE, any(refuse)},
                                   {0, nullptr}};
const OSSL_DISPATCH encoder[] = {{OSSL_FUNC_ENCODER_NEWCTX, any(create)},
                                 {OSSL_FUNC_ENCODER_FREECTX, any(release)},
                                 {OSSL_FUNC_ENCODER_ENCODE, any(refuse)},
                                 {0, nullptr}};
const OSSL_DISPATCH decoder[] = {{OSSL_FUNC_DECODER_NEWCTX, any(create)},
                                 {OSSL_FUNC_DECODER_FREECTX, any(release)},
                                 {OSSL_FUNC_DECODER_DECODE, any(refuse)},
                                 {0, nullptr}};

template <const OSSL_DISPATCH* functions>
const OSSL_ALGORITHM* table(const char* properties) {
    static const OSSL_ALGORITHM algorithms[] = {{"ML-KEM-768:MLKEM768", properties, functions, ""},
                                                {"X25519:1.3.101.110", properties, functions, ""},
                                                {nullptr, nullptr, nullptr, nullptr}};
    return algorithms;
}

const OSSL_ALGORITHM* query(void*, int operation, int* no_cache) {
    *no_cache = 0;
    switch (operation) {
        case OSSL_OP_KEYMGMT: return table<keymgmt>("provider=other");
        case OSSL_OP_KEM: return table<kem>("provider=other");
        case OSSL_OP_KEYEXCH: return table<agreement>("provider=other");
        case OSSL_OP_ENCODER: return table<encoder>("provider=other,output=der");
        case OSSL_OP_DECODER: return table<decoder>("provider=other,input=der");
        default: return nullptr;
    }
}

int init_other(const OSSL_CORE_HANDLE*, const OSSL_DISPATCH*, const OSSL_DISPATCH** out,
               void** context) {
    static const OSSL_DISPATCH functions[] = {{OSSL_FUNC_PROVIDER_QUERY_OPERATION, any(query)},
                                              {0, nullptr}};
    static int one;
    *out = functions, *context = &one;
    return 1;
}

// A provider with keys of another kind.
const OSSL_ALGORITHM* query_unrelated(void*, int operation, int* no_cache) {
    static const OSSL_ALGORITHM algorithms[] = {{"unrelated", "provider=unrelated", keymgmt, ""},
                                                {nullptr, nullptr, nullptr, nullptr}};
    *no_cache = 0;
    return operation == OSSL_OP_KEYMGMT ? algorithms : nullptr;
}

int init_unrelated(const OSSL_CORE_HANDLE*, const OSSL_DISPATCH*, const OSSL_DISPATCH** out,
                   void** context) {
    static const OSSL_DISPATCH functions[] = {
        {OSSL_FUNC_PROVIDER_QUERY_OPERATION, any(query_unrelated)}, {0, nullptr}};
    static int one;
    *out = functions, *context = &one;
    return 1;
}

// A provider with X25519, but without ML-KEM. libcrypto queries it for each search.
int queries_of_partial = 0;
const OSSL_ALGORITHM* query_partial(void*, int operation, int* no_cache) {
    static const OSSL_ALGORITHM algorithms[] = {
        {"X25519:1.3.101.110", "provider=partial", keymgmt, ""},
        {nullptr, nullptr, nullptr, nullptr}};
    *no_cache = 1;
    queries_of_partial += operation == OSSL_OP_KEYMGMT ? 1 : 0;
    return operation == OSSL_OP_KEYMGMT ? algorithms : nullptr;
}

int init_partial(const OSSL_CORE_HANDLE*, const OSSL_DISPATCH*, const OSSL_DISPATCH** out,
                 void** context) {
    static const OSSL_DISPATCH functions[] = {
        {OSSL_FUNC_PROVIDER_QUERY_OPERATION, any(query_partial)}, {0, nullptr}};
    static int one;
    *out = functions, *context = &one;
    return 1;
}

// ---- the module in a core that calls itself OpenSSL 3.5

char core_version[] = "3.5.0";
OSSL_FUNC_core_get_params_fn* core_params;
OSSL_FUNC_core_get_libctx_fn* core_context;
bool is_foreign = false;  // The core is of another libcrypto: its functions are this program's.

int params_with_version(const OSSL_CORE_HANDLE* core, OSSL_PARAM params[]) {
    if (core_params(core, params) == 0) return 0;
    OSSL_PARAM* const version = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_CORE_VERSION);
    return version == nullptr || OSSL_PARAM_set_utf8_ptr(version, core_version);
}

OPENSSL_CORE_CTX* foreign_context(const OSSL_CORE_HANDLE* core) { return core_context(core); }

int init_ours(const OSSL_CORE_HANDLE* core, const OSSL_DISPATCH* in, const OSSL_DISPATCH** out,
              void** context) {
    static void* const module = dlopen(WARPSEAL_MODULES "/warpseal.so", RTLD_NOW);
    if (module == nullptr) return 0;
    std::vector<OSSL_DISPATCH> calls;
    for (; in->function_id != 0; ++in) {
        calls.push_back(*in);
        if (in->function_id == OSSL_FUNC_CORE_GET_PARAMS) {
            core_params = OSSL_FUNC_core_get_params(in);
            calls.back().function = any(params_with_version);
        } else if (in->function_id == OSSL_FUNC_CORE_GET_LIBCTX && is_foreign) {
            core_context = OSSL_FUNC_core_get_libctx(in);
            calls.back().function = any(foreign_context);
        }
    }
    calls.push_back(*in);
    return reinterpret_cast<OSSL_provider_init_fn*>(dlsym(module, "OSSL_provider_init"))(
        core, calls.data(), out, context);
}

// ---- what libcrypto chooses

struct Method {
    int operation;
    const char* name;
};
constexpr Method methods[] = {{OSSL_OP_KEYMGMT, "ML-KEM-768"}, {OSSL_OP_KEM, "ML-KEM-768"},
                              {OSSL_OP_ENCODER, "ML-KEM-768"}, {OSSL_OP_KEYMGMT, "X25519"},
                              {OSSL_OP_KEYEXCH, "X25519"},     {OSSL_OP_ENCODER, "X25519"}};
constexpr char ntru[] = "ntru_hps4096821";
constexpr int operations_of_ntru[] = {OSSL_OP_KEYMGMT, OSSL_OP_KEM, OSSL_OP_ENCODER,
                                      OSSL_OP_DECODER};

template <auto fetch, auto provider, auto free>
std::string chosen(OSSL_LIB_CTX* in, const char* name, const char* properties) {
    auto* const method = fetch(in, name, properties);
    const std::string one = method == nullptr ? "none" : OSSL_PROVIDER_get0_name(provider(method));
    EXPECT_FALSE(method != nullptr && ERR_peek_error() != 0) << "an error stays after a fetch";
    free(method);
    ERR_clear_error();
    return one;
}

std::string chosen(OSSL_LIB_CTX* in, const Method& method, const char* properties) {
    const char* const name = method.name;
    switch (method.operation) {
        case OSSL_OP_KEYMGMT:
            return chosen<EVP_KEYMGMT_fetch, EVP_KEYMGMT_get0_provider, EVP_KEYMGMT_free>(
                in, name, properties);
        case OSSL_OP_KEM:
            return chosen<EVP_KEM_fetch, EVP_KEM_get0_provider, EVP_KEM_free>(in, name, properties);
        case OSSL_OP_KEYEXCH:
            return chosen<EVP_KEYEXCH_fetch, EVP_KEYEXCH_get0_provider, EVP_KEYEXCH_free>(
                in, name, properties);
        case OSSL_OP_ENCODER:
            return chosen<OSSL_ENCODER_fetch, OSSL_ENCODER_get0_provider, OSSL_ENCODER_free>(
                in, name, properties);
        default:
            return chosen<OSSL_DECODER_fetch, OSSL_DECODER_get0_provider, OSSL_DECODER_free>(
                in, name, properties);
    }
}

// The providers whose decoders of `name` libcrypto binds to a key file, in that order. It tries the
// last first.
std::vector<std::string> decoders_of(OSSL_LIB_CTX* in, const char* name) {
    struct Search {
        const char* name;
        std::vector<std::string> providers;
    } search{name, {}};
    OSSL_DECODER_do_all_provided(
        in,
        [](OSSL_DECODER* decoder, void* data) {
            Search& wanted = *static_cast<Search*>(data);
            if (OSSL_DECODER_is_a(decoder, wanted.name) == 1)
                wanted.providers.emplace_back(
                    OSSL_PROVIDER_get0_name(OSSL_DECODER_get0_provider(decoder)));
        },
        &search);
    return search.providers;
}

class BesideAnother : public testing::Test {
protected:
    BesideAnother() {
        if (const char* const one = std::getenv("WARPSEAL_MLKEM")) setting_ = one;
        unsetenv("WARPSEAL_MLKEM");
        OSSL_PROVIDER_add_builtin(context(), "warpseal", init_ours);
        OSSL_PROVIDER_add_builtin(context(), "other", init_other);
        OSSL_PROVIDER_add_builtin(context(), "unrelated", init_unrelated);
        OSSL_PROVIDER_add_builtin(context(), "partial", init_partial);
    }
    ~BesideAnother() override {
        for (OSSL_PROVIDER* provider : loaded_) OSSL_PROVIDER_unload(provider);
        if (setting_) setenv("WARPSEAL_MLKEM", setting_->c_str(), 1);
        is_foreign = false;
        core_version[2] = '5';
    }
    OSSL_LIB_CTX* context() const { return context_.get(); }
    void load(std::initializer_list<const char*> names) {
        for (const char* name : names) {
            loaded_.push_back(OSSL_PROVIDER_load(context(), name));
            ASSERT_NE(loaded_.back(), nullptr) << name;
        }
    }
    // `in` names the library context as a program does.
    static void expect_ours_by_property_only(OSSL_LIB_CTX* in) {
        for (const Method& method : methods) {
            SCOPED_TRACE(testing::Message() << method.operation << ' ' << method.name);
            EXPECT_EQ(chosen(in, method, nullptr), "other");
            EXPECT_EQ(chosen(in, method, "provider=warpseal"), "warpseal");
            EXPECT_EQ(chosen(in, method, "?provider=warpseal"), "warpseal");
        }
        for (const int operation : operations_of_ntru)
            EXPECT_EQ(chosen(in, {operation, ntru}, nullptr), "warpseal") << operation;
        // Ours for public and private keys read what the other's has declined.
        for (const char* name : {"ML-KEM-768", "X25519"})
            for (int round = 0; round < 2; ++round)
                EXPECT_EQ(decoders_of(in, name),
                          (std::vector<std::string>{"warpseal", "warpseal", "other"}))
                    << name;
    }

private:
    std::optional<std::string> setting_;  // in the environment of the whole program
    std::unique_ptr<OSSL_LIB_CTX, Free> context_{OSSL_LIB_CTX_new()};
    std::vector<OSSL_PROVIDER*> loaded_;
};

TEST_F(BesideAnother, IsChosenByPropertyOnlyIfLoadedFirst) {
    load({"warpseal", "other"});
    expect_ours_by_property_only(context());
}

TEST_F(BesideAnother, IsChosenByPropertyOnlyIfLoadedLast) {
    load({"other", "warpseal"});
    expect_ours_by_property_only(context());
}

TEST_F(BesideAnother, ServesAloneUntilTheOtherIsLoaded) {
    load({"warpseal", "unrelated"});
    for (const Method& method : methods)
        for (const char* properties : {static_cast<const char*>(nullptr), "provider=warpseal"})
            EXPECT_EQ(chosen(context(), method, properties), "warpseal") << method.operation;
    load({"other"});
    expect_ours_by_property_only(context());
}

// While ours of one name cannot be registered for good, the other's of the other name stay chosen.
TEST_F(BesideAnother, ServesWhatTheOtherLacks) {
    load({"warpseal", "partial"});
    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(chosen(context(), {OSSL_OP_KEYMGMT, "X25519"}, nullptr), "partial");
        EXPECT_EQ(chosen(context(), {OSSL_OP_KEYMGMT, "ML-KEM-768"}, nullptr), "warpseal");
        EXPECT_EQ(chosen(context(), {OSSL_OP_KEYEXCH, "X25519"}, nullptr), "warpseal");
    }
}

// Before 3.5 nothing waits for another ML-KEM, but X25519 does. Decoders are not selected by a
// query there: ours of X25519 would displace the other's.
TEST_F(BesideAnother, IsChosenByPropertyOnlyBefore35) {
    core_version[2] = '4';
    load({"warpseal", "other"});
    for (const Method& method : methods) {
        EXPECT_EQ(chosen(context(), method, nullptr), "other") << method.operation;
        EXPECT_EQ(chosen(context(), method, "provider=warpseal"), "warpseal") << method.operation;
    }
    EXPECT_EQ(decoders_of(context(), "X25519"), std::vector<std::string>{"other"});
}

// A search takes about as long as a program's first SSL_CTX, so a fetch makes only one.
TEST_F(BesideAnother, OneSearchBefore35) {
    core_version[2] = '4';
    load({"warpseal", "partial"});
    queries_of_partial = 0;
    EXPECT_EQ(chosen(context(), {OSSL_OP_KEYMGMT, "X25519"}, nullptr), "partial");
    EXPECT_LE(queries_of_partial, 2) << "one by the search, one by the fetch itself";
}

TEST_F(BesideAnother, MlKemServesAloneBefore35) {
    core_version[2] = '4';
    load({"warpseal"});
    for (const Method& method : methods)
        EXPECT_EQ(chosen(context(), method, nullptr), "warpseal") << method.operation;
    EXPECT_EQ(decoders_of(context(), "ML-KEM-768"),
              (std::vector<std::string>{"warpseal", "warpseal"}));
}

// Such properties hide the other's from our search, and a query may admit it again.
TEST_F(BesideAnother, IsNotChosenBecauseOfDefaultProperties) {
    load({"warpseal", "other"});
    ASSERT_EQ(EVP_set_default_properties(context(), "fips=yes"), 1);
    for (const Method& method : methods) {
        EXPECT_EQ(chosen(context(), method, nullptr), "none") << method.operation;
        EXPECT_EQ(chosen(context(), method, "-fips"), "other") << method.operation;
    }
}

// A program that makes no library context passes null to libcrypto.
TEST_F(BesideAnother, IsChosenByPropertyInTheDefaultContext) {
    OSSL_LIB_CTX* const before = OSSL_LIB_CTX_set0_default(context());
    OSSL_PROVIDER* const ours = OSSL_PROVIDER_load(nullptr, "warpseal");
    OSSL_PROVIDER* const other = OSSL_PROVIDER_load(nullptr, "other");
    EXPECT_TRUE(ours != nullptr && other != nullptr);
    expect_ours_by_property_only(nullptr);
    OSSL_PROVIDER_unload(ours);
    OSSL_PROVIDER_unload(other);
    OSSL_LIB_CTX_set0_default(before);
}

// A program that links libcrypto statically.
TEST_F(BesideAnother, IsNotProvidedToAnotherLibcrypto) {
    is_foreign = true;
    load({"warpseal"});
    for (const Method& method : methods)
        EXPECT_EQ(chosen(context(), method, nullptr), "none") << method.operation;
    for (const int operation : operations_of_ntru)
        EXPECT_EQ(chosen(context(), {operation, ntru}, nullptr), "warpseal") << operation;
}

}  // namespace

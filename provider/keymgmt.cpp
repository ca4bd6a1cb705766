// Key management of the groups' algorithms (provider-keymgmt(7)).
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/params.h>

#include <algorithm>
#include <new>
#include <utility>

#include "provider/algorithms.h"
#include "provider/identifiers.h"
#include "provider/key.h"

namespace warpseal::provider {
namespace {

struct Generation {
    const Context& context;
    const Group& group;
    int selection;
};

Key* make_key(const Context& context, const Group& group) {
    Key* const key = new (std::nothrow) Key(context, group);
    if (key == nullptr) raise(context, Reason::out_of_memory);
    return key;
}

template <size_t group>
void* create(void* context) {
    return make_key(*static_cast<const Context*>(context), groups[group]);
}

void destroy(void* key) { delete static_cast<Key*>(key); }

void* duplicate(const void* from, int selection) {
    const Key& key = *static_cast<const Key*>(from);
    if ((selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == 0) return make_key(key.context(), key.group());
    return key.copy((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0).release();
}

// Takes over the key that a decoder passes by pointer.
void* load(const void* reference, size_t bytes) {
    if (reference == nullptr || bytes != sizeof(void*)) return nullptr;
    return std::exchange(*static_cast<Key**>(const_cast<void*>(reference)), nullptr);
}

int has(const void* data, int selection) {
    const Key* const key = static_cast<const Key*>(data);
    if (key == nullptr) return 0;
    return ((selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) == 0 || key->has_public()) &&
           ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) == 0 || key->has_secret());
}

int match(const void* one, const void* other, int selection) {
    const Key &a = *static_cast<const Key*>(one), &b = *static_cast<const Key*>(other);
    if (&a.group() != &b.group()) return 0;
    if ((selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == 0) return 1;
    // A share determines its pair, and only the empty key has no share.
    return std::ranges::equal(a.share(), b.share());
}

int validate(const void* data, int selection, int) {
    const Key& key = *static_cast<const Key*>(data);
    if (has(data, selection) == 0) return 0;
    return (selection & OSSL_KEYMGMT_SELECT_KEYPAIR) != OSSL_KEYMGMT_SELECT_KEYPAIR ||
           key.is_pair();
}

// ---- generation ----

// Keying material of HPKE's DeriveKeyPair (RFC 9180 7.1.3), as OpenSSL 3.2 names it.
constexpr char derivation_param[] = "dhkem-ikm";

int set_generation_params(void* data, const OSSL_PARAM params[]) {
    const Generation& generation = *static_cast<const Generation*>(data);
    if (params == nullptr) return 1;
    // A key pair that was drawn instead would not be the one that the caller wants.
    if (OSSL_PARAM_locate_const(params, derivation_param) != nullptr) {
        raise(generation.context, Reason::unsupported, derivation_param);
        return 0;
    }
    const OSSL_PARAM* const named = OSSL_PARAM_locate_const(params, OSSL_PKEY_PARAM_GROUP_NAME);
    if (named == nullptr) return 1;
    char name[64];  // Copied, because the parameter need not be null-terminated.
    char* out = name;
    // libssl 3.5 gives the name from the first provider with this number. OpenSSL's is empty.
    const bool may_be_empty = generation.group.set.rank != 0;
    if (OSSL_PARAM_get_utf8_string(named, &out, sizeof name) != 0 &&
        ((may_be_empty && name[0] == '\0') || same_name(name, generation.group.name)))
        return 1;
    raise(generation.context, Reason::wrong_group, generation.group.name);
    return 0;
}

template <size_t group>
void* begin_generation(void* context, int selection, const OSSL_PARAM params[]) {
    Generation* const made = new (std::nothrow)
        Generation{*static_cast<const Context*>(context), groups[group], selection};
    if (made == nullptr) {
        raise(*static_cast<const Context*>(context), Reason::out_of_memory);
    } else if (set_generation_params(made, params) == 0) {
        delete made;
        return nullptr;
    }
    return made;
}

const OSSL_PARAM* settable_generation_params(void*, void*) {
    static const OSSL_PARAM params[] = {
        OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, nullptr, 0), OSSL_PARAM_END};
    return params;
}

// A TLS server generates parameters only, for a key that receives its client's share. No pair is
// generated then.
void* generate(void* data, OSSL_CALLBACK*, void*) {
    const Generation& generation = *static_cast<const Generation*>(data);
    std::unique_ptr<Key> key(make_key(generation.context, generation.group));
    if (key == nullptr ||
        ((generation.selection & OSSL_KEYMGMT_SELECT_KEYPAIR) != 0 && !key->generate()))
        return nullptr;
    return key.release();
}

void end_generation(void* data) { delete static_cast<Generation*>(data); }

// ---- parameters ----

bool write_param(OSSL_PARAM params[], const char* name, int value) {
    OSSL_PARAM* const wanted = OSSL_PARAM_locate(params, name);
    return wanted == nullptr || OSSL_PARAM_set_int(wanted, value) != 0;
}

// Empty `bytes` leave the parameter unmodified.
bool write_param(OSSL_PARAM params[], const char* name, std::span<const uint8_t> bytes) {
    OSSL_PARAM* const wanted = OSSL_PARAM_locate(params, name);
    return wanted == nullptr || bytes.empty() ||
           OSSL_PARAM_set_octet_string(wanted, bytes.data(), bytes.size()) != 0;
}

int get_params(void* data, OSSL_PARAM params[]) {
    const Key& key = *static_cast<const Key*>(data);
    const Group& group = key.group();
    return write_param(params, OSSL_PKEY_PARAM_BITS, static_cast<int>(group.set.bits)) &&
           write_param(params, OSSL_PKEY_PARAM_SECURITY_BITS,
                       static_cast<int>(group.set.security_bits)) &&
           write_param(params, OSSL_PKEY_PARAM_MAX_SIZE,
                       static_cast<int>(group.server_share_bytes())) &&
           write_param(params, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, key.share()) &&
           write_param(params, OSSL_PKEY_PARAM_PUB_KEY, key.share()) &&
           write_param(params, OSSL_PKEY_PARAM_PRIV_KEY, key.secret_key()) &&
           write_param(params, seed_param, key.seed());
}

const OSSL_PARAM* gettable_params(void*) {
    static const OSSL_PARAM params[] = {
        OSSL_PARAM_int(OSSL_PKEY_PARAM_BITS, nullptr),
        OSSL_PARAM_int(OSSL_PKEY_PARAM_SECURITY_BITS, nullptr),
        OSSL_PARAM_int(OSSL_PKEY_PARAM_MAX_SIZE, nullptr),
        OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, nullptr, 0),
        OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PUB_KEY, nullptr, 0),
        OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PRIV_KEY, nullptr, 0),
        OSSL_PARAM_octet_string(seed_param, nullptr, 0),
        OSSL_PARAM_END};
    return params;
}

// Returns false, with an error raised, if the parameter is no octet string.
bool octets(const Context& context, const OSSL_PARAM params[], const char* name,
            std::span<const uint8_t>& bytes) {
    const OSSL_PARAM* const given = OSSL_PARAM_locate_const(params, name);
    if (given == nullptr) return true;
    if (given->data_type != OSSL_PARAM_OCTET_STRING || given->data == nullptr) {
        raise(context, Reason::wrong_parameter, name);
        return false;
    }
    bytes = {static_cast<const uint8_t*>(given->data), given->data_size};
    return true;
}

int set_params(void* data, const OSSL_PARAM params[]) {
    Key& key = *static_cast<Key*>(data);
    if (params == nullptr) return 1;
    std::span<const uint8_t> share;
    if (!octets(key.context(), params, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, share)) return 0;
    if (OSSL_PARAM_locate_const(params, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY) == nullptr) return 1;
    return key.set_share(share);
}

const OSSL_PARAM* settable_params(void*) {
    static const OSSL_PARAM params[] = {
        OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, nullptr, 0), OSSL_PARAM_END};
    return params;
}

// ---- import and export: the share and, for pairs, the secret key ----

int import_key(void* data, int selection, const OSSL_PARAM params[]) {
    Key& key = *static_cast<Key*>(data);
    std::span<const uint8_t> share, secret_key, seed;
    if ((selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == 0) return 0;
    if (params == nullptr || !octets(key.context(), params, OSSL_PKEY_PARAM_PUB_KEY, share) ||
        !octets(key.context(), params, OSSL_PKEY_PARAM_PRIV_KEY, secret_key) ||
        !octets(key.context(), params, seed_param, seed))
        return 0;
    const bool with_secret = (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0;
    if (key.group().is_mlkem() && with_secret && seed.data() != nullptr)
        return key.set_seed(seed, secret_key, share);
    if ((key.group().is_mlkem() || key.group().is_x25519()) && with_secret &&
        secret_key.data() != nullptr)
        return key.set_pair(secret_key, share);
    if (share.empty()) {
        raise(key.context(), Reason::no_public_key);
        return 0;
    }
    if (!with_secret || secret_key.data() == nullptr) return key.set_share(share);
    return key.set_pair(secret_key, share);
}

int export_key(void* data, int selection, OSSL_CALLBACK* callback, void* user) {
    const Key& key = *static_cast<const Key*>(data);
    const bool with_secret = (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0;
    if ((selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == 0 || !key.has_public() ||
        (with_secret && !key.has_secret()))
        return 0;
    return key.export_to(with_secret, callback, user);
}

const OSSL_PARAM* transfer_types(int selection) {
    static const OSSL_PARAM share[] = {OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PUB_KEY, nullptr, 0),
                                       OSSL_PARAM_END};
    static const OSSL_PARAM pair[] = {OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PUB_KEY, nullptr, 0),
                                      OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PRIV_KEY, nullptr, 0),
                                      OSSL_PARAM_octet_string(seed_param, nullptr, 0),
                                      OSSL_PARAM_END};
    if ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0) return pair;
    return (selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) != 0 ? share : nullptr;
}

// ---- dispatch ----

template <size_t group>
const OSSL_DISPATCH functions[] = {
    dispatch(OSSL_FUNC_KEYMGMT_NEW, create<group>),
    dispatch(OSSL_FUNC_KEYMGMT_FREE, destroy),
    dispatch(OSSL_FUNC_KEYMGMT_DUP, duplicate),
    dispatch(OSSL_FUNC_KEYMGMT_LOAD, load),
    dispatch(OSSL_FUNC_KEYMGMT_HAS, has),
    dispatch(OSSL_FUNC_KEYMGMT_MATCH, match),
    dispatch(OSSL_FUNC_KEYMGMT_VALIDATE, validate),
    dispatch(OSSL_FUNC_KEYMGMT_GEN_INIT, begin_generation<group>),
    dispatch(OSSL_FUNC_KEYMGMT_GEN_SET_PARAMS, set_generation_params),
    dispatch(OSSL_FUNC_KEYMGMT_GEN_SETTABLE_PARAMS, settable_generation_params),
    dispatch(OSSL_FUNC_KEYMGMT_GEN, generate),
    dispatch(OSSL_FUNC_KEYMGMT_GEN_CLEANUP, end_generation),
    dispatch(OSSL_FUNC_KEYMGMT_GET_PARAMS, get_params),
    dispatch(OSSL_FUNC_KEYMGMT_GETTABLE_PARAMS, gettable_params),
    dispatch(OSSL_FUNC_KEYMGMT_SET_PARAMS, set_params),
    dispatch(OSSL_FUNC_KEYMGMT_SETTABLE_PARAMS, settable_params),
    dispatch(OSSL_FUNC_KEYMGMT_IMPORT, import_key),
    dispatch(OSSL_FUNC_KEYMGMT_IMPORT_TYPES, transfer_types),
    dispatch(OSSL_FUNC_KEYMGMT_EXPORT, export_key),
    dispatch(OSSL_FUNC_KEYMGMT_EXPORT_TYPES, transfer_types),
    {0, nullptr},
};

template <size_t... group>
constexpr std::array<OSSL_ALGORITHM, sizeof...(group)> every_algorithm(
    std::index_sequence<group...>) {
    return {{{algorithm_names<group>(), properties, functions<group>, groups[group].name}...}};
}

constexpr Tables tables(every_algorithm(std::make_index_sequence<groups.size()>()),
                        [](size_t entry) { return entry; });

}  // namespace

const OSSL_ALGORITHM* key_algorithms(Offer offer) { return tables[offer]; }

}  // namespace warpseal::provider

// Key management of one group, and encapsulation or agreement: a pair is made, copied, exported,
// imported and checked, and a secret is sent.
#include <openssl/core_names.h>
#include <openssl/params.h>

#include <algorithm>
#include <string>

#include "loaded.h"
#include "provider_works.h"

namespace works {
namespace {

constexpr size_t most = 4096, agreement_bytes = 32;
// Outputs of the work; their sizes are the group's.
uint8_t ciphertext[most], sent[most], received[most], share[most];

class Group {
public:
    Group(const Loaded& loaded, const char* name)
        : loaded_(loaded),
          keys_(loaded.provider(), OSSL_OP_KEYMGMT, name),
          kem_(loaded.provider(), OSSL_OP_KEM, name),
          agreement_(loaded.provider(), OSSL_OP_KEYEXCH, name),
          agrees_(std::string(name) == agreement_group) {}

    warpseal_status work() const;

private:
    Object generation() const {
        const auto begin = keys_.get<OSSL_FUNC_keymgmt_gen_init_fn>(OSSL_FUNC_KEYMGMT_GEN_INIT);
        return {"keymgmt_gen_init",
                [&] { return begin(loaded_.context(), OSSL_KEYMGMT_SELECT_KEYPAIR, nullptr); },
                "keymgmt_gen_cleanup",
                keys_.get<OSSL_FUNC_keymgmt_gen_cleanup_fn>(OSSL_FUNC_KEYMGMT_GEN_CLEANUP)};
    }
    void (*free_key() const)(void*) {
        return keys_.get<OSSL_FUNC_keymgmt_free_fn>(OSSL_FUNC_KEYMGMT_FREE);
    }
    Object kem_context() const {
        const auto create = kem_.get<OSSL_FUNC_kem_newctx_fn>(OSSL_FUNC_KEM_NEWCTX);
        return {"kem_newctx", [&] { return create(loaded_.context()); }, "kem_freectx",
                kem_.get<OSSL_FUNC_kem_freectx_fn>(OSSL_FUNC_KEM_FREECTX)};
    }
    warpseal_status import_and_check(void* key) const;
    warpseal_status get_and_set(void* key) const;
    warpseal_status encapsulate(void* context, void* key) const;
    warpseal_status decapsulate(void* context, void* key) const;
    warpseal_status send(void* key) const;
    warpseal_status derive(void* context, uint8_t* secret) const;
    warpseal_status agree(void* key) const;

    const Loaded& loaded_;
    const Functions keys_, kem_, agreement_;
    const bool agrees_;
    mutable size_t ciphertext_bytes_ = 0, secret_bytes_ = 0;
};

struct Import {
    OSSL_FUNC_keymgmt_import_fn* call;
    void* into;
    warpseal_status status;
};

// The export's callback imports what it is given.
warpseal_status Group::import_and_check(void* key) const {
    const auto create = keys_.get<OSSL_FUNC_keymgmt_new_fn>(OSSL_FUNC_KEYMGMT_NEW);
    const auto export_key = keys_.get<OSSL_FUNC_keymgmt_export_fn>(OSSL_FUNC_KEYMGMT_EXPORT);
    const auto validate = keys_.get<OSSL_FUNC_keymgmt_validate_fn>(OSSL_FUNC_KEYMGMT_VALIDATE);
    const auto match = keys_.get<OSSL_FUNC_keymgmt_match_fn>(OSSL_FUNC_KEYMGMT_MATCH);
    const Object other(
        "keymgmt_new", [&] { return create(loaded_.context()); }, "keymgmt_free", free_key());
    Import import{keys_.get<OSSL_FUNC_keymgmt_import_fn>(OSSL_FUNC_KEYMGMT_IMPORT), other.get(),
                  WARPSEAL_OK};
    const auto callback = [](const OSSL_PARAM params[], void* user) {
        Import& wanted = *static_cast<Import*>(user);
        wanted.status = checked("keymgmt_import", {}, [&] {
            return status_of(wanted.call(wanted.into, OSSL_KEYMGMT_SELECT_KEYPAIR, params));
        });
        return wanted.status == WARPSEAL_OK ? 1 : 0;
    };
    return Steps({other.status})
        .then("keymgmt_export",
              [&] {
                  return status_of(export_key(key, OSSL_KEYMGMT_SELECT_KEYPAIR, callback, &import));
              })
        .then("keymgmt_validate",
              [&] { return status_of(validate(other.get(), OSSL_KEYMGMT_SELECT_KEYPAIR, 0)); })
        .then("keymgmt_match",
              [&] { return status_of(match(key, other.get(), OSSL_KEYMGMT_SELECT_KEYPAIR)); });
}

// Reads the share and sets it in a key without any.
warpseal_status Group::get_and_set(void* key) const {
    const auto create = keys_.get<OSSL_FUNC_keymgmt_new_fn>(OSSL_FUNC_KEYMGMT_NEW);
    const auto get = keys_.get<OSSL_FUNC_keymgmt_get_params_fn>(OSSL_FUNC_KEYMGMT_GET_PARAMS);
    const auto set = keys_.get<OSSL_FUNC_keymgmt_set_params_fn>(OSSL_FUNC_KEYMGMT_SET_PARAMS);
    OSSL_PARAM params[] = {
        OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, share, sizeof share),
        OSSL_PARAM_END};
    const Object other(
        "keymgmt_new", [&] { return create(loaded_.context()); }, "keymgmt_free", free_key());
    return Steps({other.status})
        .then("keymgmt_get_params", {{share, sizeof share}},
              [&] { return status_of(get(key, params)); })
        .and_if_all_did([&] { params[0].data_size = params[0].return_size; })
        .then("keymgmt_set_params", [&] { return status_of(set(other.get(), params)); });
}

warpseal_status Group::encapsulate(void* context, void* key) const {
    const auto begin = kem_.get<OSSL_FUNC_kem_encapsulate_init_fn>(OSSL_FUNC_KEM_ENCAPSULATE_INIT);
    const auto call = kem_.get<OSSL_FUNC_kem_encapsulate_fn>(OSSL_FUNC_KEM_ENCAPSULATE);
    return Steps()
        .then("kem_encapsulate_init", [&] { return status_of(begin(context, key, nullptr)); })
        .then("kem_encapsulate",
              [&] {
                  return status_of(
                      call(context, nullptr, &ciphertext_bytes_, nullptr, &secret_bytes_));
              })
        .then("kem_encapsulate", {{ciphertext, ciphertext_bytes_}, {sent, secret_bytes_}}, [&] {
            return status_of(call(context, ciphertext, &ciphertext_bytes_, sent, &secret_bytes_));
        });
}

warpseal_status Group::decapsulate(void* context, void* key) const {
    const auto begin = kem_.get<OSSL_FUNC_kem_decapsulate_init_fn>(OSSL_FUNC_KEM_DECAPSULATE_INIT);
    const auto call = kem_.get<OSSL_FUNC_kem_decapsulate_fn>(OSSL_FUNC_KEM_DECAPSULATE);
    return Steps()
        .then("kem_decapsulate_init", [&] { return status_of(begin(context, key, nullptr)); })
        .then("kem_decapsulate", {{received, secret_bytes_}},
              [&] {
                  return status_of(
                      call(context, received, &secret_bytes_, ciphertext, ciphertext_bytes_));
              })
        .and_if_all_did([&] {
            if (!std::equal(sent, sent + secret_bytes_, received))
                complain("kem_decapsulate", "another secret");
        });
}

warpseal_status Group::derive(void* context, uint8_t* secret) const {
    const auto call = agreement_.get<OSSL_FUNC_keyexch_derive_fn>(OSSL_FUNC_KEYEXCH_DERIVE);
    return checked("keyexch_derive", {{secret, agreement_bytes}}, [&] {
        return status_of(call(context, secret, &secret_bytes_, agreement_bytes));
    });
}

// The key is its own peer. A copy of the context agrees too.
warpseal_status Group::agree(void* key) const {
    const auto create = agreement_.get<OSSL_FUNC_keyexch_newctx_fn>(OSSL_FUNC_KEYEXCH_NEWCTX);
    const auto begin = agreement_.get<OSSL_FUNC_keyexch_init_fn>(OSSL_FUNC_KEYEXCH_INIT);
    const auto set_peer = agreement_.get<OSSL_FUNC_keyexch_set_peer_fn>(OSSL_FUNC_KEYEXCH_SET_PEER);
    const auto duplicate = agreement_.get<OSSL_FUNC_keyexch_dupctx_fn>(OSSL_FUNC_KEYEXCH_DUPCTX);
    const auto free = agreement_.get<OSSL_FUNC_keyexch_freectx_fn>(OSSL_FUNC_KEYEXCH_FREECTX);
    const Object context(
        "keyexch_newctx", [&] { return create(loaded_.context()); }, "keyexch_freectx", free);
    const warpseal_status status =
        Steps({context.status})
            .then("keyexch_init", [&] { return status_of(begin(context.get(), key, nullptr)); })
            .then("keyexch_set_peer", [&] { return status_of(set_peer(context.get(), key)); })
            .run([&] { return derive(context.get(), sent); })
            .run([&] {
                const Object copy(
                    "keyexch_dupctx", [&] { return duplicate(context.get()); }, "keyexch_freectx",
                    free);
                return Steps({copy.status}).run([&] { return derive(copy.get(), received); });
            })
            .and_if_all_did([&] {
                if (!std::equal(sent, sent + agreement_bytes, received))
                    complain("keyexch_derive", "another secret");
            });
    if (status != WARPSEAL_OK && context.status == WARPSEAL_OK) (void)derive(context.get(), sent);
    return status;
}

// A copy of the context decapsulates. After a failure the same context may work again, and then
// gives the right secret.
warpseal_status Group::send(void* key) const {
    if (agrees_) return agree(key);
    const auto duplicate = kem_.get<OSSL_FUNC_kem_dupctx_fn>(OSSL_FUNC_KEM_DUPCTX);
    const Object context = kem_context();
    const warpseal_status status =
        Steps({context.status}).run([&] { return encapsulate(context.get(), key); }).run([&] {
            const Object copy(
                "kem_dupctx", [&] { return duplicate(context.get()); }, "kem_freectx",
                kem_.get<OSSL_FUNC_kem_freectx_fn>(OSSL_FUNC_KEM_FREECTX));
            return Steps({copy.status}).run([&] { return decapsulate(copy.get(), key); });
        });
    if (status != WARPSEAL_OK && context.status == WARPSEAL_OK &&
        encapsulate(context.get(), key) == WARPSEAL_OK)
        (void)decapsulate(context.get(), key);
    return status;
}

warpseal_status Group::work() const {
    const auto generate = keys_.get<OSSL_FUNC_keymgmt_gen_fn>(OSSL_FUNC_KEYMGMT_GEN);
    const auto duplicate = keys_.get<OSSL_FUNC_keymgmt_dup_fn>(OSSL_FUNC_KEYMGMT_DUP);
    const Object begun = generation();
    if (begun.status != WARPSEAL_OK) return begun.status;
    const Object key(
        "keymgmt_gen", [&] { return generate(begun.get(), nullptr, nullptr); }, "keymgmt_free",
        free_key());
    return Steps({key.status})
        .run([&] { return send(key.get()); })
        .run([&] { return send(key.get()); })  // a key of ML-KEM is now prepared
        .run([&] { return import_and_check(key.get()); })
        .run([&] { return get_and_set(key.get()); })
        .run([&] {
            const Object copy(
                "keymgmt_dup", [&] { return duplicate(key.get(), OSSL_KEYMGMT_SELECT_ALL); },
                "keymgmt_free", free_key());
            return Steps({copy.status}).run([&] { return send(copy.get()); });
        });
}

warpseal_status of(const char* name) {
    const Loaded loaded;
    return loaded.status == WARPSEAL_OK ? Group(loaded, name).work() : loaded.status;
}

}  // namespace

warpseal_status keys_ntru() { return of(ntru_group); }
warpseal_status keys_hybrid() { return of(hybrid_group); }
warpseal_status keys_mlkem() { return of(mlkem_group); }
warpseal_status keys_agreement() { return of(agreement_group); }

}  // namespace works

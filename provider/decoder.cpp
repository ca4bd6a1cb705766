// Decodes keys of the groups' algorithms from DER (provider-decoder(7)). libcrypto removes PEM and
// encryption before.
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/core_object.h>
#include <openssl/params.h>

#include <algorithm>
#include <new>
#include <utility>

#include "provider/algorithms.h"
#include "provider/encoding.h"
#include "provider/identifiers.h"
#include "provider/key.h"

namespace warpseal::provider {
namespace {

struct Decoder {
    const Context& context;
    size_t group;
};

template <size_t group>
void* create(void* context) {
    return new (std::nothrow) Decoder{*static_cast<const Context*>(context), group};
}

void destroy(void* decoder) { delete static_cast<Decoder*>(decoder); }

// Returns the whole input if it has exactly `bytes` bytes, otherwise nothing.
SecretBytes read_all(const Context& context, OSSL_CORE_BIO* in, size_t bytes) {
    SecretBytes read(bytes);
    size_t have = 0;
    for (size_t got = 0;
         have < read.size() &&
         context.calls().read(in, read.data() + have, read.size() - have, &got) == 1 && got > 0;)
        have += got;
    uint8_t more = 0;
    size_t got = 0;
    if (have != bytes || (context.calls().read(in, &more, 1, &got) == 1 && got != 0)) return {};
    return read;
}

// Returns the rest of an encoding that starts with `beginning`, otherwise nothing.
std::span<const uint8_t> after(std::span<const uint8_t> beginning, std::span<const uint8_t> all) {
    if (all.size() < beginning.size() ||
        !std::ranges::equal(beginning, all.first(beginning.size())))
        return {};
    return all.subspan(beginning.size());
}

int hand_over(std::unique_ptr<Key> key, OSSL_CALLBACK* callback, void* user) {
    int type = OSSL_OBJECT_PKEY;
    Key* reference = key.get();
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_int(OSSL_OBJECT_PARAM_TYPE, &type),
        OSSL_PARAM_construct_utf8_string(OSSL_OBJECT_PARAM_DATA_TYPE,
                                         const_cast<char*>(key->group().name), 0),
        OSSL_PARAM_construct_octet_string(OSSL_OBJECT_PARAM_REFERENCE, &reference, sizeof(void*)),
        OSSL_PARAM_construct_end(),
    };
    const int result = callback(params, user);
    if (reference == nullptr) (void)key.release();  // The callback has taken the key.
    return result;
}

// An unknown encoding is not an error, because another decoder may know it.
constexpr int not_ours = 1;

int decode_public_key(void* data, OSSL_CORE_BIO* in, int, OSSL_CALLBACK* callback, void* user,
                      OSSL_PASSPHRASE_CALLBACK*, void*) {
    const Decoder& decoder = *static_cast<const Decoder*>(data);
    const Group& group = groups[decoder.group];
    const std::span<const uint8_t> beginning = public_key_beginning(decoder.group);
    const SecretBytes all = read_all(decoder.context, in, beginning.size() + group.share_bytes());
    const std::span<const uint8_t> share = after(beginning, all);
    std::unique_ptr<Key> key(share.empty() ? nullptr
                                           : new (std::nothrow) Key(decoder.context, group));
    if (key == nullptr || !key->set_share(share)) return not_ours;
    return hand_over(std::move(key), callback, user);
}

int decode_private_key(void* data, OSSL_CORE_BIO* in, int, OSSL_CALLBACK* callback, void* user,
                       OSSL_PASSPHRASE_CALLBACK*, void*) {
    const Decoder& decoder = *static_cast<const Decoder*>(data);
    const Group& group = groups[decoder.group];
    const std::span<const uint8_t> beginning = private_key_beginning(decoder.group);
    const SecretBytes all =
        read_all(decoder.context, in, beginning.size() + private_key_bytes(group));
    const std::span<const uint8_t> both = after(beginning, all);
    std::unique_ptr<Key> key(both.empty() ? nullptr
                                          : new (std::nothrow) Key(decoder.context, group));
    if (key == nullptr || !key->set_pair(both.first(group.secret_key_bytes()),
                                         both.subspan(group.secret_key_bytes())))
        return not_ours;
    return hand_over(std::move(key), callback, user);
}

int public_key_fits(void*, int selection) {
    return selection == 0 || ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) == 0 &&
                              (selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) != 0);
}

int private_key_fits(void*, int selection) {
    return selection == 0 || (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0;
}

// Exports a key as parameters, for key management of another provider.
int export_key(void*, const void* reference, size_t bytes, OSSL_CALLBACK* callback, void* user) {
    if (reference == nullptr || bytes != sizeof(void*)) return 0;
    const Key& key = **static_cast<Key* const*>(reference);
    return key.export_to(key.has_secret(), callback, user);
}

template <size_t group>
const OSSL_DISPATCH public_key_functions[] = {
    dispatch(OSSL_FUNC_DECODER_NEWCTX, create<group>),
    dispatch(OSSL_FUNC_DECODER_FREECTX, destroy),
    dispatch(OSSL_FUNC_DECODER_DOES_SELECTION, public_key_fits),
    dispatch(OSSL_FUNC_DECODER_DECODE, decode_public_key),
    dispatch(OSSL_FUNC_DECODER_EXPORT_OBJECT, export_key),
    {0, nullptr},
};

template <size_t group>
const OSSL_DISPATCH private_key_functions[] = {
    dispatch(OSSL_FUNC_DECODER_NEWCTX, create<group>),
    dispatch(OSSL_FUNC_DECODER_FREECTX, destroy),
    dispatch(OSSL_FUNC_DECODER_DOES_SELECTION, private_key_fits),
    dispatch(OSSL_FUNC_DECODER_DECODE, decode_private_key),
    dispatch(OSSL_FUNC_DECODER_EXPORT_OBJECT, export_key),
    {0, nullptr},
};

constexpr char from_public_key[] = "provider=warpseal,input=der,structure=SubjectPublicKeyInfo";
constexpr char from_private_key[] = "provider=warpseal,input=der,structure=PrivateKeyInfo";

template <size_t... group>
constexpr std::array<OSSL_ALGORITHM, 2 * groups.size() + 1> every_algorithm(
    std::index_sequence<group...>) {
    return {{{algorithm_names<group>(), from_public_key, public_key_functions<group>,
              groups[group].name}...,
             {algorithm_names<group>(), from_private_key, private_key_functions<group>,
              groups[group].name}...,
             {nullptr, nullptr, nullptr, nullptr}}};
}

constexpr std::array algorithms = every_algorithm(std::make_index_sequence<groups.size()>());

}  // namespace

const OSSL_ALGORITHM* decoder_algorithms() { return algorithms.data(); }

}  // namespace warpseal::provider

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

// An input as far as it has been read, with one byte of room.
struct Input {
    SecretBytes memory;
    size_t bytes = 0;
    std::span<const uint8_t> all() const { return std::span<const uint8_t>(memory).first(bytes); }
};

// Returns the whole input if it has at most `most` bytes, otherwise nothing.
Input read_all(const Context& context, OSSL_CORE_BIO* in, size_t most) {
    Input input{SecretBytes(most + 1)};
    for (size_t got = 0; input.bytes < input.memory.size() &&
                         context.calls().read(in, input.memory.data() + input.bytes,
                                              input.memory.size() - input.bytes, &got) == 1 &&
                         got > 0;)
        input.bytes += got;
    if (input.bytes > most) input.bytes = 0;
    return input;
}

// Returns the rest of an encoding that starts with `beginning` and has `bytes` bytes after it,
// otherwise nothing.
std::span<const uint8_t> after(std::span<const uint8_t> beginning, size_t bytes,
                               std::span<const uint8_t> all) {
    if (all.size() != beginning.size() + bytes ||
        !std::ranges::equal(beginning, all.first(beginning.size())))
        return {};
    return all.subspan(beginning.size());
}

std::span<const uint8_t> after(const Decoder& decoder, PrivateForm form,
                               std::span<const uint8_t> all) {
    return after(private_key_beginning(decoder.group, form),
                 private_key_bytes(groups[decoder.group], form), all);
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
    const Input input = read_all(decoder.context, in, beginning.size() + group.share_bytes());
    const std::span<const uint8_t> share = after(beginning, group.share_bytes(), input.all());
    std::unique_ptr<Key> key(share.empty() ? nullptr
                                           : new (std::nothrow) Key(decoder.context, group));
    if (key == nullptr || !key->set_share(share)) return not_ours;
    return hand_over(std::move(key), callback, user);
}

// Sets a key of ML-KEM from an encoding in one of the forms of RFC 9935.
bool set_mlkem_key(const Decoder& decoder, std::span<const uint8_t> all, Key& key) {
    if (const auto seed = after(decoder, PrivateForm::seed, all); !seed.empty())
        return key.set_seed(seed, {}, {});
    if (const auto secret = after(decoder, PrivateForm::expanded, all); !secret.empty())
        return key.set_pair(secret, {});
    const auto both = after(decoder, PrivateForm::both, all);
    const auto header = expanded_key_header(decoder.group);
    if (both.empty() || !std::ranges::equal(both.subspan(mlkem_seed_bytes, header.size()), header))
        return false;
    return key.set_seed(both.first(mlkem_seed_bytes),
                        both.subspan(mlkem_seed_bytes + header.size()), {});
}

bool set_private_key(const Decoder& decoder, std::span<const uint8_t> all, Key& key) {
    const Group& group = groups[decoder.group];
    if (group.is_mlkem()) return set_mlkem_key(decoder, all, key);
    if (group.is_x25519()) {
        const auto scalar = after(decoder, PrivateForm::expanded, all);
        return !scalar.empty() && key.set_pair(scalar, {});
    }
    const auto both = after(decoder, PrivateForm::with_share, all);
    return !both.empty() && key.set_pair(both.first(group.secret_key_bytes()),
                                         both.subspan(group.secret_key_bytes()));
}

// Number of bytes of the longest encoding of a private key.
size_t most_private_bytes(const Decoder& decoder) {
    size_t most = 0;
    for (int form = 0; form < private_form_count; ++form)
        most = std::max(
            most, private_key_beginning(decoder.group, static_cast<PrivateForm>(form)).size() +
                      private_key_bytes(groups[decoder.group], static_cast<PrivateForm>(form)));
    return most;
}

int decode_private_key(void* data, OSSL_CORE_BIO* in, int, OSSL_CALLBACK* callback, void* user,
                       OSSL_PASSPHRASE_CALLBACK*, void*) {
    const Decoder& decoder = *static_cast<const Decoder*>(data);
    const Group& group = groups[decoder.group];
    const Input input = read_all(decoder.context, in, most_private_bytes(decoder));
    std::unique_ptr<Key> key(new (std::nothrow) Key(decoder.context, group));
    if (key == nullptr || !set_private_key(decoder, input.all(), *key)) return not_ours;
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
constexpr std::array<OSSL_ALGORITHM, 2 * sizeof...(group)> every_algorithm(
    std::index_sequence<group...>) {
    return {{{algorithm_names<group>(), from_public_key, public_key_functions<group>,
              groups[group].name}...,
             {algorithm_names<group>(), from_private_key, private_key_functions<group>,
              groups[group].name}...}};
}

constexpr Tables tables(every_algorithm(std::make_index_sequence<groups.size()>()),
                        [](size_t entry) { return entry % groups.size(); });

}  // namespace

const OSSL_ALGORITHM* decoder_algorithms(Offer offer) { return tables[offer]; }

}  // namespace warpseal::provider

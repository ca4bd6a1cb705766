// Block ciphers for EVP: an algorithm for each row of cipher_names.h that the catalogue has.
#include <openssl/core_dispatch.h>

#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "provider/algorithms.h"
#include "provider/cipher_block.h"
#include "provider/cipher_ccm.h"
#include "provider/cipher_gcm.h"
#include "provider/cipher_names.h"
#include "provider/cipher_stream.h"
#include "provider/cipher_xts.h"
#include "provider/stack.h"

namespace warpseal::provider {
namespace {

constexpr size_t row_count = std::size(cipher_names);

// Filled when the module is loaded.
std::array<CipherAlgorithm, row_count> algorithms;

// Runs `work`; no exception reaches libcrypto.
template <class Cipher, class Work>
inline __attribute__((always_inline)) int attempted(Cipher* cipher, const Work& work) noexcept {
    int done = 0;
    try {
        done = work(*cipher) ? 1 : 0;
    } catch (...) {  // Only allocations throw.
        raise(cipher->provider(), Reason::out_of_memory);
    }
    if constexpr (requires { cipher->settle(); }) cipher->settle();
    return done;
}

// Same as attempted, with enough stack for the engine.
template <class Cipher, class Work>
__attribute__((noinline)) int guarded(Cipher* cipher, Work work) noexcept {
    if (has_stack()) return attempted(cipher, work);
    int done = 0;
    if (!with_stack([&]() noexcept { done = attempted(cipher, work); }))
        raise(cipher->provider(), Reason::out_of_memory);
    return done;
}

// Wraps a context's members as functions for libcrypto.
template <class Cipher>
struct Calls {
    static void free(void* context) { delete static_cast<Cipher*>(context); }
    static void* duplicate(void* context) {
        const Cipher& from = *static_cast<Cipher*>(context);
        Cipher* made = nullptr;
        guarded(&from, [&](const Cipher&) { return (made = new Cipher(from)) != nullptr; });
        if constexpr (requires { made->stop_counting(); }) {
            if (made != nullptr) made->stop_counting();
        }
        return made;
    }
    template <bool decrypt>
    static int init(void* context, const unsigned char* key, size_t key_bytes,
                    const unsigned char* iv, size_t iv_bytes, const OSSL_PARAM params[]) {
        return guarded(static_cast<Cipher*>(context), [&](Cipher& cipher) {
            return cipher.init(decrypt, key, key_bytes, iv, iv_bytes, params);
        });
    }
    static int update(void* context, unsigned char* out, size_t* out_bytes, size_t capacity,
                      const unsigned char* in, size_t bytes) {
        if constexpr (requires { &Cipher::run_directly; }) {
            if (static_cast<Cipher*>(context)->run_directly(out, out_bytes, capacity, in, bytes))
                return 1;
        }
        return update_in_full(context, out, out_bytes, capacity, in, bytes);
    }
    static __attribute__((noinline)) int update_in_full(void* context, unsigned char* out,
                                                        size_t* out_bytes, size_t capacity,
                                                        const unsigned char* in, size_t bytes) {
        const auto work = [=](Cipher& cipher) {
            return cipher.update(out, out_bytes, capacity, in, bytes);
        };
        Cipher* const cipher = static_cast<Cipher*>(context);
        return bytes <= cipher->shallow_bytes() ? attempted(cipher, work) : guarded(cipher, work);
    }
    static int final(void* context, unsigned char* out, size_t* out_bytes, size_t capacity) {
        return guarded(static_cast<Cipher*>(context),
                       [&](Cipher& cipher) { return cipher.final(out, out_bytes, capacity); });
    }
    static int cipher(void* context, unsigned char* out, size_t* out_bytes, size_t capacity,
                      const unsigned char* in, size_t bytes) {
        return guarded(static_cast<Cipher*>(context), [&](Cipher& cipher) {
            return cipher.cipher(out, out_bytes, capacity, in, bytes);
        });
    }
    // Parameters run without a stack check; a member that needs more stack checks it itself.
    static int get(void* context, OSSL_PARAM params[]) {
        const auto work = [&](Cipher& cipher) { return cipher.get(params); };
        return attempted(static_cast<Cipher*>(context), work);
    }
    static int set(void* context, const OSSL_PARAM params[]) {
        const auto work = [&](Cipher& cipher) { return cipher.set(params); };
        return attempted(static_cast<Cipher*>(context), work);
    }
    static const OSSL_PARAM* settable(void*, void*) { return Cipher::settable(); }
};

template <warpseal_mode mode>
struct ContextOf {
    using Type = StreamCipher;
};
template <>
struct ContextOf<WARPSEAL_ECB> {
    using Type = BlockCipher;
};
template <>
struct ContextOf<WARPSEAL_CBC> {
    using Type = BlockCipher;
};
template <>
struct ContextOf<WARPSEAL_GCM> {
    using Type = GcmCipher;
};
template <>
struct ContextOf<WARPSEAL_CCM> {
    using Type = CcmCipher;
};
template <>
struct ContextOf<WARPSEAL_XTS> {
    using Type = XtsCipher;
};

template <size_t row>
void* create(void* provider) {
    using Cipher = typename ContextOf<cipher_names[row].mode>::Type;
    return new (std::nothrow) Cipher(*static_cast<const Context*>(provider), algorithms[row]);
}

template <size_t row>
int get_params(OSSL_PARAM params[]) {
    return get_cipher_params(algorithms[row], params) ? 1 : 0;
}

template <size_t row>
const OSSL_PARAM* gettable(void*, void*) {
    using Cipher = typename ContextOf<cipher_names[row].mode>::Type;
    if constexpr (requires { Cipher::gettable(true); }) {
        return Cipher::gettable(cipher_names[row].parity);
    } else {
        return Cipher::gettable();
    }
}

template <size_t row>
using Of = Calls<typename ContextOf<cipher_names[row].mode>::Type>;

template <size_t row>
const OSSL_DISPATCH functions[] = {
    dispatch(OSSL_FUNC_CIPHER_NEWCTX, create<row>),
    dispatch(OSSL_FUNC_CIPHER_FREECTX, Of<row>::free),
    dispatch(OSSL_FUNC_CIPHER_DUPCTX, Of<row>::duplicate),
    dispatch(OSSL_FUNC_CIPHER_ENCRYPT_INIT, Of<row>::template init<false>),
    dispatch(OSSL_FUNC_CIPHER_DECRYPT_INIT, Of<row>::template init<true>),
    dispatch(OSSL_FUNC_CIPHER_UPDATE, Of<row>::update),
    dispatch(OSSL_FUNC_CIPHER_FINAL, Of<row>::final),
    dispatch(OSSL_FUNC_CIPHER_CIPHER, Of<row>::cipher),
    dispatch(OSSL_FUNC_CIPHER_GET_PARAMS, get_params<row>),
    dispatch(OSSL_FUNC_CIPHER_GETTABLE_PARAMS, gettable_cipher_params),
    dispatch(OSSL_FUNC_CIPHER_GET_CTX_PARAMS, Of<row>::get),
    dispatch(OSSL_FUNC_CIPHER_SET_CTX_PARAMS, Of<row>::set),
    dispatch(OSSL_FUNC_CIPHER_GETTABLE_CTX_PARAMS, gettable<row>),
    dispatch(OSSL_FUNC_CIPHER_SETTABLE_CTX_PARAMS, Of<row>::settable),
    {0, nullptr},
};

bool in_catalogue(const CipherNames& names, warpseal_cipher_info& info) {
    for (size_t i = 0; warpseal_cipher_at(i, &info) == WARPSEAL_OK; ++i)
        if (std::strcmp(info.name, names.cipher) == 0) return (info.modes >> names.mode & 1) != 0;
    return false;
}

struct Table {
    OSSL_ALGORITHM rows[row_count + 1] = {};
    size_t count = 0;

    Table() { add(std::make_index_sequence<row_count>()); }

    template <size_t... row>
    void add(std::index_sequence<row...>) {
        (add_row<row>(), ...);
    }

    template <size_t row>
    void add_row() {
        constexpr CipherNames names = cipher_names[row];
        warpseal_cipher_info info;
        if (!in_catalogue(names, info)) return;
        algorithms[row] = {info.name,
                           names.mode,
                           size_t{info.key_bytes} * (names.mode == WARPSEAL_XTS ? 2 : 1),
                           info.block_bytes,
                           names.parity,
                           row};
        rows[count++] = {names.names, info.legacy != 0 ? legacy_properties : properties,
                         functions<row>, nullptr};
    }
};

// Built when the module is loaded, which takes microseconds and cannot fail.
const Table table;

}  // namespace

const OSSL_ALGORITHM* cipher_algorithms() { return table.rows; }

}  // namespace warpseal::provider

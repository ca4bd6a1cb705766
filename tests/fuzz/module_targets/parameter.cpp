// OSSL_PARAM arrays with any name that a cipher knows, any type and any size: set and get end with
// success or failure, write within the caller's memory alone, and the context works afterwards.
#include "fuzz/target.h"
#include "provider/cipher.h"

namespace {

using fuzz::claim;
using fuzz::Data;

constexpr size_t slot = 64;

std::vector<const char*> names_of(const EVP_CIPHER* cipher) {
    std::vector<const char*> names = {"unknown"};
    for (const OSSL_PARAM* list :
         {EVP_CIPHER_settable_ctx_params(cipher), EVP_CIPHER_gettable_ctx_params(cipher)})
        for (; list != nullptr && list->key != nullptr; ++list) names.push_back(list->key);
    return names;
}

void run(const uint8_t* data, size_t bytes) {
    static const std::vector<std::string>& all = *new auto(tests::our_ciphers());
    static constexpr unsigned types[] = {OSSL_PARAM_INTEGER,     OSSL_PARAM_UNSIGNED_INTEGER,
                                         OSSL_PARAM_UTF8_STRING, OSSL_PARAM_OCTET_STRING,
                                         OSSL_PARAM_UTF8_PTR,    OSSL_PARAM_OCTET_PTR};
    fuzz::Input input(data, bytes);
    const tests::Cipher cipher = tests::our_cipher(all[input.below(all.size())]);
    const std::vector<const char*> names = names_of(cipher.get());
    tests::Evp one(cipher.get());
    const Data key(tests::key_bytes(cipher), 1), iv(32, 2);
    Data two_keys = key;
    two_keys[0] = 5;  // XTS refuses equal halves
    one.init(input.below(2) == 0, two_keys.data(), iv.data());
    while (input.left() != 0) {
        const bool sets = input.below(2) == 0;
        std::vector<OSSL_PARAM> params;
        Data memory(4 * slot, 0xa5);
        const size_t count = 1 + input.below(3);
        for (size_t i = 0; i < count; ++i) {
            const char* name = names[input.below(names.size())];
            // EVP_CIPHER_CTX_rand_key gives 0 for its size, so that the size is no bound.
            if (std::string_view(name) == OSSL_CIPHER_PARAM_RANDOM_KEY) name = names[0];
            const unsigned type = types[input.below(sets ? 6 : 4)];
            const size_t size = input.below(33);
            uint8_t* const at = memory.data() + i * slot;
            if (sets && type >= OSSL_PARAM_UTF8_PTR) continue;
            const Data value = input.take(size);
            std::copy(value.begin(), value.end(), at);
            if (type == OSSL_PARAM_UTF8_STRING) at[size] = 0;
            params.push_back(
                {name, type, input.below(16) == 15 ? nullptr : at, size, OSSL_PARAM_UNMODIFIED});
        }
        params.push_back(OSSL_PARAM_construct_end());
        if (sets)
            EVP_CIPHER_CTX_set_params(one.get(), params.data());
        else
            EVP_CIPHER_CTX_get_params(one.get(), params.data());
        for (size_t i = 0; i < count; ++i)
            claim(std::all_of(memory.begin() + static_cast<ptrdiff_t>(i * slot + 34),
                              memory.begin() + static_cast<ptrdiff_t>((i + 1) * slot),
                              [](uint8_t byte) { return byte == 0xa5; }),
                  "nothing is written past a parameter");
        Data out(200);
        size_t made = 0;
        one.update(iv.data(), 16, out.data(), &made);
        claim(made <= 48, "an update writes at most its input and two blocks");
    }
    claim(EVP_CIPHER_CTX_reset(one.get()) == 1, "a context can be reset");
    ERR_clear_error();
}

std::vector<Data> seeds() {
    std::vector<Data> out;
    for (uint8_t cipher = 0; cipher < 88; cipher += 3)
        out.push_back({cipher, 0, 0,  1, 1, 1, 8, 0, 0, 0, 0, 0, 0,  0,  16, 0,
                       2,      3, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0});
    return out;
}

FUZZ_TARGET("parameter", run, seeds);

}  // namespace

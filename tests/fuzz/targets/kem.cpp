// KEM inputs: any public key, secret key and ciphertext. A call ends with a status, and the same
// input gives the same secret.
#include "warpseal/kem.h"
#include "container/readers.h"
#include "fuzz/target.h"

namespace {

using fuzz::claim;
using fuzz::Data;

struct KeyPair {
    warpseal_kem_info info{};
    Data public_key, secret_key;
};

std::vector<KeyPair> make_key_pairs() {
    std::vector<KeyPair> out;
    for (KeyPair pair; warpseal_kem_at(out.size(), &pair.info) == WARPSEAL_OK;) {
        pair.public_key.resize(pair.info.public_key_bytes);
        pair.secret_key.resize(pair.info.secret_key_bytes);
        warpseal_kem_batch batch{};
        batch.struct_bytes = sizeof batch;
        batch.count = 1;
        batch.public_keys = pair.public_key.data();
        batch.secret_keys = pair.secret_key.data();
        claim(warpseal_kem_keypair(tests::c_engine(), pair.info.name, &batch) == WARPSEAL_OK,
              "a key pair is made");
        out.push_back(pair);
    }
    return out;
}

void run(const uint8_t* data, size_t bytes) {
    static const std::vector<KeyPair>& pairs = *new auto(make_key_pairs());
    fuzz::Input input(data, bytes);
    KeyPair pair = pairs[input.below(pairs.size())];
    Data ciphertext(pair.info.ciphertext_bytes), secret(pair.info.shared_secret_bytes, 0xa5);
    const uint64_t what = input.number(1);
    Data& patched = what % 3 == 0 ? pair.public_key : what % 3 == 1 ? pair.secret_key : ciphertext;
    const size_t size = patched.size();
    int32_t item = -1;
    warpseal_kem_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.count = 1;
    batch.public_keys = pair.public_key.data();
    batch.secret_keys = pair.secret_key.data();
    batch.ciphertexts = ciphertext.data();
    batch.shared_secrets = secret.data();
    batch.statuses = &item;
    const auto apply = [&] {
        Data changed = patched;
        fuzz::patch(changed, input);
        changed.resize(size);
        std::copy(changed.begin(), changed.end(), patched.begin());
    };
    if (what % 3 == 0) apply();
    const warpseal_status made =
        warpseal_kem_encapsulate(tests::c_engine(), pair.info.name, &batch);
    claim(made == WARPSEAL_OK || made == WARPSEAL_INVALID_ARGUMENT, "encapsulation ends");
    claim(made == item, "the item has the status of the call");
    if (made != WARPSEAL_OK)
        claim(ciphertext == Data(ciphertext.size(), 0) && secret == Data(secret.size(), 0),
              "outputs of a refused item are zero");
    const Data encapsulated = secret;
    if (what % 3 != 0) apply();
    const warpseal_status opened =
        warpseal_kem_decapsulate(tests::c_engine(), pair.info.name, &batch);
    // ML-KEM checks the hash in the secret key, and X25519 refuses a ciphertext of low order.
    const bool with_x25519 = pair.info.name[0] == 'x';
    if ((what % 3 == 1 || with_x25519) && opened == WARPSEAL_INVALID_ARGUMENT) {
        claim(secret == Data(secret.size(), 0), "the output of a refused item is zero");
        return;
    }
    claim(opened == WARPSEAL_OK, "decapsulation has no error for a ciphertext");
    const Data first = secret;
    claim(warpseal_kem_decapsulate(tests::c_engine(), pair.info.name, &batch) == WARPSEAL_OK &&
              secret == first,
          "one input has one secret");
    if (bytes <= 2) claim(first == encapsulated, "an unchanged ciphertext gives the secret");
}

std::vector<Data> seeds() {
    std::vector<Data> out;
    for (uint8_t set = 0; set < 12; ++set)
        for (uint8_t what = 0; what < 3; ++what) {
            out.push_back({set, what});
            out.push_back({set, what, 0, 0, set, 1, 1, 0, 1, 0x80});
        }
    return out;
}

FUZZ_TARGET("kem", run, seeds);

}  // namespace

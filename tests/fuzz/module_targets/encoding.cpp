// Keys in DER and PEM through the provider's decoders: a refusal, or a key that is encoded as it
// was read.
#include <openssl/decoder.h>
#include <openssl/encoder.h>

#include "fuzz/target.h"
#include "provider/encodings.h"
#include "provider/library.h"

namespace {

using fuzz::claim;
using fuzz::Data;
using tests::encoded;
using tests::Format;
using tests::formats;

const tests::Library& library() {
    static const tests::Library& one = *new tests::Library;
    return one;
}

tests::Key decoded(const std::string& group, const Format& format, const Data& text) {
    EVP_PKEY* key = nullptr;
    OSSL_DECODER_CTX* const context =
        OSSL_DECODER_CTX_new_for_pkey(&key, format.type, format.structure, group.c_str(),
                                      format.selection, library().context(), tests::our_own);
    const unsigned char* at = text.data();
    size_t left = text.size();
    OSSL_DECODER_from_data(context, &at, &left);
    OSSL_DECODER_CTX_free(context);
    ERR_clear_error();
    return tests::Key(key);
}

// The first two bytes choose group and format.
void run(const uint8_t* data, size_t bytes) {
    static const std::vector<std::string>& groups = *new auto(library().groups());
    fuzz::Input input(data, bytes);
    const std::string& group = groups[input.below(groups.size())];
    const Format& format = formats[input.below(4)];
    const tests::Key key = decoded(group, format, input.rest());
    if (!key) return;
    const Data again = encoded(key.get(), format);
    claim(!again.empty(), "a key that was read can be written");
    const tests::Key back = decoded(group, format, again);
    claim(back != nullptr, "a key that was written can be read");
    claim(EVP_PKEY_eq(key.get(), back.get()) == 1, "what was written is the same key");
    const tests::Encapsulated made = tests::encapsulate(library(), key.get());
    if (!made.secret.empty() && format.selection == EVP_PKEY_KEYPAIR)
        tests::decapsulate(library(), key.get(), made.ciphertext);
    ERR_clear_error();
}

std::vector<Data> seeds() {
    std::vector<Data> out;
    uint8_t number = 0;
    for (const std::string& group : library().groups()) {
        const tests::Key key = library().generate(group);
        claim(key != nullptr, "a key is generated");
        for (uint8_t i = 0; i < 4; ++i) {
            Data one = encoded(key.get(), formats[i]);
            claim(!one.empty(), "a key is encoded");
            one.insert(one.begin(), {number, i});
            out.push_back(std::move(one));
        }
        ++number;
    }
    return out;
}

FUZZ_TARGET("encoding", run, seeds);

}  // namespace

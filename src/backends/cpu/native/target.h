// What a native target gives to the shapes: AES and GHASH by its instructions, and vectors of its
// width for every other cipher.
#pragma once

#include "backends/cpu/bytes.h"
#if defined(__GFNI__)
#include "backends/cpu/native/rows_gfni.h"
#endif
#include "backends/cpu/planes.h"
#include "backends/cpu/words.h"

namespace warpseal::cpu {
namespace {

using Hash = CarrylessHash<Width>;
using PlaneWord = uint64_t __attribute__((vector_size(vector_bytes)));

#if defined(__GFNI__)
template <class Cipher>
using BytesOrRows =
    std::conditional_t<has_rows<Cipher>, RowForm<Cipher, vector_bytes, Substitution>,
                       ByteForm<Cipher, vector_bytes, Substitution>>;
#else
template <class Cipher>
using BytesOrRows = ByteForm<Cipher, vector_bytes, Substitution>;
#endif

// The form in which this target runs a cipher.
template <class Cipher>
struct FormOf {
    using type = std::conditional_t<
        has_words<Cipher>, WordForm<Cipher, vector_bytes>,
        std::conditional_t<has_bytes<Cipher>, BytesOrRows<Cipher>, PlaneForm<Cipher, PlaneWord>>>;
};
template <int key_bits>
struct FormOf<ciphers::aes::Aes<key_bits>> {
    using type = AesForm<key_bits, Width>;
};

}  // namespace
}  // namespace warpseal::cpu

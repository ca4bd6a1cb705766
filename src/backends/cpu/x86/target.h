// Definitions of the x86 targets for the mode functions: AES and GHASH by instructions, and vectors
// of the target's width for all other ciphers.
#pragma once

#include "backends/cpu/representations/byte_sliced.h"
#if defined(__GFNI__)
#include "backends/cpu/x86/rows_gfni.h"
#endif
#include "backends/cpu/representations/bitsliced.h"
#include "backends/cpu/representations/word_sliced.h"

namespace warpseal::cpu {
namespace {

using Hash = CarrylessHash<Width>;
using BitslicedWord = uint64_t __attribute__((vector_size(vector_bytes)));

#if defined(__GFNI__)
template <class Cipher>
using BytesOrRows =
    std::conditional_t<has_rows<Cipher>, ByteSlicedRows<Cipher, vector_bytes, Substitution>,
                       ByteSliced<Cipher, vector_bytes, Substitution>>;
#else
template <class Cipher>
using BytesOrRows = ByteSliced<Cipher, vector_bytes, Substitution>;
#endif

// Selects the representation of a cipher on this target.
template <class Cipher>
struct RepresentationOf {
    using type = std::conditional_t<has_words<Cipher>, WordSliced<Cipher, vector_bytes>,
                                    std::conditional_t<has_bytes<Cipher>, BytesOrRows<Cipher>,
                                                       Bitsliced<Cipher, BitslicedWord>>>;
};
template <int key_bits>
struct RepresentationOf<ciphers::aes::Aes<key_bits>> {
    using type = AesInstructions<key_bits, Width>;
};

}  // namespace
}  // namespace warpseal::cpu

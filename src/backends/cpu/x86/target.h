// The x86 targets, as parameters of the mode functions: AES and GHASH by instructions, and vectors
// for all other ciphers.
#pragma once

#include <type_traits>

#include "backends/cpu/representations/bitsliced.h"
#include "backends/cpu/representations/vector.h"
#include "backends/cpu/representations/word_sliced.h"
#include "backends/cpu/x86/aes.h"
#include "backends/cpu/x86/ghash.h"

namespace warpseal::cpu {
namespace {

// Selects the representation of a cipher on a target.
template <class Target, class Cipher>
struct X86Representation {
    using type = std::conditional_t<
        has_words<Cipher>, WordSliced<Cipher, Target::vector_bytes>,
        std::conditional_t<has_bytes<Cipher>, typename Target::template ByteSliced<Cipher>,
                           Bitsliced<Cipher, typename Target::BitslicedWord>>>;
};
template <class Target, int key_bits>
struct X86Representation<Target, ciphers::aes::Aes<key_bits>> {
    using type = AesInstructions<key_bits, typename Target::Width>;
};

// AesWidth is the vector of the AES and GHASH instructions. The sliced representations have vectors
// of `bytes` bytes.
template <class AesWidth, size_t bytes, template <class Cipher, size_t vector_bytes> class Bytes>
struct X86Target {
    using Width = AesWidth;
    using Hash = CarrylessHash<Width>;
    static constexpr size_t vector_bytes = bytes;
    using BitslicedWord = VectorOf<uint64_t, bytes>;
    template <class Cipher>
    using ByteSliced = Bytes<Cipher, bytes>;
    template <class Cipher>
    using RepresentationOf = typename X86Representation<X86Target, Cipher>::type;
};

}  // namespace
}  // namespace warpseal::cpu

// What a native target gives to the shapes: AES and GHASH by its instructions, and planes of its width for every other cipher.
#pragma once

namespace warpseal::cpu {
namespace {

using Hash = CarrylessHash<Width>;
using PlaneWord = uint64_t __attribute__((vector_size(vector_bytes)));

// The form in which this target runs a cipher.
template <class Cipher>
struct FormOf {
    using type = PlaneForm<Cipher, PlaneWord>;
};
template <int key_bits>
struct FormOf<ciphers::aes::Aes<key_bits>> {
    using type = AesForm<key_bits, Width>;
};

}  // namespace
}  // namespace warpseal::cpu

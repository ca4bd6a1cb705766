// Representations that a cipher header gives.
#pragma once

#include "core/bitsliced_byte.h"

namespace warpseal::cpu {
namespace {

template <class Cipher>
inline constexpr bool has_bytes = requires(BitslicedByte<uint64_t> (&s)[Cipher::block_bytes],
                                           BitslicedByte<uint64_t> (*key)(int)) {
    Cipher::encrypt_bytes(s, key);
};

// True if decryption has code of its own, rather than encryption under another schedule.
template <class Cipher>
inline constexpr bool decrypts_otherwise = requires(
    BitslicedByte<uint64_t> (&s)[Cipher::block_bytes], BitslicedByte<uint64_t> (*key)(int)) {
    Cipher::decrypt_bytes(s, key);
}
|| requires(uint64_t (&plane)[8 * Cipher::block_bytes], uint64_t (*key)(int)) {
    Cipher::decrypt_bitsliced(plane, key);
};

}  // namespace
}  // namespace warpseal::cpu

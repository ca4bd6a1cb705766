// AVX2 target: AES-NI and PCLMULQDQ, one block to a vector, with AVX2 and BMI2 for all other
// ciphers.
#pragma once

#include <immintrin.h>

#include "backends/cpu/representations/bitsliced.h"
#include "backends/cpu/x86/aes.h"
#include "backends/cpu/x86/bytes_aesni.h"
#include "backends/cpu/x86/ghash.h"
#include "backends/cpu/x86/width128.h"

namespace warpseal::cpu {
namespace {

constexpr size_t vector_bytes = 32;  // for the sliced representations

}  // namespace
}  // namespace warpseal::cpu

#include "backends/cpu/x86/target.h"

// AVX2 target: AES-NI and PCLMULQDQ, one block to a vector, with AVX2 and BMI2 for all other
// ciphers.
#pragma once

#include "backends/cpu/x86/bytes_aesni.h"
#include "backends/cpu/x86/target.h"
#include "backends/cpu/x86/width128.h"

namespace warpseal::cpu {
namespace {

struct Avx2 : X86Target<Width128, 32, ByteSlicedByAes> {};

}  // namespace
}  // namespace warpseal::cpu

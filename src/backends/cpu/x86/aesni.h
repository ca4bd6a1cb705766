// AES-NI target: AES-NI and PCLMULQDQ with SSE4.1, one block to a vector.
#pragma once

#include <immintrin.h>

#include "backends/cpu/representations/bitsliced.h"
#include "backends/cpu/x86/aes.h"
#include "backends/cpu/x86/bytes_aesni.h"
#include "backends/cpu/x86/ghash.h"
#include "backends/cpu/x86/width128.h"

namespace warpseal::cpu {
namespace {

constexpr size_t vector_bytes = 16;  // for the sliced representations

}  // namespace
}  // namespace warpseal::cpu

#include "backends/cpu/x86/target.h"

// The AES-NI target: AES-NI and PCLMULQDQ with SSE4.1, one block to a vector.
#pragma once

#include <immintrin.h>

#include "backends/cpu/native/aes.h"
#include "backends/cpu/native/bytes_aesni.h"
#include "backends/cpu/native/ghash.h"
#include "backends/cpu/native/width128.h"
#include "backends/cpu/planes.h"

namespace warpseal::cpu {
namespace {

constexpr size_t vector_bytes = 16;  // of what runs in byte form and plane form

}  // namespace
}  // namespace warpseal::cpu

#include "backends/cpu/native/target.h"

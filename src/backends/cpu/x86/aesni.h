// AES-NI target: AES-NI and PCLMULQDQ with SSE4.1, one block to a vector.
#pragma once

#include "backends/cpu/x86/bytes_aesni.h"
#include "backends/cpu/x86/target.h"
#include "backends/cpu/x86/width128.h"

namespace warpseal::cpu {
namespace {

struct Aesni : X86Target<Width128, 16, ByteSlicedByAes> {};

}  // namespace
}  // namespace warpseal::cpu

// Included after msan_models.h before the sources of ML-KEM.
#pragma once

// VPERMB: MemorySanitizer leaves the marks of bytes where they were. The index wraps at 64 bytes.
#define _mm512_maskz_permutexvar_epi8(all, index, v) warpseal::msan::lookup(v, index, v)

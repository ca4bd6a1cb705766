// Instantiates one cipher header for one CPU target. The object's only export is its CpuBackend.
#include WARPSEAL_TARGET_HEADER
#include WARPSEAL_CIPHER_HEADER
#include "backends/cpu/cipher_entry.h"

extern "C" const warpseal::CpuBackend WARPSEAL_EXPORT;
const warpseal::CpuBackend WARPSEAL_EXPORT =
    warpseal::cpu::Exports<warpseal::cpu::WARPSEAL_TARGET,
                           warpseal::ciphers::WARPSEAL_CIPHER::Ciphers>::backend();

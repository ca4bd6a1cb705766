// One cipher header for one CPU target: this object's only export is its door.
#include WARPSEAL_TARGET_HEADER
#include WARPSEAL_CIPHER_HEADER
#include "backends/cpu/keyed.h"

extern "C" const warpseal::CpuDoor WARPSEAL_DOOR;
const warpseal::CpuDoor WARPSEAL_DOOR =
    warpseal::cpu::door<warpseal::ciphers::WARPSEAL_CIPHER::Ciphers>();

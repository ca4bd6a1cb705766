// One cipher header for one CPU target: this object's only export is its door.
#include WARPSEAL_TARGET_HEADER
#include WARPSEAL_CIPHER_HEADER
#include "backends/cpu/keyed.h"

extern "C" const warpseal::CpuCipherSet WARPSEAL_DOOR;
const warpseal::CpuCipherSet WARPSEAL_DOOR = warpseal::cpu::set<warpseal::ciphers::WARPSEAL_CIPHER::Ciphers>();

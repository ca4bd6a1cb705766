// Circuits for S-boxes that are an inversion in GF(2^8) between two affine maps, from nothing.
#pragma once

#include "core/sbox.h"
#include "network.h"

namespace circuits {

// The circuit computes the inversion in GF(((2^2)^2)^2) over random bases of the three extensions:
// x^-1 is x^16 divided by the norm x^17, which is in GF(2^4).
Network tower_circuit(const warpseal::Affine& in, const warpseal::Affine& out, Random& random);

}  // namespace circuits

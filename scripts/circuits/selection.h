// Circuits for functions of at most six inputs, from nothing: each output in random order, by few
// gates where they suffice, else a selection between two functions by one signal. After M. Kwan,
// "Reducing the gate count of bitslice DES" (IACR ePrint 2000/051), with three-input gates.
#pragma once

#include "network.h"

namespace circuits {

Network selection_circuit(const Function& function, Random& random);

}  // namespace circuits

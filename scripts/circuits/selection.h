// Circuits for functions of at most six inputs, from nothing: each output in random order, by few
// gates where they suffice, else a selection between two functions by one signal. After M. Kwan,
// "Reducing the gate count of bitslice DES" (IACR ePrint 2000/051), with three-input gates.
#pragma once

#include "network.h"

namespace circuits {

Network selection_circuit(const Function& function, Random& random);

// Drops a random gate with those that only it uses, and finds others in their place, at most
// `more` gates more. Returns an empty network if it finds none.
Network rebuilt(const Network& network, int more, Random& random);

// The same for some random outputs.
Network rebuilt_outputs(const Network& network, const Function& function, int more, Random& random);

}  // namespace circuits

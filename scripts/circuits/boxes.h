// The S-boxes of the ciphers, and the circuits that the tree has for them.
#pragma once

#include "core/sbox.h"
#include "network.h"

namespace circuits {

struct Box {
    Function function;
    Network circuit;  // of the tree
    bool inversion = false;
    warpseal::Affine in{}, out{};  // around the inversion
};

std::vector<Box> all_boxes();

}  // namespace circuits

// The S-boxes of the ciphers, and the circuits that the tree has for them.
#pragma once

#include "network.h"

namespace circuits {

struct Box {
    Function function;
    Network circuit;  // of the tree
};

std::vector<Box> all_boxes();

}  // namespace circuits

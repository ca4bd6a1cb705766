// Engines with "auto" that give each call to the GPU.
#pragma once

#include "warpseal/warpseal.h"

namespace works {

// Engines are such while it lives.
class OnAuto {
public:
    OnAuto();
    ~OnAuto();
    OnAuto(const OnAuto&) = delete;
    OnAuto& operator=(const OnAuto&) = delete;
};

}  // namespace works

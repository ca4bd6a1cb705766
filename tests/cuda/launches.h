// Which kernels this program holds and which of them were launched: the linker sends it what it
// tells the CUDA runtime (launches.cpp).
#pragma once

#include <string>
#include <vector>

namespace gpu {

struct Kernel {
    std::string name;  // demangled, with its parameters
    bool launched;     // since zeroize_all_launches
};

std::vector<Kernel> kernels();
void zeroize_all_launches();

}  // namespace gpu

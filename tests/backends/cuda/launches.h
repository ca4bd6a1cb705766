// Lists the kernels of this program and those launched. The linker redirects the CUDA runtime calls
// to launches.cpp.
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

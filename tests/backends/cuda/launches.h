// Lists the kernels of this program and those launched, and refuses to load some. The linker
// redirects the CUDA runtime calls to launches.cpp.
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

// Lets the n-th request to load a kernel from now on fail; 0: none. Returns true if the one before
// did.
bool refuse_load(int n);

}  // namespace gpu

// How threads divide a step of AES.
#pragma once

namespace warpseal::papers {

// What part of a step falls to a thread.
struct Share {
    int thread = 0, threads = 1;
    int begin(int parts) const { return parts * thread / threads; }
    int end(int parts) const { return parts * (thread + 1) / threads; }
    bool takes_section(int section) const { return section % threads == thread; }
    // What begins a parallel region is told to the first thread, as the paper does.
    bool pays_for_fork() const { return threads > 1 && thread == 0; }
};

}  // namespace warpseal::papers

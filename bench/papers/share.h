// Division of an AES step among threads.
#pragma once

namespace warpseal::papers {

// Share of one thread in a step.
struct Share {
    int thread = 0, threads = 1;
    int begin(int parts) const { return parts * thread / threads; }
    int end(int parts) const { return parts * (thread + 1) / threads; }
    bool takes_section(int section) const { return section % threads == thread; }
    // Counts the start of a parallel region for the first thread, as the paper does.
    bool pays_for_fork() const { return threads > 1 && thread == 0; }
};

}  // namespace warpseal::papers

// The search for a small circuit of one S-box: starts, descents, and what is kept.
#pragma once

#include "boxes.h"

namespace circuits {

struct SearchOptions {
    double seconds = 60;
    uint64_t seed = 1;
    std::string stop_file;   // the search ends while this file exists
    std::string directory;   // where the best circuits are, one file each
    int slack = 2;           // gates over the best size that a descent may add
    int copies = 50;         // attempts to add a gate, of 1000 moves
    int resets = 100;        // returns to the best circuit, of 100000 moves over its size
    int pairs = 50;          // moves of two gates, of 1000
    long patience = 300000;  // moves without a smaller circuit that end a descent
    bool fresh = false;      // start from a new circuit each time, never from the best
    int rounds = 3000;       // parts of a small circuit that are dropped and found again
    int windows = 0;         // attempts to replace a window, after each descent
    int window_gates = 5;    // at most
    int others = 8;          // signals beside a window's inputs that its replacement may read
};

// Returns the best circuit, after the search. It is also written to the directory.
Network search(const Box& box, const SearchOptions& options);

// Reads the best circuit of the directory, or returns the tree's.
Network best_of(const Box& box, const std::string& directory);

}  // namespace circuits

// Exact synthesis of a small part of a circuit by a SAT solver.
#pragma once

#include "network.h"

namespace circuits {

// True if the program `cadical` is there. Without it, the search runs without windows.
bool solver_is_there();

struct WindowOptions {
    int gates = 5;     // of the window
    int inputs = 9;    // of the window, at most
    int outputs = 3;   // of the window, at most; fewer leave more freedom
    int others = 8;    // other signals that its replacement may read
    int fewer = 1;     // gates to save; 0 exchanges the window for another of its size
    int seconds = 10;  // limit of the solver
};

// Replaces one random window. Returns false if there is no such window, or if the solver finds
// none within its limit.
bool replace_window(Network& network, const Function& function, const WindowOptions& options,
                    Random& random);

}  // namespace circuits

#include "bindings/calls.h"

#include <chrono>
#include <thread>

namespace warpseal::python {

void drain_calls() {
    closing.store(true);
    while (calls_in_flight.load() > 0) {
        PyThreadState* const state = PyEval_SaveThread();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        PyEval_RestoreThread(state);
    }
}

void forget_calls() { calls_in_flight.store(0); }

}  // namespace warpseal::python

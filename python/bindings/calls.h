// Calls into the library without the GIL, and their end at the interpreter's exit.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>

namespace warpseal::python {

// A thread that asks for the GIL after the interpreter has ended is ended by force, which C++ does
// not survive. So no call begins without the GIL once `closing` is set, and drain_calls waits for
// those that have begun.
inline std::atomic<bool> closing{false};
inline std::atomic<long> calls_in_flight{0};

// Runs work() without the GIL if `release` is set. work() must not touch Python and not throw.
template <class Work>
auto without_gil(bool release, Work work) {
    if (!release) return work();
    calls_in_flight.fetch_add(1);
    if (closing.load()) {
        calls_in_flight.fetch_sub(1);
        return work();
    }
    PyThreadState* const state = PyEval_SaveThread();
    const auto result = work();
    PyEval_RestoreThread(state);
    calls_in_flight.fetch_sub(1);
    return result;
}

// At the interpreter's exit: cancels file calls and waits for all calls in flight.
void drain_calls();
// In a forked child: the calls of its parent's threads are not there.
void forget_calls();

}  // namespace warpseal::python

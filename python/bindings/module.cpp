#include <nanobind/nanobind.h>

#include "bindings/bindings.h"
#include "bindings/calls.h"
#include "bindings/engine.h"

namespace nb = nanobind;

NB_MODULE(_core, module) {
    using namespace warpseal::python;
    // Objects may outlive the interpreter, in threads that are still running.
    nb::set_leak_warnings(false);
    module.attr("__version__") = warpseal_version();
    bind_engine(module);
    bind_aead(module);
    bind_arrays(module);
    bind_cobblestone(module);
    bind_files(module);
    bind_hazmat(module);
    bind_kem(module);
    bind_memory(module);
    bind_plan(module);
    bind_reader(module);
    bind_slots(module);
    module.def("drain_calls", drain_calls);
    module.def("after_fork_in_child", [] {
        forget_calls();
        forget_default_engine();
    });
}

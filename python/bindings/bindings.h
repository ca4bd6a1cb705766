// The parts of the extension; each adds its classes and functions to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace warpseal::python {

void bind_aead(nanobind::module_& module);
void bind_arrays(nanobind::module_& module);
void bind_cobblestone(nanobind::module_& module);
void bind_files(nanobind::module_& module);
void bind_hazmat(nanobind::module_& module);
void bind_kem(nanobind::module_& module);
void bind_memory(nanobind::module_& module);
void bind_plan(nanobind::module_& module);
void bind_reader(nanobind::module_& module);
void bind_slots(nanobind::module_& module);

}  // namespace warpseal::python

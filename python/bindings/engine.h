// Engines, which the objects that use them own together.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>

#include "warpseal/warpseal.h"

namespace warpseal::python {

struct EngineDeleter {
    void operator()(warpseal_engine* engine) const { warpseal_engine_destroy(engine); }
};
using EngineHandle = std::shared_ptr<warpseal_engine>;

// The class warpseal.Engine.
class Engine {
public:
    Engine(const char* device, uint32_t threads);
    const EngineHandle& handle() const { return handle_; }

private:
    EngineHandle handle_;
};

// The engine of an argument: an Engine, or None for the process's default engine, which is made at
// its first use.
EngineHandle engine_of(nanobind::handle argument);

// In a forked child: the next use makes a default engine with threads of its own. Existing objects
// keep the parent's, which works on the calling thread.
void forget_default_engine();

void bind_engine(nanobind::module_& module);

}  // namespace warpseal::python

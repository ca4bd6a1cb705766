#include "bindings/engine.h"

#include <atomic>

#include "bindings/calls.h"
#include "bindings/errors.h"
#include "warpseal/error.h"

namespace nb = nanobind;

namespace warpseal::python {
namespace {

// Never destroyed: at the process's exit a thread may still use it.
std::atomic<EngineHandle*> default_engine{nullptr};

EngineHandle create(const char* device, uint32_t threads) {
    warpseal_engine_options options = {};
    options.struct_bytes = sizeof options;
    options.threads = threads;
    options.device = device;
    warpseal_engine* engine = nullptr;
    const warpseal_status status =
        without_gil(true, [&] { return warpseal_engine_create(&options, &engine); });
    if (status == WARPSEAL_INVALID_ARGUMENT) throw_status(status, warpseal_last_error_message());
    check(status);
    return {engine, EngineDeleter{}};
}

}  // namespace

Engine::Engine(const char* device, uint32_t threads) : handle_(create(device, threads)) {}

EngineHandle engine_of(nb::handle argument) {
    if (!argument.is_none()) {
        if (!nb::isinstance<Engine>(argument))
            throw nb::type_error("engine: a warpseal.Engine or None is needed");
        return nb::cast<const Engine&>(argument).handle();
    }
    if (EngineHandle* known = default_engine.load()) return *known;
    auto made = std::make_unique<EngineHandle>(create("auto", 0));
    EngineHandle* expected = nullptr;
    // Another thread may have been faster.
    if (!default_engine.compare_exchange_strong(expected, made.get())) return *expected;
    return *made.release();
}

void forget_default_engine() { default_engine.store(nullptr); }

void bind_engine(nb::module_& module) {
    nb::class_<Engine>(module, "Engine",
                       "Threads and devices that calls run on.\n\n"
                       "device: \"auto\", \"cpu\", \"cuda\", \"cuda:N\" or the name of a CPU "
                       "target.\nthreads: 0 for as many as the process may use, 1 for the calling "
                       "thread alone.")
        .def(nb::init<const char*, uint32_t>(), nb::arg("device") = "auto", nb::kw_only(),
             nb::arg("threads") = 0);
}

}  // namespace warpseal::python

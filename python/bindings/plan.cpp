// Plans of one sealed file that several processes seal in shards (docs/shards.md).
#include <optional>

#include <nanobind/stl/optional.h>

#include "bindings/bindings.h"
#include "bindings/calls.h"
#include "bindings/engine.h"
#include "bindings/file_options.h"
#include "c_api/internal_shards.h"

namespace nb = nanobind;

namespace warpseal::python {
namespace {

struct Result : warpseal_file_result {
    Result() : warpseal_file_result{} { struct_bytes = sizeof(warpseal_file_result); }
    void check(warpseal_status status) const {
        if (status != WARPSEAL_OK) throw_status(status, message, system_error);
    }
};

nb::bytes bytes_of(const void* data, size_t count) { return nb::bytes(data, count); }

class Plan {
public:
    // Opens a plan.
    Plan(nb::handle data_argument, nb::handle secrets, nb::handle engine)
        : engine_(engine_of(engine)) {
        const InputBuffer data(data_argument, "data");
        FileOptions options(secrets, nb::none(), false);
        Result result;
        const warpseal_status status = without_gil(true, [&] {
            return warpseal_internal_plan_open(engine_.get(), data.data(), data.size(), &*options,
                                               &plan_, &result);
        });
        result.check(status);
    }
    // Makes a plan.
    Plan(uint64_t text_bytes, uint32_t shard_count, nb::handle pin_argument, nb::handle secrets,
         std::optional<const char*> suite, nb::handle engine)
        : engine_(engine_of(engine)) {
        const InputBuffer pin(pin_argument, "pin");
        if (pin.size() != WARPSEAL_INTERNAL_PIN_BYTES)
            throw_value_error("pin: %zu bytes, not %d", pin.size(), WARPSEAL_INTERNAL_PIN_BYTES);
        FileOptions options(secrets, nb::none(), false);
        (*options).suite = suite.value_or(nullptr);
        Result result;
        const warpseal_status status = without_gil(true, [&] {
            return warpseal_internal_plan_create(engine_.get(), &*options, text_bytes, shard_count,
                                                 pin.data(), &plan_, &result);
        });
        result.check(status);
    }
    ~Plan() { warpseal_internal_plan_destroy(plan_); }
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    nb::bytes data() const {
        size_t count = 0;
        const void* const from = warpseal_internal_plan_data(plan_, &count);
        return bytes_of(from, count);
    }
    nb::bytes front() const {
        size_t count = 0;
        const void* const from = warpseal_internal_plan_front(plan_, &count);
        return bytes_of(from, count);
    }
    nb::bytes pin() const {
        return bytes_of(warpseal_internal_plan_pin(plan_), WARPSEAL_INTERNAL_PIN_BYTES);
    }
    uint64_t text_bytes() const { return warpseal_internal_plan_text_bytes(plan_); }
    uint32_t shard_count() const { return warpseal_internal_plan_shard_count(plan_); }

    nb::tuple shard(uint32_t index) const {
        const warpseal_internal_shard it = checked_shard(index);
        return nb::make_tuple(it.text_offset, it.text_bytes, it.file_offset, it.file_bytes);
    }

    nb::tuple seal(uint32_t index, nb::handle text_argument) const {
        const warpseal_internal_shard it = checked_shard(index);
        const InputBuffer text(text_argument, "text");
        if (text.size() != it.text_bytes)
            throw_value_error("text: %zu bytes, and shard %u has %llu", text.size(), index,
                              static_cast<unsigned long long>(it.text_bytes));
        uint8_t fingerprint[WARPSEAL_INTERNAL_FINGERPRINT_BYTES];
        nb::object out = new_bytes(static_cast<size_t>(it.file_bytes));
        uint8_t* const memory = memory_of(out);
        Result result;
        const warpseal_status status = without_gil(true, [&] {
            return warpseal_internal_plan_seal(plan_, index, text.data(), memory, fingerprint,
                                               &result);
        });
        result.check(status);
        return nb::make_tuple(out, bytes_of(fingerprint, sizeof fingerprint));
    }

private:
    warpseal_internal_shard checked_shard(uint32_t index) const {
        if (index >= shard_count())
            throw_value_error("index: %u, and the plan has %u shards", index, shard_count());
        return warpseal_internal_plan_shard(plan_, index);
    }

    const EngineHandle engine_;
    warpseal_internal_plan* plan_ = nullptr;
};

}  // namespace

void bind_plan(nb::module_& module) {
    nb::class_<Plan>(module, "Plan")
        .def(nb::init<nb::handle, nb::handle, nb::handle>(), nb::arg("data"), nb::arg("secrets"),
             nb::arg("engine").none())
        .def_static(
            "create",
            [](uint64_t text_bytes, uint32_t shard_count, nb::handle pin, nb::handle secrets,
               std::optional<const char*> suite, nb::handle engine) {
                return new Plan(text_bytes, shard_count, pin, secrets, suite, engine);
            },
            nb::arg("text_bytes"), nb::arg("shard_count"), nb::arg("pin"), nb::arg("secrets"),
            nb::arg("suite").none(), nb::arg("engine").none(), nb::rv_policy::take_ownership)
        .def_prop_ro("data", &Plan::data)
        .def_prop_ro("front", &Plan::front)
        .def_prop_ro("pin", &Plan::pin)
        .def_prop_ro("text_bytes", &Plan::text_bytes)
        .def_prop_ro("shard_count", &Plan::shard_count)
        .def("shard", &Plan::shard, nb::arg("index"))
        .def("seal", &Plan::seal, nb::arg("index"), nb::arg("text"));
}

}  // namespace warpseal::python

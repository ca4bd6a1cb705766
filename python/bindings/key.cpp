#include "bindings/key.h"

#include <utility>

#include "bindings/buffer.h"
#include "bindings/calls.h"
#include "bindings/errors.h"

namespace nb = nanobind;

namespace warpseal::python {

Key::Key(EngineHandle engine, const char* cipher, const uint8_t* key, size_t bytes, bool xts)
    : engine_(std::move(engine)) {
    const auto create = xts ? warpseal_key_create_xts : warpseal_key_create;
    // The first key of a cipher runs its self-test.
    check(without_gil(true, [&] { return create(engine_.get(), cipher, key, bytes, &key_); }));
}

nb::bytes random_bytes(size_t bytes) {
    nb::object made = new_bytes(bytes);
    check(warpseal_random(memory_of(made), bytes));
    return nb::borrow<nb::bytes>(made);
}

}  // namespace warpseal::python

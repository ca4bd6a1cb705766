// Conversion of a warpseal_status to the package's exceptions (warpseal/exceptions.py).
#pragma once

#include <nanobind/nanobind.h>

#include "warpseal/warpseal.h"

namespace warpseal::python {

// Sets the exception of a status and throws. `message` may be null: the status's own text is used.
// system_error: errno of WARPSEAL_IO, else 0.
[[noreturn]] void throw_status(warpseal_status status, const char* message = nullptr,
                               int system_error = 0);

// Throws an exception of warpseal/exceptions.py by its name.
[[noreturn]] void throw_exception(const char* class_name, const char* message);

// Throws ValueError with a formatted text.
[[noreturn]] void throw_value_error(const char* format, ...) __attribute__((format(printf, 1, 2)));

inline void check(warpseal_status status) {
    if (status != WARPSEAL_OK) throw_status(status);
}

}  // namespace warpseal::python

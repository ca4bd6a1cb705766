#include "bindings/errors.h"

#include <cstdarg>
#include <cstdio>

namespace nb = nanobind;

namespace warpseal::python {
namespace {

// Name of the class in warpseal.exceptions; null where a built-in exception fits.
const char* class_name(warpseal_status status) {
    switch (status) {
        case WARPSEAL_UNSUPPORTED: return "UnsupportedError";
        case WARPSEAL_LIMIT_EXCEEDED: return "LimitExceededError";
        case WARPSEAL_WRONG_KEY: return "WrongKeyError";
        case WARPSEAL_NOT_AUTHENTIC: return "InvalidTag";
        case WARPSEAL_TRUNCATED: return "TruncatedError";
        case WARPSEAL_NO_DEVICE: return "NoDeviceError";
        case WARPSEAL_SELF_TEST_FAILED: return "SelfTestError";
        case WARPSEAL_NO_RANDOM: return "NoRandomError";
        case WARPSEAL_CANCELLED: return "CancelledError";
        case WARPSEAL_WEAK_KEY: return "WeakKeyError";
        case WARPSEAL_BAD_PADDING: return "BadPaddingError";
        default: return nullptr;
    }
}

void set_error(warpseal_status status, const char* message, int system_error) {
    if (status == WARPSEAL_OUT_OF_MEMORY) {
        PyErr_SetString(PyExc_MemoryError, message);
    } else if (status == WARPSEAL_INVALID_ARGUMENT) {
        PyErr_SetString(PyExc_ValueError, message);
    } else if (status == WARPSEAL_IO && system_error != 0) {
        // OSError chooses its subclass, BrokenPipeError for example, by the number.
        const nb::object error = nb::handle(PyExc_OSError)(system_error, message);
        PyErr_SetObject(PyExc_OSError, error.ptr());
    } else if (status == WARPSEAL_IO) {
        PyErr_SetString(PyExc_OSError, message);
    } else {
        const char* name = class_name(status);
        throw_exception(name == nullptr ? "Error" : name, message);
    }
}

}  // namespace

void throw_exception(const char* class_name, const char* message) {
    const nb::object exceptions = nb::module_::import_("warpseal.exceptions");
    PyErr_SetString(nb::object(exceptions.attr(class_name)).ptr(), message);
    throw nb::python_error();
}

void throw_status(warpseal_status status, const char* message, int system_error) {
    const bool given = message != nullptr && *message != 0;
    set_error(status, given ? message : warpseal_status_text(status), system_error);
    throw nb::python_error();
}

void throw_value_error(const char* format, ...) {
    char text[240];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    throw nb::value_error(text);
}

}  // namespace warpseal::python

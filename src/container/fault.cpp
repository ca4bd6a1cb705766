// Formats error messages.
#include "container/fault.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace warpseal::container {

warpseal_status Fault::say(warpseal_status why, const char* format, ...) {
    status = why;
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return status;
}

warpseal_status Fault::say_system(int error, const char* format, ...) {
    status = WARPSEAL_IO;
    system_error = error;
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (length < 0 || static_cast<size_t>(length) >= sizeof message) return status;
    const char* word = strerrordesc_np(error);
    std::snprintf(message + length, sizeof message - static_cast<size_t>(length), ": %s",
                  word != nullptr ? word : "unknown system error");
    return status;
}

}  // namespace warpseal::container

// The last error of each thread.
#include "c_api/last_error.h"

#include <cstdarg>
#include <cstdio>

namespace warpseal::c_api {
namespace {

// In fixed-size memory, so that a thread's first error needs no memory.
thread_local char last_error[320];

}  // namespace

void set_last_error(const char* text) { std::snprintf(last_error, sizeof last_error, "%s", text); }

warpseal_status refuse(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(last_error, sizeof last_error, format, arguments);
    va_end(arguments);
    return WARPSEAL_INVALID_ARGUMENT;
}

}  // namespace warpseal::c_api

extern "C" const char* warpseal_last_error_message(void) { return warpseal::c_api::last_error; }

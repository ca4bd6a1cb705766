// The last refusal of each thread, in fixed-size memory: a thread's first one needs no memory.
#include "engine/refusal.h"

#include <cstdarg>
#include <cstdio>

namespace warpseal {
namespace {

thread_local char text[320];
thread_local warpseal_status not_taken;  // status of a text that nobody has taken, or WARPSEAL_OK

}  // namespace

warpseal_status refuse(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return not_taken = WARPSEAL_INVALID_ARGUMENT;
}

warpseal_status refuse_as(warpseal_status status, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return not_taken = status;
}

bool take_refusal(warpseal_status status) {
    const bool taken = status == not_taken;
    not_taken = WARPSEAL_OK;
    return taken;
}

void set_refusal_text(const char* given) { std::snprintf(text, sizeof text, "%s", given); }

const char* refusal_text() { return text; }

}  // namespace warpseal

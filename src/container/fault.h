// Error of a file operation, in fixed-size memory, so that workers report it without allocating.
#pragma once

#include <cstdint>

#include "warpseal/warpseal.h"

namespace warpseal::container {

struct Fault {
    warpseal_status status = WARPSEAL_OK;
    int system_error = 0;
    char message[sizeof(warpseal_file_result::message)] = {};

    // Both return the status, for use in a return statement. The text must not contain secrets or
    // plaintext.
    warpseal_status say(warpseal_status why, const char* format, ...)
        __attribute__((format(printf, 3, 4)));
    // Sets WARPSEAL_IO and appends the description of the errno to the text.
    warpseal_status say_system(int error, const char* format, ...)
        __attribute__((format(printf, 3, 4)));
};

}  // namespace warpseal::container

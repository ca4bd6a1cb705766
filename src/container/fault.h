// What went wrong with a file and where, in fixed memory: workers fill it without allocating.
#pragma once

#include <cstdint>

#include "warpseal/warpseal.h"

namespace warpseal::container {

struct Fault {
    warpseal_status status = WARPSEAL_OK;
    int system_error = 0;
    char message[sizeof(warpseal_file_result::message)] = {};

    // Both return the status, so that a caller can say and return in one statement. Never a secret
    // or plaintext in the text.
    warpseal_status say(warpseal_status why, const char* format, ...)
        __attribute__((format(printf, 3, 4)));
    // WARPSEAL_IO with the system's word for the errno after the text.
    warpseal_status say_system(int error, const char* format, ...)
        __attribute__((format(printf, 3, 4)));
};

}  // namespace warpseal::container

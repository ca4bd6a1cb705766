// Text of a refusal, which warpseal_last_error_message() returns: the argument and what it needs.
#pragma once

#include "warpseal/warpseal.h"

namespace warpseal {

// Sets the calling thread's text and returns WARPSEAL_INVALID_ARGUMENT. The text names the argument
// and must not contain secrets.
warpseal_status refuse(const char* format, ...) __attribute__((format(printf, 1, 2), cold));
// The same for another status, which it returns.
warpseal_status refuse_as(warpseal_status status, const char* format, ...)
    __attribute__((format(printf, 2, 3), cold));

// True if the calling thread's text was set with this status and has not been taken yet. Takes it.
bool take_refusal(warpseal_status status);
void set_refusal_text(const char* text);
// "" if the thread has had none. Never null.
const char* refusal_text();

}  // namespace warpseal

// The text behind warpseal_last_error_message(): what the last failed call on a thread refused.
#pragma once

#include "warpseal/error.h"

namespace warpseal::c_api {

// Sets the calling thread's text. It must not contain secrets.
void set_last_error(const char* text);
// Sets the text, which names the argument and what it needs. Returns WARPSEAL_INVALID_ARGUMENT.
warpseal_status refuse(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace warpseal::c_api

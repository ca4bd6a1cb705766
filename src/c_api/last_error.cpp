// Implements error.h.
#include "warpseal/error.h"

#include "engine/refusal.h"

extern "C" const char* warpseal_last_error_message(void) { return warpseal::refusal_text(); }

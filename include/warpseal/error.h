/* error.h: what the last failed call of a thread refused, in words.
 *
 * The rules at the top of warpseal.h hold. */
#ifndef WARPSEAL_ERROR_H
#define WARPSEAL_ERROR_H

#include "warpseal/warpseal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns one sentence on the last call that failed on the calling thread: what it refused and why,
 * with the name of the argument. "" if none has failed. A call that succeeds leaves it.
 * Every call that returns a status sets it.
 * The memory is the thread's: it is valid until the thread's next failing call. Never null. */
WARPSEAL_API const char* warpseal_last_error_message(void);

#ifdef __cplusplus
}
#endif
#endif

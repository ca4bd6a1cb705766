// A request of a fibre (ASYNC_start_job(3)), which pauses until a batch has brought the result, so
// that its thread serves others meanwhile.
#pragma once

#include <openssl/async.h>

#include "provider/groups.h"
#include "warpseal/batcher.h"

namespace warpseal::provider {

// As warpseal_kem_batcher_run. WARPSEAL_LIMIT_EXCEEDED: it cannot be queued now; nothing was done.
// Whoever waits for the fibre is told by the descriptor in its wait context or, if the program has
// set one there, by its callback. That one only notes that the fibre can go on: it does not resume
// it.
warpseal_status run_paused(warpseal_kem_batcher* batcher, const Set& set,
                           const warpseal_kem_request& request, ASYNC_WAIT_CTX* wait);

}  // namespace warpseal::provider

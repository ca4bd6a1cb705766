// Runs a request on a fibre (ASYNC_start_job(3)). The fibre pauses until a batch has computed the
// result, so its thread can serve other connections.
#pragma once

#include <openssl/async.h>

#include "provider/groups.h"
#include "warpseal/batcher.h"

namespace warpseal::provider {

// Same as warpseal_kem_batcher_run. Returns WARPSEAL_LIMIT_EXCEEDED, with nothing done, if the
// request cannot be queued now. Completion is signalled through the descriptor of the wait context
// or, if the program has set one, its callback. The callback must only record that the fibre can
// continue, and must not resume it.
warpseal_status run_paused(warpseal_kem_batcher* batcher, const Set& set,
                           const warpseal_kem_request& request, ASYNC_WAIT_CTX* wait);

}  // namespace warpseal::provider

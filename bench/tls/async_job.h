// Asynchronous jobs of OpenSSL in an event loop. A server's handshake pauses in a job while its key
// exchange is computed.
#pragma once

#include <openssl/ssl.h>

#include "examples/tls_exchange/event_poll.h"

namespace warpseal::tls {

// Makes the completion of a connection's jobs wake it, from any thread. `wakeup` must stay at its
// address as long as the connection.
void wake_after_jobs(SSL* connection, Poll::Wakeup& wakeup);
// Must be called after SSL_ERROR_WANT_ASYNC, for jobs whose completion makes a descriptor readable.
void watch_job(SSL* connection, const Poll::Wakeup& wakeup);

}  // namespace warpseal::tls

// Asynchronous jobs of OpenSSL in an event loop.
#include "bench/tls/async_job.h"

#include <iterator>
#include <stdexcept>

namespace warpseal::tls {
namespace {

int wake(SSL*, void* wakeup) {
    static_cast<Poll::Wakeup*>(wakeup)->wake();
    return 1;
}

}  // namespace

void wake_after_jobs(SSL* connection, Poll::Wakeup& wakeup) {
    SSL_set_async_callback(connection, wake);
    SSL_set_async_callback_arg(connection, &wakeup);
}

void watch_job(SSL* connection, const Poll::Wakeup& wakeup) {
    OSSL_ASYNC_FD added[8], removed[8];
    size_t added_count = 0, removed_count = 0;
    if (SSL_get_changed_async_fds(connection, nullptr, &added_count, nullptr, &removed_count) != 1)
        return;
    if (added_count > std::size(added) || removed_count > std::size(removed))
        throw std::runtime_error("a job waits for many descriptors.");
    SSL_get_changed_async_fds(connection, added, &added_count, removed, &removed_count);
    for (size_t i = 0; i < added_count; ++i) wakeup.poll->wake_when_readable(added[i], wakeup.id);
}

}  // namespace warpseal::tls

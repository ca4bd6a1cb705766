// POSIX thread cancellation (pthread_cancel(3)) in blocking calls.
#pragma once

#include <pthread.h>

namespace warpseal {

// Disables cancellation of the calling thread during its lifetime: workers may use that thread's
// stack, and unwinding would end in a noexcept function.
// A pending request takes effect at the next cancellation point. A pair of calls costs about 17 ns,
// so calls that never block omit it.
class CancellationDisabled {
public:
    CancellationDisabled() { (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~CancellationDisabled() { (void)pthread_setcancelstate(before_, nullptr); }
    CancellationDisabled(const CancellationDisabled&) = delete;
    CancellationDisabled& operator=(const CancellationDisabled&) = delete;

private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace warpseal

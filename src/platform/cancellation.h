// POSIX thread cancellation (pthread_cancel(3)) in calls that wait.
#pragma once

#include <pthread.h>

namespace warpseal {

// Holds back a cancellation of the calling thread while it exists: workers may use what lies on
// that thread's stack, and the unwinding would end in a function that is noexcept. A request that
// came meanwhile takes effect at the thread's next cancellation point. A pair of calls costs some
// 17 ns, so calls that never wait leave it out.
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

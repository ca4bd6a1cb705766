// Random bytes from getrandom(2).
#include "container/random.h"

#include <sys/random.h>

#include <cerrno>
#include <cstdint>

#include "core/secret.h"
#include "platform/cancellation.h"

namespace warpseal::container {

bool random_bytes(void* out, size_t bytes) {
    const CancellationDisabled disabled;  // getrandom(2) is a cancellation point
    uint8_t* const begin = static_cast<uint8_t*>(out);
    for (size_t done = 0; done < bytes;) {
        const ssize_t got = getrandom(begin + done, bytes - done, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            wipe(out, bytes);
            return false;
        }
        done += static_cast<size_t>(got);
    }
    return true;
}

}  // namespace warpseal::container

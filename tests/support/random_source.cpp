// Replaces libc's getrandom(2): see random_source.h.
#include "random_source.h"

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace tests {
Source source = Source::kernel;
int calls_left = 0;
}  // namespace tests

extern "C" ssize_t getrandom(void* out, size_t bytes, unsigned flags) {
    if (tests::source == tests::Source::failing ||
        (tests::source == tests::Source::some && tests::calls_left-- <= 0))
        return -1;
    if (tests::source != tests::Source::fixed) return syscall(SYS_getrandom, out, bytes, flags);
    for (size_t i = 0; i < bytes; ++i) static_cast<uint8_t*>(out)[i] = tests::fixed_byte(i);
    return static_cast<ssize_t>(bytes);
}

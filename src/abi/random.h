// Random bytes from the operating system: getrandom(2), the only source of keys, IVs and salts.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <sys/random.h>

namespace warpseal::abi {

// All of them, or false.
inline bool draw(void* out, size_t bytes) {
    auto* to = static_cast<uint8_t*>(out);
    while (bytes != 0) {
        const ssize_t drawn = getrandom(to, bytes, 0);
        if (drawn < 0 && errno == EINTR) continue;
        if (drawn <= 0) return false;
        to += drawn;
        bytes -= static_cast<size_t>(drawn);
    }
    return true;
}

}  // namespace warpseal::abi

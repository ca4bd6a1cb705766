// Sealing and opening into an output that a later call can continue, after any end of the first
// one. docs/decisions/0013-resume.md says why no nonce serves two texts.
#pragma once

#include "container/call.h"

namespace warpseal::container {

// Facts about the unfinished output of an earlier call.
struct Resumption {
    const int in_fd, out_fd;
    bool continued = false;     // it was usable
    uint64_t kept_bytes = 0;    // of text, there already
    uint64_t output_bytes = 0;  // after success; the caller cuts off what lies behind
    bool other_file = false;    // it is none: unchanged
    // Why it was not continued, though it was not empty; else empty.
    Fault not_continued{};
};

// Work on call.resumption. The output is a regular file that is open for reading and writing, at
// its beginning. Only one call at a time may use it: the caller holds a lock. After success its
// first output_bytes bytes are the complete output. After a failure it is kept for a later call.
// WARPSEAL_INVALID_ARGUMENT: the input is no regular file, or it is empty.
// WARPSEAL_WRONG_KEY: the unfinished output has another key. It is unchanged.
// WARPSEAL_IO: as in other calls; and when sealing, if the input differs from what was sealed
// before. The output is then empty.
// WARPSEAL_INVALID_ARGUMENT also: the output is neither empty nor an unfinished one.
warpseal_status seal_resumable(FileCall& call);
warpseal_status open_resumable(FileCall& call);

// Fails: the output is neither empty nor unfinished.
inline warpseal_status refuse_other_file(FileCall& call) {
    call.resumption->other_file = true;
    return call.fault.say(WARPSEAL_INVALID_ARGUMENT,
                          "what is there is not the unfinished output of such a command");
}

}  // namespace warpseal::container

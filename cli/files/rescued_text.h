// Output of a rescue of another format's file, in the order of its chunks.
#pragma once

#include "cli/support/stream.h"

namespace warpseal::cli {

// Writes what verified and zeros in place of the rest, as container/rescue.h does for our own
// files. A hole is written when text follows it, or by finish: bytes after the end of a payload are
// no hole.
class RescuedText {
public:
    // report.hole is told each hole that is written.
    RescuedText(Output& output, warpseal_rescue& report) : out_(output), report_(report) {}

    // Each takes one chunk. `hole` takes the bytes of text that it would have. Throw Failure.
    void text(const uint8_t* bytes, size_t count);
    void hole(uint64_t bytes, warpseal_hole_reason reason);
    // The payload ends where the last hole begins.
    void drop_hole() { whole_ = rest_ = 0; }
    // Call after the last chunk. Fills the report, and lengths and message of the result. Returns
    // WARPSEAL_NOT_AUTHENTIC for holes and WARPSEAL_TRUNCATED if only the end is missing, or if
    // nothing verified: report.finished is then 0. Throws Failure.
    warpseal_status finish(bool end_found, uint64_t bytes_after_end, warpseal_file_result& result);

private:
    void write_hole();
    void write_zeros(uint64_t bytes, warpseal_hole_reason reason);
    warpseal_status say_missing(warpseal_file_result& result) const;

    RawOutput out_;
    warpseal_rescue& report_;
    uint64_t chunks_ = 0, verified_ = 0, authentic_bytes_ = 0;
    uint64_t whole_ = 0, rest_ = 0;  // of the hole that is not written yet
};

}  // namespace warpseal::cli

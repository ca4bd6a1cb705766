// Rescue of a damaged payload: writes the chunks that verify, and zeros in place of the others.
#pragma once

#include "container/pipeline/pipeline.h"

namespace warpseal::container {

// Receives the segments of a payload in order. Chunks that do not verify are a hole. It is written
// when a later chunk verifies, because bytes after the end of the payload are no hole.
class Rescue {
public:
    Rescue(Sink& sink, Progress& progress, warpseal_rescue& report)
        : sink_(sink), progress_(progress), report_(report) {}

    // Writes the chunks of an opened segment that verified.
    warpseal_status add(Segment& segment, Fault& fault);
    // Call after the last segment. Writes the last hole, unless the payload ends where it begins.
    // Returns WARPSEAL_NOT_AUTHENTIC for holes and WARPSEAL_TRUNCATED if only the end is missing.
    // Returns the same, and finished() stays false, if nothing verified.
    warpseal_status finish(const PipelineJob& job, Fault& fault);

    bool finished() const { return finished_; }
    uint64_t authentic_bytes() const { return authentic_bytes_; }
    uint64_t written_bytes() const { return written_bytes_; }

private:
    warpseal_status write_chunks(Segment& segment, size_t first, size_t count, Fault& fault);
    warpseal_status write_authentic(iovec* buffers, size_t count, uint64_t bytes, Fault& fault);
    warpseal_status write_hole(Fault& fault);
    warpseal_status write_zeros(uint64_t bytes, warpseal_hole_reason reason, Fault& fault);
    warpseal_status find_end(const PipelineJob& job, Fault& fault);
    warpseal_status say_missing(const PipelineJob& job, Fault& fault) const;

    Sink& sink_;
    Progress& progress_;
    warpseal_rescue& report_;
    bool finished_ = false;
    uint64_t chunks_ = 0;  // received so far
    uint64_t verified_chunks_ = 0;
    uint64_t authentic_bytes_ = 0;
    uint64_t written_bytes_ = 0;  // text and zeros
    // The hole that is not written yet: whole chunks, then the short chunk at the end of the file.
    uint64_t hole_chunks_ = 0;
    bool hole_has_short_chunk_ = false;
    size_t short_chunk_bytes_ = 0;
};

}  // namespace warpseal::container

// The file pipeline: processes the chunks of a payload from a source to a sink on all workers.
#pragma once

#include "container/descriptor.h"
#include "container/payload.h"

namespace warpseal::container {

class Rescue;

struct PipelineJob {
    Engine& engine;
    const PayloadKey& payload;
    const Suite& suite;
    Direction direction;  // encrypt: reads text and writes chunks
    Source& source;
    uint64_t source_offset;  // offset of the text or of the chunks
    Sink& sink;
    uint64_t sink_offset;
    Progress& progress;
    // Opening a damaged payload: receives the segments in order, in place of the sink.
    Rescue* rescue = nullptr;
};

// Bytes from one chunk to the next, in the input and in the output.
inline constexpr size_t in_stride(Direction direction) {
    return direction == Direction::encrypt ? chunk_text_bytes : chunk_bytes;
}
inline constexpr size_t out_stride(Direction direction) {
    return direction == Direction::encrypt ? chunk_bytes : chunk_text_bytes;
}

struct PipelineResult {
    // Bytes sealed, or authenticated and written to the sink; on failure, those so far.
    uint64_t text_bytes = 0;
    uint64_t read_bytes = 0;
    uint64_t written_bytes = 0;
    const char* target = "";
};

// Runs to the end of the source. After a failure an ordered sink holds an exact prefix, up to the
// first error in the file.
warpseal_status run_pipeline(const PipelineJob& job, PipelineResult& result, Fault& fault);

}  // namespace warpseal::container

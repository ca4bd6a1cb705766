// The file pipeline: chunks of a payload from a source to a sink, many at a time on every worker.
#pragma once

#include "container/descriptor.h"
#include "container/payload.h"

namespace warpseal::container {

struct PipelineJob {
    Engine& engine;
    const PayloadKey& payload;
    const Suite& suite;
    Direction direction;  // encrypt: text in, chunks out
    Source& source;
    uint64_t source_offset;  // where the text or the chunks begin
    Sink& sink;
    uint64_t sink_offset;
    Progress& progress;
};

// Bytes from one chunk to the next, of what is read and of what is written.
inline constexpr size_t in_stride(Direction direction) {
    return direction == Direction::encrypt ? chunk_text_bytes : chunk_bytes;
}
inline constexpr size_t out_stride(Direction direction) {
    return direction == Direction::encrypt ? chunk_bytes : chunk_text_bytes;
}

struct PipelineResult {
    uint64_t text_bytes = 0;  // sealed, or authenticated and handed to the sink; so far, on failure
    uint64_t read_bytes = 0;
    uint64_t written_bytes = 0;
    const char* target = "";
};

// Runs to the end of the source. An ordered sink holds an exact prefix after a failure, which is
// that of the earliest place that failed.
warpseal_status run_pipeline(const PipelineJob& job, PipelineResult& result, Fault& fault);

}  // namespace warpseal::container

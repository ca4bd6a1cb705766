// The file pipeline: processes the chunks of a payload from a source to a sink on all workers.
#pragma once

#include "container/pipeline/descriptor.h"
#include "container/pipeline/segment.h"

namespace warpseal::container {

class Rescue;

// A shard of a longer text, whose chunks a call seals.
struct ChunkRange {
    uint64_t first_chunk;
    uint64_t text_bytes;
    bool ends;  // has the text's last chunk, which is short
};

struct PipelineJob : ChunkJob {
    const Suite& suite;
    Source& source;
    Sink& sink;
    uint64_t sink_offset;
    Progress& progress;
    // Opening a damaged payload: receives the segments in order, in place of the sink.
    Rescue* rescue = nullptr;
    // Sealing a shard: source_offset and sink_offset are those of its text and its first chunk. The
    // source is positional.
    const ChunkRange* range = nullptr;
};

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

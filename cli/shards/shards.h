// `warpseal encrypt --plan`: one file that several processes seal in shards (docs/shards.md).
#pragma once

#include <cstdint>
#include <string>

#include "cli/files/file_command.h"
#include "cli/many/choice.h"

namespace warpseal::cli {

struct ShardChoice {
    std::string plan;            // --plan
    uint32_t shards = 0;         // --shards: makes the plan
    uint32_t shard = 0, of = 0;  // --shard: seals this shard, counted from 1
    bool join = false;           // --join
    bool is_used() const { return !plan.empty() || shards != 0 || of != 0 || join; }
};
void add_shard_options(CLI::App& command, ShardChoice& choice);

// `file`, `seal` and `output` are checked. Throws Failure.
ExitCode run_shards(const ShardChoice& choice, const ManyChoice& many, const FileChoice& file,
                    const SealChoice& seal, const OutputChoice& output, Session& session);

}  // namespace warpseal::cli

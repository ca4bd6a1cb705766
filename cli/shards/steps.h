// The three steps of sealing a file in shards: plan, shard, join.
#pragma once

#include <memory>
#include <string>

#include "c_api/internal_shards.h"
#include "cli/shards/shards.h"
#include "cli/support/progress.h"

namespace warpseal::cli {

struct PlanDelete {
    void operator()(warpseal_internal_plan* plan) const { warpseal_internal_plan_destroy(plan); }
};
using PlanHandle = std::unique_ptr<warpseal_internal_plan, PlanDelete>;

// A plan and the engine that it works on.
struct OpenPlan {
    EngineHandle engine;
    PlanHandle plan;
    uint32_t shard_count() const { return warpseal_internal_plan_shard_count(plan.get()); }
};
// Reads and verifies the plan of `choice`. Throws Failure.
OpenPlan open_plan(const ShardChoice& choice, const FileChoice& file, Secrets& secrets,
                   Session& session);
// The name of the part of a shard that is counted from 1, beside the plan.
std::string part_name(const ShardChoice& choice, uint32_t number);
// Returns the index of the shard that an open part holds, or the error.
warpseal_status check_part(const OpenPlan& plan, int part, uint32_t& index,
                           warpseal_file_result& result);
// Returns the text of a failed call on shards with its cause.
std::string shard_failure(const std::string& what, warpseal_status status,
                          const warpseal_file_result& result);

ExitCode make_plan(const ShardChoice& choice, const FileChoice& file, const SealChoice& seal,
                   Session& session);
ExitCode seal_shard(const ShardChoice& choice, const FileChoice& file, OutputChoice output,
                    Session& session);
ExitCode join_parts(const ShardChoice& choice, const ManyChoice& many, const FileChoice& file,
                    const OutputChoice& output, Session& session);

}  // namespace warpseal::cli

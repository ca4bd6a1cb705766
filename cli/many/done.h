// Tells if a file of a run was done by an earlier one.
#pragma once

#include "cli/many/run.h"

namespace warpseal::cli {

// True if `output` is a regular file that is not older than the input, one of both is a sealed file
// that opens with the run's secrets, and the other is as long as its text. The chunks but the last
// are not read.
bool is_done(const ManyTask& task, const FileChoice& file, int input, const std::string& output,
             Session& session);

}  // namespace warpseal::cli

// Inputs of a run over many files: names of the command line, of a list, and of directories.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/many/choice.h"
#include "cli/support/output_directory.h"

namespace warpseal::cli {

struct ManyInput {
    std::string path;
    // Name below --output-dir: the last component of a path, or the path from the last component
    // of a directory on.
    std::string relative;
    bool from_directory = false;  // found by --recursive
    bool is_regular = false;
    uint64_t bytes = 0;
    FileIdentity identity{};
    std::optional<Failure> problem;  // why it cannot be read
};

// `is_left_out` decides by the name if a file in a directory is no input of the command. Remarks
// name directory entries that are not regular files, and count those left out. Named files that do
// not exist are part of the result. Throws Failure for a list of names that cannot be read.
std::vector<ManyInput> find_inputs(const ManyChoice& choice,
                                   const std::function<bool(const std::string&)>& is_left_out,
                                   const Session& session);

}  // namespace warpseal::cli

// Names of the outputs of a run over many files, and the directories that they lie in.
#pragma once

#include <string>
#include <vector>

#include "cli/files/file_command.h"
#include "cli/many/inputs.h"

namespace warpseal::cli {

// Suffixes of sealed files: that of --suffix, or those that are known.
class Suffixes {
public:
    Suffixes(const ManyChoice& choice, const std::string& default_suffix);
    const std::string& of_new_files() const { return added_; }
    // Returns the length of the suffix that a name ends in, 0 for none.
    size_t length_in(const std::string& name) const;

private:
    std::string added_;
    std::vector<std::string> known_;
};

// Returns the output's path. Throws Failure (usage) if the name does not give it.
std::string output_name(FileTask task, const ManyInput& input, const ManyChoice& choice,
                        const Suffixes& suffixes);

// Creates the directories of an output below `base`, and `base`. Throws Failure (input_output).
void make_directories(const std::string& base, const std::string& output, FileTask task);

}  // namespace warpseal::cli

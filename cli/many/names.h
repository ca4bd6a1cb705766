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

// Names the output of a command with one input as a run names it, if there is no -o and standard
// output is a terminal. Leaves `output` alone if the input is no file, or its name has no suffix.
void name_output_at_terminal(FileTask task, const std::string& input, const char* suffix,
                             OutputChoice& output, const Session& session);

}  // namespace warpseal::cli

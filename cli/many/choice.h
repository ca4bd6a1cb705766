// Options of commands that work on many files.
#pragma once

#include <string>
#include <vector>

#include "cli/support/command.h"

namespace warpseal::cli {

struct ManyChoice {
    std::vector<std::string> inputs;
    std::string names_file;  // --files-from0; "-" is standard input
    std::string output_directory, suffix;
    bool tar = false, recursive = false, keep_going = false, json = false, skip_done = false,
         remove = false;

    // False: the command has one input and works as one that knows no others.
    bool is_used() const {
        return inputs.size() > 1 || !names_file.empty() || !output_directory.empty() ||
               !suffix.empty() || recursive || keep_going || json || skip_done || remove;
    }
    // The input of a command with one input.
    std::string single_input() const { return inputs.empty() ? "-" : inputs[0]; }
    // True if the inputs may turn out to be more or less than one.
    bool has_list() const { return inputs.size() != 1 || !names_file.empty() || recursive; }
};

// --recursive, --files-from0, --keep-going and --json.
void add_many_options(CLI::App& command, ManyChoice& choice);
// --tar, whose help is `text`.
void add_tar_option(CLI::App& command, ManyChoice& choice, const char* text);
// --output-dir, --suffix, --skip-done and --rm, for commands that write files.
void add_many_output_options(CLI::App& command, ManyChoice& choice);

}  // namespace warpseal::cli

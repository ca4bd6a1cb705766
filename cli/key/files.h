// The files of `warpseal key`, one after another: a failure ends the run, or with --keep-going is
// one of several.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/many/choice.h"
#include "cli/support/command.h"
#include "cli/support/descriptor.h"

namespace warpseal::cli {

struct KeyFile {
    std::string path;
    std::optional<Failure> problem{};  // why it cannot be opened
};

// The files that the options name, and those in directories. Throws Failure.
std::vector<KeyFile> find_key_files(const ManyChoice& choice, const Session& session);
// Opens a file for changes in place. Links are followed as for outputs. Throws Failure.
Descriptor open_in_place(const std::string& path);
// Opens all files before the first is changed, and notices one with two names, which would be
// changed twice. Throws the first Failure, or keeps each with its file.
void check_key_files(std::vector<KeyFile>& files, const ManyChoice& choice);

// Works on one file. Adds to its line of --json what is known of it. Throws Failure.
using KeyWork = std::function<void(const std::string& path, nlohmann::ordered_json& line)>;
// Throws Failure: that of the first file that failed, or some_failed.
// changes: the files after the failed one are named as not changed.
ExitCode for_each_key_file(const std::vector<KeyFile>& files, const ManyChoice& choice,
                           bool changes, const KeyWork& work);

}  // namespace warpseal::cli

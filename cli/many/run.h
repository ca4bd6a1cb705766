// A run of encrypt, decrypt or verify over many files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/files/file_command.h"
#include "cli/many/choice.h"
#include "cli/support/run/file_run.h"

namespace warpseal::cli {

struct ManyTask {
    FileTask task;
    FileChoice file;  // `input` is set for each file
    ManyChoice many;
    OutputChoice output;  // unused by verify
    std::string default_suffix = ".ws";
    std::vector<std::string> identity_files{};  // of age: secrets besides those of `file`
    // Works on one file as the command does that has no other. Throws Failure.
    std::function<void(const FileChoice&, int input, const OutputChoice&, Session&)> one{};
    // Is told the files before the first. May be null.
    std::function<void(const std::vector<std::string>& paths)> begin{};
    // Throws Failure (usage) if an input of this format cannot be removed or skipped. May be null.
    std::function<void(const FileChoice&, int input)> check_format{};
};

// Throws Failure (unsupported): --skip-done does not know this format.
[[noreturn]] void refuse_skipping();
// Throws Failure (usage) if an option names standard input or a pipe, which only the first file
// could read.
void refuse_one_use(const std::vector<std::string>& paths, const char* option);

// Works on all files. Throws Failure: that of the first file that failed, or some_failed.
ExitCode run_many(const ManyTask& task, Session& session);

}  // namespace warpseal::cli

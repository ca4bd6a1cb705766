// --tar of encrypt and decrypt: directories as one sealed stream.
#pragma once

#include <functional>

#include "cli/files/file_command.h"
#include "cli/many/choice.h"

namespace warpseal::cli {

// Works on one input as the command does that has no other. Throws Failure.
using OneFile = std::function<void(const FileChoice&, int input, const OutputChoice&)>;

// Seals the files and directories of the command line, as one pax stream.
ExitCode run_tar_encrypt(const ManyChoice& many, const FileChoice& file, const OutputChoice& output,
                         const OneFile& seal, Session& session);
// Opens a file or standard input, and unpacks the tar stream in it into the --output-dir.
ExitCode run_tar_decrypt(const ManyChoice& many, const FileChoice& file, const OutputChoice& output,
                         const OneFile& open, Session& session);

}  // namespace warpseal::cli

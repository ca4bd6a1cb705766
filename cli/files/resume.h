// --resume of encrypt and decrypt: an output that a later command can continue.
#pragma once

#include "cli/files/file_command.h"

struct warpseal_internal_slot_keys;  // src/c_api/internal_slot_keys.h

namespace warpseal::cli {

void add_resume_option(CLI::App& command, OutputChoice& choice);

// Throws Failure: --resume does not go with this format.
[[noreturn]] void refuse_resuming(const char* format);
// Throws Failure (usage): --resume does not go with that option.
void refuse_resuming_with(const OutputChoice& output, bool given, const char* option);

// Returns true if the output is to be one that a later command can continue. False also for an
// empty input. Throws Failure if --resume is given and this task has no such output.
bool is_resumable(FileTask task, const FileChoice& choice, int input, const OutputChoice& output);

struct ResumableCall {
    FileTask task;
    warpseal_engine* engine;
    int input;
    Output& output;
    const warpseal_file_options& options;
    warpseal_internal_slot_keys* keys;  // of a run, or null
};
// Seals or opens. Says on stderr if an earlier output was continued, or why not. Throws Failure if
// the unfinished output is another file, or has other keys.
warpseal_status run_resumable(const ResumableCall& call, const Session& session,
                              warpseal_file_result& result);

}  // namespace warpseal::cli

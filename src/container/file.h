// Sealing and opening files: the envelope of docs/file-format.md around the C2SP chunked-encryption
// payload.
#pragma once

#include "engine/engine.h"

namespace warpseal::container {

class SlotKeys;
struct Resumption;

// Implement warpseal_file_seal, warpseal_file_open, warpseal_file_rescue and
// warpseal_file_info_read, which check struct sizes and null pointers first.
// The caller zeroes `result`. On failure `message` describes the error, and system_error is the
// errno behind WARPSEAL_IO.
// keys: those of a run over many files, or null.
warpseal_status seal(Engine& engine, int in_fd, int out_fd, const warpseal_file_options& options,
                     warpseal_file_result& result, SlotKeys* keys = nullptr);
// Seals text in device memory, once the work on `stream` is done.
warpseal_status seal_device(Engine& engine, const void* in, uint64_t bytes, void* stream,
                            int out_fd, const warpseal_file_options& options,
                            warpseal_file_result& result);
warpseal_status open(Engine& engine, int in_fd, int out_fd, const warpseal_file_options& options,
                     warpseal_file_result& result, SlotKeys* keys = nullptr);
// The caller zeroes the fields of `report` that the call sets.
warpseal_status rescue(Engine& engine, int in_fd, int out_fd, const warpseal_file_options& options,
                       warpseal_rescue& report, warpseal_file_result& result);
// Seals or opens into an output that an earlier call may have left unfinished
// (container/resume/resume.h).
warpseal_status resume(Engine& engine, Direction direction, const warpseal_file_options& options,
                       Resumption& resumption, warpseal_file_result& result, SlotKeys* keys);
warpseal_status info(int in_fd, warpseal_file_info& info, warpseal_file_result& result);

}  // namespace warpseal::container

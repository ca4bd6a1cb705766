// Exit codes of the program. They are stable and documented in docs/exit-codes.md and --help.
// Callers must treat an unknown code as a failure.
#pragma once

#include "warpseal/warpseal.h"

namespace warpseal::cli {

enum class ExitCode : int {
    ok = 0,
    error = 1,
    usage = 2,
    some_failed = 3,
    input_missing = 10,
    output_exists = 11,
    wrong_key = 12,
    not_authentic = 13,
    truncated = 14,
    unsupported = 15,
    input_output = 16,
    limit_exceeded = 17,
    self_test_failed = 18,
    bad_padding = 19,
    device_not_usable = 20,
    weak_key = 21,
    damage_found = 26,
    rescued_in_part = 27,
    refused_entry = 28,
    interrupted = 130,  // 128 + SIGINT; another signal n gives 128 + n
};

struct ExitCodeText {
    ExitCode code;
    const char* text;
};

inline constexpr ExitCodeText exit_code_texts[] = {
    {ExitCode::ok, "success"},
    {ExitCode::error, "another error"},
    {ExitCode::usage, "wrong usage"},
    {ExitCode::some_failed, "some files failed (--keep-going)"},
    {ExitCode::input_missing, "input does not exist"},
    {ExitCode::output_exists, "output exists (see --force)"},
    {ExitCode::wrong_key, "wrong key file or passphrase"},
    {ExitCode::not_authentic, "authentication failed: the file was changed"},
    {ExitCode::truncated, "the file ends too early"},
    {ExitCode::unsupported, "file format or cipher not supported"},
    {ExitCode::input_output, "reading or writing failed"},
    {ExitCode::limit_exceeded, "a limit of the format or the mode is exceeded"},
    {ExitCode::self_test_failed, "self-test failed: nothing was computed with that path"},
    {ExitCode::bad_padding, "raw data has no valid padding: another key or IV, or changed"},
    {ExitCode::device_not_usable, "the device asked for cannot be used"},
    {ExitCode::weak_key, "the key is too weak to encrypt with"},
    {ExitCode::damage_found, "verify found damage"},
    {ExitCode::rescued_in_part, "rescue wrote a file with holes or without its end"},
    {ExitCode::refused_entry, "decrypt --tar refused an entry of the archive"},
    {ExitCode::interrupted, "interrupted (128 + the signal's number)"},
};

ExitCode exit_code_of(warpseal_status status);

}  // namespace warpseal::cli

// Progress of a file operation on stderr: a bar for people, JSON lines for programs.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/support/command.h"

namespace warpseal::cli {

// The bar is drawn here, because the distributions that we build on package no progress library.
// JSON has one object per line in time order. `total_bytes` is null while unknown. Fields may be
// added. The last line is `done` or `failed`.
//   {"event":"progress","done_bytes":N,"total_bytes":N,"seconds":S}
//   {"event":"done","plaintext_bytes":N,"file_bytes":N,"seconds":S,"target":"vaes512"}
//   {"event":"failed","exit_code":N,"message":"…"}
class Progress {
public:
    enum class Style { automatic, none, json };

    // `automatic` shows a bar if stderr is a terminal and the session is not quiet.
    Progress(Style style, const Session& session);
    // Erases the bar.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // Callback for warpseal_file_options; `progress` is a Progress*. Returns nonzero after a
    // signal.
    static int callback(void* progress, uint64_t done_bytes, uint64_t total_bytes);

    double seconds() const;
    // Erases the bar and prints the last line of a success.
    void done(const warpseal_file_result& result);
    bool is_json() const { return style_ == Style::json; }

private:
    using Clock = std::chrono::steady_clock;
    void show(uint64_t done_bytes, uint64_t total_bytes);
    void show_bar(uint64_t done_bytes, uint64_t total_bytes);
    void erase();

    Style style_;
    bool bar_ = false;
    bool drawn_ = false;
    Clock::time_point start_ = Clock::now();
    Clock::time_point next_ = start_;
};

// Prints the last line of a failure as JSON.
void print_failed_event(ExitCode code, const std::string& message);

}  // namespace warpseal::cli

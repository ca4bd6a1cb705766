// Progress of a file operation on stderr: a bar for people, JSON lines for programs.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "command.h"

namespace warpseal::cli {

// The bar is our own few lines: no progress library is packaged by the distributions that we build
// on. JSON, one object a line, lines in time order, `total_bytes` null while unknown, more fields
// may come:
//   {"event":"progress","done_bytes":N,"total_bytes":N,"seconds":S}
//   {"event":"done","plaintext_bytes":N,"file_bytes":N,"seconds":S,"target":"vaes512"}   or
//   {"event":"failed","exit_code":N,"message":"…"}
class Progress {
public:
    enum class Style { automatic, none, json };

    // automatic: a bar if stderr is a terminal and the session is not quiet.
    Progress(Style style, const Session& session);
    // Erases the bar.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // For warpseal_file_options: `progress` is a Progress*; non-zero once a signal came.
    static int callback(void* progress, uint64_t done_bytes, uint64_t total_bytes);

    double seconds() const;
    // The last line of a success. After it the bar is gone.
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

// The last line of a failure, told as JSON.
void print_failed_event(ExitCode code, const std::string& message);

}  // namespace warpseal::cli

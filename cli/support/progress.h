// Progress of a file operation on stderr: a bar for people, JSON lines for programs.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "cli/support/command.h"

namespace warpseal::cli {

// The bar is drawn here, because the distributions that we build on package no progress library.
// JSON has one object per line in time order. `total_bytes` is null while unknown. Fields may be
// added. The last line is `done` or `failed`. In a run over several files each line names its
// file as "file".
//   {"event":"progress","done_bytes":N,"total_bytes":N,"seconds":S}
//   {"event":"done","plaintext_bytes":N,"file_bytes":N,"seconds":S,"target":"vaes512",
//    "key_seconds":S}
//   {"event":"failed","exit_code":N,"message":"…"}
class Progress {
public:
    enum class Style { automatic, none, json };

    // `automatic` shows a bar if stderr is a terminal and the session is not quiet. Files that
    // others run beside show nothing before they are done.
    Progress(Style style, const Session& session);
    // Erases the bar.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // Callback for warpseal_file_options; `progress` is a Progress*. Returns nonzero after a
    // signal.
    static int callback(void* progress, uint64_t done_bytes, uint64_t total_bytes);

    double seconds() const;
    // The part of seconds() before key_is_ready.
    double key_seconds() const { return key_seconds_; }
    // Says on the bar that the passphrase's key is derived, which takes a while. Then
    // key_is_ready calls `used`, and the rate is measured from there on.
    void derive_key(bool from_passphrase, std::function<void()> used);
    // Callback for warpseal_file_options::secrets_used; `progress` is a Progress*.
    static void key_is_ready(void* progress);
    // Erases the bar and prints the last line of a success. Records the result of a file of a run.
    void done(const warpseal_file_result& result);
    bool is_json() const { return style_ == Style::json; }

private:
    using Clock = std::chrono::steady_clock;
    void show(uint64_t done_bytes, uint64_t total_bytes);
    void show_bar(uint64_t done_bytes, uint64_t total_bytes);
    void draw(std::string text);
    void erase();
    double rate(uint64_t done_bytes);

    void print(nlohmann::ordered_json& line) const;

    Style style_;
    RunFile* const file_;
    bool bar_ = false;
    bool drawn_ = false;
    Clock::time_point start_ = Clock::now();
    Clock::time_point next_ = start_;
    double key_seconds_ = 0;
    bool derives_ = false;
    std::function<void()> secrets_used_;
    // Bytes that were done at the times of the last seconds.
    std::deque<std::pair<Clock::time_point, uint64_t>> recent_{{start_, 0}};
};

// The text as a string of JSON. Bytes that are not UTF-8, as paths may hold, are replaced. Lines
// that must be printed when memory is short are put together of it: an object of the JSON library
// allocates in its destructor, and ends the program if that fails.
std::string json_string(const std::string& text);
// Prints the last line of a failure as JSON. `file` is empty unless the command goes on after it.
void print_failed_event(ExitCode code, const std::string& message, const std::string& file = {});

}  // namespace warpseal::cli

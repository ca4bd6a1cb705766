// The report of a run over many files: a JSON line for each file, failures, and a summary.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>

#include "cli/files/file_command.h"
#include "cli/many/choice.h"
#include "cli/support/run/file_run.h"

namespace warpseal::cli {

// Thread-safe.
class Report {
public:
    Report(FileTask task, const ManyChoice& choice, const Session& session)
        : task_(task), choice_(choice), session_(session) {}

    void begin(size_t files) { files_ = files; }
    // Each names a file and its output, which may be empty.
    void done(const RunFile& file, const std::string& output);
    void skipped(const RunFile& file, const std::string& output);
    void failed(const RunFile& file, const std::string& output, const Failure& failure);
    // Stops the run for want of memory.
    void give_up() noexcept { stopped_ = gave_up_ = true; }
    // True if no other file is to be begun.
    bool is_stopped() const { return stopped_ || interrupted_by() != 0; }
    // Prints the summary. Throws the Failure of the run.
    ExitCode end();

private:
    void print(const RunFile& file, const std::string& output, const char* status, ExitCode code,
               const std::string& message);
    std::string counts() const;

    const FileTask task_;
    const ManyChoice& choice_;
    const Session& session_;
    std::mutex mutex_;
    size_t files_ = 0, done_ = 0, skipped_ = 0, failed_ = 0;
    uint64_t bytes_ = 0;
    std::optional<Failure> failure_;  // ends the run
    std::atomic<bool> stopped_{false}, gave_up_{false};
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace warpseal::cli

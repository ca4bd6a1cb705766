// The report of a run over many files: a JSON line for each file, failures, and a summary.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "cli/files/file_command.h"
#include "cli/many/choice.h"
#include "cli/many/inputs.h"
#include "cli/support/run/file_run.h"

namespace warpseal::cli {

// Thread-safe.
class Report {
public:
    Report(FileTask task, const ManyChoice& choice, const Session& session)
        : task_(task), choice_(choice), session_(session) {}

    // The inputs, which live longer than the report. RunFile::number is an index.
    void begin(const std::vector<ManyInput>& inputs) {
        inputs_ = &inputs;
        ended_.assign(inputs.size(), false);
    }
    // Each names a file and its output, which may be empty.
    void done(const RunFile& file, const std::string& output);
    void skipped(const RunFile& file, const std::string& output);
    void failed(const RunFile& file, const std::string& output, const Failure& failure);
    // A file failed because there was no memory. Says so in fewer words if there is still none.
    void out_of_memory(const RunFile& file, const std::string& output) noexcept;
    // The same for a file whose name cannot be said.
    void out_of_memory() noexcept;
    // True if no other file is to be begun.
    bool is_stopped() const { return stopped_ || interrupted_by() != 0; }
    // Prints the summary. Throws the Failure of the run.
    ExitCode end();

private:
    void print(const RunFile& file, const std::string& output, const char* status, ExitCode code,
               const std::string& message);
    // Says what `words` says about a file that is counted already. Without memory, it says in a
    // constant text that this is missing.
    template <class Words>
    void say(Words words) noexcept;
    std::string counts() const;
    std::string names_of_rest() const;
    size_t file_count() const { return ended_.size(); }

    const FileTask task_;
    const ManyChoice& choice_;
    const Session& session_;
    std::mutex mutex_;
    const std::vector<ManyInput>* inputs_ = nullptr;
    std::vector<bool> ended_;  // of each input: it is done, skipped, or named by failure_
    size_t done_ = 0, skipped_ = 0, failed_ = 0;
    uint64_t bytes_ = 0;
    std::optional<Failure> failure_;  // ends the run
    std::atomic<bool> stopped_{false};
    bool unsaid_ = false;  // something about a file is missing in the report
    // Released when there is no memory, so that the report still has some.
    static constexpr size_t reserve_bytes = 64 << 10;
    std::unique_ptr<char[]> reserve_ = std::make_unique<char[]>(reserve_bytes);
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace warpseal::cli

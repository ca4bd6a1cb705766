// State that the files of one command share, and the result of each.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "cli/support/command.h"
#include "cli/support/output_directory.h"

struct warpseal_internal_slot_keys;  // src/c_api/internal_slot_keys.h

namespace warpseal::cli {

// Thread-safe.
class FileRun {
public:
    explicit FileRun(std::shared_ptr<warpseal_internal_slot_keys> slot_keys)
        : slot_keys_(std::move(slot_keys)) {}
    // Returns the run's engine for that device, which `create` makes the first time.
    EngineHandle engine(const std::string& device, const std::function<EngineHandle()>& create);
    // Keys of passphrases, or null.
    warpseal_internal_slot_keys* slot_keys() const { return slot_keys_.get(); }
    // Returns true the first time for each directory.
    bool is_first_file_in(const FileIdentity& directory);

private:
    std::mutex mutex_;
    std::map<std::string, EngineHandle> engines_;
    std::set<std::pair<dev_t, ino_t>> directories_;
    const std::shared_ptr<warpseal_internal_slot_keys> slot_keys_;
};

// One file of a run.
struct RunFile {
    FileRun& run;
    const std::string& input;  // which lives longer
    bool alone;                // no other file of the run is at work: it may show its progress
    size_t number = 0;         // among the inputs
    // Set when it is done.
    uint64_t plaintext_bytes = 0, file_bytes = 0;
};

}  // namespace warpseal::cli

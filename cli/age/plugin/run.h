// File keys of a run over many files, so that one process of a plugin serves many of them.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/age/format/header.h"
#include "cli/age/keys.h"
#include "cli/support/command.h"

namespace warpseal::cli::age::plugin {

// A new file key, and its stanzas by plugins.
struct FileKey {
    Secret key;
    std::vector<Stanza> stanzas;
};

// Thread-safe. Plugins are started for at most `batch_files` files at a time.
class Run {
public:
    static constexpr size_t batch_files = 1024;
    explicit Run(std::vector<std::string> paths) : paths_(std::move(paths)) {}

    // The recipients are the same in all calls.
    FileKey new_file_key(const std::vector<Recipient>& recipients);

    // Does for a header what unwrap_by_plugins does, and for those of the next files with it.
    // `read_header` returns the header of a file that needs a plugin. The identities are the same
    // in all calls.
    using ReadHeader = std::function<std::optional<Header>(const std::string& path)>;
    std::optional<Secret> unwrap(const Header& header, const std::vector<Identity>& identities,
                                 const ReadHeader& read_header, std::optional<Failure>& failure);

private:
    struct Result {
        std::optional<Secret> key;
        std::optional<Failure> failure;
    };
    void unwrap_batch(const Header& first, const std::vector<Identity>& identities,
                      const ReadHeader& read_header);

    std::mutex mutex_;
    const std::vector<std::string> paths_;
    size_t next_ = 0;  // of `paths_`
    std::vector<FileKey> made_;
    std::optional<Failure> failure_;  // of a plugin that wraps: it is not started again
    std::map<Secret, Result> found_;  // by the digest of the header
};

// The same without a run, for which `run` is null. Throws Failure.
FileKey new_file_key(Run* run, const std::vector<Recipient>& recipients);

}  // namespace warpseal::cli::age::plugin

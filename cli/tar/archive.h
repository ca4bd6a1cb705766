// Handles of libarchive, and the thread that packs or unpacks beside the encryption.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/support/command.h"
#include "cli/support/descriptor.h"

namespace warpseal::cli::tar {

struct ReaderFree {
    void operator()(archive* reader) const { archive_read_free(reader); }
};
struct WriterFree {
    void operator()(archive* writer) const { archive_write_free(writer); }
};
struct EntryFree {
    void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};
using ReaderHandle = std::unique_ptr<archive, ReaderFree>;
using WriterHandle = std::unique_ptr<archive, WriterFree>;
using EntryHandle = std::unique_ptr<archive_entry, EntryFree>;

// libarchive's words for its last error.
std::string reason(archive* handle);

// Ends the thread's work because the other end is closed: the encryption has failed, and its
// failure counts.
struct OtherEndClosed {};

// Two connected descriptors: one for the encryption or decryption, one for the thread.
struct Channel {
    Descriptor pipeline, thread;
};
// The pipeline reads what the thread writes. Unless the thread calls finish_input, the pipeline's
// input ends with an error and not with an end of file.
Channel channel_to_pipeline();
void finish_input(int thread_end);
// The thread reads what the pipeline writes.
Channel channel_from_pipeline();

// Work on a thread of its own, at its end of a channel.
class SideTask {
public:
    // Throws Failure if no thread can be started.
    SideTask(Descriptor end, std::function<void(int end)> work);
    ~SideTask() { join(); }
    void join();
    // The failure that ended the work. It is known before the other end notices.
    std::optional<Failure> failure();

private:
    void run();
    Descriptor end_;
    const std::function<void(int)> work_;
    std::mutex mutex_;
    std::optional<Failure> failure_;
    std::thread thread_;
};

[[noreturn]] void fail(ExitCode code, const std::string& text);
// Throws Failure (input_output): "cannot DOING 'PATH': REASON."
[[noreturn]] void fail_system(const char* doing, const std::string& path, int error);
// Returns all names in a directory but "." and "..". `shown` is its path for messages.
std::vector<std::string> names_in(int directory, const std::string& shown);
void stop_if_interrupted();

}  // namespace warpseal::cli::tar

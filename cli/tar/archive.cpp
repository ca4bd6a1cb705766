// Connects a packing or unpacking thread to the encryption.
#include "cli/tar/archive.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <system_error>

#include "cli/support/format.h"

namespace warpseal::cli::tar {

std::string reason(archive* handle) {
    const char* const text = archive_error_string(handle);
    return text != nullptr ? text : "no reason is known";
}

void fail(ExitCode code, const std::string& text) { throw Failure(code, text); }

void fail_system(const char* doing, const std::string& path, int error) {
    fail(ExitCode::input_output, cli::format("cannot {} '{}': {}.", doing, path, strerror(error)));
}

std::vector<std::string> names_in(int directory, const std::string& shown) {
    const int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR*)> listed(again < 0 ? nullptr : fdopendir(again),
                                                     closedir);
    if (!listed) {
        const int error = errno;
        if (again >= 0) close(again);
        fail_system("read", shown, error);
    }
    std::vector<std::string> names;
    while (errno = 0, true) {
        const dirent* const entry = readdir(listed.get());
        if (entry == nullptr) break;
        const std::string name = entry->d_name;
        if (name != "." && name != "..") names.push_back(name);
    }
    if (errno != 0) fail_system("read", shown, errno);
    return names;
}

void stop_if_interrupted() {
    if (const int signal_number = interrupted_by())
        fail(ExitCode(128 + signal_number), "interrupted.");
}

// A socket that is closed while it holds unread bytes gives its peer ECONNRESET in place of the end
// of file (unix_release_sock in Linux). The pipeline's end sends one byte, which finish_input
// reads.
Channel channel_to_pipeline() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        fail_system("connect", "the archive", errno);
    Channel made{Descriptor(ends[0]), Descriptor(ends[1])};
    if (send(ends[0], "", 1, MSG_NOSIGNAL) != 1) fail_system("connect", "the archive", errno);
    return made;
}

void finish_input(int thread_end) {
    char byte;
    if (recv(thread_end, &byte, 1, MSG_DONTWAIT) != 1) fail_system("finish", "the archive", errno);
}

Channel channel_from_pipeline() {
    constexpr int pipe_bytes = 1 << 20;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail_system("connect", "the archive", errno);
    (void)fcntl(ends[0], F_SETPIPE_SZ, pipe_bytes);  // fewer system calls; the limit may be lower
    return {Descriptor(ends[1]), Descriptor(ends[0])};
}

SideTask::SideTask(Descriptor end, std::function<void(int)> work)
    : end_(std::move(end)), work_(std::move(work)) {
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
        fail(ExitCode::error,
             cli::format("cannot start a thread: {}. See `ulimit -u`.", error.code().message()));
    }
}

void SideTask::run() {
    std::optional<Failure> failure;
    try {
        work_(end_.get());
    } catch (const OtherEndClosed&) {
    } catch (const Failure& failed) {
        failure = failed;
    } catch (const std::bad_alloc&) {
        failure.emplace(ExitCode::error, "out of memory.");
    } catch (const std::exception& error) {
        failure.emplace(ExitCode::error, error.what());
    }
    {
        const std::lock_guard lock(mutex_);
        failure_ = std::move(failure);
    }
    (void)end_.close();
}

void SideTask::join() {
    if (thread_.joinable()) thread_.join();
}

std::optional<Failure> SideTask::failure() {
    const std::lock_guard lock(mutex_);
    return failure_;
}

}  // namespace warpseal::cli::tar

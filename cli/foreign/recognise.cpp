// Looks at the first bytes of an input without consuming them.
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "cli/foreign/floe.h"
#include "cli/foreign/foreign.h"

namespace warpseal::cli {
namespace {

constexpr size_t most_bytes = 16;

// Waits until a pipe holds that many bytes or its writers have closed it.
void wait_for_bytes(int pipe, int wanted) {
    for (;;) {
        pollfd ready[] = {{pipe, POLLIN, 0}, {interrupt_descriptor(), POLLIN, 0}};
        if (poll(ready, 2, -1) < 0 && errno != EINTR) return;
        if (const int signal_number = interrupted_by())
            throw Failure(ExitCode(128 + signal_number), "interrupted: nothing was written.");
        int held = 0;
        if ((ready[0].revents & (POLLHUP | POLLERR)) != 0 || ioctl(pipe, FIONREAD, &held) != 0 ||
            held >= wanted)
            return;
        const timespec pause{0, 2'000'000};
        if (held > 0) nanosleep(&pause, nullptr);
    }
}

// tee(2) copies between pipes without consuming.
ssize_t peek_pipe(int input, char* to) {
    wait_for_bytes(input, most_bytes);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    const Descriptor reading(ends[0]), writing(ends[1]);
    const ssize_t copied = tee(input, writing.get(), most_bytes, SPLICE_F_NONBLOCK);
    return copied <= 0 ? copied : read(reading.get(), to, static_cast<size_t>(copied));
}

// Returns fewer bytes, or none, where the input ends or cannot be looked at.
std::string peek(int input) {
    char bytes[most_bytes];
    ssize_t got = -1;
    struct stat about;
    if (fstat(input, &about) != 0) return "";
    const off_t position = lseek(input, 0, SEEK_CUR);
    if (S_ISFIFO(about.st_mode))
        got = peek_pipe(input, bytes);
    else if (S_ISSOCK(about.st_mode))
        got = recv(input, bytes, sizeof bytes, MSG_PEEK | MSG_WAITALL);
    else if (position >= 0)
        got = pread(input, bytes, sizeof bytes, position);
    return got > 0 ? std::string(bytes, static_cast<size_t>(got)) : "";
}

}  // namespace

ForeignFormat foreign_format(FileTask task, const FileChoice& choice, int input) {
    if (choice.foreign.format_given || task == FileTask::encrypt) return choice.foreign.format;
    const std::string start = peek(input);
    if (start.rfind("Salted__", 0) == 0 || start.rfind("U2FsdGVkX1", 0) == 0)
        return ForeignFormat::openssl;
    const bool floe = FloeHeader::is_likely(start) || choice.foreign.has_floe_options();
    return floe ? ForeignFormat::floe : ForeignFormat::none;
}

}  // namespace warpseal::cli

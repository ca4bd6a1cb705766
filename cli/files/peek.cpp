// Reads files at their position, and copies what pipes and sockets hold.
#include "cli/files/peek.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "cli/support/command.h"
#include "cli/support/descriptor.h"
#include "cli/support/interrupt.h"

namespace warpseal::cli {
namespace {

// tee(2) copies between pipes without consuming.
ssize_t copy_of_pipe(int input, char* to, size_t most) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    const Descriptor reading(ends[0]), writing(ends[1]);
    const ssize_t copied = tee(input, writing.get(), most, SPLICE_F_NONBLOCK);
    return copied <= 0 ? copied : read(reading.get(), to, static_cast<size_t>(copied));
}

// Waits until there is something to read. Returns false if no more bytes can come.
bool wait_for_bytes(int input) {
    for (;;) {
        pollfd ready[] = {{input, POLLIN | POLLRDHUP, 0}, {interrupt_descriptor(), POLLIN, 0}};
        const int found = poll(ready, 2, -1);
        if (const int signal_number = interrupted_by())
            throw Failure(ExitCode(128 + signal_number), "interrupted: nothing was written.");
        if (found < 0 && errno != EINTR) return false;
        if (found > 0 && ready[0].revents != 0) return (ready[0].revents & ~POLLIN) == 0;
    }
}

std::string peek_stream(int input, bool pipe, size_t most,
                        const std::function<bool(std::string_view)>& is_enough) {
    std::string start(most, '\0');
    for (;;) {
        const bool more = wait_for_bytes(input);
        int held = 0;
        (void)ioctl(input, FIONREAD, &held);
        const ssize_t got = pipe ? copy_of_pipe(input, start.data(), most)
                                 : recv(input, start.data(), most, MSG_PEEK | MSG_DONTWAIT);
        const size_t size = static_cast<size_t>(std::max<ssize_t>(got, 0));
        // Fewer than are held: no copy will have more.
        const bool whole = size == 0 || size == most || size < static_cast<size_t>(held);
        if (!more || whole || is_enough({start.data(), size})) return start.substr(0, size);
        const timespec pause{0, 2'000'000};
        nanosleep(&pause, nullptr);
    }
}

}  // namespace

std::string peek(int input, size_t most, const std::function<bool(std::string_view)>& is_enough) {
    struct stat about;
    if (fstat(input, &about) != 0) return "";
    if (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode))
        return peek_stream(input, S_ISFIFO(about.st_mode), most, is_enough);
    const off_t position = lseek(input, 0, SEEK_CUR);
    if (position < 0) return "";
    std::string start(most, '\0');
    const ssize_t got = pread(input, start.data(), most, position);
    return start.substr(0, static_cast<size_t>(std::max<ssize_t>(got, 0)));
}

}  // namespace warpseal::cli

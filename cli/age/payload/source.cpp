// Reads descriptors, which stop signals interrupt.
#include "cli/age/payload/source.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/support/command.h"
#include "cli/support/format.h"

namespace warpseal::cli::age {

void throw_if_interrupted() {
    if (const int signal_number = interrupted_by())
        throw Failure(ExitCode(128 + signal_number), "interrupted.");
}

size_t DescriptorSource::read(uint8_t* to, size_t most) {
    for (;;) {
        const ssize_t got = ::read(descriptor_, to, most);
        const int error = errno;
        throw_if_interrupted();
        if (got >= 0) return static_cast<size_t>(got);
        if (error != EINTR)
            throw Failure(ExitCode::input_output,
                          cli::format("reading failed: {}.", std::strerror(error)));
    }
}

bool BufferedSource::fill() {
    begin_ = 0;
    end_ = source_.read(buffer_.data(), buffer_.size());
    return end_ > 0;
}

int BufferedSource::get() {
    const int byte = peek();
    if (byte < 0) return byte;
    ++begin_;
    ++taken_;
    return byte;
}

size_t BufferedSource::read(uint8_t* to, size_t bytes) {
    size_t done = 0;
    while (done < bytes) {
        size_t got = 0;
        if (begin_ < end_) {
            got = std::min(bytes - done, end_ - begin_);
            std::memcpy(to + done, buffer_.data() + begin_, got);
            begin_ += got;
        } else {
            got = source_.read(to + done, bytes - done);
            if (got == 0) break;
        }
        done += got;
    }
    taken_ += done;
    return done;
}

}  // namespace warpseal::cli::age

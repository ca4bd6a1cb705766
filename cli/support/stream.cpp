// Reading and writing of whole buffers, with the text for an interrupt.
#include "cli/support/stream.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/support/format.h"

namespace warpseal::cli {

void RawOutput::throw_if_interrupted() const {
    const int signal_number = interrupted_by();
    if (signal_number == 0) return;
    throw Failure(ExitCode(128 + signal_number),
                  gone_ ? cli::format("interrupted: what went to {} is not whole.", output_.shown())
                        : cli::format("interrupted: nothing was written to {}.", output_.shown()));
}

void RawOutput::write(const uint8_t* data, size_t bytes) {
    if (!write_until_closed(data, bytes))
        throw Failure(ExitCode::input_output,
                      cli::format("cannot write the output: {}.", std::strerror(EPIPE)));
}

bool RawOutput::write_until_closed(const uint8_t* data, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        throw_if_interrupted();
        const ssize_t wrote = ::write(output_.descriptor(), data + done, bytes - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0 && errno == EPIPE) return false;
        if (wrote <= 0)
            throw Failure(ExitCode::input_output,
                          cli::format("cannot write the output: {}.",
                                      std::strerror(wrote < 0 ? errno : EIO)));
        done += static_cast<size_t>(wrote);
        written_ += static_cast<size_t>(wrote);
        gone_ = output_.keeps_failed();  // A file has no name until it is complete.
    }
    return true;
}

size_t read_some(int input, uint8_t* to, size_t most, const std::string& shown,
                 const RawOutput& output) {
    for (;;) {
        const ssize_t got = ::read(input, to, most);
        const int error = errno;
        output.throw_if_interrupted();
        if (got >= 0) return static_cast<size_t>(got);
        if (error != EINTR)
            throw Failure(ExitCode::input_output,
                          cli::format("cannot read {}: {}.", shown, std::strerror(error)));
    }
}

}  // namespace warpseal::cli

// Complete reads and writes: handles interrupts, short counts and non-blocking descriptors.
#include "container/pipeline/descriptor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace warpseal::container {
namespace {

constexpr size_t buffers_a_call = IOV_MAX;

// Advances past `bytes` transferred bytes and past empty buffers.
void advance(iovec*& buffers, size_t& count, size_t bytes) {
    while (count > 0 && bytes >= buffers->iov_len) {
        bytes -= buffers->iov_len;
        ++buffers;
        --count;
    }
    if (count == 0) return;
    buffers->iov_base = static_cast<uint8_t*>(buffers->iov_base) + bytes;
    buffers->iov_len -= bytes;
}

// Called after a failed system call. Returns 0 to retry, else the errno to report.
int retry(int descriptor, short event, Progress& progress) {
    if (errno == EINTR) return progress.report() ? ECANCELED : 0;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return errno;
    pollfd wanted = {descriptor, event, 0};
    if (poll(&wanted, 1, -1) < 0 && errno == EINTR) return progress.report() ? ECANCELED : 0;
    return 0;
}

bool same(const timespec& a, const timespec& b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

warpseal_status failed(int error, const char* doing, uint64_t offset, Fault& fault) {
    if (error == ECANCELED) return fault.say(WARPSEAL_CANCELLED, "cancelled");
    return fault.say_system(error, "%s failed at byte %llu", doing,
                            static_cast<unsigned long long>(offset));
}

}  // namespace

Source::Source(int descriptor, Progress& progress, Access access)
    : descriptor_(descriptor), progress_(progress) {
    struct stat about;
    if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) return;
    regular_ = true;
    const off_t position = lseek(descriptor, 0, SEEK_CUR);
    if (position < 0 || position >= about.st_size) return;
    positional_ = true;
    base_ = static_cast<uint64_t>(position);
    bytes_ = static_cast<uint64_t>(about.st_size) - base_;
    modified_ = about.st_mtim;
    changed_ = about.st_ctim;
    // Advice only: failure is harmless.
    if (access == Access::sequential) posix_fadvise(descriptor, position, 0, POSIX_FADV_SEQUENTIAL);
}

warpseal_status Source::read(uint64_t offset, iovec* buffers, size_t count, size_t& got,
                             Fault& fault) {
    got = 0;
    for (advance(buffers, count, 0); count > 0;) {
        const int now = static_cast<int>(std::min(count, buffers_a_call));
        const ssize_t moved = positional_ ? preadv(descriptor_, buffers, now,
                                                   static_cast<off_t>(base_ + offset + got))
                                          : readv(descriptor_, buffers, now);
        if (moved == 0) break;
        if (moved > 0) {
            got += static_cast<size_t>(moved);
            advance(buffers, count, static_cast<size_t>(moved));
            continue;
        }
        const int error = retry(descriptor_, POLLIN, progress_);
        if (error != 0) return failed(error, "reading the input", offset + got, fault);
    }
    return WARPSEAL_OK;
}

warpseal_status Source::read(uint64_t offset, void* out, size_t bytes, size_t& got, Fault& fault) {
    iovec buffer = {out, bytes};
    return read(offset, &buffer, 1, got, fault);
}

warpseal_status Source::finish(Fault& fault) {
    if (!positional_) return WARPSEAL_OK;
    struct stat about;
    if (fstat(descriptor_, &about) != 0)
        return fault.say_system(errno, "asking for the input's length failed");
    if (static_cast<uint64_t>(about.st_size) != base_ + bytes_) {
        const unsigned long long before = base_ + bytes_;
        return fault.say(WARPSEAL_IO,
                         "the input's length changed while it was read, from %llu to %lld bytes",
                         before, static_cast<long long>(about.st_size));
    }
    if (lseek(descriptor_, about.st_size, SEEK_SET) < 0)
        return fault.say_system(errno, "moving the input's position failed");
    return WARPSEAL_OK;
}

warpseal_status Source::check_unchanged(Fault& fault) const {
    if (!positional_) return WARPSEAL_OK;
    struct stat about;
    if (fstat(descriptor_, &about) != 0)
        return fault.say_system(errno, "asking for the input's times failed");
    if (same(about.st_mtim, modified_) && same(about.st_ctim, changed_)) return WARPSEAL_OK;
    return fault.say(WARPSEAL_IO, same(about.st_mtim, modified_)
                                      ? "the input was changed, renamed, linked or given other "
                                        "permissions while it was read: its time of "
                                        "change is another one now"
                                      : "the input was changed while it was read: its time of "
                                        "modification is another one now");
}

bool Source::is_same_file(int descriptor) const {
    struct stat mine, other;
    return positional_ && descriptor >= 0 && fstat(descriptor_, &mine) == 0 &&
           fstat(descriptor, &other) == 0 && mine.st_dev == other.st_dev &&
           mine.st_ino == other.st_ino;
}

Sink::Sink(int descriptor, Order order, Progress& progress)
    : descriptor_(descriptor), progress_(progress) {
    if (descriptor < 0) ordered_ = false;  // no order to keep
    if (descriptor < 0 || order == Order::strict) return;
    struct stat about;
    const int flags = fcntl(descriptor, F_GETFL);
    const off_t position = lseek(descriptor, 0, SEEK_CUR);
    ordered_ = fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode) || flags < 0 ||
               (flags & O_APPEND) != 0 || position < 0;
    base_ = ordered_ ? 0 : static_cast<uint64_t>(position);
}

warpseal_status Sink::write(uint64_t offset, iovec* buffers, size_t count, Fault& fault) {
    if (discards()) return WARPSEAL_OK;
    uint64_t done = 0;
    for (advance(buffers, count, 0); count > 0;) {
        const int now = static_cast<int>(std::min(count, buffers_a_call));
        const ssize_t moved = ordered_ ? writev(descriptor_, buffers, now)
                                       : pwritev(descriptor_, buffers, now,
                                                 static_cast<off_t>(base_ + offset + done));
        if (moved > 0) {
            done += static_cast<uint64_t>(moved);
            bytes_ += static_cast<uint64_t>(moved);
            advance(buffers, count, static_cast<size_t>(moved));
            continue;
        }
        const int error = moved == 0 ? EIO : retry(descriptor_, POLLOUT, progress_);
        if (error != 0) return failed(error, "writing the output", offset + done, fault);
    }
    return WARPSEAL_OK;
}

warpseal_status Sink::write(uint64_t offset, const void* bytes, size_t count, Fault& fault) {
    iovec buffer = {const_cast<void*>(bytes), count};
    return write(offset, &buffer, 1, fault);
}

warpseal_status Sink::finish(uint64_t bytes, Fault& fault) {
    if (ordered_ || discards()) return WARPSEAL_OK;
    if (lseek(descriptor_, static_cast<off_t>(base_ + bytes), SEEK_SET) < 0) {
        return fault.say_system(errno, "moving the output's position failed");
    }
    return WARPSEAL_OK;
}

}  // namespace warpseal::container

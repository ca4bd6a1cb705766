// fstat(2) of this program, which can report the same times for ever.
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "unfinished.h"

namespace {

std::atomic<bool> frozen{false};

}  // namespace

extern "C" int fstat(int fd, struct stat* about) noexcept {
    const int status = static_cast<int>(syscall(SYS_fstat, fd, about));
    if (status == 0 && frozen) about->st_mtim = about->st_ctim = {1'000'000'000, 0};
    return status;
}

namespace tests {

FrozenTimes::FrozenTimes() { frozen = true; }
FrozenTimes::~FrozenTimes() { frozen = false; }

}  // namespace tests

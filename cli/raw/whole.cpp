// Processes raw modes with a tag: one in-place call over the whole message in private memory.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/raw/raw.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

constexpr size_t full_tag_bytes = 16;
// Bytes of one read. Interrupts are handled between reads.
constexpr size_t read_bytes = size_t{1} << 20;

// Returns the length from the position to the end of a regular file; 0 if unknown. Files of /proc
// report 0 although they are not empty.
uint64_t known_bytes(int descriptor, const std::string& shown) {
    struct stat about {};
    if (fstat(descriptor, &about) != 0)
        throw Failure(ExitCode::input_output,
                      cli::format("cannot look at {}: {}.", shown, std::strerror(errno)));
    const off_t position = S_ISREG(about.st_mode) ? lseek(descriptor, 0, SEEK_CUR) : -1;
    return position >= 0 && about.st_size > position
               ? static_cast<uint64_t>(about.st_size - position)
               : 0;
}

}  // namespace

WholeInput::WholeInput(int descriptor, const std::string& shown, size_t more,
                       const RawOutput& output)
    : WholeInput(known_bytes(descriptor, shown), more, shown) {
    read(descriptor, shown, output);
}

// One extra byte detects input longer than expected. For unknown lengths this reserves address
// space only; pages are allocated when written.
WholeInput::WholeInput(uint64_t known, size_t more, const std::string& shown)
    : known_(known), capacity_((known != 0 ? known : held_most) + std::max<size_t>(more, 1)) {
    void* const memory =
        mmap(nullptr, capacity_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        throw Failure(ExitCode::error, cli::format("out of memory: the {} of {} cannot be held.",
                                                   human_bytes(capacity_), shown));
    madvise(memory, capacity_, MADV_DONTDUMP);
    data_ = static_cast<uint8_t*>(memory);
}

WholeInput::~WholeInput() {
    warpseal_wipe(data_, size_);
    munmap(data_, capacity_);
}

void WholeInput::read(int descriptor, const std::string& shown, const RawOutput& output) {
    const uint64_t most = known_ != 0 ? known_ : held_most;
    while (size_ <= most) {
        const uint64_t wanted = std::clamp<uint64_t>(most - size_, 1, read_bytes);
        const size_t got = read_some(descriptor, data_ + size_, wanted, shown, output);
        if (got == 0) break;
        size_ += got;
    }
    if (known_ != 0 && size_ != known_)
        throw Failure(ExitCode::input_output,
                      cli::format("{} changed its length while it was read.", shown));
    if (size_ > most)
        throw Failure(
            ExitCode::limit_exceeded,
            cli::format("{} is not a regular file and longer than the {} that are held in memory: "
                        "name a file.",
                        shown, human_bytes(held_most)));
}

void run_raw_whole(const RawJob& job, const warpseal_key* key, const WholeInput* aad, int input,
                   RawOutput& output) {
    const WholeInput in(input, "the input", job.encrypt ? full_tag_bytes : 0, output);
    if (!job.encrypt && in.size() < full_tag_bytes)
        throw Failure(
            ExitCode::truncated,
            cli::format("cannot decrypt with {}: the input has {} bytes, and its tag alone has {}.",
                        job.name, in.size(), full_tag_bytes));
    const size_t text_bytes = job.encrypt ? in.size() : in.size() - full_tag_bytes;
    uint8_t *const text = in.data(), *const tag = text + text_bytes;
    const uint8_t* const aad_data = aad ? aad->data() : nullptr;
    const size_t aad_bytes = aad ? aad->size() : 0;
    const warpseal_status status =
        job.encrypt
            ? warpseal_seal_unsafe_iv(key, job.mode, job.iv.data(), job.iv.size(), aad_data,
                                      aad_bytes, text, text, text_bytes, tag, full_tag_bytes)
            : warpseal_open(key, job.mode, job.iv.data(), job.iv.size(), aad_data, aad_bytes, text,
                            text, text_bytes, tag, full_tag_bytes);
    output.throw_if_interrupted();
    require_raw(job, status);
    output.write(text, job.encrypt ? text_bytes + full_tag_bytes : text_bytes);
}

}  // namespace warpseal::cli

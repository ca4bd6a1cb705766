// Raw modes with a tag: one call over the whole message, on files where they lie.
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "raw.h"

namespace warpseal::cli {
namespace {

constexpr size_t tag_bytes = 16;

[[noreturn]] void fail(const std::string& what) {
    throw Failure(ExitCode::input_output, fmt::format("{}: {}.", what, std::strerror(errno)));
}

// A mapped file that is cut short by another program, or has no room on its disk, is a signal to whoever touches it.
void answer_lost_pages() {
    struct sigaction action {};
    action.sa_handler = [](int) {
        constexpr char text[] = "warpseal: a file changed its length or its disk is full while it was worked on: nothing was written.\n";
        (void)!::write(STDERR_FILENO, text, sizeof text - 1);
        _exit(static_cast<int>(ExitCode::input_output));
    };
    sigaction(SIGBUS, &action, nullptr);
}

void* anonymous(size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, bytes, MADV_DONTDUMP);
    return memory;
}

// What the call writes: the pages of a file that has no name yet, or memory for what goes to a stream.
class WholeOutput {
public:
    WholeOutput(Output& output, size_t bytes) : output_(output), bytes_(bytes), mapped_(bytes ? bytes : 1) {
        if (output.is_stream()) {
            if (bytes > WholeInput::held_most)
                throw Failure(ExitCode::limit_exceeded,
                              fmt::format("{} would have to be held in memory until its tag is known, at most {}: "
                                          "name a file with -o.",
                                          human_bytes(bytes), human_bytes(WholeInput::held_most)));
            memory_ = anonymous(mapped_);
            return;
        }
        answer_lost_pages();
        // Room is taken first: a disk that is full is told here, and not by a signal.
        const int descriptor = output.descriptor();
        if (bytes != 0) {
            const int error = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
            if (error == ENOSPC || error == EFBIG || error == EDQUOT) {
                errno = error;
                fail("cannot make room for the output");
            }
            if (error != 0 && ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) fail("cannot make room for the output");
        }
        if (bytes == 0) return;
        memory_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (memory_ == MAP_FAILED) fail("cannot map the output");
    }
    ~WholeOutput() {
        if (!memory_ || memory_ == MAP_FAILED) return;
        if (output_.is_stream()) warpseal_wipe(memory_, mapped_);
        munmap(memory_, mapped_);
    }
    WholeOutput(const WholeOutput&) = delete;
    WholeOutput& operator=(const WholeOutput&) = delete;

    uint8_t* data() const { return static_cast<uint8_t*>(memory_); }
    void release() const {
        if (output_.is_stream()) write_whole(output_.descriptor(), data(), bytes_);
    }

private:
    Output& output_;
    size_t bytes_, mapped_;
    void* memory_ = nullptr;
};

}  // namespace

WholeInput::WholeInput(int descriptor, const std::string& shown) {
    struct stat about {};
    if (fstat(descriptor, &about) != 0) fail("cannot look at " + shown);
    const off_t position = S_ISREG(about.st_mode) ? lseek(descriptor, 0, SEEK_CUR) : -1;
    if (position < 0) {
        read(descriptor, shown);
        return;
    }
    const auto begin = static_cast<uint64_t>(position), end = static_cast<uint64_t>(about.st_size);
    if (end > begin) map(descriptor, begin, end, shown);
}

WholeInput::~WholeInput() {
    if (!mapping_) return;
    if (held_) warpseal_wipe(mapping_, size_);
    munmap(mapping_, mapped_);
}

void WholeInput::map(int descriptor, uint64_t position, uint64_t end, const std::string& shown) {
    answer_lost_pages();
    const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE)), from = position / page * page;
    void* memory = mmap(nullptr, end - from, PROT_READ, MAP_SHARED, descriptor, static_cast<off_t>(from));
    if (memory == MAP_FAILED) fail("cannot map " + shown);
    mapping_ = memory;
    mapped_ = end - from;
    data_ = static_cast<const uint8_t*>(memory) + (position - from);
    size_ = end - position;
    (void)lseek(descriptor, static_cast<off_t>(end), SEEK_SET);  // read, as far as a shell that shares the descriptor is concerned
}

void WholeInput::read(int descriptor, const std::string& shown) {
    mapped_ = held_most;  // address space; pages come as they are filled
    mapping_ = anonymous(mapped_);
    held_ = true;
    auto* memory = static_cast<uint8_t*>(mapping_);
    for (;;) {
        uint8_t beyond = 0;
        const bool full = size_ == mapped_;
        const ssize_t got = full ? ::read(descriptor, &beyond, 1) : ::read(descriptor, memory + size_, mapped_ - size_);
        if (interrupted_by() != 0) throw Failure(ExitCode(128 + interrupted_by()), "interrupted.");
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail("cannot read " + shown);
        if (got == 0) break;
        if (full)
            throw Failure(ExitCode::limit_exceeded, fmt::format("{} is not a regular file and longer than the {} that are held in memory: "
                                                                "name a file.",
                                                                shown, human_bytes(held_most)));
        size_ += static_cast<size_t>(got);
    }
    data_ = memory;
}

void run_raw_whole(const RawJob& job, const warpseal_key* key, const WholeInput* aad, int input, Output& output) {
    const WholeInput in(input, "the input");
    if (!job.encrypt && in.size() < tag_bytes)
        throw Failure(ExitCode::truncated, fmt::format("cannot decrypt with {}: the input has {} bytes, and its tag alone has {}.",
                                                       job.name, in.size(), tag_bytes));
    const size_t text_bytes = job.encrypt ? in.size() : in.size() - tag_bytes;
    const WholeOutput out(output, job.encrypt ? text_bytes + tag_bytes : text_bytes);
    const uint8_t* aad_data = aad ? aad->data() : nullptr;
    const size_t aad_bytes = aad ? aad->size() : 0;
    const warpseal_status status = job.encrypt
                                       ? warpseal_seal_unsafe_iv(key, job.mode, job.iv.data(), job.iv.size(), aad_data, aad_bytes,
                                                                 in.data(), out.data(), text_bytes, out.data() + text_bytes, tag_bytes)
                                       : warpseal_open(key, job.mode, job.iv.data(), job.iv.size(), aad_data, aad_bytes, in.data(),
                                                       out.data(), text_bytes, in.data() + text_bytes, tag_bytes);
    require_raw(job, status);
    out.release();
}

}  // namespace warpseal::cli

#include "container/shards/part.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "container/bytes.h"
#include "container/call.h"

namespace warpseal::container {
namespace {

using ull = unsigned long long;

constexpr uint8_t file_pin[8] = {'f', 'i', 'l', 'e', 0, 0, 0, 0};

uint64_t nanoseconds(const statx_timestamp& time) {
    return static_cast<uint64_t>(time.tv_sec) * 1000000000 + time.tv_nsec;
}

warpseal_status check_pin(const Plan& plan, int in_fd, const char* when, Fault& fault) {
    uint8_t pin[pin_bytes];
    if (pin_of_file(in_fd, pin, fault) != WARPSEAL_OK) return fault.status;
    if (memcmp(pin, plan.pin(), pin_bytes) == 0) return WARPSEAL_OK;
    return fault.say(
        WARPSEAL_IO,
        "the input is another file than that of the plan, or was changed %s: its "
        "inode or its times are other ones. Make a new plan and seal all shards with it",
        when);
}

warpseal_status seal_part_call(FileCall& call, const Plan& plan, uint32_t index, int in_fd) {
    Fault& fault = call.fault;
    if (!call.source.positional() || call.sink.ordered())
        return fault.say(WARPSEAL_INVALID_ARGUMENT,
                         "a shard is read from a file that is not empty, and written to a file");
    if (call.source.bytes() != plan.text_bytes())
        return fault.say(WARPSEAL_IO,
                         "the input has %llu bytes, and had %llu when the plan was made. Make a "
                         "new plan and seal all shards with it",
                         ull{call.source.bytes()}, ull{plan.text_bytes()});
    if (check_pin(plan, in_fd, "since it was made", fault) != WARPSEAL_OK) return fault.status;
    uint8_t head[part_head_bytes];
    plan.write_part_head(index, head);
    call.head_bytes = sizeof head;
    if (call.sink.write(0, head, sizeof head, fault) != WARPSEAL_OK) return fault.status;
    const Shard shard = plan.shard(index);
    call.progress.expect(shard.text_bytes);
    const ChunkRange range = {shard.first_chunk, shard.text_bytes, index + 1 == plan.shard_count()};
    const PipelineJob job = {{call.engine, plan.payload(), Direction::encrypt, shard.text_offset},
                             plan.suite(),
                             call.source,
                             call.sink,
                             call.head_bytes,
                             call.progress,
                             nullptr,
                             &range};
    if (run_pipeline(job, call.done, fault) != WARPSEAL_OK) return fault.status;
    if (check_pin(plan, in_fd, "while it was read", fault) != WARPSEAL_OK) return fault.status;
    return call.sink.finish(call.head_bytes + call.done.written_bytes, fault);
}

}  // namespace

warpseal_status pin_of_file(int descriptor, uint8_t pin[pin_bytes], Fault& fault) {
    struct statx about;
    // A network file system otherwise answers with times that it asked its server for before.
    constexpr int flags = AT_EMPTY_PATH | AT_STATX_FORCE_SYNC;
    if (statx(descriptor, "", flags, STATX_BASIC_STATS, &about) != 0)
        return fault.say_system(errno, "asking for the input's times failed");
    if (!S_ISREG(about.stx_mode))
        return fault.say(WARPSEAL_INVALID_ARGUMENT,
                         "the input is a pipe or a device, whose shards cannot be read apart: save "
                         "it to a file first");
    memcpy(pin, file_pin, sizeof file_pin);
    put64(pin + 8, about.stx_ino);
    put64(pin + 16, nanoseconds(about.stx_mtime));
    put64(pin + 24, nanoseconds(about.stx_ctime));
    return WARPSEAL_OK;
}

warpseal_status seal_part(const Plan& plan, uint32_t index, int in_fd, int out_fd,
                          const warpseal_file_options& options, warpseal_file_result& result) {
    FileCall call(plan.engine(), in_fd, out_fd, options);
    try {
        if (seal_part_call(call, plan, index, in_fd) == WARPSEAL_OK && call.progress.report())
            call.fault.say(WARPSEAL_CANCELLED, "cancelled");
    } catch (const std::bad_alloc&) {
        call.fault.say(WARPSEAL_OUT_OF_MEMORY, "out of memory");
    }
    result.plaintext_bytes = call.done.text_bytes;
    result.file_bytes = call.head_bytes + call.done.written_bytes;
    result.output_bytes = call.sink.bytes();
    result.target = call.done.target;
    result.system_error = call.fault.system_error;
    memcpy(result.message, call.fault.message, sizeof result.message);
    return call.fault.status;
}

warpseal_status check_part(const Plan& plan, int descriptor, uint32_t& index, Fault& fault) {
    uint8_t head[part_head_bytes];
    struct stat about;
    if (fstat(descriptor, &about) != 0)
        return fault.say_system(errno, "asking for the length of the part failed");
    if (!S_ISREG(about.st_mode))
        return fault.say(WARPSEAL_INVALID_ARGUMENT, "the part is no regular file");
    size_t have = 0;
    while (have < sizeof head) {
        const ssize_t got =
            pread(descriptor, head + have, sizeof head - have, static_cast<off_t>(have));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fault.say_system(errno, "reading the head of the part failed");
        if (got == 0) break;
        have += static_cast<size_t>(got);
    }
    return plan.check_part_head(head, have, static_cast<uint64_t>(about.st_size), index, fault);
}

}  // namespace warpseal::container

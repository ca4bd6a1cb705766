// Seals, opens and describes files: interprets options, writes or reads the header, and reports
// results.
#include "container/file.h"

#include <cstring>
#include <new>

#include "container/call.h"
#include "container/opening.h"
#include "container/rescue.h"
#include "container/resume/resume.h"

namespace warpseal::container {
namespace {

ReadAt reading(Source& source) {
    return [&source](uint64_t offset, void* out, size_t bytes, size_t& got, Fault& fault) {
        return source.read(offset, out, bytes, got, fault);
    };
}

warpseal_status read_head(FileCall& call, Opened& opened) {
    const warpseal_status status =
        open_head(call.engine, call.options, reading(call.source), opened, call.fault, call.keys);
    call.head_bytes = opened.head_bytes;
    call.header_copies_differ = opened.header_copies_differ;
    return status;
}

warpseal_status seal_call(FileCall& call) {
    const Suite* suite = nullptr;
    Opened made;
    std::vector<uint8_t> front;
    if (check_options(call.options, SecretUse::seal, call.fault) != WARPSEAL_OK ||
        check_sealing(call.options, suite, call.fault) != WARPSEAL_OK)
        return call.fault.status;
    if (call.sink.discards())
        return call.fault.say(WARPSEAL_INVALID_ARGUMENT, "sealing needs an output");
    DeviceInput* const device = call.device;
    if (device != nullptr &&
        find_device_text(call.engine, device->memory, device->bytes, device->stream, device->text,
                         "in", call.fault) != WARPSEAL_OK)
        return call.fault.status;
    call.progress.expect(device != nullptr ? device->bytes : call.source.bytes());
    if (make_front(call, *suite, made, front) != WARPSEAL_OK) return call.fault.status;
    call.head_bytes = front.size();
    if (call.sink.write(0, front.data(), front.size(), call.fault) != WARPSEAL_OK)
        return call.fault.status;
    call.secrets_used();
    const DeviceText* const text = device != nullptr ? &device->text : nullptr;
    const PipelineJob job = {{call.engine, made.payload, Direction::encrypt, 0, text},
                             *suite,
                             call.source,
                             call.sink,
                             call.head_bytes,
                             call.progress};
    if (run_pipeline(job, call.done, call.fault) != WARPSEAL_OK) return call.fault.status;
    if (call.source.check_unchanged(call.fault) != WARPSEAL_OK) return call.fault.status;
    return call.sink.finish(call.head_bytes + call.done.written_bytes, call.fault);
}

warpseal_status open_call(FileCall& call) {
    Opened opened;
    if (check_options(call.options, SecretUse::open, call.fault) != WARPSEAL_OK ||
        read_head(call, opened) != WARPSEAL_OK)
        return call.fault.status;
    call.secrets_used();
    if (call.source.bytes() != UINT64_MAX)
        call.progress.expect(text_bytes_of(call.source.bytes() - call.head_bytes));
    const PipelineJob job = {{call.engine, opened.payload, Direction::decrypt, call.head_bytes},
                             *opened.suite,
                             call.source,
                             call.sink,
                             0,
                             call.progress};
    if (run_pipeline(job, call.done, call.fault) != WARPSEAL_OK) return call.fault.status;
    return call.sink.finish(call.done.written_bytes, call.fault);
}

// Returns the text length that a progress callback expects of a damaged payload.
uint64_t rescue_bytes(uint64_t bytes) {
    const uint64_t text = text_bytes_of(bytes);
    return text != UINT64_MAX ? text : bytes / chunk_bytes * chunk_text_bytes;
}

warpseal_status rescue_call(FileCall& call) {
    Opened opened;
    if (!call.source.regular())
        return call.fault.say(WARPSEAL_INVALID_ARGUMENT,
                              "the input is a pipe or a device: save it to a file first, because "
                              "a rescue reads parts of it again");
    if (check_options(call.options, SecretUse::open, call.fault) != WARPSEAL_OK ||
        read_head(call, opened) != WARPSEAL_OK)
        return call.fault.status;
    call.secrets_used();
    if (!call.source.positional())
        return call.fault.say(WARPSEAL_INVALID_ARGUMENT, "the input has no known length");
    call.progress.expect(rescue_bytes(call.source.bytes() - call.head_bytes));
    Rescue rescue(call.sink, call.progress, *call.rescue);
    const PipelineJob job = {{call.engine, opened.payload, Direction::decrypt, call.head_bytes},
                             *opened.suite,
                             call.source,
                             call.sink,
                             0,
                             call.progress,
                             &rescue};
    if (run_pipeline(job, call.done, call.fault) == WARPSEAL_OK) rescue.finish(job, call.fault);
    call.done.text_bytes = rescue.authentic_bytes();
    if (!rescue.finished()) return call.fault.status;
    Fault late;
    if (call.sink.finish(rescue.written_bytes(), late) != WARPSEAL_OK) {
        call.fault = late;
        return late.status;
    }
    call.rescue->finished = 1;
    return call.fault.status;
}

warpseal_status report(const Fault& fault, warpseal_file_result& result) {
    result.system_error = fault.system_error;
    memcpy(result.message, fault.message, sizeof result.message);
    return fault.status;
}

warpseal_status run(warpseal_status (*work)(FileCall&), Engine& engine, int in_fd, int out_fd,
                    const warpseal_file_options& options, warpseal_file_result& result,
                    bool sealing, SlotKeys* keys, warpseal_rescue* rescue = nullptr,
                    Resumption* resumption = nullptr, DeviceInput* device = nullptr) {
    FileCall call(engine, in_fd, out_fd, options);
    call.rescue = rescue;
    call.resumption = resumption;
    call.device = device;
    call.keys = keys;
    try {
        if (call.source.is_same_file(out_fd)) {
            call.fault.say(WARPSEAL_INVALID_ARGUMENT, "input and output are the same file");
        } else {
            const bool whole = work(call) == WARPSEAL_OK;
            const bool finished = whole || (rescue != nullptr && rescue->finished != 0);
            if (finished && call.progress.report()) {
                call.fault.say(WARPSEAL_CANCELLED, "cancelled");
                if (rescue != nullptr) rescue->finished = 0;
            }
        }
    } catch (const std::bad_alloc&) {
        call.fault.say(WARPSEAL_OUT_OF_MEMORY, "out of memory");
    }
    result.plaintext_bytes = call.done.text_bytes;
    result.file_bytes =
        call.head_bytes + (sealing ? call.done.written_bytes : call.done.read_bytes);
    result.output_bytes = call.sink.bytes();
    result.header_copies_differ = call.header_copies_differ ? 1 : 0;
    result.target = call.done.target;
    return report(call.fault, result);
}

}  // namespace

warpseal_status seal(Engine& engine, int in_fd, int out_fd, const warpseal_file_options& options,
                     warpseal_file_result& result, SlotKeys* keys) {
    return run(seal_call, engine, in_fd, out_fd, options, result, true, keys);
}

warpseal_status seal_device(Engine& engine, const void* in, uint64_t bytes, void* stream,
                            int out_fd, const warpseal_file_options& options,
                            warpseal_file_result& result) {
    DeviceInput device = {in, bytes, stream};
    device.text.memory = static_cast<uint8_t*>(const_cast<void*>(in));  // is only read
    return run(seal_call, engine, -1, out_fd, options, result, true, nullptr, nullptr, nullptr,
               &device);
}

warpseal_status open(Engine& engine, int in_fd, int out_fd, const warpseal_file_options& options,
                     warpseal_file_result& result, SlotKeys* keys) {
    return run(open_call, engine, in_fd, out_fd, options, result, false, keys);
}

warpseal_status rescue(Engine& engine, int in_fd, int out_fd, const warpseal_file_options& options,
                       warpseal_rescue& report, warpseal_file_result& result) {
    return run(rescue_call, engine, in_fd, out_fd, options, result, false, nullptr, &report);
}

warpseal_status resume(Engine& engine, Direction direction, const warpseal_file_options& options,
                       Resumption& resumption, warpseal_file_result& result, SlotKeys* keys) {
    const bool sealing = direction == Direction::encrypt;
    return run(sealing ? seal_resumable : open_resumable, engine, resumption.in_fd,
               resumption.out_fd, options, result, sealing, keys, nullptr, &resumption);
}

warpseal_status info(int in_fd, warpseal_file_info& info, warpseal_file_result& result) {
    Fault fault;
    Progress silent(nullptr, nullptr);
    Source source(in_fd, silent);
    Header header;
    try {
        if (read_header(reading(source), header, fault) != WARPSEAL_OK)
            return report(fault, result);
    } catch (const std::bad_alloc&) {
        fault.say(WARPSEAL_OUT_OF_MEMORY, "out of memory");
        return report(fault, result);
    }
    const int newest = header.newest();
    if (newest < 0) {
        fault.say(WARPSEAL_NOT_AUTHENTIC, "both copies of the file's header are damaged");
        return report(fault, result);
    }
    const HeaderCopy& copy = header.copies[newest];
    info.version = header.fixed.version;
    std::strncpy(info.suite, header.fixed.suite->name, sizeof info.suite - 1);
    memcpy(info.file_id, header.fixed.file_id, sizeof info.file_id);
    info.header_bytes = static_cast<uint32_t>(header.bytes.size());
    info.generation = copy.generation;
    info.file_bytes = source.bytes();
    const uint64_t before = header.bytes.size() + payload_head_bytes;
    info.plaintext_bytes = info.file_bytes == UINT64_MAX || info.file_bytes < before
                               ? UINT64_MAX
                               : text_bytes_of(info.file_bytes - before);
    info.slot_count = copy.slot_count;
    result.header_copies_differ = header.copies_equal() ? 0 : 1;
    for (uint32_t i = 0; i < copy.slot_count; ++i) {
        const Slot& slot = copy.slots[i];
        const Argon2Cost cost =
            slot.type == WARPSEAL_SECRET_PASSPHRASE ? passphrase_cost(slot) : Argon2Cost{};
        info.slots[i] = {slot.type, cost.passes, cost.memory_kib};
    }
    return WARPSEAL_OK;
}

}  // namespace warpseal::container

// Seals, opens, rescues and describes files: writes or reads the header, and reports results.
#include "container/file.h"

#include <cstring>
#include <new>

#include "container/call.h"
#include "container/header.h"
#include "container/rescue.h"

namespace warpseal::container {
namespace {

using ull = unsigned long long;

// Writes everything before the chunks, and derives the key of the chunks.
warpseal_status write_head(FileCall& call, const Suite& suite, PayloadKey& payload) {
    uint8_t head[payload_head_bytes];
    if (call.bare()) {
        const Bytes context = call.context();
        if (new_payload(call.engine, suite, call.secret_bytes(0), {&context, 1}, head, payload,
                        call.fault) != WARPSEAL_OK) {
            return call.fault.status;
        }
        call.head_bytes = sizeof head;
        return call.sink.write(0, head, sizeof head, call.fault);
    }
    Header header;
    Secret<data_key_bytes> data_key;
    if (new_header(call.engine, suite, call.options.secrets, call.options.secret_count, call.cost(),
                   header, data_key, call.fault) != WARPSEAL_OK) {
        return call.fault.status;
    }
    Secret<32> input_key;
    payload_input_key(suite, data_key, input_key);
    const Bytes context = {header.fixed.bytes, fixed_part_bytes};
    if (new_payload(call.engine, suite, {input_key.data(), suite.key_bytes}, {&context, 1}, head,
                    payload, call.fault) != WARPSEAL_OK) {
        return call.fault.status;
    }
    header.bytes.insert(header.bytes.end(), head, head + sizeof head);
    call.head_bytes = header.bytes.size();
    return call.sink.write(0, header.bytes.data(), header.bytes.size(), call.fault);
}

// Reads the first block and both header copies from the start of the source.
warpseal_status read_header(Source& source, Header& header, Fault& fault) {
    header.bytes.resize(first_block_bytes);
    size_t have = 0;
    if (source.read(0, header.bytes.data(), first_block_bytes, have, fault) != WARPSEAL_OK)
        return fault.status;
    if (parse_first_block(header.bytes.data(), have, header.fixed, fault) != WARPSEAL_OK)
        return fault.status;
    const size_t wanted = header_bytes(header.fixed.copy_bytes) - first_block_bytes;
    header.bytes.resize(first_block_bytes + wanted);
    if (source.read(first_block_bytes, header.bytes.data() + first_block_bytes, wanted, have,
                    fault) != WARPSEAL_OK)
        return fault.status;
    if (have < wanted)
        return fault.say(WARPSEAL_TRUNCATED, "the file ends at byte %zu, within its header",
                         first_block_bytes + have);
    parse_copies(header);
    return WARPSEAL_OK;
}

warpseal_status read_payload_head(FileCall& call, uint8_t head[payload_head_bytes]) {
    size_t have = 0;
    if (call.source.read(call.head_bytes, head, payload_head_bytes, have, call.fault) !=
        WARPSEAL_OK)
        return call.fault.status;
    call.head_bytes += have;
    if (have == payload_head_bytes) return WARPSEAL_OK;
    return call.fault.say(
        WARPSEAL_TRUNCATED,
        "the file ends at byte %llu, within the %zu bytes that a payload begins with",
        ull{call.head_bytes}, payload_head_bytes);
}

warpseal_status read_head(FileCall& call, const Suite*& suite, PayloadKey& payload) {
    uint8_t head[payload_head_bytes];
    if (call.bare()) {
        suite = suite_by_key_bytes(call.options.secrets[0].byte_count);
        const Bytes context = call.context();
        if (read_payload_head(call, head) != WARPSEAL_OK) return call.fault.status;
        return open_payload(call.engine, *suite, call.secret_bytes(0), {&context, 1}, head, payload,
                            call.fault);
    }
    Header header;
    Secret<data_key_bytes> data_key;
    int in_force = 0;
    if (read_header(call.source, header, call.fault) != WARPSEAL_OK) return call.fault.status;
    call.head_bytes = header.bytes.size();
    if (unlock(call.engine, header, call.options.secrets, call.options.secret_count, data_key,
               in_force, call.fault) != WARPSEAL_OK) {
        return call.fault.status;
    }
    call.header_copies_differ = !header.copies_equal();
    suite = header.fixed.suite;
    Secret<32> input_key;
    payload_input_key(*suite, data_key, input_key);
    if (read_payload_head(call, head) != WARPSEAL_OK) return call.fault.status;
    const Bytes context = {header.fixed.bytes, fixed_part_bytes};
    const warpseal_status status =
        open_payload(call.engine, *suite, {input_key.data(), suite->key_bytes}, {&context, 1}, head,
                     payload, call.fault);
    // The header verified, so the key is right and the payload head was changed.
    if (status == WARPSEAL_WRONG_KEY)
        return call.fault.say(WARPSEAL_NOT_AUTHENTIC,
                              "the start of the payload, at byte %llu, was changed",
                              ull{call.head_bytes - payload_head_bytes});
    return status;
}

// Returns the text length of a payload whose chunks take `bytes` bytes; UINT64_MAX if no payload
// has that length.
uint64_t text_of(uint64_t bytes) {
    const uint64_t rest = bytes % chunk_bytes;
    return rest < tag_bytes ? UINT64_MAX
                            : bytes / chunk_bytes * chunk_text_bytes + rest - tag_bytes;
}

warpseal_status seal_call(FileCall& call) {
    const Suite* suite = nullptr;
    PayloadKey payload;
    if (check_options(call) != WARPSEAL_OK || check_sealing(call, suite) != WARPSEAL_OK)
        return call.fault.status;
    if (call.sink.discards())
        return call.fault.say(WARPSEAL_INVALID_ARGUMENT, "sealing needs an output");
    call.progress.expect(call.source.bytes());
    if (write_head(call, *suite, payload) != WARPSEAL_OK) return call.fault.status;
    call.secrets_used();
    const PipelineJob job = {call.engine,        payload,         *suite,
                             Direction::encrypt, call.source,     0,
                             call.sink,          call.head_bytes, call.progress};
    if (run_pipeline(job, call.done, call.fault) != WARPSEAL_OK) return call.fault.status;
    if (call.source.check_unchanged(call.fault) != WARPSEAL_OK) return call.fault.status;
    return call.sink.finish(call.head_bytes + call.done.written_bytes, call.fault);
}

warpseal_status open_call(FileCall& call) {
    const Suite* suite = nullptr;
    PayloadKey payload;
    if (check_options(call) != WARPSEAL_OK || read_head(call, suite, payload) != WARPSEAL_OK)
        return call.fault.status;
    call.secrets_used();
    if (call.source.bytes() != UINT64_MAX)
        call.progress.expect(text_of(call.source.bytes() - call.head_bytes));
    const PipelineJob job = {call.engine,     payload,   *suite, Direction::decrypt, call.source,
                             call.head_bytes, call.sink, 0,      call.progress};
    if (run_pipeline(job, call.done, call.fault) != WARPSEAL_OK) return call.fault.status;
    return call.sink.finish(call.done.written_bytes, call.fault);
}

// Returns the text length that a progress callback expects of a damaged payload.
uint64_t rescue_bytes(uint64_t bytes) {
    const uint64_t text = text_of(bytes);
    return text != UINT64_MAX ? text : bytes / chunk_bytes * chunk_text_bytes;
}

warpseal_status rescue_call(FileCall& call) {
    const Suite* suite = nullptr;
    PayloadKey payload;
    if (!call.source.regular())
        return call.fault.say(WARPSEAL_INVALID_ARGUMENT,
                              "the input is a pipe or a device: save it to a file first, because "
                              "a rescue reads parts of it again");
    if (check_options(call) != WARPSEAL_OK || read_head(call, suite, payload) != WARPSEAL_OK)
        return call.fault.status;
    call.secrets_used();
    if (!call.source.positional())
        return call.fault.say(WARPSEAL_INVALID_ARGUMENT, "the input has no known length");
    call.progress.expect(rescue_bytes(call.source.bytes() - call.head_bytes));
    Rescue rescue(call.sink, call.progress, *call.rescue);
    const PipelineJob job = {call.engine,     payload,   *suite, Direction::decrypt, call.source,
                             call.head_bytes, call.sink, 0,      call.progress,      &rescue};
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
                    bool sealing, warpseal_rescue* rescue = nullptr) {
    FileCall call(engine, in_fd, out_fd, options);
    call.rescue = rescue;
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
                     warpseal_file_result& result) {
    return run(seal_call, engine, in_fd, out_fd, options, result, true);
}

warpseal_status open(Engine& engine, int in_fd, int out_fd, const warpseal_file_options& options,
                     warpseal_file_result& result) {
    return run(open_call, engine, in_fd, out_fd, options, result, false);
}

warpseal_status rescue(Engine& engine, int in_fd, int out_fd, const warpseal_file_options& options,
                       warpseal_rescue& report, warpseal_file_result& result) {
    return run(rescue_call, engine, in_fd, out_fd, options, result, false, &report);
}

warpseal_status info(int in_fd, warpseal_file_info& info, warpseal_file_result& result) {
    Fault fault;
    Progress silent(nullptr, nullptr);
    Source source(in_fd, silent);
    Header header;
    try {
        if (read_header(source, header, fault) != WARPSEAL_OK) return report(fault, result);
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
                               : text_of(info.file_bytes - before);
    info.slot_count = copy.slot_count;
    for (uint32_t i = 0; i < copy.slot_count; ++i) {
        const Slot& slot = copy.slots[i];
        const Argon2Cost cost =
            slot.type == WARPSEAL_SECRET_PASSPHRASE ? passphrase_cost(slot) : Argon2Cost{};
        info.slots[i] = {slot.type, cost.passes, cost.memory_kib};
    }
    return WARPSEAL_OK;
}

}  // namespace warpseal::container

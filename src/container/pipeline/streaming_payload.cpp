// Updates of a chunked-encryption message.
#include "container/pipeline/streaming_payload.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "platform/forks.h"

namespace warpseal::container {
namespace {

using ull = unsigned long long;

}  // namespace

StreamingPayload::StreamingPayload(Engine& engine, Direction direction)
    : engine_(engine), direction_(direction), birth_(forks_so_far()) {}

bool StreamingPayload::is_of_parent() const { return birth_ != forks_so_far(); }

warpseal_status StreamingPayload::create(Engine& engine, Direction direction, Bytes input_key,
                                         Bytes context, std::unique_ptr<StreamingPayload>& out,
                                         Fault& fault) {
    const Suite* const suite = suite_by_key_bytes(input_key.size);
    if (suite == nullptr)
        return fault.say(WARPSEAL_INVALID_ARGUMENT, "key_bytes is %zu: give 16 or 32 bytes",
                         input_key.size);
    std::unique_ptr<StreamingPayload> made(new StreamingPayload(engine, direction));
    made->suite_ = suite;
    if (!made->held_.allocate(chunk_bytes))
        return fault.say(WARPSEAL_OUT_OF_MEMORY, "no memory for a chunk");
    if (made->sealing()) {
        if (new_payload(engine, *suite, input_key, {&context, 1}, made->head_, made->payload_,
                        fault) != WARPSEAL_OK)
            return fault.status;
    } else {
        memcpy(made->input_key_.data(), input_key.data, input_key.size);
        made->context_.assign(context.data, context.data + context.size);
    }
    out = std::move(made);
    return WARPSEAL_OK;
}

size_t StreamingPayload::update_bytes(size_t bytes) const {
    const size_t head = sealing() ? head_missing() : 0;
    if (!sealing()) bytes -= std::min(bytes, head_missing());
    // Whole chunks of held_bytes_ + bytes, a sum that may not fit.
    const size_t rest = bytes % in_bytes() + held_bytes_;
    const size_t chunks = bytes / in_bytes() + rest / in_bytes();
    return chunks > (SIZE_MAX - head) / out_bytes() ? SIZE_MAX : head + chunks * out_bytes();
}

size_t StreamingPayload::finish_bytes() const {
    if (sealing()) return head_missing() + held_bytes_ + tag_bytes;
    return held_bytes_ - std::min(held_bytes_, tag_bytes);
}

template <class Work>
warpseal_status StreamingPayload::guard(uint8_t* out, size_t planned, size_t& wrote, Fault& fault,
                                        Work work) {
    wrote = 0;
    const auto fail = [&](warpseal_status status) {
        if (planned != 0) wipe(out, planned);
        wipe(held_.data(), chunk_bytes);
        state_ = State::failed;
        return status;
    };
    try {
        const warpseal_status status = work();
        if (status != WARPSEAL_OK) return fail(status);
    } catch (const std::bad_alloc&) {
        return fail(fault.say(WARPSEAL_OUT_OF_MEMORY, "out of memory"));
    } catch (...) {
        fail(WARPSEAL_INVALID_ARGUMENT);
        throw;
    }
    wrote = planned;
    return WARPSEAL_OK;
}

warpseal_status StreamingPayload::update(const uint8_t* in, size_t bytes, uint8_t* out,
                                         size_t& wrote, Fault& fault) {
    return guard(out, update_bytes(bytes), wrote, fault, [&] {
        if (sealing()) {
            write_head(out);
        } else if (take_head(in, bytes, fault) != WARPSEAL_OK) {
            return fault.status;
        }
        return bytes == 0 ? WARPSEAL_OK : take(in, bytes, out, fault);
    });
}

warpseal_status StreamingPayload::finish(uint8_t* out, size_t& wrote, Fault& fault) {
    return guard(out, finish_bytes(), wrote, fault, [&] {
        if (sealing()) write_head(out);
        const warpseal_status status = last_chunk(out, fault);
        state_ = State::finished;
        wipe(held_.data(), chunk_bytes);
        return status;
    });
}

void StreamingPayload::write_head(uint8_t*& out) {
    if (head_missing() == 0) return;
    memcpy(out, head_ + head_done_, head_missing());
    out += head_missing();
    head_done_ = payload_head_bytes;
}

warpseal_status StreamingPayload::take_head(const uint8_t*& in, size_t& bytes, Fault& fault) {
    const size_t some = std::min(bytes, head_missing());
    if (some == 0) return WARPSEAL_OK;
    memcpy(head_ + head_done_, in, some);
    head_done_ += some;
    in += some;
    bytes -= some;
    if (head_missing() != 0) return WARPSEAL_OK;
    const Bytes context = {context_.data(), context_.size()};
    const warpseal_status status =
        open_payload(engine_, *suite_, {input_key_.data(), suite_->key_bytes}, {&context, 1}, head_,
                     payload_, fault);
    wipe(input_key_.data(), input_key_.size());
    return status;
}

warpseal_status StreamingPayload::take(const uint8_t* in, size_t bytes, uint8_t* out,
                                       Fault& fault) {
    auto* const held = static_cast<uint8_t*>(held_.data());
    if (held_bytes_ != 0) {
        const size_t some = std::min(bytes, in_bytes() - held_bytes_);
        memcpy(held + held_bytes_, in, some);
        held_bytes_ += some;
        in += some;
        bytes -= some;
        if (held_bytes_ < in_bytes()) return WARPSEAL_OK;
        if (whole_chunks(held, 1, out, fault) != WARPSEAL_OK) return fault.status;
    }
    const size_t count = bytes / in_bytes();
    if (whole_chunks(in, count, out, fault) != WARPSEAL_OK) return fault.status;
    held_bytes_ = bytes % in_bytes();
    memcpy(held, in + count * in_bytes(), held_bytes_);
    return WARPSEAL_OK;
}

warpseal_status StreamingPayload::whole_chunks(const uint8_t* in, size_t count, uint8_t*& out,
                                               Fault& fault) {
    // A last chunk follows.
    if (count >= max_chunks - chunk_)
        return fault.say(WARPSEAL_LIMIT_EXCEEDED, "more than %llu chunks", ull{max_chunks});
    while (count > 0) {
        const size_t some = std::min(count, batch_chunks);
        if (run(in, some, chunk_text_bytes, out, fault) != WARPSEAL_OK) return fault.status;
        in += some * in_bytes();
        out += some * out_bytes();
        count -= some;
    }
    return WARPSEAL_OK;
}

warpseal_status StreamingPayload::last_chunk(uint8_t* out, Fault& fault) {
    const auto* const held = static_cast<const uint8_t*>(held_.data());
    if (sealing()) return run(held, 1, held_bytes_, out, fault);
    if (head_missing() != 0)
        return fault.say(WARPSEAL_TRUNCATED,
                         "the message ends after %zu of the %zu bytes that it begins with",
                         head_done_, payload_head_bytes);
    if (held_bytes_ < tag_bytes)
        return fault.say(WARPSEAL_TRUNCATED,
                         "the message ends early: %zu bytes of chunk %llu are there, and the last "
                         "chunk has at least %zu",
                         held_bytes_, ull{chunk_}, tag_bytes);
    return run(held, 1, held_bytes_ - tag_bytes, out, fault);
}

warpseal_status StreamingPayload::run(const uint8_t* in, size_t count, size_t text_bytes,
                                      uint8_t* out, Fault& fault) {
    if (run_chunks(engine_, payload_, direction_, chunk_, in, count, text_bytes, out, scratch_,
                   fault) != WARPSEAL_OK)
        return fault.status;
    chunk_ += count;
    return WARPSEAL_OK;
}

}  // namespace warpseal::container

// Counter modes of the streaming context: CTR and GCM. Partial blocks use keystream generated
// ahead.
#include <algorithm>
#include <cstring>

#include "core/block.h"
#include "engine/calls/streaming.h"
#include "engine/schedule/chunks.h"

namespace warpseal {
namespace {

template <int words, int counting>
void write_counters(const uint8_t* first, uint64_t number, size_t count, uint8_t* to) {
    Block<words> counter = add_big_endian<counting>(load_block<words>(first), number);
    const uint32_t low = swap_bytes(counter.word[words - 1]);
    const bool carries = counting > 1 && static_cast<uint32_t>(low + count) < low;
    for (size_t i = 0; i < count; ++i) {
        if (carries) {
            store_block(to + i * sizeof counter, add_big_endian<counting>(counter, i));
        } else {
            counter.word[words - 1] = swap_bytes(static_cast<uint32_t>(low + i));
            store_block(to + i * sizeof counter, counter);
        }
    }
}

// XORs and keeps a copy of the ciphertext, `in` or `out`. One pass, because reading back recent
// stores would stall.
template <Direction direction>
void xor_bytes_keeping(const uint8_t* in, const uint8_t* with, uint8_t* out, uint8_t* kept,
                       size_t bytes) {
    for (; bytes >= 16; in += 16, with += 16, out += 16, kept += 16, bytes -= 16) {
        const Block<4> given = load_block<4>(in), result = given ^ load_block<4>(with);
        store_block(out, result);
        store_block(kept, direction == Direction::encrypt ? result : given);
    }
    for (size_t i = 0; i < bytes; ++i) {
        const uint8_t given = in[i], result = given ^ with[i];
        out[i] = result;
        kept[i] = direction == Direction::encrypt ? result : given;
    }
}

}  // namespace

// The rest of a message is a message whose J0 is advanced by next_block_.
warpseal_status StreamingContext::gcm_by_route(const uint8_t* in, uint8_t* out, size_t bytes) {
    GcmRun &run = carried_.value.run, &rest = carried_.value.part;
    write_counters<4, 1>(run.counter0, next_block_, 1, rest.counter0);
    memcpy(rest.sum, run.sum, sizeof run.sum);
    const warpseal_status status =
        gcm_text(engine_.impl(), *key_, direction_, {in, out, bytes}, rest);
    memcpy(run.sum, rest.sum, sizeof run.sum);
    return status;
}

// Writes the counter blocks of text blocks [first, first + count).
void StreamingContext::counters(uint64_t first, size_t count, uint8_t* to) const {
    const uint8_t* const counter0 = carried_.value.run.counter0;
    if (mode_ == WARPSEAL_GCM)
        write_counters<4, 1>(counter0, first + 1, count, to);
    else if (block_bytes_ == 16)
        write_counters<4, 4>(counter0, first, count, to);
    else
        write_counters<2, 2>(counter0, first, count, to);
}

// Generates keystream for `bytes` bytes, which are below bulk_bytes_, and for later updates.
void StreamingContext::make_stream(size_t bytes) {
    Carried& carried = carried_.value;
    while (stream_bytes_ < bytes && stream_bytes_ < most_stream_bytes) stream_bytes_ *= 2;
    const size_t blocks = static_cast<size_t>(blocks_of(stream_bytes_));
    // Encrypts J0 together with the first blocks of text.
    const bool with_mask = mode_ == WARPSEAL_GCM && !has_tag_mask_;
    uint8_t* const from = carried.stream + (with_mask ? 0 : longest_block);
    if (with_mask) memcpy(from, carried.run.counter0, longest_block);
    counters(next_block_, blocks, carried.stream + longest_block);
    encipher(from, from, stream_bytes_ + (with_mask ? longest_block : 0));
    if (with_mask) memcpy(carried.tag_mask, from, longest_block);
    has_tag_mask_ |= with_mask;
    next_block_ += blocks;
    stream_at_ = longest_block;
    stream_end_ = longest_block + stream_bytes_;
    stream_bytes_ = std::min(2 * stream_bytes_, most_stream_bytes);
}

// Processes complete blocks without keystream generated ahead.
warpseal_status StreamingContext::count_in_bulk(const uint8_t* in, uint8_t* out, size_t bytes) {
    const int d = static_cast<int>(direction_);
    if (mode_ == WARPSEAL_GCM) sum_now();
    if (bytes >= routed_bytes) {
        if (const warpseal_status status = by_route(in, out, bytes); status != WARPSEAL_OK)
            return status;
    } else if (mode_ == WARPSEAL_GCM) {
        text_.cipher->gcm_segment[d](text_.state, &carried_.value.run, next_block_, in, out, bytes);
    } else {
        text_.cipher->sweep[mode_][d](text_.state, carried_.value.run.counter0, next_block_, in,
                                      out, bytes);
    }
    next_block_ += blocks_of(bytes);
    return WARPSEAL_OK;
}

// Processes bytes with the keystream that is left.
void StreamingContext::through_stream(const uint8_t* in, uint8_t* out, size_t bytes) {
    Carried& carried = carried_.value;
    if (mode_ != WARPSEAL_GCM) {
        xor_bytes(in, carried.stream + stream_at_, out, bytes);
        stream_at_ += bytes;
        return;
    }
    for (size_t n; bytes != 0; in += n, out += n, bytes -= n) {
        n = std::min(bytes, sum_bytes - unsummed_bytes_);
        const auto work = direction_ == Direction::encrypt ? xor_bytes_keeping<Direction::encrypt>
                                                           : xor_bytes_keeping<Direction::decrypt>;
        work(in, carried.stream + stream_at_, out, carried.unsummed + unsummed_bytes_, n);
        stream_at_ += n;
        unsummed_bytes_ += n;
        if (unsummed_bytes_ == sum_bytes) sum_now();
    }
}

warpseal_status StreamingContext::authenticated(const uint8_t* in, uint8_t* out, size_t bytes) {
    const uint64_t total = std::max<uint64_t>(text_bytes_ + bytes, bytes);
    if (const warpseal_status status = check_text(mode_, facts_, 0, total); status != WARPSEAL_OK)
        return status;
    if (stage_ == Stage::aad) {
        fill_block();
        stage_ = Stage::text;
    }
    return counted(in, out, bytes);
}

warpseal_status StreamingContext::counted(const uint8_t* in, uint8_t* out, size_t bytes) {
    const uint64_t total = text_bytes_ + bytes;
    if (const size_t left = stream_end_ - stream_at_; left != 0) {
        const size_t n = std::min(bytes, left);
        through_stream(in, out, n);
        in += n, out += n, bytes -= n;
    }
    if (bytes >= bulk_bytes_) {  // at a block boundary
        const size_t n = bytes - within_block(bytes);
        if (const warpseal_status status = count_in_bulk(in, out, n); status != WARPSEAL_OK)
            return status;
        in += n, out += n, bytes -= n;
    }
    if (bytes != 0) {
        make_stream(bytes);
        through_stream(in, out, bytes);
    }
    text_bytes_ = total;
    return WARPSEAL_OK;
}

// ---- GHASH: SP 800-38D 6.4

// Hashes AAD. Small amounts are collected, as ciphertext is: one call over many blocks costs little
// more than over one.
void StreamingContext::sum(const uint8_t* data, size_t bytes) {
    Carried& carried = carried_.value;
    while (bytes != 0) {
        const size_t within = unsummed_bytes_ % longest_block;
        size_t n = std::min(bytes, sum_bytes - unsummed_bytes_);
        if (bytes > 4 * sum_bytes) {
            if (within != 0) {
                n = longest_block - within;
            } else {
                sum_now();
                n = bytes / longest_block * longest_block;
                text_.cipher->gcm_begin(text_.state, no_iv, sizeof no_iv, data, n, &carried.part);
                text_.cipher->gcm_combine(text_.state, carried.run.sum, carried.part.sum,
                                          n / longest_block);
                data += n, bytes -= n;
                continue;
            }
        }
        memcpy(carried.unsummed + unsummed_bytes_, data, n);
        unsummed_bytes_ += n;
        data += n, bytes -= n;
        if (unsummed_bytes_ == sum_bytes) sum_now();
    }
}

// Pads AAD or text with zeros to a multiple of a block.
void StreamingContext::fill_block() {
    const size_t more = (longest_block - unsummed_bytes_ % longest_block) % longest_block;
    memset(carried_.value.unsummed + unsummed_bytes_, 0, more);
    unsummed_bytes_ += more;
}

// Hashes the collected blocks. gcm_begin starts GHASH at zero, so the accumulator is XORed into the
// first block.
void StreamingContext::sum_now() {
    if (unsummed_bytes_ == 0) return;
    Carried& carried = carried_.value;
    xor_bytes(carried.unsummed, carried.run.sum, carried.unsummed, longest_block);
    text_.cipher->gcm_begin(text_.state, no_iv, sizeof no_iv, carried.unsummed, unsummed_bytes_,
                            &carried.part);
    memcpy(carried.run.sum, carried.part.sum, sizeof carried.run.sum);
    unsummed_bytes_ = 0;
}

void StreamingContext::finish(uint8_t* tag) {
    Carried& carried = carried_.value;
    fill_block();
    if (has_tag_mask_) {
        store_be64(carried.unsummed + unsummed_bytes_, aad_bytes_ * 8);
        store_be64(carried.unsummed + unsummed_bytes_ + 8, text_bytes_ * 8);
        unsummed_bytes_ += longest_block;
        sum_now();
        xor_bytes(carried.run.sum, carried.tag_mask, tag, whole_tag_bytes);
    } else {
        sum_now();
        text_.cipher->gcm_finish(text_.state, &carried.run, aad_bytes_, text_bytes_, tag);
    }
    end();
}

}  // namespace warpseal

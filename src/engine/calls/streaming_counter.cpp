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
void xor_and_copy_ciphertext(const uint8_t* in, const uint8_t* with, uint8_t* out, uint8_t* kept,
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
warpseal_status StreamingContext::large_gcm_update(const uint8_t* in, uint8_t* out, size_t bytes) {
    GcmState &gcm = state_.value.gcm, &rest = state_.value.scratch;
    write_counters<4, 1>(gcm.counter0, next_block_, 1, rest.counter0);
    memcpy(rest.sum, gcm.sum, sizeof gcm.sum);
    const warpseal_status status =
        gcm_text(engine_.impl(), *key_, direction_, {in, out, bytes}, rest);
    memcpy(gcm.sum, rest.sum, sizeof gcm.sum);
    return status;
}

// Writes the counter blocks of text blocks [first, first + count).
void StreamingContext::counters(uint64_t first, size_t count, uint8_t* to) const {
    const uint8_t* const counter0 = state_.value.gcm.counter0;
    if (mode_ == WARPSEAL_GCM)
        write_counters<4, 1>(counter0, first + 1, count, to);
    else if (block_bytes_ == 16)
        write_counters<4, 4>(counter0, first, count, to);
    else
        write_counters<2, 2>(counter0, first, count, to);
}

// Generates keystream for `bytes` bytes, which are below bulk_bytes_, and for later updates.
void StreamingContext::generate_keystream(size_t bytes) {
    MessageState& state = state_.value;
    while (next_keystream_bytes_ < bytes && next_keystream_bytes_ < max_keystream_bytes)
        next_keystream_bytes_ *= 2;
    const size_t blocks = static_cast<size_t>(blocks_of(next_keystream_bytes_));
    // Encrypts J0 together with the first blocks of text.
    const bool with_mask = mode_ == WARPSEAL_GCM && !has_tag_mask_;
    uint8_t* const from = state.keystream + (with_mask ? 0 : longest_block);
    if (with_mask) memcpy(from, state.gcm.counter0, longest_block);
    counters(next_block_, blocks, state.keystream + longest_block);
    encipher(from, from, next_keystream_bytes_ + (with_mask ? longest_block : 0));
    if (with_mask) memcpy(state.tag_mask, from, longest_block);
    has_tag_mask_ |= with_mask;
    next_block_ += blocks;
    keystream_at_ = longest_block;
    keystream_end_ = longest_block + next_keystream_bytes_;
    next_keystream_bytes_ = std::min(2 * next_keystream_bytes_, max_keystream_bytes);
}

// Processes complete blocks without keystream generated ahead.
warpseal_status StreamingContext::counter_bulk(const uint8_t* in, uint8_t* out, size_t bytes) {
    const int d = static_cast<int>(direction_);
    if (mode_ == WARPSEAL_GCM) hash_collected();
    if (bytes >= large_update_bytes) {
        if (const warpseal_status status = large_update(in, out, bytes); status != WARPSEAL_OK)
            return status;
    } else if (mode_ == WARPSEAL_GCM) {
        text_.cipher->gcm_segment[d](text_.state, &state_.value.gcm, next_block_, in, out, bytes);
    } else {
        text_.cipher->sweep[mode_][d](text_.state, state_.value.gcm.counter0, next_block_, in, out,
                                      bytes);
    }
    next_block_ += blocks_of(bytes);
    return WARPSEAL_OK;
}

// Processes bytes with the keystream that is left.
void StreamingContext::apply_keystream(const uint8_t* in, uint8_t* out, size_t bytes) {
    MessageState& state = state_.value;
    if (mode_ != WARPSEAL_GCM) {
        xor_bytes(in, state.keystream + keystream_at_, out, bytes);
        keystream_at_ += bytes;
        return;
    }
    for (size_t n; bytes != 0; in += n, out += n, bytes -= n) {
        n = std::min(bytes, hashed_at_once_bytes - unhashed_bytes_);
        const auto work = direction_ == Direction::encrypt
                              ? xor_and_copy_ciphertext<Direction::encrypt>
                              : xor_and_copy_ciphertext<Direction::decrypt>;
        work(in, state.keystream + keystream_at_, out, state.unhashed + unhashed_bytes_, n);
        keystream_at_ += n;
        unhashed_bytes_ += n;
        if (unhashed_bytes_ == hashed_at_once_bytes) hash_collected();
    }
}

warpseal_status StreamingContext::gcm_update(const uint8_t* in, uint8_t* out, size_t bytes) {
    const uint64_t total = std::max<uint64_t>(text_bytes_ + bytes, bytes);
    if (const warpseal_status status = check_text(mode_, facts_, 0, total); status != WARPSEAL_OK)
        return status;
    if (stage_ == Stage::aad) {
        fill_block();
        stage_ = Stage::text;
    }
    return counter_update(in, out, bytes);
}

warpseal_status StreamingContext::counter_update(const uint8_t* in, uint8_t* out, size_t bytes) {
    const uint64_t total = text_bytes_ + bytes;
    if (const size_t left = keystream_end_ - keystream_at_; left != 0) {
        const size_t n = std::min(bytes, left);
        apply_keystream(in, out, n);
        in += n, out += n, bytes -= n;
    }
    if (bytes >= bulk_bytes_) {  // at a block boundary
        const size_t n = bytes - within_block(bytes);
        if (const warpseal_status status = counter_bulk(in, out, n); status != WARPSEAL_OK)
            return status;
        in += n, out += n, bytes -= n;
    }
    if (bytes != 0) {
        generate_keystream(bytes);
        apply_keystream(in, out, bytes);
    }
    text_bytes_ = total;
    return WARPSEAL_OK;
}

// ---- GHASH: SP 800-38D 6.4

// Hashes AAD. Small amounts are collected, as ciphertext is: one call over many blocks costs little
// more than over one.
void StreamingContext::hash_aad(const uint8_t* data, size_t bytes) {
    MessageState& state = state_.value;
    while (bytes != 0) {
        const size_t within = unhashed_bytes_ % longest_block;
        size_t n = std::min(bytes, hashed_at_once_bytes - unhashed_bytes_);
        if (bytes > 4 * hashed_at_once_bytes) {
            if (within != 0) {
                n = longest_block - within;
            } else {
                hash_collected();
                n = bytes / longest_block * longest_block;
                text_.cipher->gcm_begin(text_.state, zero_iv, sizeof zero_iv, data, n,
                                        &state.scratch);
                text_.cipher->gcm_combine(text_.state, state.gcm.sum, state.scratch.sum,
                                          n / longest_block);
                data += n, bytes -= n;
                continue;
            }
        }
        memcpy(state.unhashed + unhashed_bytes_, data, n);
        unhashed_bytes_ += n;
        data += n, bytes -= n;
        if (unhashed_bytes_ == hashed_at_once_bytes) hash_collected();
    }
}

// Pads AAD or text with zeros to a multiple of a block.
void StreamingContext::fill_block() {
    const size_t more = (longest_block - unhashed_bytes_ % longest_block) % longest_block;
    memset(state_.value.unhashed + unhashed_bytes_, 0, more);
    unhashed_bytes_ += more;
}

// Hashes the collected blocks. gcm_begin starts GHASH at zero, so the accumulator is XORed into the
// first block.
void StreamingContext::hash_collected() {
    if (unhashed_bytes_ == 0) return;
    MessageState& state = state_.value;
    xor_bytes(state.unhashed, state.gcm.sum, state.unhashed, longest_block);
    text_.cipher->gcm_begin(text_.state, zero_iv, sizeof zero_iv, state.unhashed, unhashed_bytes_,
                            &state.scratch);
    memcpy(state.gcm.sum, state.scratch.sum, sizeof state.gcm.sum);
    unhashed_bytes_ = 0;
}

void StreamingContext::finish(uint8_t* tag) {
    MessageState& state = state_.value;
    fill_block();
    if (has_tag_mask_) {
        store_be64(state.unhashed + unhashed_bytes_, aad_bytes_ * 8);
        store_be64(state.unhashed + unhashed_bytes_ + 8, text_bytes_ * 8);
        unhashed_bytes_ += longest_block;
        hash_collected();
        xor_bytes(state.gcm.sum, state.tag_mask, tag, full_tag_bytes);
    } else {
        hash_collected();
        text_.cipher->gcm_finish(text_.state, &state.gcm, aad_bytes_, text_bytes_, tag);
    }
    end();
}

}  // namespace warpseal

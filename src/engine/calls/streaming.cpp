// Interface of the streaming context, and modes without a counter (SP 800-38A 6). Partial blocks
// are processed here, with single blocks of the cipher.
#include "engine/calls/streaming.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

#include "core/block.h"
#include "engine/schedule/chunks.h"

namespace warpseal {

StreamingContext::StreamingContext(Engine& engine, const Key& key, warpseal_mode mode,
                                   Direction direction)
    : engine_(engine),
      key_(&key),
      facts_(key.facts()),
      mode_(mode),
      direction_(direction),
      block_bytes_(key.facts().block_bytes),
      chains_(!sweeps(mode, direction)),
      batch_(batch_of_one({}, {nullptr, block_bytes_})) {}

StreamingContext::MessageState& StreamingContext::SecretMessageState::memory() {
    if (!memory_.allocate(sizeof(MessageState))) throw std::bad_alloc();
    return *new (memory_.data()) MessageState{};
}

warpseal_status StreamingContext::create(Engine& engine, const Key& key, warpseal_mode mode,
                                         Direction direction,
                                         std::unique_ptr<StreamingContext>& out) {
    if (!(plain(mode) || mode == WARPSEAL_GCM || mode == WARPSEAL_XTS) || !key.supports(mode))
        return WARPSEAL_INVALID_ARGUMENT;
    if ((key.facts().modes >> mode & 1) == 0) return WARPSEAL_UNSUPPORTED;
    if (key.refuses(direction)) return WARPSEAL_WEAK_KEY;
    std::unique_ptr<StreamingContext> made(new StreamingContext(engine, key, mode, direction));
    const warpseal_status status = made->find_paths();
    if (status != WARPSEAL_OK) return status;
    out = std::move(made);
    return WARPSEAL_OK;
}

warpseal_status StreamingContext::rekey(Engine& engine, const Key& key) {
    if (stage_ != Stage::none) end();
    if (&engine != &engine_ || &key.facts() != &facts_ || !key.supports(mode_))
        return WARPSEAL_INVALID_ARGUMENT;
    if (key.refuses(direction_)) return WARPSEAL_WEAK_KEY;
    key_ = &key;
    return find_paths();
}

warpseal_status StreamingContext::find_paths() {
    const CpuCipher* const before = text_.cipher;
    warpseal_status status = find_path(text_, mode_, direction_);
    if (status == WARPSEAL_OK && mode_ != WARPSEAL_XTS)
        status = find_path(block_, WARPSEAL_ECB, Direction::encrypt);
    if (status == WARPSEAL_OK && text_.cipher != before) select_representation();
    return status;
}

warpseal_status StreamingContext::find_path(Path& path, warpseal_mode mode, Direction direction) {
    CorePath found;
    const warpseal_status status =
        engine_.impl().path_on_cores(*key_, mode, direction, entry_of(mode, direction), found);
    path = {found.cores, found.state, found.tweak_state};
    return status;
}

void StreamingContext::select_representation() {
    const CpuBlockLoops* const loops = cpu_block_loops(*text_.cipher);
    loop_ = loops == nullptr ? nullptr : loops->blocks[mode_][static_cast<int>(direction_)];
    instructions_ = strcmp(text_.cipher->representation, "instructions") == 0;
    bulk_bytes_ = instructions_ && mode_ == WARPSEAL_CTR ? bulk_bytes_of_instructions : bulk_bytes;
}

warpseal_status StreamingContext::begin(Bytes iv) {
    if (stage_ != Stage::none) end();
    const warpseal_status status = check_iv(mode_, facts_, iv.size);
    if (status != WARPSEAL_OK) return status;
    if (iv.data == nullptr && mode_ != WARPSEAL_ECB) return WARPSEAL_INVALID_ARGUMENT;
    MessageState& state = state_.value;
    if (mode_ == WARPSEAL_GCM && iv.size == sizeof zero_iv) {
        memcpy(state.gcm.counter0, iv.data, sizeof zero_iv);
        store_be32(state.gcm.counter0 + sizeof zero_iv, 1);
    } else if (mode_ == WARPSEAL_GCM) {
        text_.cipher->gcm_begin(text_.state, iv.data, iv.size, nullptr, 0, &state.gcm);
    } else if (mode_ == WARPSEAL_CTR) {
        memcpy(state.gcm.counter0, iv.data, block_bytes_);
    } else if (mode_ != WARPSEAL_ECB) {
        memcpy(state.feedback, iv.data, block_bytes_);
    }
    stage_ = mode_ == WARPSEAL_GCM ? Stage::aad : Stage::text;
    return WARPSEAL_OK;
}

warpseal_status StreamingContext::aad(Bytes aad) {
    if (stage_ != Stage::aad || (aad.data == nullptr && aad.size != 0))
        return WARPSEAL_INVALID_ARGUMENT;
    const uint64_t total = aad_bytes_ + aad.size;
    const warpseal_status status =
        total < aad_bytes_ ? WARPSEAL_LIMIT_EXCEEDED : check_aad(mode_, total);
    if (status != WARPSEAL_OK) return status;
    hash_aad(aad.data, aad.size);
    aad_bytes_ = total;
    return WARPSEAL_OK;
}

warpseal_status StreamingContext::update(const uint8_t* in, uint8_t* out, size_t bytes) {
    if (stage_ == Stage::none) return WARPSEAL_INVALID_ARGUMENT;
    if (bytes == 0) return WARPSEAL_OK;
    if (const warpseal_status status = check({in, out, bytes}); status != WARPSEAL_OK)
        return status;
    switch (mode_) {
        case WARPSEAL_ECB:
            return within_block(bytes) != 0 ? WARPSEAL_INVALID_ARGUMENT : sweep(in, out, bytes);
        case WARPSEAL_CBC:
            return within_block(bytes) != 0 ? WARPSEAL_INVALID_ARGUMENT : blocks(in, out, bytes);
        case WARPSEAL_CFB:
        case WARPSEAL_OFB: return feedback(in, out, bytes);
        case WARPSEAL_XTS: return xts_unit(in, out, bytes);
        case WARPSEAL_GCM: return gcm_update(in, out, bytes);
        default: return counter_update(in, out, bytes);
    }
}

warpseal_status StreamingContext::tag(uint8_t* tag, size_t tag_bytes) {
    if (mode_ != WARPSEAL_GCM || stage_ == Stage::none || tag == nullptr)
        return WARPSEAL_INVALID_ARGUMENT;
    const warpseal_status status = check_tag(mode_, facts_, tag_bytes);
    if (status != WARPSEAL_OK) return status;
    Secret<full_tag_bytes> whole;
    finish(whole.data());
    memcpy(tag, whole.data(), tag_bytes);
    return WARPSEAL_OK;
}

warpseal_status StreamingContext::verify(const uint8_t* tag, size_t tag_bytes) {
    if (direction_ != Direction::decrypt || tag == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    Secret<full_tag_bytes> ours;
    const warpseal_status status = this->tag(ours.data(), tag_bytes);
    if (status != WARPSEAL_OK) return status;
    return equal_secret(ours.data(), tag, tag_bytes) ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC;
}

void StreamingContext::position(uint8_t* iv, uint32_t* used) const {
    memset(iv, 0, block_bytes_);
    *used = static_cast<uint32_t>(within_block(text_bytes_));
    if (stage_ == Stage::none || mode_ == WARPSEAL_ECB) return;
    if (mode_ == WARPSEAL_CTR || mode_ == WARPSEAL_GCM)
        counters(blocks_of(text_bytes_ + block_bytes_ - 1), 1, iv);
    else
        memcpy(iv, state_.value.feedback, block_bytes_);
}

// Blocks that bypass update() are not counted: between blocks nothing needs their number.
// Only CTR does; its message restarts at the current counter.
StreamingContext::Loop StreamingContext::loop() {
    const bool between_blocks =
        stage_ == Stage::text && within_block(text_bytes_) == 0 && keystream_at_ == keystream_end_;
    if (loop_ == nullptr || !between_blocks) return {};
    MessageState& state = state_.value;
    if (mode_ != WARPSEAL_CTR) return {loop_, text_.state, state.feedback};
    counters(next_block_, 1, state.scratch.counter0);
    copy_block(state.gcm.counter0, state.scratch.counter0);
    next_block_ = text_bytes_ = 0;
    return {loop_, text_.state, state.gcm.counter0};
}

// Processes a large chunk by a route of its own. Ends the message on failure, because its progress
// is unknown.
warpseal_status StreamingContext::large_update(const uint8_t* in, uint8_t* out, size_t bytes) {
    warpseal_status status;
    try {
        status = mode_ == WARPSEAL_GCM ? large_gcm_update(in, out, bytes)
                                       : large_plain_update(in, out, bytes);
    } catch (...) {
        end();
        throw;
    }
    if (status != WARPSEAL_OK) end();
    return status;
}

warpseal_status StreamingContext::large_plain_update(const uint8_t* in, uint8_t* out,
                                                     size_t bytes) {
    uint8_t iv[longest_block];
    if (mode_ == WARPSEAL_CTR)
        counters(next_block_, 1, iv);
    else
        copy_block(iv, state_.value.feedback);
    return engine_.message(*key_, mode_, direction_, {iv, mode_ == WARPSEAL_ECB ? 0 : block_bytes_},
                           in, out, bytes);
}

// ---- modes without a counter

// Processes complete blocks of a parallel mode, from the block in `feedback`.
warpseal_status StreamingContext::sweep(const uint8_t* in, uint8_t* out, size_t bytes) {
    if (bytes >= large_update_bytes) return large_update(in, out, bytes);
    const uint8_t* const iv = mode_ == WARPSEAL_ECB ? nullptr : state_.value.feedback;
    text_.cipher->sweep[mode_][static_cast<int>(direction_)](text_.state, iv, 0, in, out, bytes);
    return WARPSEAL_OK;
}

// Processes complete blocks of a serial mode, which always runs on the CPU.
warpseal_status StreamingContext::chain(const uint8_t* in, uint8_t* out, size_t bytes) {
    uint8_t* const feedback = state_.value.feedback;
    if (bytes > block_bytes_) {
        uint8_t* const last = state_.value.scratch.sum;  // copy: an in-place call overwrites it
        copy_block(last, in + bytes - block_bytes_);
        batch_.ivs = feedback;
        batch_.in = in;
        batch_.out = out;
        batch_.message_bytes = bytes;
        (void)text_.cipher->batch[mode_][static_cast<int>(direction_)](text_.state, batch_, 0, 1);
        const uint8_t* const last_out = out + bytes - block_bytes_;
        if (mode_ == WARPSEAL_OFB)
            xor_bytes(last_out, last, feedback, block_bytes_);
        else
            copy_block(feedback, last_out);
        return WARPSEAL_OK;
    }
    // A single block is faster without a batch.
    if (mode_ == WARPSEAL_CBC) xor_bytes(feedback, in, feedback, block_bytes_);
    encipher(feedback, feedback, block_bytes_);
    if (mode_ == WARPSEAL_CFB) xor_bytes(feedback, in, feedback, block_bytes_);
    if (mode_ == WARPSEAL_OFB)
        xor_bytes(in, feedback, out, block_bytes_);
    else
        copy_block(out, feedback);
    return WARPSEAL_OK;
}

// Processes complete blocks of CBC, CFB and OFB.
warpseal_status StreamingContext::blocks(const uint8_t* in, uint8_t* out, size_t bytes) {
    if (bytes == 0) return WARPSEAL_OK;
    if (loop_ != nullptr && (chains_ || bytes < large_update_bytes)) {
        loop_(text_.state, state_.value.feedback, in, out, bytes);
        return WARPSEAL_OK;
    }
    if (chains_) return chain(in, out, bytes);
    uint8_t* const last = state_.value.scratch.sum;  // copy: an in-place call overwrites it
    copy_block(last, in + bytes - block_bytes_);
    if (const warpseal_status status = sweep(in, out, bytes); status != WARPSEAL_OK) return status;
    copy_block(state_.value.feedback, last);
    return WARPSEAL_OK;
}

// CFB and OFB: processes bytes of the block whose keystream is in `feedback`, from byte `at`.
void StreamingContext::partial_block(size_t at, const uint8_t* in, uint8_t* out, size_t bytes) {
    uint8_t* const stream = state_.value.feedback + at;
    for (size_t i = 0; i < bytes; ++i) {
        const uint8_t given = in[i];
        out[i] = given ^ stream[i];
        if (mode_ == WARPSEAL_CFB) stream[i] = direction_ == Direction::encrypt ? out[i] : given;
    }
}

warpseal_status StreamingContext::feedback(const uint8_t* in, uint8_t* out, size_t bytes) {
    const size_t used = within_block(text_bytes_),
                 head = used == 0 ? 0 : std::min(bytes, block_bytes_ - used);
    partial_block(used, in, out, head);
    const size_t tail = within_block(bytes - head), whole = bytes - head - tail;
    if (const warpseal_status status = blocks(in + head, out + head, whole); status != WARPSEAL_OK)
        return status;
    text_bytes_ += bytes;
    if (tail == 0) return WARPSEAL_OK;
    encipher(state_.value.feedback, state_.value.feedback, block_bytes_);
    partial_block(0, in + head + whole, out + head + whole, tail);
    return WARPSEAL_OK;
}

void StreamingContext::encipher(const uint8_t* in, uint8_t* out, size_t bytes) const {
    block_.cipher->sweep[WARPSEAL_ECB][static_cast<int>(Direction::encrypt)](block_.state, nullptr,
                                                                             0, in, out, bytes);
}

// ---- XTS

warpseal_status StreamingContext::xts_unit(const uint8_t* in, uint8_t* out, size_t bytes) {
    XtsUnits units = {{}, bytes};
    memcpy(units.first, state_.value.feedback, sizeof units.first);
    if (bytes >= large_update_bytes) return engine_.xts(*key_, direction_, units, in, out, bytes);
    // The other limits of check_units hold: the unit is not too long.
    if (bytes < sizeof units.first) return WARPSEAL_INVALID_ARGUMENT;
    text_.cipher->xts[static_cast<int>(direction_)](text_.state, text_.tweak_state, units, in, out,
                                                    bytes);
    return WARPSEAL_OK;
}

// Ends the message and zeroizes its state.
void StreamingContext::end() {
    MessageState& state = state_.value;
    wipe(&state, offsetof(MessageState, keystream));
    wipe(state.keystream, keystream_end_);  // keystream_end_ never decreases within a message
    wipe(state.unhashed, sizeof state.unhashed);
    stage_ = Stage::none;
    has_tag_mask_ = false;
    aad_bytes_ = text_bytes_ = next_block_ = 0;
    keystream_at_ = keystream_end_ = unhashed_bytes_ = 0;
    next_keystream_bytes_ = first_keystream_bytes;
}

}  // namespace warpseal

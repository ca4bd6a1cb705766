// What is less than a block is worked on here, with the cipher's single blocks: SP 800-38A 6, SP 800-38D 7.
#include "engine/running_message.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

#include "core/block.h"
#include "engine/pieces.h"

namespace warpseal {
namespace {

// From here on a call of the engine, with its choice of threads and GPUs, costs a hundredth of the work at most.
constexpr size_t routed_bytes = size_t{64} << 10;

constexpr size_t whole_tag_bytes = 16;
constexpr uint8_t no_iv[12] = {};

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

// in == out is allowed.
void exclusive_or(const uint8_t* in, const uint8_t* with, uint8_t* out, size_t bytes) {
    for (; bytes >= 16; in += 16, with += 16, out += 16, bytes -= 16) store_block(out, load_block<4>(in) ^ load_block<4>(with));
    for (size_t i = 0; i < bytes; ++i) out[i] = in[i] ^ with[i];
}

// The same, and keeps a copy of `in` or of `out`, whichever is ciphertext: in one pass, as copying what has just been written would wait.
template <Direction direction>
void exclusive_or_keeping(const uint8_t* in, const uint8_t* with, uint8_t* out, uint8_t* kept, size_t bytes) {
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

RunningMessage::RunningMessage(Engine& engine, const Key& key, warpseal_mode mode, Direction direction)
    : engine_(engine),
      key_(key),
      mode_(mode),
      direction_(direction),
      block_bytes_(key.facts().block_bytes),
      chains_(!sweeps(mode, direction)),
      batch_(batch_of_one({}, {nullptr, block_bytes_})) {
    wipe(&carried_.value, sizeof carried_.value);
}

RunningMessage::CarriedSecret::CarriedSecret(const CarriedSecret& other) : SecretOf() { memcpy(&value, &other.value, sizeof value); }

warpseal_status RunningMessage::create(Engine& engine, const Key& key, warpseal_mode mode, Direction direction,
                                       std::unique_ptr<RunningMessage>& out) {
    if (!(plain(mode) || mode == WARPSEAL_GCM || mode == WARPSEAL_XTS) || !key.fits(mode)) return WARPSEAL_INVALID_ARGUMENT;
    if ((key.facts().modes >> mode & 1) == 0) return WARPSEAL_UNSUPPORTED;
    if (key.refuses(direction)) return WARPSEAL_WEAK_KEY;
    std::unique_ptr<RunningMessage> made(new RunningMessage(engine, key, mode, direction));
    const auto prove = [&](Path& path, warpseal_mode with, Direction way) {
        Route route;
        const warpseal_status status = engine.inside().route_cores(key, {with, way, shape_of(with, way), 0}, route);
        path = {route.cores, route.state, route.tweak_state};
        return status;
    };
    warpseal_status status = prove(made->text_, mode, direction);
    if (status == WARPSEAL_OK && mode != WARPSEAL_XTS) status = prove(made->block_, WARPSEAL_ECB, Direction::encrypt);
    if (status != WARPSEAL_OK) return status;
    made->instructions_ = strcmp(made->text_.cipher->form, "instructions") == 0;
    if (made->instructions_ && mode == WARPSEAL_CTR) made->bulk_bytes_ = bulk_bytes_of_instructions;
    out = std::move(made);
    return WARPSEAL_OK;
}

warpseal_status RunningMessage::begin(Bytes iv) {
    if (stage_ != Stage::none) end();
    if (iv.data == nullptr && iv.size != 0) return WARPSEAL_INVALID_ARGUMENT;
    const warpseal_status status = check_iv(mode_, key_.facts(), iv.size);
    if (status != WARPSEAL_OK) return status;
    Carried& carried = carried_.value;
    if (mode_ == WARPSEAL_GCM && iv.size == sizeof no_iv) {
        memcpy(carried.run.counter0, iv.data, sizeof no_iv);
        store_be32(carried.run.counter0 + sizeof no_iv, 1);
    } else if (mode_ == WARPSEAL_GCM) {
        text_.cipher->gcm_begin(text_.state, iv.data, iv.size, nullptr, 0, &carried.run);
    } else if (mode_ == WARPSEAL_CTR) {
        memcpy(carried.run.counter0, iv.data, block_bytes_);
    } else if (mode_ != WARPSEAL_ECB) {
        memcpy(carried.feedback, iv.data, block_bytes_);
    }
    stage_ = mode_ == WARPSEAL_GCM ? Stage::aad : Stage::text;
    return WARPSEAL_OK;
}

warpseal_status RunningMessage::aad(Bytes aad) {
    if (stage_ != Stage::aad || (aad.data == nullptr && aad.size != 0)) return WARPSEAL_INVALID_ARGUMENT;
    const uint64_t total = aad_bytes_ + aad.size;
    const warpseal_status status = total < aad_bytes_ ? WARPSEAL_LIMIT_EXCEEDED : check_aad(mode_, total);
    if (status != WARPSEAL_OK) return status;
    sum(aad.data, aad.size);
    aad_bytes_ = total;
    return WARPSEAL_OK;
}

warpseal_status RunningMessage::update(const uint8_t* in, uint8_t* out, size_t bytes) {
    if (stage_ == Stage::none) return WARPSEAL_INVALID_ARGUMENT;
    if (bytes == 0) return WARPSEAL_OK;
    if (const warpseal_status status = check({in, out, bytes}); status != WARPSEAL_OK) return status;
    switch (mode_) {
        case WARPSEAL_ECB: return within_block(bytes) != 0 ? WARPSEAL_INVALID_ARGUMENT : sweep(in, out, bytes);
        case WARPSEAL_CBC: return within_block(bytes) != 0 ? WARPSEAL_INVALID_ARGUMENT : blocks(in, out, bytes);
        case WARPSEAL_CFB:
        case WARPSEAL_OFB: return feedback(in, out, bytes);
        case WARPSEAL_XTS: return unit(in, out, bytes);
        case WARPSEAL_GCM: return authenticated(in, out, bytes);
        default: return counted(in, out, bytes);
    }
}

warpseal_status RunningMessage::tag(uint8_t* tag, size_t tag_bytes) {
    if (mode_ != WARPSEAL_GCM || stage_ == Stage::none || tag == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    const warpseal_status status = check_tag(mode_, key_.facts(), tag_bytes);
    if (status != WARPSEAL_OK) return status;
    Secret<whole_tag_bytes> whole;
    finish(whole.data());
    memcpy(tag, whole.data(), tag_bytes);
    return WARPSEAL_OK;
}

warpseal_status RunningMessage::verify(const uint8_t* tag, size_t tag_bytes) {
    if (direction_ != Direction::decrypt || tag == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    Secret<whole_tag_bytes> ours;
    const warpseal_status status = this->tag(ours.data(), tag_bytes);
    if (status != WARPSEAL_OK) return status;
    return equal_secret(ours.data(), tag, tag_bytes) ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC;
}

void RunningMessage::position(uint8_t* iv, uint32_t* used) const {
    memset(iv, 0, block_bytes_);
    *used = static_cast<uint32_t>(within_block(text_bytes_));
    if (stage_ == Stage::none || mode_ == WARPSEAL_ECB) return;
    if (mode_ == WARPSEAL_CTR || mode_ == WARPSEAL_GCM)
        counters(blocks_of(text_bytes_ + block_bytes_ - 1), 1, iv);
    else
        memcpy(iv, carried_.value.feedback, block_bytes_);
}

// A large piece, by the route of a call of its own. Where that fails, nobody knows how far it came.
warpseal_status RunningMessage::by_route(const uint8_t* in, uint8_t* out, size_t bytes) {
    warpseal_status status;
    try {
        status = mode_ == WARPSEAL_GCM ? gcm_by_route(in, out, bytes) : message_by_route(in, out, bytes);
    } catch (...) {
        end();
        throw;
    }
    if (status != WARPSEAL_OK) end();
    return status;
}

warpseal_status RunningMessage::message_by_route(const uint8_t* in, uint8_t* out, size_t bytes) {
    uint8_t iv[longest_block];
    if (mode_ == WARPSEAL_CTR)
        counters(next_block_, 1, iv);
    else
        copy_block(iv, carried_.value.feedback);
    return engine_.message(key_, mode_, direction_, {iv, mode_ == WARPSEAL_ECB ? 0 : block_bytes_}, in, out, bytes);
}

// What is left of a message is a message whose J0 is so many counters on.
warpseal_status RunningMessage::gcm_by_route(const uint8_t* in, uint8_t* out, size_t bytes) {
    GcmRun &run = carried_.value.run, &rest = carried_.value.part;
    write_counters<4, 1>(run.counter0, next_block_, 1, rest.counter0);
    memcpy(rest.sum, run.sum, sizeof run.sum);
    const warpseal_status status = gcm_text(engine_.inside(), key_, direction_, {in, out, bytes}, rest);
    memcpy(run.sum, rest.sum, sizeof run.sum);
    return status;
}

// ---- modes without a counter

// Whole blocks of a mode that is a sweep, from the block that feedback holds.
warpseal_status RunningMessage::sweep(const uint8_t* in, uint8_t* out, size_t bytes) {
    if (bytes >= routed_bytes) return by_route(in, out, bytes);
    const uint8_t* const iv = mode_ == WARPSEAL_ECB ? nullptr : carried_.value.feedback;
    text_.cipher->sweep[mode_][static_cast<int>(direction_)](text_.state, iv, 0, in, out, bytes);
    return WARPSEAL_OK;
}

// The same of one whose blocks wait for each other: routes lead nowhere else.
warpseal_status RunningMessage::chain(const uint8_t* in, uint8_t* out, size_t bytes) {
    uint8_t* const state = carried_.value.feedback;
    const auto whole = [&] {
        batch_.ivs = state;
        batch_.in = in;
        batch_.out = out;
        batch_.message_bytes = bytes;
        (void)text_.cipher->batch[mode_][static_cast<int>(direction_)](text_.state, batch_, 0, 1);
    };
    if (instructions_) {  // say where the chain ended: to read it from the text takes as long as two rounds
        batch_.tags = state;
        batch_.tag_bytes = static_cast<uint32_t>(block_bytes_);
        whole();
        return WARPSEAL_OK;
    }
    if (bytes > block_bytes_) {
        uint8_t* const last = carried_.value.part.sum;  // in place, it goes
        copy_block(last, in + bytes - block_bytes_);
        whole();
        const uint8_t* const last_out = out + bytes - block_bytes_;
        if (mode_ == WARPSEAL_OFB)
            exclusive_or(last_out, last, state, block_bytes_);
        else
            copy_block(state, last_out);
        return WARPSEAL_OK;
    }
    // A single block is sooner done without a batch.
    if (mode_ == WARPSEAL_CBC) exclusive_or(state, in, state, block_bytes_);
    encipher(state, state, block_bytes_);
    if (mode_ == WARPSEAL_CFB) exclusive_or(state, in, state, block_bytes_);
    if (mode_ == WARPSEAL_OFB)
        exclusive_or(in, state, out, block_bytes_);
    else
        copy_block(out, state);
    return WARPSEAL_OK;
}

// Whole blocks of CBC, CFB and OFB.
warpseal_status RunningMessage::blocks(const uint8_t* in, uint8_t* out, size_t bytes) {
    if (bytes == 0) return WARPSEAL_OK;
    if (chains_) return chain(in, out, bytes);
    uint8_t* const last = carried_.value.part.sum;  // in place, it goes
    copy_block(last, in + bytes - block_bytes_);
    if (const warpseal_status status = sweep(in, out, bytes); status != WARPSEAL_OK) return status;
    copy_block(carried_.value.feedback, last);
    return WARPSEAL_OK;
}

// CFB and OFB: bytes of the block whose keystream lies in `feedback`, from byte `at` on.
void RunningMessage::part_of_block(size_t at, const uint8_t* in, uint8_t* out, size_t bytes) {
    uint8_t* const stream = carried_.value.feedback + at;
    for (size_t i = 0; i < bytes; ++i) {
        const uint8_t given = in[i];
        out[i] = given ^ stream[i];
        if (mode_ == WARPSEAL_CFB) stream[i] = direction_ == Direction::encrypt ? out[i] : given;
    }
}

warpseal_status RunningMessage::feedback(const uint8_t* in, uint8_t* out, size_t bytes) {
    const size_t used = within_block(text_bytes_), head = used == 0 ? 0 : std::min(bytes, block_bytes_ - used);
    part_of_block(used, in, out, head);
    const size_t tail = within_block(bytes - head), whole = bytes - head - tail;
    if (const warpseal_status status = blocks(in + head, out + head, whole); status != WARPSEAL_OK) return status;
    text_bytes_ += bytes;
    if (tail == 0) return WARPSEAL_OK;
    encipher(carried_.value.feedback, carried_.value.feedback, block_bytes_);
    part_of_block(0, in + head + whole, out + head + whole, tail);
    return WARPSEAL_OK;
}

void RunningMessage::encipher(const uint8_t* in, uint8_t* out, size_t bytes) const {
    block_.cipher->sweep[WARPSEAL_ECB][static_cast<int>(Direction::encrypt)](block_.state, nullptr, 0, in, out, bytes);
}

// ---- XTS

warpseal_status RunningMessage::unit(const uint8_t* in, uint8_t* out, size_t bytes) {
    XtsUnits units = {{}, bytes};
    memcpy(units.first, carried_.value.feedback, sizeof units.first);
    if (bytes >= routed_bytes) return engine_.xts(key_, direction_, units, in, out, bytes);
    if (bytes < sizeof units.first) return WARPSEAL_INVALID_ARGUMENT;  // check_units: it is not too long
    text_.cipher->xts[static_cast<int>(direction_)](text_.state, text_.tweak_state, units, in, out, bytes);
    return WARPSEAL_OK;
}

// ---- CTR and GCM

// Those of the text's blocks from `first` on.
void RunningMessage::counters(uint64_t first, size_t count, uint8_t* to) const {
    const uint8_t* const counter0 = carried_.value.run.counter0;
    if (mode_ == WARPSEAL_GCM)
        write_counters<4, 1>(counter0, first + 1, count, to);
    else if (block_bytes_ == 16)
        write_counters<4, 4>(counter0, first, count, to);
    else
        write_counters<2, 2>(counter0, first, count, to);
}

// For `bytes` bytes, and for pieces to come.
void RunningMessage::make_stream(size_t bytes) {
    Carried& carried = carried_.value;
    while (stream_bytes_ < bytes && stream_bytes_ < most_stream_bytes) stream_bytes_ *= 2;
    const size_t blocks = static_cast<size_t>(blocks_of(stream_bytes_));
    // J0 goes with the first blocks of text.
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

// Whole blocks whose keystream is not made ahead.
warpseal_status RunningMessage::count_in_bulk(const uint8_t* in, uint8_t* out, size_t bytes) {
    const int d = static_cast<int>(direction_);
    if (mode_ == WARPSEAL_GCM) sum_now();
    if (bytes >= routed_bytes) {
        if (const warpseal_status status = by_route(in, out, bytes); status != WARPSEAL_OK) return status;
    } else if (mode_ == WARPSEAL_GCM) {
        text_.cipher->gcm_piece[d](text_.state, &carried_.value.run, next_block_, in, out, bytes);
    } else {
        text_.cipher->sweep[mode_][d](text_.state, carried_.value.run.counter0, next_block_, in, out, bytes);
    }
    next_block_ += blocks_of(bytes);
    return WARPSEAL_OK;
}

// From what there is of the keystream.
void RunningMessage::through_stream(const uint8_t* in, uint8_t* out, size_t bytes) {
    Carried& carried = carried_.value;
    if (mode_ != WARPSEAL_GCM) {
        exclusive_or(in, carried.stream + stream_at_, out, bytes);
        stream_at_ += bytes;
        return;
    }
    for (size_t n; bytes != 0; in += n, out += n, bytes -= n) {
        n = std::min(bytes, sum_bytes - unsummed_bytes_);
        const auto work =
            direction_ == Direction::encrypt ? exclusive_or_keeping<Direction::encrypt> : exclusive_or_keeping<Direction::decrypt>;
        work(in, carried.stream + stream_at_, out, carried.unsummed + unsummed_bytes_, n);
        stream_at_ += n;
        unsummed_bytes_ += n;
        if (unsummed_bytes_ == sum_bytes) sum_now();
    }
}

warpseal_status RunningMessage::authenticated(const uint8_t* in, uint8_t* out, size_t bytes) {
    const uint64_t total = std::max<uint64_t>(text_bytes_ + bytes, bytes);
    if (const warpseal_status status = check_text(mode_, key_.facts(), 0, total); status != WARPSEAL_OK) return status;
    if (stage_ == Stage::aad) {
        fill_block();
        stage_ = Stage::text;
    }
    return counted(in, out, bytes);
}

warpseal_status RunningMessage::counted(const uint8_t* in, uint8_t* out, size_t bytes) {
    const uint64_t total = text_bytes_ + bytes;
    if (const size_t left = stream_end_ - stream_at_; left != 0) {
        const size_t n = std::min(bytes, left);
        through_stream(in, out, n);
        in += n, out += n, bytes -= n;
    }
    if (bytes >= bulk_bytes_) {  // a block begins here
        const size_t n = bytes - within_block(bytes);
        if (const warpseal_status status = count_in_bulk(in, out, n); status != WARPSEAL_OK) return status;
        in += n, out += n, bytes -= n;
    }
    if (bytes != 0) {
        make_stream(bytes);
        through_stream(in, out, bytes);
    }
    text_bytes_ = total;
    return WARPSEAL_OK;
}

// ---- the sum of GCM: SP 800-38D 6.4

// Of AAD. A little waits until there is more, as ciphertext does: a call over many blocks costs little more than one over one.
void RunningMessage::sum(const uint8_t* data, size_t bytes) {
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
                text_.cipher->gcm_combine(text_.state, carried.run.sum, carried.part.sum, n / longest_block);
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

// AAD and text each end with zeros to a whole block.
void RunningMessage::fill_block() {
    const size_t more = (longest_block - unsummed_bytes_ % longest_block) % longest_block;
    memset(carried_.value.unsummed + unsummed_bytes_, 0, more);
    unsummed_bytes_ += more;
}

// What begins a message sums its AAD from zero: with the sum so far in the first block, from there.
void RunningMessage::sum_now() {
    if (unsummed_bytes_ == 0) return;
    Carried& carried = carried_.value;
    exclusive_or(carried.unsummed, carried.run.sum, carried.unsummed, longest_block);
    text_.cipher->gcm_begin(text_.state, no_iv, sizeof no_iv, carried.unsummed, unsummed_bytes_, &carried.part);
    memcpy(carried.run.sum, carried.part.sum, sizeof carried.run.sum);
    unsummed_bytes_ = 0;
}

void RunningMessage::finish(uint8_t* tag) {
    Carried& carried = carried_.value;
    fill_block();
    if (has_tag_mask_) {
        store_be64(carried.unsummed + unsummed_bytes_, aad_bytes_ * 8);
        store_be64(carried.unsummed + unsummed_bytes_ + 8, text_bytes_ * 8);
        unsummed_bytes_ += longest_block;
        sum_now();
        exclusive_or(carried.run.sum, carried.tag_mask, tag, whole_tag_bytes);
    } else {
        sum_now();
        text_.cipher->gcm_finish(text_.state, &carried.run, aad_bytes_, text_bytes_, tag);
    }
    end();
}

// No message is under way, nor is anything left of one.
void RunningMessage::end() {
    Carried& carried = carried_.value;
    wipe(&carried, offsetof(Carried, stream));
    wipe(carried.stream, stream_end_);  // it never shrank
    wipe(carried.unsummed, sizeof carried.unsummed);
    stage_ = Stage::none;
    has_tag_mask_ = false;
    aad_bytes_ = text_bytes_ = next_block_ = 0;
    stream_at_ = stream_end_ = unsummed_bytes_ = 0;
    stream_bytes_ = first_stream_bytes;
}

}  // namespace warpseal

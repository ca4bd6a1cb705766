// Lays out the batch of the self-test and computes its expected output.
#include "engine/self_test/test_batch.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "engine/limits.h"

namespace warpseal {

using reference_output::Text;

namespace {

constexpr size_t message_count = 67;  // more messages than most representations process in parallel
constexpr uint64_t uneven[] = {31, 0, 16, 1, 100, 48, 15, 129, 64, 273, 17, 33};
constexpr uint64_t even = 17;
constexpr size_t forged = 4;  // index of the message with a wrong tag when decrypting
constexpr uint8_t untouched = 0xa5;

uint64_t length_of(size_t i, bool uneven_lengths, size_t whole) {
    const uint64_t bytes = !uneven_lengths ? even : i < std::size(uneven) ? uneven[i] : i * 7 % 33;
    return (bytes + whole - 1) / whole * whole;
}

}  // namespace

size_t TestBatch::reserve(const void* bytes, size_t count) {
    memory_.resize((memory_.size() + 15) / 16 * 16, untouched);
    const size_t at = memory_.size();
    if (bytes == nullptr) {
        memory_.resize(at + count, untouched);
    } else {
        const auto* first = static_cast<const uint8_t*>(bytes);
        memory_.insert(memory_.end(), first, first + count);
    }
    return at;
}

TestBatch::TestBatch(const CpuCipher& reference, warpseal_mode mode, Direction direction,
                     bool own_keys)
    : mode_(mode), direction_(direction), own_keys_(own_keys) {
    iv_bytes_ = mode == WARPSEAL_GCM    ? 12
                : mode == WARPSEAL_CCM  ? 11
                : mode == WARPSEAL_CMAC ? 0
                                        : reference.block_bytes;
    tag_bytes_ = tagged(mode) ? reference.block_bytes : 0;
    aad_bytes_ = aead(mode) ? 21 : 0;
    const size_t whole = mode == WARPSEAL_CBC ? reference.block_bytes : 1;
    even_ = length_of(0, false, whole);
    for (size_t i = 0; i < message_count; ++i) {
        offsets_.push_back(text_bytes_);
        lengths_.push_back(length_of(i, own_keys, whole));
        text_bytes_ += lengths_.back();
    }
    Text keys;
    for (size_t i = 0; i < message_count; ++i) {
        const Text key =
            own_keys ? reference_output::pattern(reference.key_bytes, static_cast<uint32_t>(i) + 40)
                     : Text(reference.known.key, reference.known.key + reference.key_bytes);
        keys.insert(keys.end(), key.begin(), key.end());
    }
    const Text ivs = reference_output::pattern(message_count * iv_bytes_, 41),
               aad = reference_output::pattern(message_count * aad_bytes_, 42);
    const Text text = reference_output::pattern(text_bytes_, 43);
    lengths_at_ = reserve(lengths_.data(), message_count * 8);
    offsets_at_ = reserve(offsets_.data(), message_count * 8);
    keys_at_ = reserve(keys.data(), keys.size());
    ivs_at_ = reserve(ivs.data(), ivs.size());
    aad_at_ = reserve(aad.data(), aad.size());
    in_at_ = reserve(text.data(), text.size());
    out_at_ = reserve(nullptr, text.size());
    tags_at_ = reserve(nullptr, message_count * tag_bytes_);
    statuses_at_ = reserve(nullptr, message_count * 4);
    expected_apart_ = memory_;
    expected_in_place_ = memory_;
    std::optional<reference_output::Blocks> blocks;
    for (size_t i = 0; i < message_count; ++i) {
        if (!blocks || own_keys) blocks.emplace(reference, &keys[i * reference.key_bytes]);
        compose(*blocks, i);
    }
}

void TestBatch::compose(const reference_output::Blocks& blocks, size_t i) {
    const auto span = [&](size_t at, size_t bytes) {
        return Text(memory_.data() + at, memory_.data() + at + bytes);
    };
    const auto put = [](Text& memory, size_t at, const Text& bytes) {
        std::copy(bytes.begin(), bytes.end(), memory.data() + at);
    };
    const size_t in_at = in_at_ + offsets_[i], out_at = out_at_ + offsets_[i],
                 tag_at = tags_at_ + i * tag_bytes_;
    const Text iv = span(ivs_at_ + i * iv_bytes_, iv_bytes_),
               aad = span(aad_at_ + i * aad_bytes_, aad_bytes_);
    const Text plaintext = span(in_at, lengths_[i]);

    Text ciphertext, tag;
    if (mode_ == WARPSEAL_CTR)
        ciphertext = reference_output::xor_bytes(
            plaintext, reference_output::keystream(blocks, iv, blocks.bytes(), plaintext.size()));
    if (mode_ == WARPSEAL_CBC) ciphertext = reference_output::cbc(blocks, iv, plaintext);
    if (mode_ == WARPSEAL_CFB) ciphertext = reference_output::cfb(blocks, iv, plaintext);
    if (mode_ == WARPSEAL_OFB) ciphertext = reference_output::ofb(blocks, iv, plaintext);
    if (mode_ == WARPSEAL_CMAC)
        ciphertext = plaintext, tag = reference_output::cmac(blocks, plaintext);
    if (mode_ == WARPSEAL_GCM) {
        Text first = reference_output::counter0(blocks, iv);
        ++first[15];  // cannot wrap: the byte was 1
        ciphertext = reference_output::xor_bytes(
            plaintext, reference_output::keystream(blocks, first, 4, plaintext.size()));
        tag = reference_output::tag(blocks, iv, aad, ciphertext);
    }
    if (mode_ == WARPSEAL_CCM) {
        ciphertext = reference_output::ccm(blocks, iv, aad, plaintext, tag_bytes_);
        tag.assign(ciphertext.end() - tag_bytes_, ciphertext.end());
        ciphertext.resize(plaintext.size());
    }

    const bool opening = direction_ == Direction::decrypt,
               forgery = opening && tagged(mode_) && i == forged;
    if (forgery) tag[i] ^= 0x10;
    const Text& in = opening ? ciphertext : plaintext;
    const Text out = forgery ? Text(plaintext.size()) : opening ? plaintext : ciphertext;
    for (Text* memory : {&memory_, &expected_apart_, &expected_in_place_}) {
        put(*memory, in_at, in);
        if (opening || memory != &memory_) put(*memory, tag_at, tag);
    }
    if (mode_ != WARPSEAL_CMAC) {
        put(expected_apart_, out_at, out);
        put(expected_in_place_, in_at, out);
    }
    const int32_t status = forgery ? WARPSEAL_NOT_AUTHENTIC : WARPSEAL_OK;
    for (Text* memory : {&expected_apart_, &expected_in_place_})
        memcpy(memory->data() + statuses_at_ + i * 4, &status, 4);
    forgeries_ += forgery ? 1 : 0;
}

warpseal_batch TestBatch::at(uint8_t* base, bool in_place) const {
    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.iv_bytes = iv_bytes_;
    batch.tag_bytes = tag_bytes_;
    batch.message_count = message_count;
    batch.message_bytes = even_;
    if (iv_bytes_ != 0) batch.ivs = base + ivs_at_;
    batch.iv_stride = iv_bytes_;
    if (aad_bytes_ != 0) batch.aad = base + aad_at_;
    batch.aad_bytes = batch.aad_stride = aad_bytes_;
    if (tag_bytes_ != 0) batch.tags = base + tags_at_;
    batch.tag_stride = tag_bytes_;
    batch.in = base + in_at_;
    if (mode_ != WARPSEAL_CMAC) batch.out = base + (in_place ? in_at_ : out_at_);
    batch.in_stride = batch.out_stride = even_;
    if (own_keys_) {
        batch.keys = base + keys_at_;
        batch.lengths = reinterpret_cast<const uint64_t*>(base + lengths_at_);
        batch.in_offsets = batch.out_offsets =
            reinterpret_cast<const uint64_t*>(base + offsets_at_);
    }
    batch.statuses = reinterpret_cast<int32_t*>(base + statuses_at_);
    return batch;
}

}  // namespace warpseal

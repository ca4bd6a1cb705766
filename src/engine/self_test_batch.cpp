// Lays out the batch of the self-test and composes its answers.
#include "engine/self_test_batch.h"

#include <algorithm>
#include <cstring>

namespace warpseal {

using answers::Text;

namespace {

constexpr size_t message_count = 12;
constexpr uint64_t uneven[message_count] = {31, 0, 16, 1, 100, 48, 15, 257, 64, 1041, 17, 33};
constexpr uint64_t even = 77;
constexpr size_t aad_bytes = 21;
constexpr size_t forged = 4;  // when opening: its tag is wrong
constexpr uint8_t untouched = 0xa5;

}  // namespace

size_t TestBatch::place(const void* bytes, size_t count) {
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

TestBatch::TestBatch(const CpuCipher& reference, warpseal_mode mode, Direction direction, bool own_keys)
    : mode_(mode), direction_(direction), own_keys_(own_keys) {
    iv_bytes_ = mode == WARPSEAL_GCM ? 12 : reference.block_bytes;
    tag_bytes_ = mode == WARPSEAL_GCM ? 16 : 0;
    for (const uint64_t length : uneven) {
        offsets_.push_back(text_bytes_);
        lengths_.push_back(own_keys ? length : even);
        text_bytes_ += lengths_.back();
    }
    Text keys;
    for (size_t i = 0; i < message_count; ++i) {
        const Text key = own_keys ? answers::pattern(reference.key_bytes, static_cast<uint32_t>(i) + 40)
                                  : Text(reference.known.key, reference.known.key + reference.key_bytes);
        keys.insert(keys.end(), key.begin(), key.end());
    }
    const Text ivs = answers::pattern(message_count * iv_bytes_, 41), aad = answers::pattern(message_count * aad_bytes, 42);
    const Text text = answers::pattern(text_bytes_, 43);
    lengths_at_ = place(lengths_.data(), message_count * 8);
    offsets_at_ = place(offsets_.data(), message_count * 8);
    keys_at_ = place(keys.data(), keys.size());
    ivs_at_ = place(ivs.data(), ivs.size());
    aad_at_ = place(aad.data(), aad.size());
    in_at_ = place(text.data(), text.size());
    out_at_ = place(nullptr, text.size());
    tags_at_ = place(nullptr, message_count * tag_bytes_);
    statuses_at_ = place(nullptr, message_count * 4);
    expected_ = memory_;
    for (size_t i = 0; i < message_count; ++i)
        compose(reference, i, Text(&keys[i * reference.key_bytes], &keys[i * reference.key_bytes] + reference.key_bytes));
}

void TestBatch::compose(const CpuCipher& reference, size_t i, const Text& key) {
    const answers::Blocks blocks(reference, key.data());
    const uint8_t* iv_at = &memory_[ivs_at_ + i * iv_bytes_];
    const Text iv(iv_at, iv_at + iv_bytes_);
    const auto text = memory_.begin() + static_cast<ptrdiff_t>(in_at_ + offsets_[i]);
    const Text plaintext(text, text + static_cast<ptrdiff_t>(lengths_[i]));
    Text first = iv;
    if (mode_ == WARPSEAL_GCM) {  // the counter after J0, which cannot wrap: its last byte is 1
        first = answers::counter0(blocks, iv);
        ++first[15];
    }
    const size_t counter_bytes = mode_ == WARPSEAL_GCM ? 4 : reference.block_bytes;
    const Text ciphertext = answers::exclusive_or(plaintext, answers::keystream(blocks, first, counter_bytes, plaintext.size()));
    const bool opening = direction_ == Direction::decrypt;
    const bool forgery = opening && mode_ == WARPSEAL_GCM && i == forged;
    if (opening) std::copy(ciphertext.begin(), ciphertext.end(), text);
    if (opening) std::copy(ciphertext.begin(), ciphertext.end(), expected_.begin() + static_cast<ptrdiff_t>(in_at_ + offsets_[i]));
    Text out = opening ? plaintext : ciphertext;
    if (forgery) std::fill(out.begin(), out.end(), uint8_t{0});
    std::copy(out.begin(), out.end(), expected_.begin() + static_cast<ptrdiff_t>(out_at_ + offsets_[i]));
    if (mode_ == WARPSEAL_GCM) {
        const uint8_t* aad_from = &memory_[aad_at_ + i * aad_bytes];
        Text tag = answers::tag(blocks, iv, Text(aad_from, aad_from + aad_bytes), ciphertext);
        if (forgery) tag[i] ^= 0x10;
        std::copy(tag.begin(), tag.end(), expected_.begin() + static_cast<ptrdiff_t>(tags_at_ + i * tag_bytes_));
        if (opening) std::copy(tag.begin(), tag.end(), memory_.begin() + static_cast<ptrdiff_t>(tags_at_ + i * tag_bytes_));
    }
    const int32_t status = forgery ? WARPSEAL_NOT_AUTHENTIC : WARPSEAL_OK;
    memcpy(&expected_[statuses_at_ + i * 4], &status, 4);
    forgeries_ += forgery ? 1 : 0;
}

warpseal_batch TestBatch::at(uint8_t* base) const {
    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.iv_bytes = iv_bytes_;
    batch.tag_bytes = tag_bytes_;
    batch.message_count = message_count;
    batch.message_bytes = even;
    batch.ivs = base + ivs_at_;
    batch.iv_stride = iv_bytes_;
    if (mode_ == WARPSEAL_GCM) {
        batch.aad = base + aad_at_;
        batch.aad_bytes = aad_bytes;
        batch.aad_stride = aad_bytes;
        batch.tags = base + tags_at_;
        batch.tag_stride = tag_bytes_;
    }
    batch.in = base + in_at_;
    batch.out = base + out_at_;
    batch.in_stride = batch.out_stride = even;
    if (own_keys_) {
        batch.keys = base + keys_at_;
        batch.lengths = reinterpret_cast<const uint64_t*>(base + lengths_at_);
        batch.in_offsets = batch.out_offsets = reinterpret_cast<const uint64_t*>(base + offsets_at_);
    }
    batch.statuses = reinterpret_cast<int32_t*>(base + statuses_at_);
    return batch;
}

}  // namespace warpseal

// Lays out the batches of the self-test.
#include "engine/self_test/test_batch.h"

#include <algorithm>
#include <cstring>

#include "engine/limits.h"

namespace warpseal {
namespace {

constexpr size_t many = 67;  // more messages than most representations process in parallel
constexpr uint64_t uneven[] = {31, 0, 16, 1, 100, 48, 15, 129, 64, 273, 17, 33};
constexpr uint64_t even = 17;
constexpr uint64_t long_blocks = 53;  // of the one message, which has a short block after them
constexpr size_t forged = 4;          // index of the message with a wrong tag when decrypting
constexpr uint8_t untouched = 0xa5;

uint64_t length_of(size_t i, BatchKind kind, uint32_t block_bytes) {
    if (kind == BatchKind::one_message) return long_blocks * block_bytes + 5;
    if (kind == BatchKind::one_key) return even;
    return i < std::size(uneven) ? uneven[i] : i * 7 % 33;
}

uint32_t iv_bytes_of(warpseal_mode mode, uint32_t block_bytes) {
    return mode == WARPSEAL_GCM    ? 12
           : mode == WARPSEAL_CCM  ? 11
           : mode == WARPSEAL_CMAC ? 0
                                   : block_bytes;
}

void copy(TestText& to, size_t to_at, const TestText& from, size_t from_at, uint64_t bytes) {
    std::copy_n(from.data() + from_at, bytes, to.data() + to_at);
}

}  // namespace

size_t TestBatch::reserve(const TestText& bytes) {
    memory_.resize((memory_.size() + 15) / 16 * 16, untouched);
    memory_.insert(memory_.end(), bytes.begin(), bytes.end());
    return memory_.size() - bytes.size();
}

size_t TestBatch::reserve_array(const std::vector<uint64_t>& numbers) {
    TestText bytes(8 * numbers.size());
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return reserve(bytes);
}

TestBatch::TestBatch(const CipherFacts& facts, warpseal_mode mode, BatchKind kind)
    : mode_(mode),
      kind_(kind),
      lengths_(kind == BatchKind::one_message ? 1 : many),
      iv_bytes_(iv_bytes_of(mode, facts.block_bytes)),
      tag_bytes_(tagged(mode) ? facts.block_bytes : 0),
      aad_bytes_(aead(mode) ? 21 : 0) {
    const size_t count = lengths_.size();
    const uint64_t whole = mode == WARPSEAL_CBC ? facts.block_bytes : 1;
    std::vector<uint64_t> offsets;
    for (size_t i = 0; i < count; ++i) {
        lengths_[i] = (length_of(i, kind, facts.block_bytes) + whole - 1) / whole * whole;
        offsets.push_back(text_bytes_);
        text_bytes_ += lengths_[i];
    }
    TestText ivs = test_bytes("batch IVs", count * iv_bytes_);
    // The counter of a long message carries into all its bytes but the first.
    if (mode == WARPSEAL_CTR && count == 1) {
        std::fill(ivs.begin() + 1, ivs.end(), 0xff);
        ivs.back() = 0xf3;
    }
    lengths_at_ = reserve_array(lengths_);
    offsets_at_ = reserve_array(offsets);
    keys_at_ = reserve(test_bytes("batch keys", own_keys() ? count * facts.key_bytes : 0));
    ivs_at_ = reserve(ivs);
    aad_at_ = reserve(test_bytes("batch AAD", count * aad_bytes_));
    in_at_ = reserve(test_bytes("batch text", text_bytes_));
    out_at_ = reserve(TestText(text_bytes_, untouched));
    tags_at_ = reserve(TestText(count * tag_bytes_, untouched));
    statuses_at_ = reserve(TestText(count * sizeof(int32_t), untouched));
}

uint64_t TestBatch::forgeries(Direction direction) const {
    return direction == Direction::decrypt && tagged(mode_) && lengths_.size() > 1 ? 1 : 0;
}

TestText TestBatch::to_open(const TestText& sealed) const {
    TestText memory = memory_;
    if (mode_ != WARPSEAL_CMAC) copy(memory, in_at_, sealed, out_at_, text_bytes_);
    copy(memory, tags_at_, sealed, tags_at_, lengths_.size() * tag_bytes_);
    if (lengths_.size() > 1) memory[tags_at_ + forged * tag_bytes_] ^= 0x10;
    return memory;
}

TestText TestBatch::in_place(const TestText& apart) const {
    TestText memory = apart;
    if (mode_ == WARPSEAL_CMAC) return memory;
    copy(memory, in_at_, apart, out_at_, text_bytes_);
    copy(memory, out_at_, memory_, out_at_, text_bytes_);
    return memory;
}

TestBatch::Message TestBatch::first(const TestText& memory) const {
    const auto text = [&](size_t at, uint64_t bytes) {
        return TestText(memory.data() + at, memory.data() + at + bytes);
    };
    return {text(ivs_at_, iv_bytes_), text(in_at_, lengths_[0]), text(out_at_, lengths_[0])};
}

warpseal_batch TestBatch::at(uint8_t* base, bool in_place) const {
    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.iv_bytes = iv_bytes_;
    batch.tag_bytes = tag_bytes_;
    batch.message_count = lengths_.size();
    batch.message_bytes = lengths_[0];
    if (iv_bytes_ != 0) batch.ivs = base + ivs_at_;
    batch.iv_stride = iv_bytes_;
    if (aad_bytes_ != 0) batch.aad = base + aad_at_;
    batch.aad_bytes = batch.aad_stride = aad_bytes_;
    if (tag_bytes_ != 0) batch.tags = base + tags_at_;
    batch.tag_stride = tag_bytes_;
    batch.in = base + in_at_;
    if (mode_ != WARPSEAL_CMAC) batch.out = base + (in_place ? in_at_ : out_at_);
    batch.in_stride = batch.out_stride = lengths_[0];
    if (own_keys()) {
        batch.keys = base + keys_at_;
        batch.lengths = reinterpret_cast<const uint64_t*>(base + lengths_at_);
        batch.in_offsets = batch.out_offsets =
            reinterpret_cast<const uint64_t*>(base + offsets_at_);
    }
    batch.statuses = reinterpret_cast<int32_t*>(base + statuses_at_);
    return batch;
}

}  // namespace warpseal

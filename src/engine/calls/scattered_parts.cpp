// Validates batches whose messages lie anywhere. Nothing of a message is read before its range is
// checked.
#include "engine/calls/scattered_parts.h"

#include <algorithm>
#include <vector>

#include "engine/calls/batch_check.h"
#include "engine/refusal.h"

namespace warpseal {
namespace {

constexpr uint64_t address_limit = uint64_t{1} << 62;  // the sum of two such offsets does not wrap

using Number = unsigned long long;  // of a message, for %llu

// The struct as a batch at strides, in which each scattered part is valid. A stride that is not
// read is 0.
warpseal_batch at_strides(const ScatteredParts& parts) {
    static uint8_t byte;
    static const uint64_t offset = 0;
    warpseal_batch batch = parts.given.batch;
    if (parts.in.scattered()) batch.in_stride = 0;
    if (parts.out.scattered()) batch.out_stride = 0;
    if (parts.in.pointers != nullptr) batch.in = &byte, batch.in_offsets = &offset;
    if (parts.out.pointers != nullptr) batch.out = &byte, batch.out_offsets = &offset;
    if (parts.ivs.scattered()) batch.iv_stride = batch.iv_bytes;
    if (parts.ivs.pointers != nullptr) batch.ivs = &byte;
    if (parts.tags.scattered()) batch.tag_stride = batch.tag_bytes;
    if (parts.tags.pointers != nullptr) batch.tags = &byte;
    if (parts.aad.scattered()) batch.aad_stride = 0;
    if (parts.aad_scattered()) batch.aad = nullptr, batch.aad_bytes = 0;
    return batch;
}

warpseal_status check_one_source(const ScatteredPart& part) {
    if (part.pointers == nullptr) return WARPSEAL_OK;
    if (part.base != nullptr)
        return refuse("%s is not null: %s_pointers takes its place", part.base_name, part.name);
    if (part.offsets != nullptr)
        return refuse("%s_offsets is not null: %s_pointers takes its place", part.name, part.name);
    return WARPSEAL_OK;
}

// Checks that the part's `bytes` bytes of message i lie in memory that can exist.
warpseal_status check_range(const ScatteredPart& part, uint64_t i, uint64_t bytes) {
    if (bytes == 0) return WARPSEAL_OK;
    if (part.pointers != nullptr) {
        if (part.pointers[i] == nullptr)
            return refuse("%s_pointers[%llu] is null", part.name, static_cast<Number>(i));
    } else {
        if (part.base == nullptr) return refuse("%s is null", part.base_name);
        const uint64_t offset = part.offset(i);
        if (!part.holds(i, bytes))
            return refuse("the %s of message %llu ends past the %llu bytes at %s", part.name,
                          static_cast<Number>(i), static_cast<Number>(part.extent), part.base_name);
        if (offset > address_limit || reinterpret_cast<uintptr_t>(part.base) > UINTPTR_MAX - offset)
            return refuse("the %s of message %llu lies past the address space", part.name,
                          static_cast<Number>(i));
    }
    const uintptr_t begin = part.pointers != nullptr
                                ? reinterpret_cast<uintptr_t>(part.pointers[i])
                                : reinterpret_cast<uintptr_t>(part.base) + part.offset(i);
    if (bytes > address_limit || begin > UINTPTR_MAX - bytes)
        return refuse("the %s of message %llu lies past the address space", part.name,
                      static_cast<Number>(i));
    return WARPSEAL_OK;
}

// Checks the lengths and ranges of message i.
warpseal_status check_message(const CipherFacts& cipher, warpseal_mode mode,
                              const ScatteredParts& parts, uint64_t i) {
    const warpseal_batch& batch = parts.given.batch;
    const uint64_t text = parts.text_bytes(i), aad = parts.aad_bytes(i);
    warpseal_status status = check_text(mode, cipher, batch.iv_bytes, text);
    if (status == WARPSEAL_OK) status = check_aad(mode, aad);
    if (status == WARPSEAL_OK) status = check_range(parts.in, i, text);
    if (status == WARPSEAL_OK && mode != WARPSEAL_CMAC) status = check_range(parts.out, i, text);
    if (status == WARPSEAL_OK) status = check_range(parts.ivs, i, batch.iv_bytes);
    if (status == WARPSEAL_OK) status = check_range(parts.aad, i, aad);
    if (status == WARPSEAL_OK && tagged(mode)) status = check_range(parts.tags, i, batch.tag_bytes);
    return status;
}

// Ranges of memory that a call reads or writes for one purpose, in the order of their addresses.
class Ranges {
public:
    // expected: the number of ranges, for memory that is had at once with the first of them.
    Ranges(const char* name, bool written, uint64_t expected)
        : name_(name), written_(written), expected_(expected) {}

    void add(const void* memory, uint64_t bytes) {
        if (memory == nullptr || bytes == 0) return;
        const auto begin = reinterpret_cast<uintptr_t>(memory);
        const Range range{begin, begin + bytes};
        if (all_.empty()) {
            all_.reserve(expected_);
        } else {
            const Range& last = all_.back();
            if (!written_ && last.begin == range.begin && last.end == range.end) {
                repeated_ = true;
                return;
            }
            sorted_ = sorted_ && last.begin <= begin;
        }
        all_.push_back(range);
    }
    void sort() {
        if (!sorted_)
            std::sort(all_.begin(), all_.end(),
                      [](const Range& a, const Range& b) { return a.begin < b.begin; });
    }
    // After sort(): true if two of the ranges share memory.
    bool share_memory() const {
        for (size_t i = 1; i < all_.size(); ++i)
            if (all_[i].begin < all_[i - 1].end) return true;
        return repeated_;
    }

    struct Range {
        uintptr_t begin, end;
    };
    const char* name() const { return name_; }
    bool written() const { return written_; }
    const std::vector<Range>& all() const { return all_; }

private:
    const char* name_;
    bool written_, sorted_ = true, repeated_ = false;
    uint64_t expected_;
    std::vector<Range> all_;
};

warpseal_status refuse_overlap(const char* a, const char* b) {
    return refuse("batch: %s overlaps %s: memory that is written must be apart", a, b);
}

// Checks by one pass over all ranges in the order of their addresses that none overlaps a written
// one.
warpseal_status check_apart(const std::vector<Ranges>& lists) {
    std::vector<size_t> next(lists.size());
    struct Before {
        uintptr_t end = 0;
        const char* name = "";
    } any, written;
    for (;;) {
        size_t first = lists.size();
        for (size_t k = 0; k < lists.size(); ++k)
            if (next[k] < lists[k].all().size() &&
                (first == lists.size() ||
                 lists[k].all()[next[k]].begin < lists[first].all()[next[first]].begin))
                first = k;
        if (first == lists.size()) return WARPSEAL_OK;
        const Ranges& list = lists[first];
        const Ranges::Range range = list.all()[next[first]++];
        const Before& before = list.written() ? any : written;
        if (range.begin < before.end) return refuse_overlap(list.name(), before.name);
        if (range.end > any.end) any = {range.end, list.name()};
        if (list.written() && range.end > written.end) written = {range.end, list.name()};
    }
}

// The arrays of the struct, which the call reads.
void add_arrays(const ScatteredParts& parts, uint32_t key_bytes, Ranges& arrays) {
    const warpseal_batch& batch = parts.given.batch;
    const uint64_t count = batch.message_count;
    for (const uint64_t* const array : {batch.lengths, parts.given.aad_lengths})
        arrays.add(array, count * sizeof *array);
    for (const ScatteredPart* const part :
         {&parts.in, &parts.out, &parts.ivs, &parts.aad, &parts.tags}) {
        arrays.add(part->offsets, count * sizeof *part->offsets);
        arrays.add(part->pointers, count * sizeof *part->pointers);
    }
    arrays.add(batch.keys, count * key_bytes);
}

warpseal_status check_overlap(const Key& key, warpseal_mode mode, Direction direction,
                              const ScatteredParts& parts, bool draws_ivs) {
    const warpseal_batch& batch = parts.given.batch;
    const bool mac = mode == WARPSEAL_CMAC;
    const uint64_t count = batch.message_count;
    Ranges in("in", false, count), out("out", true, count), ivs("an IV", draws_ivs, count),
        aad("aad", false, count), tags("a tag", direction == Direction::encrypt, count),
        statuses("statuses", true, 1), arrays("an array of the batch", false, 16);
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t text = parts.text_bytes(i);
        const uint8_t* const from = text != 0 ? parts.in.at(i) : nullptr;
        const uint8_t* const to = text != 0 && !mac ? parts.out.at(i) : nullptr;
        if (from != to) in.add(from, text);
        out.add(to, text);
        if (!mac) ivs.add(parts.ivs.at(i), batch.iv_bytes);
        if (parts.aad_bytes(i) != 0) aad.add(parts.aad.at(i), parts.aad_bytes(i));
        if (tagged(mode)) tags.add(parts.tags.at(i), batch.tag_bytes);
    }
    statuses.add(batch.statuses, count * sizeof *batch.statuses);
    add_arrays(parts, key.facts().key_bytes, arrays);
    ivs.sort();
    const bool keystream = mode == WARPSEAL_CTR || mode == WARPSEAL_OFB || aead(mode);
    if (keystream && direction == Direction::encrypt && batch.keys == nullptr && ivs.share_memory())
        return refuse("batch: two IVs share memory: give each message its own IV");
    std::vector<Ranges> lists;
    lists.reserve(7);
    for (Ranges* const list : {&in, &out, &ivs, &aad, &tags, &statuses, &arrays}) {
        list->sort();
        if (!list->all().empty()) lists.push_back(std::move(*list));
    }
    return check_apart(lists);
}

// Checks the fields, without the arrays that they point to.
warpseal_status check_struct(const Key& key, warpseal_mode mode, Direction direction,
                             const ScatteredParts& parts) {
    for (const ScatteredPart* const part :
         {&parts.in, &parts.out, &parts.ivs, &parts.aad, &parts.tags})
        if (const warpseal_status status = check_one_source(*part); status != WARPSEAL_OK)
            return status;
    return check_batch(key, mode, direction, at_strides(parts));
}

// Checks the extent of a part in device memory, whose `bytes` bytes each message has. Without
// `known`, and with offsets, the device checks it and needs a status.
warpseal_status check_device_extent(const ScatteredPart& part, const warpseal_batch& batch,
                                    uint64_t bytes, bool known) {
    if (part.extent == 0 || part.pointers != nullptr) return WARPSEAL_OK;
    if (known && part.offsets == nullptr) {
        if (part.holds(batch.message_count - 1, bytes)) return WARPSEAL_OK;
        return refuse("the %s of the last message ends past the %llu bytes at %s", part.name,
                      static_cast<Number>(part.extent), part.base_name);
    }
    if (batch.statuses != nullptr) return WARPSEAL_OK;
    return refuse("batch.statuses is null: it says which messages end past %s_extent", part.name);
}

warpseal_status check_device_extents(const ScatteredParts& parts) {
    const warpseal_batch& batch = parts.given.batch;
    const bool one_length = batch.lengths == nullptr, one_aad = parts.given.aad_lengths == nullptr;
    const struct {
        const ScatteredPart& part;
        uint64_t bytes;
        bool known;
    } all[] = {{parts.in, batch.message_bytes, one_length},
               {parts.out, batch.message_bytes, one_length},
               {parts.ivs, batch.iv_bytes, true},
               {parts.aad, batch.aad_bytes, one_aad},
               {parts.tags, batch.tag_bytes, true}};
    for (const auto& [part, bytes, known] : all)
        if (const warpseal_status status = check_device_extent(part, batch, bytes, known);
            status != WARPSEAL_OK)
            return status;
    return WARPSEAL_OK;
}

// Checks that there are statuses if only the device can tell that a message is outside the limits
// of its mode: it does not process that message.
warpseal_status check_device_statuses(warpseal_mode mode, const ScatteredParts& parts) {
    const bool limits_text = aead(mode) || mode == WARPSEAL_CBC;
    const bool unknown = (limits_text && parts.given.batch.lengths != nullptr) ||
                         (aead(mode) && parts.given.aad_lengths != nullptr);
    if (!unknown || parts.given.batch.statuses != nullptr) return WARPSEAL_OK;
    return refuse("batch.statuses is null: it says which lengths %s does not take",
                  mode_name(mode));
}

// Checks the addresses of arrays that the device reads and writes: a misaligned access would make
// the GPU unusable.
warpseal_status check_device_arrays(const ScatteredParts& parts) {
    const auto aligned = [](const void* array, size_t bytes) {
        return reinterpret_cast<uintptr_t>(array) % bytes == 0;
    };
    const auto refuse_array = [](const char* name, const char* suffix, size_t bytes) {
        return refuse("%s%s is not at a multiple of %zu bytes", name, suffix, bytes);
    };
    const warpseal_batch& batch = parts.given.batch;
    if (!aligned(batch.statuses, sizeof *batch.statuses))
        return refuse_array("batch.statuses", "", sizeof *batch.statuses);
    if (!aligned(batch.lengths, sizeof *batch.lengths))
        return refuse_array("batch.lengths", "", sizeof *batch.lengths);
    if (!aligned(parts.given.aad_lengths, sizeof *parts.given.aad_lengths))
        return refuse_array("aad_lengths", "", sizeof *parts.given.aad_lengths);
    for (const ScatteredPart* part : {&parts.in, &parts.out, &parts.ivs, &parts.aad, &parts.tags}) {
        if (!aligned(part->offsets, sizeof *part->offsets))
            return refuse_array(part->name, "_offsets", sizeof *part->offsets);
        if (!aligned(part->pointers, sizeof *part->pointers))
            return refuse_array(part->name, "_pointers", sizeof *part->pointers);
    }
    return WARPSEAL_OK;
}

}  // namespace

ScatteredParts::ScatteredParts(const warpseal_scattered_batch& batch)
    : given(batch),
      in{in_of(batch), "in", "batch.in"},
      out{out_of(batch), "out", "batch.out"},
      ivs{ivs_of(batch), "iv", "batch.ivs"},
      aad{aad_of(batch), "aad", "batch.aad"},
      tags{tags_of(batch), "tag", "batch.tags"} {}

warpseal_status check_scattered(const Key& key, warpseal_mode mode, Direction direction,
                                const ScatteredParts& parts, bool draws_ivs) {
    const warpseal_status status = check_struct(key, mode, direction, parts);
    if (status != WARPSEAL_OK) return status;
    for (uint64_t i = 0; i < parts.given.batch.message_count; ++i)
        if (const warpseal_status checked = check_message(key.facts(), mode, parts, i);
            checked != WARPSEAL_OK)
            return checked;
    return check_overlap(key, mode, direction, parts, draws_ivs);
}

warpseal_status check_scattered_device(const Key& key, warpseal_mode mode, Direction direction,
                                       const ScatteredParts& parts) {
    const warpseal_batch& batch = parts.given.batch;
    warpseal_status status = check_struct(key, mode, direction, parts);
    if (status == WARPSEAL_OK) status = check_device_text(mode, at_strides(parts));
    if (status != WARPSEAL_OK || batch.message_count == 0) return status;
    const bool has_aad = parts.given.aad_lengths != nullptr || batch.aad_bytes != 0;
    if (has_aad && parts.aad.pointers == nullptr && parts.aad.base == nullptr)
        return refuse("batch.aad is null");
    if (parts.given.aad_lengths == nullptr) status = check_aad(mode, batch.aad_bytes);
    if (status == WARPSEAL_OK) status = check_device_arrays(parts);
    if (status == WARPSEAL_OK) status = check_device_extents(parts);
    return status == WARPSEAL_OK ? check_device_statuses(mode, parts) : status;
}

}  // namespace warpseal

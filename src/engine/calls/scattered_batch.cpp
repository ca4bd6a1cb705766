// Batches whose messages lie anywhere. They run as batches at strides: IVs, AAD and tags are copied
// beside each other, and pointers to text become offsets.
#include <cstring>
#include <vector>

#include "engine/calls/batch.h"
#include "engine/calls/scattered_parts.h"
#include "engine/refusal.h"

namespace warpseal {
namespace {

constexpr uint64_t most_aad_bytes = uint64_t{1} << 62;  // sums of two do not wrap

// A copy of one part of all messages, side by side.
std::vector<uint8_t> gathered(const ScatteredPart& part, uint64_t count, uint32_t bytes) {
    std::vector<uint8_t> all(count * bytes);
    for (uint64_t i = 0; bytes != 0 && i < count; ++i)
        std::memcpy(&all[i * bytes], part.at(i), bytes);
    return all;
}

// Writes what is side by side in `all` to the part's places.
void scatter(const ScatteredPart& part, const std::vector<uint8_t>& all, uint64_t count,
             uint32_t bytes) {
    for (uint64_t i = 0; i < count; ++i)
        std::memcpy(const_cast<uint8_t*>(part.at(i)), &all[i * bytes], bytes);
}

// Text at pointers as offsets from the lowest of them. Empty messages have offset 0.
struct TextOffsets {
    TextOffsets(const ScatteredParts& parts, const ScatteredPart& text, uint64_t count)
        : offsets(count) {
        uintptr_t lowest = UINTPTR_MAX;
        for (uint64_t i = 0; i < count; ++i)
            if (parts.text_bytes(i) != 0 && address(text, i) < lowest)
                lowest = address(text, i), base = text.at(i);
        for (uint64_t i = 0; i < count; ++i)
            if (parts.text_bytes(i) != 0) offsets[i] = address(text, i) - lowest;
    }
    static uintptr_t address(const ScatteredPart& text, uint64_t i) {
        return reinterpret_cast<uintptr_t>(text.at(i));
    }

    const uint8_t* base = nullptr;
    std::vector<uint64_t> offsets;
};

// Copies of AAD, and its groups of equal lengths.
struct GatheredAad {
    warpseal_status gather(const ScatteredParts& parts, uint64_t count) {
        uint64_t total = 0;
        for (uint64_t i = 0; i < count; ++i) {
            const uint64_t bytes = parts.aad_bytes(i);
            if (bytes > most_aad_bytes - total)
                return refuse("aad_lengths add up past the address space");
            total += bytes;
        }
        all.resize(total);
        uint8_t* to = all.data();
        for (uint64_t i = 0; i < count; ++i) {
            const uint64_t bytes = parts.aad_bytes(i);
            if (groups.empty() || groups.back().bytes != bytes) groups.push_back({i, i, to, bytes});
            groups.back().end = i + 1;
            if (bytes == 0) continue;
            std::memcpy(to, parts.aad.at(i), bytes);
            to += bytes;
        }
        return WARPSEAL_OK;
    }

    std::vector<uint8_t> all;
    AadGroups groups;
};

}  // namespace

warpseal_status Engine::scattered_batch(const Key& key, warpseal_mode mode, Direction direction,
                                        const warpseal_scattered_batch& given,
                                        const DrawIvs& draw_ivs) {
    const ScatteredParts parts(given);
    warpseal_status status = check_scattered(key, mode, direction, parts, draw_ivs != nullptr);
    if (status != WARPSEAL_OK) return status;

    warpseal_batch batch = given.batch;
    batch.struct_bytes = sizeof batch;
    const uint64_t count = batch.message_count;
    std::vector<uint8_t> ivs, tags;
    GatheredAad aad;
    TextOffsets in(parts, parts.in, parts.in.pointers != nullptr ? count : 0);
    TextOffsets out(parts, parts.out, parts.out.pointers != nullptr ? count : 0);
    if (parts.in.scattered()) batch.in_stride = 0;
    if (parts.out.scattered()) batch.out_stride = 0;
    if (parts.in.pointers != nullptr) batch.in = in.base, batch.in_offsets = in.offsets.data();
    if (parts.out.pointers != nullptr) {
        batch.out = const_cast<uint8_t*>(out.base);
        batch.out_offsets = out.offsets.data();
    }
    if (draw_ivs != nullptr) {
        ivs.resize(count * batch.iv_bytes);
        status = draw_ivs(ivs.data(), ivs.size());
        if (status != WARPSEAL_OK) return status;
    } else if (parts.ivs.scattered()) {
        ivs = gathered(parts.ivs, count, batch.iv_bytes);
    }
    if (draw_ivs != nullptr || parts.ivs.scattered())
        batch.ivs = ivs.data(), batch.iv_stride = batch.iv_bytes;
    if (parts.aad_scattered()) {
        status = aad.gather(parts, count);
        if (status != WARPSEAL_OK) return status;
        batch.aad = nullptr;
        batch.aad_bytes = batch.aad_stride = 0;
    }
    if (parts.tags.scattered()) {
        if (direction == Direction::decrypt)
            tags = gathered(parts.tags, count, batch.tag_bytes);
        else
            tags.resize(count * batch.tag_bytes);
        batch.tags = tags.data();
        batch.tag_stride = batch.tag_bytes;
    }

    status = run_host_batch(*impl_, key, mode, direction, batch, aad.groups, Threads::all, nullptr);
    if (status != WARPSEAL_OK) return status;
    if (draw_ivs != nullptr) scatter(parts.ivs, ivs, count, batch.iv_bytes);
    if (parts.tags.scattered() && direction == Direction::encrypt)
        scatter(parts.tags, tags, count, batch.tag_bytes);
    return WARPSEAL_OK;
}

}  // namespace warpseal

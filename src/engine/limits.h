// Checks the lengths of IV, tag, AAD and text that each mode accepts, and finds the backend entry
// point that runs it. The limits of GCM are in modes/gcm.h, the others in limits.cpp.
#pragma once

#include "engine/key.h"

namespace warpseal {

// Backend entry point for a unit of work: part of a plain message, XTS data units, part of a GCM
// message, or complete messages.
enum class BackendEntry : uint8_t { sweep = 0, xts = 1, gcm = 2, batch = 3 };

// True if the backend's cipher has that entry point.
template <class Cipher>
bool runs(const Cipher* cipher, BackendEntry entry, warpseal_mode mode, Direction direction) {
    if (cipher == nullptr || (cipher->modes >> mode & 1) == 0) return false;
    const int d = static_cast<int>(direction);
    switch (entry) {
        case BackendEntry::sweep: return cipher->sweep[mode][d] != nullptr;
        case BackendEntry::xts: return cipher->xts[d] != nullptr;
        case BackendEntry::gcm: return cipher->gcm_segment[d] != nullptr;
        case BackendEntry::batch: return cipher->batch[mode][d] != nullptr;
    }
    return false;
}

constexpr bool known(warpseal_mode mode) { return mode >= 0 && mode < WARPSEAL_MODE_COUNT; }
// Returns null for a number that is no mode.
const char* mode_name(warpseal_mode mode);
constexpr bool aead(warpseal_mode mode) { return mode == WARPSEAL_GCM || mode == WARPSEAL_CCM; }
constexpr bool tagged(warpseal_mode mode) { return aead(mode) || mode == WARPSEAL_CMAC; }
// True for modes of `encrypt` and `decrypt`: text in, text out, an IV of one block or none.
constexpr bool plain(warpseal_mode mode) {
    return known(mode) && !tagged(mode) && mode != WARPSEAL_XTS;
}
// True for plain modes whose blocks can be processed in parallel.
constexpr bool sweeps(warpseal_mode mode, Direction direction) {
    const bool feedback = mode == WARPSEAL_CBC || mode == WARPSEAL_CFB;
    return mode == WARPSEAL_ECB || mode == WARPSEAL_CTR ||
           (feedback && direction == Direction::decrypt);
}
// Returns the entry point that runs one message of a mode.
constexpr BackendEntry entry_of(warpseal_mode mode, Direction direction) {
    if (mode == WARPSEAL_XTS) return BackendEntry::xts;
    if (mode == WARPSEAL_GCM) return BackendEntry::gcm;
    return sweeps(mode, direction) ? BackendEntry::sweep : BackendEntry::batch;
}

// Largest size of an object in memory. The sum of two lengths up to it does not wrap.
constexpr uint64_t most_bytes = PTRDIFF_MAX;

// Return WARPSEAL_OK, WARPSEAL_INVALID_ARGUMENT, or WARPSEAL_LIMIT_EXCEEDED if the length exceeds
// the standard's maximum.
// The cipher must have the mode.
warpseal_status check_iv(warpseal_mode mode, const CipherFacts& cipher, uint64_t iv_bytes);
warpseal_status check_tag(warpseal_mode mode, const CipherFacts& cipher, uint64_t tag_bytes);
warpseal_status check_aad(warpseal_mode mode, uint64_t aad_bytes);
// CTR needs no limit: wrapping the counter of a 64-bit block takes a message of 2^67 bytes.
warpseal_status check_text(warpseal_mode mode, const CipherFacts& cipher, uint64_t iv_bytes,
                           uint64_t text_bytes);
// IEEE 1619 5.1: data units of 16 bytes to 2^20 blocks; the last must not be shorter than a block.
warpseal_status check_units(uint64_t unit_bytes, uint64_t text_bytes);

// Returns WARPSEAL_UNSUPPORTED if the key's cipher lacks the mode.
warpseal_status check_mode_of_key(const Key& key, warpseal_mode mode);
// Checks the text of one message: neither is null unless it is empty, and they are the same memory
// or disjoint.
warpseal_status check_memory(const void* in, const void* out, uint64_t bytes);
// Check the arguments of one message in host or device memory, except its text.
warpseal_status check_plain(const Key& key, warpseal_mode mode, Direction direction, Bytes iv,
                            uint64_t bytes);
warpseal_status check_xts(const Key& key, Direction direction, const XtsUnits& units,
                          uint64_t bytes);

// True if two ranges overlap but do not start at the same address.
inline bool overlap(const void* a, uint64_t a_bytes, const void* b, uint64_t b_bytes) {
    const auto x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
    return x != y && (x < y ? y - x < a_bytes : x - y < b_bytes);
}
inline bool overlap(const void* a, const void* b, uint64_t bytes) {
    return overlap(a, bytes, b, bytes);
}

}  // namespace warpseal

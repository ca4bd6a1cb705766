// The sponge of SHAKE256 (FIPS 202, 4) on one Keccak state.
#include "engine/self_test/shake.h"

#include <algorithm>
#include <cstring>

#include "kem/keccak.h"

namespace warpseal {
namespace {

using kem::keccak::rate;

void permute(uint64_t (&state)[25]) { kem::keccak_f(state, kem::keccak::constants.of); }

// Words of the state are little-endian, as on every machine that Warpseal runs on.
uint8_t* bytes_of(uint64_t (&state)[25]) { return reinterpret_cast<uint8_t*>(state); }

}  // namespace

void Shake256::absorb(const void* bytes, size_t count) {
    const auto* in = static_cast<const uint8_t*>(bytes);
    while (count != 0) {
        const size_t some = std::min(count, rate - at_);
        uint8_t* const to = bytes_of(state_) + at_;
        for (size_t i = 0; i < some; ++i) to[i] ^= in[i];
        in += some;
        count -= some;
        at_ += some;
        if (at_ == rate) permute(state_), at_ = 0;
    }
}

void Shake256::squeeze(uint8_t* out, size_t count) {
    if (!squeezing_) {
        bytes_of(state_)[at_] ^= kem::keccak::shake_suffix;
        bytes_of(state_)[rate - 1] ^= 0x80;
        permute(state_);
        at_ = 0;
        squeezing_ = true;
    }
    while (count != 0) {
        if (at_ == rate) permute(state_), at_ = 0;
        const size_t some = std::min(count, rate - at_);
        std::memcpy(out, bytes_of(state_) + at_, some);
        out += some;
        count -= some;
        at_ += some;
    }
}

TestText test_bytes(std::string_view label, size_t count) {
    Shake256 shake;
    shake.absorb(label.data(), label.size());
    TestText bytes(count);
    shake.squeeze(bytes.data(), count);
    return bytes;
}

}  // namespace warpseal

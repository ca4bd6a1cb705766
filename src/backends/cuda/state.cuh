// What a key becomes: schedules and powers of the GHASH key, made on the host for all messages of a call, or by a warp for one message.
#pragma once

#include "backends/cuda/access.cuh"
#include "backends/cuda/fold.cuh"
#include "backends/cuda/tables.cuh"
#include "core/secret.h"

namespace warpseal::cuda {

template <class Cipher>
struct State {
    uint32_t forward[Cipher::schedule_words];
    uint32_t inverse[Cipher::schedule_words];
    HashKey hash;
};

// On the host, in constant time.
template <class Cipher>
void expand(void* memory, const uint8_t* key) {
    State<Cipher>& state = *static_cast<State<Cipher>*>(memory);
    static constexpr TableData<typename Cipher::EncryptTables> tables;
    const ScanLayout<typename Cipher::EncryptTables> look{tables};
    Cipher::expand(state.forward, key, [&](uint32_t w) { return Cipher::substitute_word(w, look); });
    Cipher::invert(state.inverse, state.forward);

    Block<4> zero{};
    Cipher::encrypt(zero.word, state.forward, look);
    const Element h = macs::ghash::from_block<uint32_t>(zero);
    Element power = h;
    for (int lane = 31; lane >= 0; --lane) {
        state.hash.lane_power[lane] = power;
        if (lane == 0) state.hash.row = multiplier(power);
        power = macs::ghash::multiply(power, h);
    }
    power = h;
    for (int b = 0; b < 32; ++b) {
        state.hash.bit_power[b] = power;
        power = macs::ghash::multiply(power, power);
    }
    wipe(&zero, sizeof zero);
    wipe(&power, sizeof power);
}

#ifdef __CUDACC__

__device__ __forceinline__ int lane_id() { return threadIdx.x % 32; }

// Off the hot path: one copy of the code.
template <class Cipher, class Look>
__device__ __noinline__ Block<4> encrypt_once(Block<4> b, const uint32_t* schedule, Look look) {
    Cipher::encrypt(b.word, schedule, look);
    return b;
}

// One key for all messages of the launch: a kernel parameter, so that schedule and multiplier are constant-bank operands.
template <class Cipher>
struct OneKey {
    uint32_t schedule[Cipher::schedule_words];
    HashKey hash;
    static constexpr bool own = false;
    static constexpr uint32_t shared_bytes = 0;
};

// Keys per message: nothing by value.
template <class Cipher>
struct OwnKeys {
    static constexpr bool own = true;
    struct InShared {  // of each warp
        uint32_t schedule[Cipher::schedule_words];
        Multiplier row;
    };
    static constexpr uint32_t shared_bytes = tuning::warps * sizeof(InShared);
};

// The key that a warp works under at the moment.
template <class Cipher, class Keys>
class WarpKey;

template <class Cipher>
class WarpKey<Cipher, OneKey<Cipher>> {
public:
    __device__ __forceinline__ WarpKey(const OneKey<Cipher>& key, void*) : key_(key) {}
    template <class Look>
    __device__ __forceinline__ void load(const uint8_t*, const Look&) {}
    template <class Look>
    __device__ __forceinline__ void prepare_hash(const Look&) {}
    __device__ __forceinline__ void leave() {}

    __device__ __forceinline__ const uint32_t* schedule() const { return key_.schedule; }
    __device__ __forceinline__ const Multiplier& row() const { return key_.hash.row; }
    __device__ __forceinline__ Element row_power() const { return key_.hash.bit_power[5]; }
    __device__ __forceinline__ Element h() const { return key_.hash.bit_power[0]; }
    __device__ __forceinline__ Element lane_power() const { return key_.hash.lane_power[lane_id()]; }
    // H^n in every lane.
    __device__ Element power(uint64_t n) const { return product_of_lanes((n >> lane_id()) & 1 ? key_.hash.bit_power[lane_id()] : one()); }

private:
    const OneKey<Cipher>& key_;
};

template <class Cipher>
class WarpKey<Cipher, OwnKeys<Cipher>> {
    using InShared = typename OwnKeys<Cipher>::InShared;

public:
    __device__ WarpKey(const OwnKeys<Cipher>&, void* shared) : memory_(static_cast<InShared*>(shared)[threadIdx.x / 32]) {}

    template <class Look>
    __device__ void load(const uint8_t* key, const Look& look) {
        __syncwarp();
        if (lane_id() == 0) Cipher::expand(memory_.schedule, key, [&](uint32_t w) { return Cipher::substitute_word(w, look); });
        __syncwarp();
    }

    template <class Look>
    __device__ void prepare_hash(const Look& look) {
        h_ = macs::ghash::from_block<uint32_t>(encrypt_once<Cipher>(Block<4>{}, memory_.schedule, look));
        const int exponent = 32 - lane_id();
        Element square = h_;
        lane_power_ = one();
#pragma unroll 1
        for (int b = 0; b < 6; ++b) {
            if ((exponent >> b) & 1) lane_power_ = multiply_once(lane_power_, square);
            if (b < 5) square = multiply_once(square, square);
        }
        row_power_ = square;
        if (lane_id() == 0) memory_.row = multiplier(row_power_);
        __syncwarp();
    }

    // Leaves nothing of the key in shared memory.
    __device__ void leave() {
        __syncwarp();
        uint32_t* words = reinterpret_cast<uint32_t*>(&memory_);
        for (uint32_t i = lane_id(); i < sizeof(InShared) / 4; i += 32) *const_cast<volatile uint32_t*>(words + i) = 0;
    }

    __device__ __forceinline__ const uint32_t* schedule() const { return memory_.schedule; }
    __device__ __forceinline__ const Multiplier& row() const { return memory_.row; }
    __device__ __forceinline__ Element row_power() const { return row_power_; }
    __device__ __forceinline__ Element h() const { return h_; }
    __device__ __forceinline__ Element lane_power() const { return lane_power_; }
    __device__ Element power(uint64_t n) const {
        Element square = h_, mine = one();
#pragma unroll 1
        for (int b = 0; n >> b; ++b) {
            if (b == lane_id() && ((n >> b) & 1)) mine = square;
            square = multiply_once(square, square);
        }
        return product_of_lanes(mine);
    }

private:
    InShared& memory_;
    Element h_, lane_power_, row_power_;
};

#endif

}  // namespace warpseal::cuda

// Key state: key schedules and powers of the GHASH key. Computed on the host for all messages of a
// call, or on the device by a warp or thread for one message.
#pragma once

#include "backends/cuda/device/access.cuh"
#include "backends/cuda/device/block_function.cuh"
#include "backends/cuda/device/ghash_field.cuh"
#include "core/secret.h"

namespace warpseal::cuda {

// GCM is defined only for 16-byte blocks.
struct NoHash {};
template <class Cipher>
using HashOf = std::conditional_t<Cipher::block_bytes == 16, HashKey, NoHash>;

template <class Cipher>
struct State {
    uint32_t forward[Cipher::schedule_words];
    uint32_t inverse[Cipher::schedule_words];
    HashOf<Cipher> hash;

    template <Direction direction>
    const uint32_t (&schedule() const)[Cipher::schedule_words] {
        if constexpr (direction == Direction::encrypt)
            return forward;
        else
            return inverse;
    }
};

// Encrypts one block on the host, in constant time.
template <class Cipher>
void encrypt_on_host(TextBlock<Cipher>& b, const uint32_t* schedule) {
    using Forward = BlockFunction<Cipher, Direction::encrypt>;
    if constexpr (Forward::has_tables) {
        static constexpr TableData<typename Forward::Tables> table_data;
        Forward::run(b, schedule, ScanLayout<typename Forward::Tables>{table_data});
    } else {
        Forward::run(b, schedule, NoLayout(nullptr));
    }
}

inline void expand_hash(HashKey& hash, const Block<4>& encrypted_zero) {
    SecretOf<Element> h, power;
    h.value = power.value = macs::ghash::from_block<uint32_t>(encrypted_zero);
    for (int lane = 31; lane >= 0; --lane) {
        hash.lane_power[lane] = power.value;
        if (lane == 0) hash.row = multiplier(power.value);
        power.value = macs::ghash::multiply(power.value, h.value);
    }
    power.value = h.value;
    for (int b = 0; b < 32; ++b) {
        hash.bit_power[b] = power.value;
        power.value = macs::ghash::multiply(power.value, power.value);
    }
}

// Expands a key on the host, in constant time.
template <class Cipher>
void expand(void* memory, const uint8_t* key) {
    State<Cipher>& state = *static_cast<State<Cipher>*>(memory);
    Cipher::expand(state.forward, key, WordSubstitution{});
    Cipher::invert(state.inverse, state.forward);
    if constexpr (Cipher::block_bytes == 16) {
        SecretOf<Block<4>> zero;
        zero.value = {};
        encrypt_on_host<Cipher>(zero.value, state.forward);
        expand_hash(state.hash, zero.value);
    }
}

// One key for all messages of the launch. It is a kernel parameter, so that schedule and multiplier
// are constant-bank operands.
template <class Cipher>
struct OneKey {
    uint32_t schedule[Cipher::schedule_words];
    HashOf<Cipher> hash;
    static constexpr bool own = false;
    static constexpr uint32_t shared_bytes = 0;
};

// One key for each message, not passed by value. A warp keeps its schedule in shared memory, a
// thread in local memory.
template <class Cipher>
struct OwnKeys {
    static constexpr bool own = true;
    struct InShared {  // one for each warp
        uint32_t schedule[Cipher::schedule_words];
        std::conditional_t<Cipher::block_bytes == 16, Multiplier, NoHash> row;
    };
    static constexpr uint32_t shared_bytes = tuning::warps * sizeof(InShared);
};

// Copies the schedule of a direction, and the hash key if the cipher supports GCM.
template <class Cipher>
void fill(OneKey<Cipher>& key, const void* state, Direction direction) {
    const State<Cipher>& s = *static_cast<const State<Cipher>*>(state);
    memcpy(key.schedule, direction == Direction::encrypt ? s.forward : s.inverse,
           sizeof key.schedule);
    key.hash = s.hash;
}
template <class Cipher>
void fill(OwnKeys<Cipher>&, const void*, Direction) {}

#ifdef __CUDACC__

__device__ __forceinline__ int lane_id() { return threadIdx.x % 32; }
// The same, for use after a call: ptxas cannot compute it again from a constant, which it may do
// for callers that have another value in that register (docs/decisions/0005-calls-on-a-gpu.md).
__device__ __forceinline__ uint32_t kept_lane() {
    return __shfl_sync(0xffffffffu, static_cast<uint32_t>(lane_id()), lane_id());
}

// Returns the block before each lane's block, for a row with one block in each lane. `carry` is the
// block before the row; it becomes the row's last block.
template <int n>
__device__ __forceinline__ Block<n> previous_blocks(const Block<n>& row, Block<n>& carry) {
    Block<n> previous;
#pragma unroll
    for (int w = 0; w < n; ++w) {
        const uint32_t rotated = __shfl_sync(0xffffffffu, row.word[w], lane_id() + 31);
        previous.word[w] = lane_id() == 0 ? carry.word[w] : rotated;
        carry.word[w] = rotated;  // used in lane 0 only
    }
    return previous;
}

// Writes zeros through a volatile pointer, so that the compiler does not remove the stores.
__device__ __forceinline__ void wipe_words(uint32_t* words, uint32_t count, uint32_t first = 0,
                                           uint32_t step = 1) {
    for (uint32_t i = first; i < count; i += step) *const_cast<volatile uint32_t*>(words + i) = 0;
}

// S-boxes of key expansion. Uses the encryption tables if they are present and the header supports
// it, else circuits.
template <class Cipher, class TableLookup>
struct KeySubstitution {
    const TableLookup& tables;
    template <class S>
    __device__ uint32_t substitute(uint32_t word) const {
        if constexpr (TableLookup::uses_tables &&
                      requires { Cipher::substitute_word(word, tables); })
            return Cipher::substitute_word(word, tables);
        else
            return substitute_once<S>(word);
    }
};

// Expands the schedule of a direction in one thread. `tables` holds the tables of that direction.
template <class Cipher, Direction direction, class TableLookup>
__device__ __noinline__ void expand_on_device(uint32_t (&schedule)[Cipher::schedule_words],
                                              const uint8_t* key, TableLookup tables) {
    if constexpr (direction == Direction::encrypt) {
        Cipher::expand(schedule, key, KeySubstitution<Cipher, TableLookup>{tables});
    } else {
        uint32_t forward[Cipher::schedule_words];
        Cipher::expand(forward, key, KeySubstitution<Cipher, NoLayout>{NoLayout(nullptr)});
        Cipher::invert(schedule, forward);
        wipe_words(forward, Cipher::schedule_words);
    }
}

// A thread's current encryption key.
template <class Cipher, class Keys>
class ThreadKey;

template <class Cipher>
class ThreadKey<Cipher, OneKey<Cipher>> {
public:
    __device__ __forceinline__ explicit ThreadKey(const OneKey<Cipher>& key) : key_(key) {}
    template <class TableLookup>
    __device__ __forceinline__ void load(const uint8_t*, const TableLookup&) {}
    __device__ __forceinline__ void zeroize() {}
    __device__ __forceinline__ const uint32_t* schedule() const { return key_.schedule; }

private:
    const OneKey<Cipher>& key_;
};

template <class Cipher>
class ThreadKey<Cipher, OwnKeys<Cipher>> {
public:
    __device__ explicit ThreadKey(const OwnKeys<Cipher>&) {}
    template <class TableLookup>
    __device__ __forceinline__ void load(const uint8_t* key, const TableLookup& tables) {
        expand_on_device<Cipher, Direction::encrypt>(schedule_, key, tables);
    }
    // Zeroizes the key in local memory.
    __device__ void zeroize() { wipe_words(schedule_, Cipher::schedule_words); }
    __device__ __forceinline__ const uint32_t* schedule() const { return schedule_; }

private:
    uint32_t schedule_[Cipher::schedule_words];
};

// Returns e times h^count, one multiplication a step. Called for the bits of a distance beyond the
// 32 that lanes handle: a step is 64 GiB, and the count is public. Must be inlined, because it
// calls a function that its callers also call.
__device__ __forceinline__ Element times_powers(Element e, Element h, uint64_t count) {
#pragma unroll 1
    for (; count != 0; --count) e = multiply_once(e, h);
    return e;
}

// A warp's current key.
template <class Cipher, Direction direction, class Keys>
class WarpKey;

template <class Cipher, Direction direction>
class WarpKey<Cipher, direction, OneKey<Cipher>> {
public:
    __device__ __forceinline__ WarpKey(const OneKey<Cipher>& key, void*) : key_(key) {}
    template <class TableLookup>
    __device__ __forceinline__ void load(const uint8_t*, const TableLookup&) {}
    template <class TableLookup>
    __device__ __forceinline__ void prepare_hash(const Block<4>*, const TableLookup&) {}
    template <class TableLookup>
    __device__ __forceinline__ Block<4> tag_mask(const Block<4>& counter0, bool,
                                                 const TableLookup& tables) const {
        return run_once<BlockFunction<Cipher, Direction::encrypt>>(counter0, key_.schedule, tables);
    }
    __device__ __forceinline__ void zeroize() {}

    static constexpr bool own = false;
    __device__ __forceinline__ const uint32_t* schedule() const { return key_.schedule; }
    __device__ __forceinline__ const Multiplier& row() const { return key_.hash.row; }
    __device__ __forceinline__ Element row_power() const { return key_.hash.bit_power[5]; }
    __device__ __forceinline__ Element h() const { return key_.hash.bit_power[0]; }
    __device__ __forceinline__ Element lane_power() const {
        return key_.hash.lane_power[lane_id()];
    }
    // Returns H^n in every lane.
    __device__ Element power(uint64_t n) const {
        const Element low =
            product_of_lanes((n >> lane_id()) & 1 ? key_.hash.bit_power[lane_id()] : one());
        return n >> 32 == 0 ? low : times_powers(low, key_.hash.bit_power[31], 2 * (n >> 32));
    }

private:
    const OneKey<Cipher>& key_;
};

template <class Cipher, Direction direction>
class WarpKey<Cipher, direction, OwnKeys<Cipher>> {
    using InShared = typename OwnKeys<Cipher>::InShared;

public:
    __device__ WarpKey(const OwnKeys<Cipher>&, void* shared)
        : memory_(static_cast<InShared*>(shared)[threadIdx.x / 32]) {}

    template <class TableLookup>
    __device__ void load(const uint8_t* key, const TableLookup& tables) {
        __syncwarp();
        if (lane_id() == 0) expand_on_device<Cipher, direction>(memory_.schedule, key, tables);
        __syncwarp();
    }

    // Computes the hash key. The same call encrypts counter0 for the tag, if counter0 is already
    // known.
    template <class TableLookup>
    __device__ void prepare_hash(const Block<4>* counter0, const TableLookup& tables) {
        Block<4> b{};
        if (counter0 != nullptr && lane_id() == 1) b = *counter0;
        b = run_once<BlockFunction<Cipher, Direction::encrypt>>(b, memory_.schedule, tables);
        h_ = macs::ghash::from_block<uint32_t>(from_lane(b, 0));
        mask_ = from_lane(b, 1);
        Element power = h_;
        lane_power_ = h_;
#pragma unroll 1
        for (int b = 0; b < 5; ++b) {
            if (((31 - lane_id()) >> b) & 1) lane_power_ = multiply_once(lane_power_, power);
            power = square(power);
        }
        row_power_ = power;
        if (lane_id() == 0) memory_.row = multiplier(row_power_);
        __syncwarp();
    }
    // Returns the encrypted counter block. `known` is true if prepare_hash was given it.
    template <class TableLookup>
    __device__ Block<4> tag_mask(const Block<4>& counter0, bool known,
                                 const TableLookup& tables) const {
        return known ? mask_
                     : run_once<BlockFunction<Cipher, Direction::encrypt>>(
                           counter0, memory_.schedule, tables);
    }

    // Zeroizes the key in shared memory.
    __device__ void zeroize() {
        __syncwarp();
        wipe_words(reinterpret_cast<uint32_t*>(&memory_), sizeof(InShared) / 4, lane_id(), 32);
    }

    static constexpr bool own = true;
    __device__ __forceinline__ const uint32_t* schedule() const { return memory_.schedule; }
    __device__ __forceinline__ const Multiplier& row() const { return memory_.row; }
    __device__ __forceinline__ Element row_power() const { return row_power_; }
    __device__ __forceinline__ Element h() const { return h_; }
    __device__ __forceinline__ Element lane_power() const { return lane_power_; }
    __device__ Element power(uint64_t n) const {
        Element power = h_, mine = one();
#pragma unroll 1
        for (int b = 0; b < 32 && n >> b; ++b) {
            if (b == lane_id() && ((n >> b) & 1)) mine = power;
            power = square(power);
        }
        mine = product_of_lanes(mine);
        // `power` is H^(2^32) at this point.
        return n >> 32 == 0 ? mine : times_powers(mine, power, n >> 32);
    }

private:
    InShared& memory_;
    Element h_, lane_power_, row_power_;
    Block<4> mask_;
};

#endif

}  // namespace warpseal::cuda

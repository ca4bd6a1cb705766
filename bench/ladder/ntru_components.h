// Parts of NTRU's operations that P4 times separately (table 6), on a block's memory. Also compiles
// for the host.
#pragma once

#include "bench/ladder/ntru_steps.h"

namespace warpseal::ladder::ntru {

// Every component uses the coins and polynomials that noise or the last call left.
template <const Params& set>
struct ComponentMemory {
    Poly<set> a, b, c;
    Turned<set, Factor::doubled> turned;
    int32_t keys[set.n];
    uint8_t coins[(set.encapsulation_coins() + 1) / 2 * 2];
};

template <const Params& set>
struct RandomBytes {
    template <class Threads>
    WARPSEAL_INLINE static void run(const Threads& threads, ComponentMemory<set>& memory,
                                    uint64_t item) {
        random_bytes(threads, memory.coins, set.encapsulation_coins(), item);
    }
};

template <const Params& set>
struct SampleIid {
    template <class Threads>
    WARPSEAL_INLINE static void run(const Threads& threads, ComponentMemory<set>& memory,
                                    uint64_t) {
        sample_iid<set>(threads, memory.c, memory.coins);
    }
};

template <const Params& set, Sorts sorts>
struct SampleFixed {
    template <class Threads>
    WARPSEAL_INLINE static void run(const Threads& threads, ComponentMemory<set>& memory,
                                    uint64_t) {
        sample_fixed<set, sorts>(threads, memory.c, memory.coins + set.iid_coins(), memory.keys);
    }
};

template <const Params& set>
struct RqMul {
    template <class Threads>
    WARPSEAL_INLINE static void run(const Threads& threads, ComponentMemory<set>& memory,
                                    uint64_t) {
        Turned<set, Factor::by_index> none;
        multiply<set>(threads, memory.c, memory.a, memory.b, none);
    }
};

template <const Params& set>
struct RqMulDoubled {
    template <class Threads>
    WARPSEAL_INLINE static void run(const Threads& threads, ComponentMemory<set>& memory,
                                    uint64_t) {
        multiply<set>(threads, memory.c, memory.a, memory.b, memory.turned);
    }
};

template <const Params& set>
struct Mod3 {
    template <class Threads>
    WARPSEAL_INLINE static void run(const Threads& threads, ComponentMemory<set>& memory,
                                    uint64_t) {
        reduce_q_to_s3<set>(threads, memory.c);
    }
};

template <const Params& set>
struct Lift {
    template <class Threads>
    WARPSEAL_INLINE static void run(const Threads& threads, ComponentMemory<set>& memory,
                                    uint64_t) {
        lift_residues<set>(threads, memory.c, memory.a);
    }
};

template <const Params& set>
struct Add {
    template <class Threads>
    WARPSEAL_INLINE static void run(const Threads& threads, ComponentMemory<set>& memory,
                                    uint64_t) {
        add<set>(threads, memory.c, memory.a);
    }
};

template <const Params& set>
struct Subtract {
    template <class Threads>
    WARPSEAL_INLINE static void run(const Threads& threads, ComponentMemory<set>& memory,
                                    uint64_t) {
        subtract<set>(threads, memory.c, memory.a);
    }
};

}  // namespace warpseal::ladder::ntru

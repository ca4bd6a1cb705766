// A representation behind function pointers, so that the mode functions around a cipher are
// compiled once for all its key sizes.
#pragma once

#include "backends/cipher_backend.h"
#include "backends/cpu/serial_modes.h"
#include "core/block.h"
#include "core/table.h"
#include "macs/cmac.h"
#include "modes/cbc.h"
#include "modes/cfb.h"
#include "modes/ctr.h"
#include "modes/ecb.h"
#include "modes/ofb.h"

// Include after the target's header, which defines Hash.
namespace warpseal::cpu {
namespace {

// Compile-time facts about a representation. Representations with equal facts share the mode
// functions.
struct RepresentationFacts {
    int block_bytes;
    size_t wide_blocks, narrow_blocks;
    size_t state_blocks, chains_at_once;  // 0 if there is none
    size_t stack_bytes, small_stack_bytes;
    // Counter-mode texts below this size leave at most small_stack_bytes on the stack.
    size_t small_stack_limit_bytes;
    // Texts up to this size leave nothing on the stack, nor do chains of whole blocks of any
    // length. 0 if this does not hold.
    size_t small_message_limit_bytes;
    bool has_one, has_count, has_sweep, has_xts, has_chain, has_gcm;
};

template <class Mode, Direction direction>
struct ModeDirection {};
using SweepModes = List<ModeDirection<modes::Ecb, Direction::encrypt>,
                        ModeDirection<modes::Ecb, Direction::decrypt>,
                        ModeDirection<modes::Ctr, Direction::encrypt>,
                        ModeDirection<modes::CbcDecryption, Direction::decrypt>,
                        ModeDirection<modes::CfbDecryption, Direction::decrypt>>;
using ChainModes = List<modes::CbcEncryption, modes::CfbEncryption, modes::Ofb, macs::CbcMac>;

template <class... T>
constexpr int count_of(List<T...>) {
    return sizeof...(T);
}
template <class Wanted, class... T>
constexpr int index_of(List<T...>) {
    int position = 0;
    (void)((__is_same(Wanted, T) || (++position, false)) || ...);
    return position;
}

// A representation as the mode functions see it. Each function calls the representation's own,
// and may be used only if `facts` states that there is one.
template <RepresentationFacts known_facts, class RepresentationCounting>
struct KernelTable {
    static constexpr RepresentationFacts facts = known_facts;
    static constexpr size_t wide_blocks = facts.wide_blocks, narrow_blocks = facts.narrow_blocks;
    using Text = Block<facts.block_bytes / 4>;
    using Counting = RepresentationCounting;

    struct Kernels;
    struct Schedule {  // base of every schedule
        const Kernels* kernels;
    };
    struct Kernels {
        using Run = void (*)(const Schedule&, const uint8_t* in, uint8_t* out);
        Run wide[direction_count], narrow[direction_count], encrypt_state, encrypt_one;
        size_t (*count)(const Schedule&, Counting&, const Text& first, const uint8_t* in,
                        uint8_t* out, size_t tiles);
        void (*sweep[count_of(SweepModes{})])(const Schedule&, const Text& iv, uint64_t first_block,
                                              const uint8_t* in, uint8_t* out, size_t bytes);
        void (*xts_blocks[direction_count])(const Schedule&, Text& tweak, const uint8_t* in,
                                            uint8_t* out, size_t bytes);
        void (*chain[count_of(ChainModes{})])(const Schedule&, Text& state, const uint8_t* in,
                                              uint8_t* out, size_t blocks);
        void (*chains[count_of(ChainModes{})])(const Schedule&, Chain* chains, int count,
                                               size_t blocks);
        void (*gcm_blocks[direction_count])(const Schedule&, const Hash::Key&, const Text& j0,
                                            Text& sum, uint64_t first_block, const uint8_t* in,
                                            uint8_t* out, size_t bytes);
    };

    template <Direction direction, size_t blocks>
    WARPSEAL_INLINE static void run(const Schedule& schedule, const uint8_t* in, uint8_t* out) {
        constexpr int d = static_cast<int>(direction);
        if constexpr (blocks == wide_blocks) {
            schedule.kernels->wide[d](schedule, in, out);
        } else if constexpr (blocks == narrow_blocks) {
            schedule.kernels->narrow[d](schedule, in, out);
        } else {
            static_assert(blocks == facts.state_blocks && direction == Direction::encrypt);
            schedule.kernels->encrypt_state(schedule, in, out);
        }
    }
    WARPSEAL_INLINE static void encrypt_one(const Schedule& schedule, const uint8_t* in,
                                            uint8_t* out) {
        schedule.kernels->encrypt_one(schedule, in, out);
    }
    WARPSEAL_INLINE static size_t count(const Schedule& schedule, Counting& counting,
                                        const Text& first, const uint8_t* in, uint8_t* out,
                                        size_t tiles) {
        return schedule.kernels->count(schedule, counting, first, in, out, tiles);
    }
    template <class Mode, Direction direction>
    WARPSEAL_INLINE static void sweep(const Schedule& schedule, const Text& iv,
                                      uint64_t first_block, const uint8_t* in, uint8_t* out,
                                      size_t bytes) {
        schedule.kernels->sweep[index_of<ModeDirection<Mode, direction>>(SweepModes{})](
            schedule, iv, first_block, in, out, bytes);
    }
    template <Direction direction>
    WARPSEAL_INLINE static void xts_blocks(const Schedule& schedule, Text& tweak, const uint8_t* in,
                                           uint8_t* out, size_t bytes) {
        schedule.kernels->xts_blocks[static_cast<int>(direction)](schedule, tweak, in, out, bytes);
    }
    template <class Mode>
    WARPSEAL_INLINE static void chain(const Schedule& schedule, Text& state, const uint8_t* in,
                                      uint8_t* out, size_t blocks) {
        schedule.kernels->chain[index_of<Mode>(ChainModes{})](schedule, state, in, out, blocks);
    }
    template <class Mode>
    WARPSEAL_INLINE static void chains(const Schedule& schedule, Chain* chains, int count,
                                       size_t blocks) {
        schedule.kernels->chains[index_of<Mode>(ChainModes{})](schedule, chains, count, blocks);
    }
    template <Direction direction>
    WARPSEAL_INLINE static void gcm_blocks(const Schedule& schedule, const Hash::Key& hash,
                                           const Text& j0, Text& sum, uint64_t first_block,
                                           const uint8_t* in, uint8_t* out, size_t bytes) {
        schedule.kernels->gcm_blocks[static_cast<int>(direction)](schedule, hash, j0, sum,
                                                                  first_block, in, out, bytes);
    }
};

// State that a representation keeps from tile to tile in counter mode.
struct NoCounting {};
template <class Representation>
struct CountingOf {
    using type = NoCounting;
};
template <class Representation>
requires requires { typename Representation::Counting; }
struct CountingOf<Representation> {
    using type = typename Representation::Counting;
};

template <class Representation, int block_bytes>
constexpr RepresentationFacts facts_of() {
    RepresentationFacts f{};
    f.block_bytes = block_bytes;
    f.wide_blocks = Representation::wide_blocks;
    f.narrow_blocks = Representation::narrow_blocks;
    if constexpr (requires { Representation::state_blocks; })
        f.state_blocks = Representation::state_blocks;
    if constexpr (requires { Representation::chains_at_once; })
        f.chains_at_once = Representation::chains_at_once;
    f.stack_bytes = Representation::stack_bytes;
    f.small_stack_bytes = Representation::small_stack_bytes;
    if constexpr (requires { Representation::small_stack_limit_bytes; })
        f.small_stack_limit_bytes = Representation::small_stack_limit_bytes;
    if constexpr (requires { Representation::small_message_limit_bytes; })
        f.small_message_limit_bytes = Representation::small_message_limit_bytes;
    f.has_one = requires { &Representation::template one<Direction::encrypt>; };
    f.has_count = requires { typename Representation::Counting; };
    f.has_sweep = requires { &Representation::template sweep<modes::Ecb, Direction::encrypt>; };
    f.has_xts = requires { &Representation::template xts_blocks<Direction::encrypt>; };
    f.has_chain = requires { &Representation::template chain<macs::CbcMac>; };
    f.has_gcm = requires { &Representation::template gcm_blocks<Direction::encrypt>; };
    return f;
}

template <class Representation, int block_bytes>
using KernelTableFor =
    KernelTable<facts_of<Representation, block_bytes>(), typename CountingOf<Representation>::type>;

// Functions of one representation. Whole is derived from C::Schedule and has the representation's
// schedule as `keys`.
template <class Representation, class C, class Whole>
struct KernelsOf {
    using Schedule = typename C::Schedule;
    using Text = typename C::Text;

    static constexpr typename C::Kernels make() {
        constexpr Direction encrypt = Direction::encrypt, decrypt = Direction::decrypt;
        constexpr RepresentationFacts facts = C::facts;
        typename C::Kernels c{};
        c.wide[0] = run<encrypt, Representation::wide_blocks>,
        c.wide[1] = run<decrypt, Representation::wide_blocks>;
        c.narrow[0] = run<encrypt, Representation::narrow_blocks>,
        c.narrow[1] = run<decrypt, Representation::narrow_blocks>;
        if constexpr (facts.state_blocks != 0) c.encrypt_state = run<encrypt, facts.state_blocks>;
        if constexpr (facts.has_one) c.encrypt_one = one;
        if constexpr (facts.has_count) c.count = count;
        if constexpr (facts.has_sweep) add_sweeps(c, SweepModes{});
        if constexpr (facts.has_xts)
            c.xts_blocks[0] = xts_blocks<encrypt>, c.xts_blocks[1] = xts_blocks<decrypt>;
        if constexpr (facts.has_chain) add_chain(c, ChainModes{});
        if constexpr (facts.chains_at_once != 0) add_chains(c, ChainModes{});
        if constexpr (facts.has_gcm)
            c.gcm_blocks[0] = gcm_blocks<encrypt>, c.gcm_blocks[1] = gcm_blocks<decrypt>;
        return c;
    }

private:
    WARPSEAL_INLINE static const typename Representation::Schedule& keys(const Schedule& schedule) {
        return static_cast<const Whole&>(schedule).keys;
    }
    template <class... Mode, Direction... direction>
    static constexpr void add_sweeps(typename C::Kernels& c,
                                     List<ModeDirection<Mode, direction>...>) {
        int i = 0;
        ((c.sweep[i++] = sweep<Mode, direction>), ...);
    }
    template <class... Mode>
    static constexpr void add_chain(typename C::Kernels& c, List<Mode...>) {
        int i = 0;
        ((c.chain[i++] = chain<Mode>), ...);
    }
    template <class... Mode>
    static constexpr void add_chains(typename C::Kernels& c, List<Mode...>) {
        int i = 0;
        ((c.chains[i++] = chains<Mode>), ...);
    }

    template <Direction direction, size_t blocks>
    static void run(const Schedule& schedule, const uint8_t* in, uint8_t* out) {
        Representation::template run<direction, blocks>(keys(schedule), in, out);
    }
    static void one(const Schedule& schedule, const uint8_t* in, uint8_t* out) {
        Representation::template one<Direction::encrypt>(keys(schedule), in, out);
    }
    static size_t count(const Schedule& schedule, typename C::Counting& counting, const Text& first,
                        const uint8_t* in, uint8_t* out, size_t tiles) {
        return Representation::count(keys(schedule), counting, first, in, out, tiles);
    }
    template <class Mode, Direction direction>
    static void sweep(const Schedule& schedule, const Text& iv, uint64_t first_block,
                      const uint8_t* in, uint8_t* out, size_t bytes) {
        Representation::template sweep<Mode, direction>(keys(schedule), iv, first_block, in, out,
                                                        bytes);
    }
    template <Direction direction>
    static void xts_blocks(const Schedule& schedule, Text& tweak, const uint8_t* in, uint8_t* out,
                           size_t bytes) {
        Representation::template xts_blocks<direction>(keys(schedule), tweak, in, out, bytes);
    }
    template <class Mode>
    static void chain(const Schedule& schedule, Text& state, const uint8_t* in, uint8_t* out,
                      size_t blocks) {
        Representation::template chain<Mode>(keys(schedule), state, in, out, blocks);
    }
    template <class Mode>
    static void chains(const Schedule& schedule, Chain* chains, int count, size_t blocks) {
        Representation::template chains<Mode>(keys(schedule), chains, count, blocks);
    }
    template <Direction direction>
    static void gcm_blocks(const Schedule& schedule, const Hash::Key& hash, const Text& j0,
                           Text& sum, uint64_t first_block, const uint8_t* in, uint8_t* out,
                           size_t bytes) {
        Representation::template gcm_blocks<direction>(keys(schedule), hash, j0, sum, first_block,
                                                       in, out, bytes);
    }
};

}  // namespace
}  // namespace warpseal::cpu

// A representation of a cipher as the mode functions see it: a struct of function pointers. The
// mode functions are therefore compiled once for all key sizes of a cipher.
#pragma once

#include <type_traits>

#include "backends/cipher_backend.h"
#include "core/block.h"
#include "core/secret.h"
#include "core/table.h"
#include "macs/cmac.h"
#include "modes/cbc.h"
#include "modes/cfb.h"
#include "modes/ctr.h"
#include "modes/ecb.h"
#include "modes/ofb.h"

namespace warpseal::cpu {
namespace {

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
    static_assert((__is_same(Wanted, T) || ...));
    int position = 0;
    (void)((__is_same(Wanted, T) || (++position, false)) || ...);
    return position;
}

// One of several messages in a representation's own loop: its next block, and the chaining state
// for that block.
struct Chain {
    const uint8_t* in;
    uint8_t* out;
    uint8_t state[16];
};

// Functions of one cipher with one key size. `TileCounting` is what the representation keeps from
// tile to tile in counter mode.
template <class CpuTarget, int block_words, class TileCounting>
struct BlockFunctions {
    using Target = CpuTarget;
    using Hash = typename Target::Hash;
    using Text = Block<block_words>;
    using Counting = TileCounting;

    // GCM, CCM and XTS require 16-byte blocks: SP 800-38D 5.1, SP 800-38C 5.1, SP 800-38E 4.
    static constexpr bool has_long_blocks = Text::bytes == 16;
    struct NoHash {};

    // Beginning of every expanded key. The representation's schedule follows: see ExpandedKey.
    struct Key {
        const BlockFunctions* functions;
        alignas(64) std::conditional_t<has_long_blocks, typename Hash::Key, NoHash> hash;
    };

    // Process wide_blocks and narrow_blocks blocks of the representation.
    using Run = void (*)(const Key&, const uint8_t* in, uint8_t* out);
    Run wide[direction_count], narrow[direction_count];

    // A pointer below is null if the representation has no such function. The mode functions then
    // use those above.
    Run encrypt_state;  // encrypts state_blocks blocks
    Run encrypt_one;
    // CTR: XORs up to `tiles` wide runs with the keystream from counter block `first` on. Returns
    // the number of runs done, which may be 0.
    size_t (*count)(const Key&, Counting&, const Text& first, const uint8_t* in, uint8_t* out,
                    size_t tiles);
    using Sweep = void (*)(const Key&, const Text& iv, uint64_t first_block, const uint8_t* in,
                           uint8_t* out, size_t bytes);
    Sweep sweeps[count_of(SweepModes{})];
    void (*xts_blocks[direction_count])(const Key&, Text& tweak, const uint8_t* in, uint8_t* out,
                                        size_t bytes);
    // Processes whole blocks of one message.
    using ChainOfOne = void (*)(const Key&, Text& state, const uint8_t* in, uint8_t* out,
                                size_t blocks);
    ChainOfOne chains_of_one[count_of(ChainModes{})];
    // Processes `blocks` blocks of each of `count` messages, at most chains_at_once.
    using ChainOfMany = void (*)(const Key&, Chain* chains, int count, size_t blocks);
    ChainOfMany chains_of_many[count_of(ChainModes{})];
    void (*gcm_blocks[direction_count])(const Key&, const typename Hash::Key&, const Text& j0,
                                        Text& sum, uint64_t first_block, const uint8_t* in,
                                        uint8_t* out, size_t bytes);

    template <class Mode, Direction direction>
    WARPSEAL_INLINE constexpr Sweep sweep() const {
        return sweeps[index_of<ModeDirection<Mode, direction>>(SweepModes{})];
    }
    template <class Mode>
    WARPSEAL_INLINE constexpr ChainOfOne chain_of_one() const {
        return chains_of_one[index_of<Mode>(ChainModes{})];
    }
    template <class Mode>
    WARPSEAL_INLINE constexpr ChainOfMany chain_of_many() const {
        return chains_of_many[index_of<Mode>(ChainModes{})];
    }

    // True if the same pointers are null in both.
    constexpr bool same_loops(const BlockFunctions& other) const {
        const auto same = [](auto a, auto b) { return (a == nullptr) == (b == nullptr); };
        return same(encrypt_state, other.encrypt_state) && same(encrypt_one, other.encrypt_one) &&
               same(count, other.count) && same(sweeps[0], other.sweeps[0]) &&
               same(xts_blocks[0], other.xts_blocks[0]) &&
               same(chains_of_one[0], other.chains_of_one[0]) &&
               same(chains_of_many[0], other.chains_of_many[0]) &&
               same(gcm_blocks[0], other.gcm_blocks[0]);
    }
};

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

// State of one cipher on one target, which CpuCipher::expand fills.
template <class Target, class Cipher>
struct ExpandedKey
    : BlockFunctions<
          Target, Cipher::block_bytes / 4,
          typename CountingOf<typename Target::template RepresentationOf<Cipher>>::type>::Key {
    using Representation = typename Target::template RepresentationOf<Cipher>;
    using Functions =
        BlockFunctions<Target, Cipher::block_bytes / 4, typename CountingOf<Representation>::type>;
    alignas(64) typename Representation::Schedule schedule;
};

// Adapts a function of a representation, which takes its schedule, to the pointers above.
template <class Expanded, auto function, class Type = decltype(+function)>
struct OnKey;
template <class Expanded, auto function, class Result, class Schedule, class... Argument>
struct OnKey<Expanded, function, Result (*)(const Schedule&, Argument...)> {
    static Result call(const typename Expanded::Functions::Key& key, Argument... argument) {
        return function(static_cast<const Expanded&>(key).schedule, argument...);
    }
};

template <class Expanded, auto function>
constexpr auto* on_key = OnKey<Expanded, function>::call;

template <class Expanded, class... Mode, Direction... direction>
constexpr void add_sweeps(typename Expanded::Functions& f,
                          List<ModeDirection<Mode, direction>...>) {
    int i = 0;
    ((f.sweeps[i++] = on_key<Expanded, Expanded::Representation::template sweep<Mode, direction>>),
     ...);
}
template <class Expanded, class... Mode>
constexpr void add_chains_of_one(typename Expanded::Functions& f, List<Mode...>) {
    int i = 0;
    ((f.chains_of_one[i++] = on_key<Expanded, Expanded::Representation::template chain<Mode>>),
     ...);
}
template <class Expanded, class... Mode>
constexpr void add_chains_of_many(typename Expanded::Functions& f, List<Mode...>) {
    int i = 0;
    ((f.chains_of_many[i++] = on_key<Expanded, Expanded::Representation::template chains<Mode>>),
     ...);
}

template <class Expanded>
constexpr typename Expanded::Functions block_functions() {
    using R = typename Expanded::Representation;
    constexpr Direction encrypt = Direction::encrypt, decrypt = Direction::decrypt;
    typename Expanded::Functions f{};
    f.wide[0] = on_key<Expanded, R::template run<encrypt, R::wide_blocks>>;
    f.wide[1] = on_key<Expanded, R::template run<decrypt, R::wide_blocks>>;
    f.narrow[0] = on_key<Expanded, R::template run<encrypt, R::narrow_blocks>>;
    f.narrow[1] = on_key<Expanded, R::template run<decrypt, R::narrow_blocks>>;
    if constexpr (requires { R::state_blocks; })
        f.encrypt_state = on_key<Expanded, R::template run<encrypt, R::state_blocks>>;
    if constexpr (requires { &R::template one<encrypt>; })
        f.encrypt_one = on_key<Expanded, R::template one<encrypt>>;
    if constexpr (requires { &R::count; }) f.count = on_key<Expanded, R::count>;
    if constexpr (requires { &R::template sweep<modes::Ecb, encrypt>; })
        add_sweeps<Expanded>(f, SweepModes{});
    if constexpr (requires { &R::template xts_blocks<encrypt>; }) {
        f.xts_blocks[0] = on_key<Expanded, R::template xts_blocks<encrypt>>;
        f.xts_blocks[1] = on_key<Expanded, R::template xts_blocks<decrypt>>;
    }
    if constexpr (requires { &R::template chain<macs::CbcMac>; })
        add_chains_of_one<Expanded>(f, ChainModes{});
    if constexpr (requires { &R::template chains<macs::CbcMac>; })
        add_chains_of_many<Expanded>(f, ChainModes{});
    if constexpr (requires { &R::template gcm_blocks<encrypt>; }) {
        f.gcm_blocks[0] = on_key<Expanded, R::template gcm_blocks<encrypt>>;
        f.gcm_blocks[1] = on_key<Expanded, R::template gcm_blocks<decrypt>>;
    }
    return f;
}
template <class Expanded>
constexpr typename Expanded::Functions functions_of = block_functions<Expanded>();

// The ciphers of one header on one target, which differ in key size. The mode functions are
// compiled once for a family. They call through Key::functions. Which pointers are null they see
// in `functions`, those of the header's first cipher, at compile time.
template <class CpuTarget, class First>
struct Family {
    using Target = CpuTarget;
    using Functions = typename ExpandedKey<Target, First>::Functions;
    using Key = typename Functions::Key;
    using Text = typename Functions::Text;
    using Representation = typename ExpandedKey<Target, First>::Representation;
    static constexpr size_t wide_blocks = Representation::wide_blocks,
                            narrow_blocks = Representation::narrow_blocks;
    static constexpr const Functions& functions = functions_of<ExpandedKey<Target, First>>;

    // True if the mode functions of this family are right for another cipher.
    template <class Other>
    static constexpr bool includes() {
        using Expanded = ExpandedKey<Target, Other>;
        using R = typename Expanded::Representation;
        bool equal = functions.same_loops(functions_of<Expanded>);
        equal = equal && R::wide_blocks == wide_blocks && R::narrow_blocks == narrow_blocks;
        equal = equal && R::stack_bytes == Representation::stack_bytes;
        if constexpr (requires { R::state_blocks; })
            equal = equal && R::state_blocks == Representation::state_blocks;
        if constexpr (requires { R::chains_at_once; })
            equal = equal && R::chains_at_once == Representation::chains_at_once;
        return equal;
    }
};

// Encrypts one block.
template <class Family>
WARPSEAL_INLINE typename Family::Text encrypt_one(const typename Family::Key& key,
                                                  const typename Family::Text& block) {
    Secret<Family::narrow_blocks * sizeof block> tile;
    store_block(tile.data(), block);
    if constexpr (Family::functions.encrypt_one != nullptr)
        key.functions->encrypt_one(key, tile.data(), tile.data());
    else
        key.functions->narrow[0](key, tile.data(), tile.data());
    return load_block<Family::Text::words>(tile.data());
}

}  // namespace
}  // namespace warpseal::cpu

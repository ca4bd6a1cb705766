// Parallel modes (sweep) on the CPU: independent blocks, processed a tile at a time by any
// representation.
#pragma once

#include "backends/cpu/block_functions.h"
#include "backends/cpu/representations/vector.h"
#include "core/block.h"
#include "core/secret.h"
#include "modes/cbc.h"
#include "modes/cfb.h"
#include "modes/ctr.h"
#include "modes/ecb.h"

namespace warpseal::cpu {
namespace {

// Inputs of the mode for each block of a tile, in order: counter blocks, previous ciphertext blocks
// or tweaks. A sweep calls fill(to, in, blocks, bytes), where `in` is the text of these blocks.
template <class Mode, int words>
struct CountedMasks {
    static constexpr int counting = Mode::template counting_words<words>;
    Block<words> next;

    WARPSEAL_INLINE void fill(uint8_t* to, const uint8_t*, size_t blocks, size_t) {
        const uint32_t low = swap_bytes(next.word[words - 1]);
        if (static_cast<uint32_t>(low + blocks - 1) < low) {
            for (size_t i = 0; i < blocks; ++i)
                store_block(to + i * sizeof next, add_big_endian<counting>(next, i));
        } else {
            for (uint32_t i = 0; i < blocks; ++i) {
                memcpy(to + i * sizeof next, next.word, sizeof next - 4);
                store_be32(to + (i + 1) * sizeof next - 4, low + i);
            }
        }
        advance(blocks);
    }
    WARPSEAL_INLINE void advance(size_t blocks) { next = add_big_endian<counting>(next, blocks); }
};

template <int words>
struct PreviousBlocks {
    Block<words> last;

    WARPSEAL_INLINE void fill(uint8_t* to, const uint8_t* in, size_t blocks, size_t bytes) {
        store_block(to, last);
        memcpy(to + sizeof last, in, (blocks - 1) * sizeof last);
        if (bytes == blocks * sizeof last)
            last = load_block<words>(in + bytes - sizeof last);  // otherwise this was the last run
    }
};

struct NoMasks {
    WARPSEAL_INLINE void fill(uint8_t*, const uint8_t*, size_t, size_t) {}
};

template <class Family>
struct TileSweep {
    using Key = typename Family::Key;
    using Text = typename Family::Text;
    static constexpr size_t wide_bytes = Family::wide_blocks * Text::bytes,
                            narrow_bytes = Family::narrow_blocks * Text::bytes;

    struct Tile {
        alignas(64) uint8_t mask[wide_bytes];
        alignas(64) uint8_t text[wide_bytes];
        alignas(64) uint8_t part[wide_bytes];
        typename Family::Functions::Counting counting;
    };

    // Processes `bytes` bytes. In a keystream mode the last block may be partial.
    template <class Mode, Direction direction, class Masks>
    static void run(const Key& key, Masks& masks, const uint8_t* in, uint8_t* out, size_t bytes) {
        constexpr int d = Mode::keystream ? 0 : static_cast<int>(direction);
        SecretOf<Tile> scratch;
        Tile& tile = scratch.value;
        tile.counting = {};
        for (size_t n = wide_bytes; bytes >= wide_bytes;
             in += n, out += n, bytes -= n, n = wide_bytes) {
            if constexpr (Family::functions.count != nullptr &&
                          requires { masks.advance(size_t{}); }) {
                if (const size_t tiles = key.functions->count(key, tile.counting, masks.next, in,
                                                              out, bytes / wide_bytes)) {
                    masks.advance(tiles * Family::wide_blocks);
                    n = tiles * wide_bytes;
                    continue;
                }
            }
            whole<Mode, d, Family::wide_blocks>(key, tile, masks, in, out, wide_bytes);
        }
        while (bytes != 0) {
            const bool wide = bytes > narrow_bytes;
            const size_t n = bytes < narrow_bytes || wide ? bytes : narrow_bytes;
            memcpy(tile.part, in, n);
            memset(tile.part + n, 0, (0 - n) % Text::bytes);
            if (wide)
                whole<Mode, d, Family::wide_blocks>(key, tile, masks, tile.part, tile.part, n);
            else
                whole<Mode, d, Family::narrow_blocks>(key, tile, masks, tile.part, tile.part, n);
            memcpy(out, tile.part, n);
            in += n, out += n, bytes -= n;
        }
    }

private:
    static constexpr size_t word_bytes = sizeof(typename Family::Target::BitslicedWord);
    template <size_t bytes>
    using Vector = VectorOf<uint8_t, (bytes < word_bytes ? bytes : word_bytes)>;  // of whole blocks

    // Processes one run of `blocks` blocks, of which only those in the first `bytes` bytes exist.
    template <class Mode, int d, size_t blocks, class Masks>
    WARPSEAL_INLINE static void whole(const Key& key, Tile& tile, Masks& masks, const uint8_t* in,
                                      uint8_t* out, size_t bytes) {
        constexpr size_t tile_bytes = blocks * Text::bytes;
        using Chunk = Vector<tile_bytes>;
        masks.fill(tile.mask, in, (bytes + Text::bytes - 1) / Text::bytes, bytes);
        if constexpr (!Mode::has_iv) {
            crypt<d, blocks>(key, in, out);
        } else {
            for (size_t at = 0; at < tile_bytes; at += sizeof(Chunk))
                store(tile.text + at,
                      Mode::before(load<Chunk>(in + at), load<Chunk>(tile.mask + at)));
            crypt<d, blocks>(key, tile.text, tile.text);
            for (size_t at = 0; at < tile_bytes; at += sizeof(Chunk))
                store(out + at, Mode::after(load<Chunk>(in + at), load<Chunk>(tile.mask + at),
                                            load<Chunk>(tile.text + at)));
        }
    }
    template <int d, size_t blocks>
    WARPSEAL_INLINE static void crypt(const Key& key, const uint8_t* in, uint8_t* out) {
        if constexpr (blocks == Family::wide_blocks)
            key.functions->wide[d](key, in, out);
        else
            key.functions->narrow[d](key, in, out);
    }
    template <class Chunk>
    WARPSEAL_INLINE static Chunk load(const uint8_t* p) {
        Chunk c;
        memcpy(&c, p, sizeof c);
        return c;
    }
    template <class Chunk>
    WARPSEAL_INLINE static void store(uint8_t* p, const Chunk& c) {
        memcpy(p, &c, sizeof c);
    }
};

// Runs a sweep from block `first_block` of a message, by the representation's own loop if it has
// one.
template <class Family, class Mode, Direction direction>
void sweep_of(const typename Family::Key& key, const typename Family::Text& iv,
              uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes) {
    constexpr int words = Family::Text::words;
    if constexpr (Family::functions.sweeps[0] != nullptr) {
        key.functions->template sweep<Mode, direction>()(key, iv, first_block, in, out, bytes);
    } else {
        using Tile = TileSweep<Family>;
        if constexpr (requires { Mode::mask(iv, first_block); } && Mode::has_iv) {
            CountedMasks<Mode, words> masks{Mode::mask(iv, first_block)};
            Tile::template run<Mode, direction>(key, masks, in, out, bytes);
        } else if constexpr (Mode::has_iv) {
            PreviousBlocks<words> masks{iv};
            Tile::template run<Mode, direction>(key, masks, in, out, bytes);
        } else {
            NoMasks masks;
            Tile::template run<Mode, direction>(key, masks, in, out, bytes);
        }
    }
}

}  // namespace
}  // namespace warpseal::cpu

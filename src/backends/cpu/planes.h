// A cipher on any CPU: its plane form over a vector word, swept through a mode a tile of blocks at a time.
#pragma once

#include "backends/ops.h"
#include "core/block.h"
#include "core/form.h"
#include "core/secret.h"

namespace warpseal::cpu {
namespace {

template <class Cipher, class Word>
struct PlaneForm {
    using Text = Block<Cipher::block_bytes / 4>;
    static constexpr size_t tile_blocks = Planes<Word>::blocks;
    static constexpr size_t tile_bytes = tile_blocks * Cipher::block_bytes;

    struct Schedule {
        uint64_t mask[Cipher::key_planes];  // of each key plane: all ones or zero
    };

    static void expand(Schedule& schedule, const uint8_t* key) {
        SecretOf<uint32_t[Cipher::key_planes / 32]> bits;
        Cipher::expand_planes(bits.value, key);
        for (int i = 0; i < Cipher::key_planes; ++i) schedule.mask[i] = 0 - static_cast<uint64_t>(bits.value[i / 32] >> (i % 32) & 1);
    }

    struct Tile {
        Word plane[8 * Cipher::block_bytes];
        uint8_t bytes[tile_bytes];
    };

    template <Direction direction>
    static void run(const Schedule& schedule, Tile& tile) {
        const auto key = [&](int i) { return Word{} + schedule.mask[i]; };
        Planes<Word>::template from_blocks<Cipher::block_bytes>(tile.plane, tile.bytes);
        if constexpr (direction == Direction::encrypt)
            Cipher::encrypt_planes(tile.plane, key);
        else
            Cipher::decrypt_planes(tile.plane, key);
        Planes<Word>::template to_blocks<Cipher::block_bytes>(tile.bytes, tile.plane);
    }

    template <class Mode, Direction direction>
    static void sweep(const Schedule& schedule, const Text& iv, uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes) {
        SecretOf<Tile> scratch;
        Tile& tile = scratch.value;
        memset(tile.bytes, 0, sizeof tile.bytes);
        while (bytes != 0) {
            const size_t n = bytes < tile_bytes ? bytes : tile_bytes;
            for (size_t at = 0, i = first_block; at < n; at += Text::bytes, ++i)
                store_block(tile.bytes + at, Mode::before(load(in + at, n - at), Mode::mask(iv, i)));
            run<Mode::keystream ? Direction::encrypt : direction>(schedule, tile);
            for (size_t at = 0, i = first_block; at < n; at += Text::bytes, ++i) {
                const Text text = Mode::after(load(in + at, n - at), Mode::mask(iv, i), load_block<Text::words>(tile.bytes + at));
                memcpy(out + at, text.word, n - at < Text::bytes ? n - at : Text::bytes);
            }
            in += n, out += n, bytes -= n, first_block += tile_blocks;
        }
    }

private:
    // A block of which `bytes` bytes exist; zero behind them.
    WARPSEAL_INLINE static Text load(const uint8_t* in, size_t bytes) {
        if (bytes >= Text::bytes) return load_block<Text::words>(in);
        Text text{};
        memcpy(text.word, in, bytes);
        return text;
    }
};

}  // namespace
}  // namespace warpseal::cpu

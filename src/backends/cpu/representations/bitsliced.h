// Bitsliced representation, for any cipher on any CPU. Byte-oriented ciphers run on bytes of eight
// bit planes.
#pragma once

#include "backends/cipher_backend.h"
#include "backends/cpu/representations/cipher_traits.h"
#include "backends/cpu/representations/vector.h"
#include "core/bit_planes.h"
#include "core/bitsliced_byte.h"
#include "core/block.h"
#include "core/secret.h"

namespace warpseal::cpu {
namespace {

struct BitslicedCounting {};

template <class Cipher, class Word>
struct Bitsliced {
    using Text = Block<Cipher::block_bytes / 4>;

    static constexpr const char* name = "bitsliced";
    static constexpr size_t wide_blocks = BitPlanes<Word>::blocks, narrow_blocks = wide_blocks;
    static constexpr size_t tile_bytes = sizeof(Word[8 * Cipher::block_bytes]);
    // Stack that a run leaves behind: planes, text and spilled words. The small limit is for calls
    // that run a tile for a single block.
    static constexpr size_t stack_bytes = 4 * tile_bytes + 2048,
                            small_stack_bytes = 5 * tile_bytes + 3072;
    static constexpr int key_bits = 32 * Cipher::schedule_words;

    struct Schedule {
        uint64_t mask[direction_count][key_bits];  // all ones or zero for each key bit
    };

    static void expand(Schedule& schedule, const uint8_t* key) {
        SecretOf<uint32_t[direction_count][Cipher::schedule_words]> words;
        auto& [forward, inverse] = words.value;
        Cipher::expand(forward, key, WordSubstitution{});
        Cipher::invert(inverse, forward);
        for (int d = 0; d < direction_count; ++d)
            for (int i = 0; i < key_bits; ++i)
                schedule.mask[d][i] =
                    0 - static_cast<uint64_t>(words.value[d][i / 32] >> (i % 32) & 1);
    }

    template <Direction direction, size_t blocks>
    WARPSEAL_INLINE static void run(const Schedule& schedule, const uint8_t* in, uint8_t* out) {
        static_assert(blocks == wide_blocks);
        Word plane[8 * Cipher::block_bytes];
        BitPlanes<Word>::template from_blocks<Cipher::block_bytes>(plane, in);
        crypt<direction>(schedule.mask[static_cast<int>(direction)], plane);
        BitPlanes<Word>::template to_blocks<Cipher::block_bytes>(out, plane);
    }

    // Processes one block, for serial modes: in lane 0 of short words, without a transposition.
    template <Direction direction>
    static void one(const Schedule& schedule, const uint8_t* in, uint8_t* out) {
        Bitsliced<Cipher, VectorOf<uint64_t, 16>>::template one_lane<direction>(
            schedule.mask[static_cast<int>(direction)], in, out);
    }
    template <Direction direction>
    static void one_lane(const uint64_t* mask, const uint8_t* in, uint8_t* out) {
        Word plane[8 * Cipher::block_bytes];
        for (int i = 0; i < 8 * static_cast<int>(Cipher::block_bytes); ++i)
            plane[i] = Word{} + (uint64_t{in[i / 8]} >> (i % 8));
        crypt<direction>(mask, plane);
        for (int i = 0; i < static_cast<int>(Cipher::block_bytes); ++i) {
            uint64_t byte = 0;
            for (int j = 0; j < 8; ++j) byte |= (plane[8 * i + j][0] & 1) << j;
            out[i] = static_cast<uint8_t>(byte);
        }
    }

    // Counter mode: XORs wide_blocks blocks of text with the encrypted counter blocks from `first`
    // on. Makes their bit planes without a transposition. Returns the number of tiles done: 1, or 0
    // if the counter would carry out of its last word.
    using Counting = BitslicedCounting;
    static size_t count(const Schedule& schedule, Counting&, const Text& first, const uint8_t* in,
                        uint8_t* out, size_t) {
        const uint32_t low = swap_bytes(first.word[Text::words - 1]);
        if (static_cast<uint32_t>(low + wide_blocks - 1) < low) return 0;
        count_run(schedule, first, in, out);
        return 1;
    }

private:
    __attribute__((noinline)) static void count_run(const Schedule& schedule, const Text& first,
                                                    const uint8_t* in, uint8_t* out) {
        static constexpr BlockNumbers numbers;
        uint8_t bytes[Text::bytes];
        store_block(bytes, first);
        Word plane[8 * Text::bytes], carry{};
        for (int i = 0; i < 8 * Text::bytes; ++i)
            plane[i] = Word{} + (0 - static_cast<uint64_t>(bytes[i / 8] >> (i % 8) & 1));
        for (int k = 0; k < 32; ++k) {  // bit k of a big-endian number
            Word& sum = plane[8 * (Text::bytes - 1 - k / 8) + k % 8];
            Word number{}, next{};
            if (k < lane_bits) memcpy(&number, numbers.plane[k], sizeof number);
            next = lut<0xe8>(sum, number, carry);
            sum = lut<0x96>(sum, number, carry);
            carry = next;
        }
        crypt<Direction::encrypt>(schedule.mask[0], plane);
        alignas(64) uint8_t text[wide_blocks * Text::bytes];
        BitPlanes<Word>::template to_blocks<Cipher::block_bytes>(text, plane);
        Word data, key;
        for (size_t at = 0; at < sizeof text; at += sizeof data) {
            memcpy(&data, in + at, sizeof data);
            memcpy(&key, text + at, sizeof key);
            data ^= key;
            memcpy(out + at, &data, sizeof data);
        }
    }

    static constexpr int lane_bits = __builtin_ctz(static_cast<unsigned>(wide_blocks));
    // Bit planes of the numbers 0 to wide_blocks - 1, in the order of the lanes.
    struct BlockNumbers {
        alignas(64) uint8_t plane[lane_bits][wide_blocks / 8] = {};
        constexpr BlockNumbers() {
            for (int lane = 0; lane < static_cast<int>(wide_blocks); ++lane)
                for (int k = 0; k < lane_bits; ++k) {
                    const int bit =
                        BitPlanes<Word>::template block_of_lane<Cipher::block_bytes>(lane) >> k & 1;
                    plane[k][lane / 8] =
                        static_cast<uint8_t>(plane[k][lane / 8] | bit << (lane % 8));
                }
        }
    };

    template <Direction direction>
    WARPSEAL_INLINE static void crypt(const uint64_t* mask,
                                      Word (&plane)[8 * Cipher::block_bytes]) {
        text<direction == Direction::decrypt && decrypts_otherwise<Cipher>>(mask, plane);
    }

    // Not inlined, so that each cipher is compiled once, or once for each direction.
    template <bool decrypt>
    __attribute__((noinline)) static void text(const uint64_t* mask,
                                               Word (&plane)[8 * Cipher::block_bytes]) {
        const auto bit = [&](int i) __attribute__((always_inline)) { return Word{} + mask[i]; };
        if constexpr (requires { Cipher::encrypt_bitsliced(plane, bit); }) {
            if constexpr (decrypt)
                Cipher::decrypt_bitsliced(plane, bit);
            else
                Cipher::encrypt_bitsliced(plane, bit);
        } else {
            using Byte = BitslicedByte<Word>;
            const auto byte = [&](int i) __attribute__((always_inline)) {
                Byte k;
                for (int j = 0; j < 8; ++j) k.bit[j] = bit(8 * i + j);
                return k;
            };
            Byte(&s)[Cipher::block_bytes] = reinterpret_cast<Byte(&)[Cipher::block_bytes]>(plane);
            if constexpr (decrypt)
                Cipher::decrypt_bytes(s, byte);
            else
                Cipher::encrypt_bytes(s, byte);
        }
    }
};

}  // namespace
}  // namespace warpseal::cpu

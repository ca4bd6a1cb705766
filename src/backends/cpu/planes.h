// A cipher on any CPU: its plane form, or its byte form over bytes of eight planes, on a vector word.
#pragma once

#include "backends/ops.h"
#include "core/form.h"
#include "core/plane_byte.h"
#include "core/secret.h"

namespace warpseal::cpu {
namespace {

template <class Cipher>
inline constexpr bool has_bytes = requires(PlaneByte<uint64_t> (&s)[Cipher::block_bytes], PlaneByte<uint64_t> (*key)(int)) {
    Cipher::encrypt_bytes(s, key);
};

template <class Cipher, class Word>
struct PlaneForm {
    static constexpr const char* name = "planes";
    static constexpr size_t wide_blocks = Planes<Word>::blocks, narrow_blocks = wide_blocks;
    static constexpr size_t stack_bytes = 24576;  // that runs and the shapes over them leave behind
    static constexpr int key_bits = 32 * Cipher::schedule_words;

    struct Schedule {
        uint64_t mask[direction_count][key_bits];  // of each key bit: all ones or zero
    };

    static void expand(Schedule& schedule, const uint8_t* key) {
        SecretOf<uint32_t[direction_count][Cipher::schedule_words]> words;
        auto& [forward, inverse] = words.value;
        Cipher::expand(forward, key, WordSubstitution{});
        Cipher::invert(inverse, forward);
        for (int d = 0; d < direction_count; ++d)
            for (int i = 0; i < key_bits; ++i) schedule.mask[d][i] = 0 - static_cast<uint64_t>(words.value[d][i / 32] >> (i % 32) & 1);
    }

    template <Direction direction, size_t blocks>
    __attribute__((noinline)) static void run(const Schedule& schedule, const uint8_t* in, uint8_t* out) {
        static_assert(blocks == wide_blocks);
        Word plane[8 * Cipher::block_bytes];
        Planes<Word>::template from_blocks<Cipher::block_bytes>(plane, in);
        crypt<direction>(schedule.mask[static_cast<int>(direction)], plane);
        Planes<Word>::template to_blocks<Cipher::block_bytes>(out, plane);
    }

private:
    template <Direction direction>
    WARPSEAL_INLINE static void crypt(const uint64_t* mask, Word (&plane)[8 * Cipher::block_bytes]) {
        const auto bit = [&](int i) __attribute__((always_inline)) { return Word{} + mask[i]; };
        if constexpr (requires { Cipher::encrypt_planes(plane, bit); }) {
            if constexpr (direction == Direction::decrypt && requires { Cipher::decrypt_planes(plane, bit); })
                Cipher::decrypt_planes(plane, bit);
            else
                Cipher::encrypt_planes(plane, bit);
        } else {
            using Byte = PlaneByte<Word>;
            const auto byte = [&](int i) __attribute__((always_inline)) {
                Byte k;
                for (int j = 0; j < 8; ++j) k.bit[j] = bit(8 * i + j);
                return k;
            };
            Byte(&s)[Cipher::block_bytes] = reinterpret_cast<Byte(&)[Cipher::block_bytes]>(plane);
            if constexpr (direction == Direction::decrypt && requires { Cipher::decrypt_bytes(s, byte); })
                Cipher::decrypt_bytes(s, byte);
            else
                Cipher::encrypt_bytes(s, byte);
        }
    }
};

}  // namespace
}  // namespace warpseal::cpu

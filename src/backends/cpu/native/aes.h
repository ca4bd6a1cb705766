// AES by the x86 AES instructions as a form of the shapes: FIPS 197 and what each mode does with it, for any vector width.
#pragma once

#include "backends/cpu/native/aes_chain.h"
#include "backends/cpu/native/aes_keystream.h"
#include "backends/cpu/native/aes_rounds.h"
#include "backends/cpu/native/aes_sweep.h"
#include "backends/cpu/native/aes_xts.h"
#include "modes/gcm.h"

namespace warpseal::cpu {
namespace {

template <int key_bits, class W>
struct AesForm {
    using Aes = AesRounds<key_bits, W>;
    using Schedule = typename Aes::Schedule;
    using Keystream = AesKeystream<Aes>;
    using Sum = typename Keystream::Sum;
    using Hash = typename Keystream::Hash;

    static void expand(Schedule& schedule, const uint8_t* key) { Aes::expand(schedule, key); }

    template <class Mode, Direction direction>
    static void sweep(const Schedule& schedule, const Block<4>& iv, uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes) {
        if constexpr (Mode::keystream) {
            __m128i none{};
            Keystream::template keystream<Mode, Sum::none>(schedule, nullptr, none, Mode::mask(iv, first_block), in, out, bytes);
        } else {
            using Sweep = AesSweep<Aes>;
            Sweep::template run<direction, Sweep::Chained::no>(schedule, _mm_setzero_si128(), in, out, bytes);
        }
    }

    template <Direction direction>
    static void fold(const Schedule& schedule, const typename Hash::Key& hash, const Block<4>& j0, Block<4>& sum, uint64_t first_block,
                     const uint8_t* in, uint8_t* out, size_t bytes) {
        __m128i s = Hash::load(sum);
        Keystream::template keystream<modes::Gcm, direction == Direction::encrypt ? Sum::of_output : Sum::of_input>(
            schedule, &hash, s, modes::Gcm::mask(j0, first_block), in, out, bytes);
        Hash::store(sum, s);
    }
};

}  // namespace
}  // namespace warpseal::cpu

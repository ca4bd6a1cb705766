// AES-XTS within one data unit, with the tweaks in registers (IEEE 1619 5.2 to 5.4).
#pragma once

#include "backends/cpu/x86/aes_rounds.h"
#include "core/block.h"

namespace warpseal::cpu {
namespace {

template <class Aes, Direction direction>
struct AesXts {
    using W = typename Aes::W;
    using V = typename Aes::V;
    using Schedule = typename Aes::Schedule;
    static constexpr int rounds = Aes::rounds;

    // Processes whole blocks from an encrypted tweak, and sets it to the tweak of the next block.
    // Not inlined: it would share registers with its caller and spill its states.
    __attribute__((noinline)) static void run(const Schedule& schedule, Block<4>& tweak,
                                              const uint8_t* in, uint8_t* out, size_t bytes) {
        Tweaks tweaks(_mm_loadu_si128(reinterpret_cast<const __m128i*>(tweak.word)));
        while (bytes >= Aes::group_bytes) some<Aes::at_once>(schedule, tweaks, in, out, bytes);
        if (bytes >= 4 * W::bytes) some<4>(schedule, tweaks, in, out, bytes);
        while (bytes >= W::bytes) some<1>(schedule, tweaks, in, out, bytes);
        Secret<W::bytes> lanes;
        W::store(lanes.data(), tweaks.next[0]);
        memcpy(tweak.word, lanes.data() + bytes, sizeof tweak.word);
        if (bytes != 0) {
            V s[1] = {W::load_partial(in, bytes)};
            crypt<1>(schedule, tweaks, s);
            W::store_partial(out, s[0], bytes);
        }
    }

    // Processes at most four whole blocks, without the Tweaks of run().
    template <size_t small_message_limit_bytes>
    WARPSEAL_INLINE static void small(const Schedule& schedule, __m128i tweak, const uint8_t* in,
                                      uint8_t* out, size_t bytes) {
        if constexpr (W::bytes == small_message_limit_bytes) {
            __m128i lane[W::lanes];
            following(tweak, lane);
            const V t = W::join(lane), text = W::load_partial(in, bytes);
            V s[1] = {W::add3(text, t, Aes::template key<direction>(schedule, 0))};
            Aes::template middle_rounds<direction>(schedule, s);
            W::store_partial(out,
                             Aes::template last_round<direction>(
                                 s[0], t ^ Aes::template key<direction>(schedule, rounds)),
                             bytes);
        } else if (bytes == small_message_limit_bytes) {
            blocks<4>(schedule, tweak, in, out);
        } else {
            for (; bytes != 0; in += 16, out += 16, bytes -= 16)
                blocks<1>(schedule, tweak, in, out);
        }
    }

private:
    WARPSEAL_INLINE static __m128i times_x(__m128i t) {
        const __m128i carries =
            _mm_srai_epi32(_mm_shuffle_epi32(t, 0x13), 31) & _mm_set_epi32(0, 1, 0, 0x87);
        return _mm_add_epi64(t, t) ^ carries;
    }
    // Computes the next n tweaks, and advances `tweak` past them.
    template <int n>
    WARPSEAL_INLINE static void following(__m128i& tweak, __m128i (&t)[n]) {
        WARPSEAL_UNROLL
        for (int i = 0; i < n; ++i, tweak = times_x(tweak)) t[i] = tweak;
    }
    template <int n>
    WARPSEAL_INLINE static void blocks(const Schedule& schedule, __m128i& tweak, const uint8_t* in,
                                       uint8_t* out) {
        __m128i t[n], s[n];
        following(tweak, t);
        WARPSEAL_UNROLL
        for (int i = 0; i < n; ++i) s[i] = load_one(in + 16 * i) ^ t[i];
        Aes::template encipher<direction>(schedule, s);
        WARPSEAL_UNROLL
        for (int i = 0; i < n; ++i) store_one(out + 16 * i, s[i] ^ t[i]);
    }

    // Tweaks of the next eight blocks. The eight after them are x^8 times these: a shift by one
    // byte. The byte shifted out returns times x^7 + x^2 + x + 1.
    struct Tweaks {
        static constexpr int vectors = 8 / W::lanes;
        V next[vectors];

        WARPSEAL_INLINE explicit Tweaks(__m128i t) {
            WARPSEAL_UNROLL
            for (int u = 0; u < vectors; ++u) {
                __m128i lane[W::lanes];
                following(t, lane);
                next[u] = W::join(lane);
            }
        }
        WARPSEAL_INLINE V take() {
            const V t = next[0];
            WARPSEAL_UNROLL
            for (int u = 1; u < vectors; ++u) next[u - 1] = next[u];
            next[vectors - 1] =
                W::byte_up(t) ^
                W::template multiply<0x00>(W::top_byte(t), W::broadcast(_mm_cvtsi32_si128(0x87)));
            return t;
        }
    };

    template <int n>
    WARPSEAL_INLINE static void some(const Schedule& schedule, Tweaks& tweaks, const uint8_t*& in,
                                     uint8_t*& out, size_t& bytes) {
        V s[n];
        WARPSEAL_UNROLL
        for (int u = 0; u < n; ++u) s[u] = W::load(in + u * W::bytes);
        crypt<n>(schedule, tweaks, s);
        WARPSEAL_UNROLL
        for (int u = 0; u < n; ++u) W::store(out + u * W::bytes, s[u]);
        in += n * W::bytes, out += n * W::bytes, bytes -= n * W::bytes;
    }

    template <int n>
    WARPSEAL_INLINE static void crypt(const Schedule& schedule, Tweaks& tweaks, V (&s)[n]) {
        const V first_key = Aes::template key<direction>(schedule, 0),
                last_key = Aes::template key<direction>(schedule, rounds);
        V t[n];
        WARPSEAL_UNROLL
        for (int u = 0; u < n; ++u) {
            t[u] = tweaks.take();
            s[u] = W::add3(s[u], t[u], first_key);
        }
        Aes::template middle_rounds<direction>(schedule, s);
        WARPSEAL_UNROLL
        for (int u = 0; u < n; ++u)
            s[u] = Aes::template last_round<direction>(s[u], last_key ^ t[u]);
    }
};

}  // namespace
}  // namespace warpseal::cpu

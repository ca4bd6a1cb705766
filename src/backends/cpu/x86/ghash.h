// GHASH by carry-less multiplication, for any vector width (SP 800-38D 6.4).
#pragma once

#include <immintrin.h>

#include "core/block.h"
#include "macs/ghash.h"

namespace warpseal::cpu {
namespace {

// Elements are the reflected numbers of macs/ghash.h in a register. Powers of H are stored divided
// by x: the product of an element and such a power is then aligned, instead of one bit low.
// The reduction follows S. Gueron and M. Kounavis, "Intel Carry-Less Multiplication Instruction and
// its Usage for Computing the GCM Mode" (2014), in the variant that reduces 64 bits at a time.
template <class W>
struct CarrylessHash {
    using V = typename W::V;
    static constexpr size_t reach = W::blocks_per_reduction;

    // H^reach, ..., H^2, H^1, followed by zeros, so that a vector can be loaded from any of them.
    struct Key {
        alignas(64) uint8_t power[16 * (reach + W::lanes)];
        // Returns the powers for `blocks` blocks, of which the last is multiplied by H.
        WARPSEAL_INLINE const uint8_t* from(size_t blocks) const {
            return power + 16 * (reach - blocks);
        }
    };

    // Unreduced products, with an accumulator in each lane.
    struct Products {
        V low = W::zero(), middle = W::zero(), high = W::zero();

        WARPSEAL_INLINE void add(V element, V power) {
            low = low ^ W::template multiply<0x00>(element, power);
            high = high ^ W::template multiply<0x11>(element, power);
            middle = W::add3(middle, W::template multiply<0x01>(element, power),
                             W::template multiply<0x10>(element, power));
        }

        // Adds two products. This saves instructions where one instruction XORs three operands.
        WARPSEAL_INLINE void add(V a, V a_power, V b, V b_power) {
            low = W::add3(low, W::template multiply<0x00>(a, a_power),
                          W::template multiply<0x00>(b, b_power));
            high = W::add3(high, W::template multiply<0x11>(a, a_power),
                           W::template multiply<0x11>(b, b_power));
            middle = W::add3(middle, W::template multiply<0x01>(a, a_power),
                             W::template multiply<0x10>(a, a_power));
            middle = W::add3(middle, W::template multiply<0x01>(b, b_power),
                             W::template multiply<0x10>(b, b_power));
        }

        WARPSEAL_INLINE V reduced() const {
            const V folding =
                W::broadcast(_mm_set_epi64x(static_cast<long long>(0xc200000000000000u), 1));
            V l = low ^ W::halves_up(middle);
            const V h = high ^ W::halves_down(middle);
            l = W::swap_halves(l) ^ W::template multiply<0x10>(l, folding);
            return W::add3(h, W::swap_halves(l), W::template multiply<0x10>(l, folding));
        }
        WARPSEAL_INLINE __m128i sum() const { return W::sum_of_lanes(reduced()); }
    };

    static void set(Key& key, const Block<4>& h_block) {
        const macs::ghash::Element<uint64_t> h = macs::ghash::from_block<uint64_t>(h_block);
        // Mask of coefficient x^0, which division by x turns into x^127 + x^6 + x + 1.
        const uint64_t low_bit = 0 - (h.word[1] >> 63);
        const uint64_t high = (h.word[1] << 1 | h.word[0] >> 63) ^ (low_bit & 0xc200000000000000u),
                       low = h.word[0] << 1 ^ (low_bit & 1);
        memset(key.power, 0, sizeof key.power);
        uint8_t* at = key.power + 16 * (reach - 1);
        const __m128i h1 =
            _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low));
        __m128i power = h1;
        store(at, power);
        for (int i = 1; i < W::lanes; ++i) store(at -= 16, power = times(power, h1));
        const V step = W::broadcast(power);  // H^lanes
        for (V powers = W::load(at); at != key.power;) {
            Products product;
            product.add(powers, step);
            W::store(at -= W::bytes, powers = product.reduced());
        }
    }

    // Conversions between memory order and elements.
    WARPSEAL_INLINE static __m128i order() {
        return _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    }
    WARPSEAL_INLINE static V reflect(V blocks) { return W::shuffle(blocks, order()); }

    WARPSEAL_INLINE static __m128i load(const Block<4>& sum) {
        return one_reflected(_mm_loadu_si128(reinterpret_cast<const __m128i*>(sum.word)));
    }
    WARPSEAL_INLINE static void store(Block<4>& sum, __m128i element) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(sum.word), one_reflected(element));
    }

    // Absorbs `bytes` bytes into the GHASH accumulator `sum`. Pads the last block with zeros.
    WARPSEAL_INLINE static __m128i absorb(const Key& key, __m128i sum, const uint8_t* in,
                                          size_t bytes) {
        while (bytes != 0) {
            const size_t n = bytes < 16 * reach ? bytes : 16 * reach;
            const uint8_t* const power = key.from((n + 15) / 16);
            Products products;
            V carried = W::lowest_lane(sum);
            for (size_t at = 0; at < n; at += W::bytes) {
                const V text =
                    n - at >= W::bytes ? W::load(in + at) : W::load_partial(in + at, n - at);
                products.add(reflect(text) ^ carried, W::load(power + at));
                carried = W::zero();
            }
            sum = products.sum();
            in += n, bytes -= n;
        }
        return sum;
    }
    static void absorb(const Key& key, Block<4>& sum, const uint8_t* in, size_t bytes) {
        store(sum, absorb(key, load(sum), in, bytes));
    }

    // GHASH over consecutive whole groups of at_once vectors. Products are reduced once every few
    // groups.
    struct Running {
        static constexpr int at_once = W::vectors_at_once;
        static constexpr size_t group_blocks = at_once * W::lanes;

        const Key* hash;
        size_t groups;  // groups left to absorb
        Products products{};
        V carried;  // accumulator, XORed into the first vector of the next group
        const uint8_t* power = nullptr;
        size_t until_reduction = 0;

        WARPSEAL_INLINE Running(const Key* key, size_t count, __m128i sum)
            : hash(key), groups(count), carried(W::lowest_lane(sum)) {
            if (hash) begin();
        }
        WARPSEAL_INLINE void begin() {
            constexpr size_t most = reach / group_blocks;
            until_reduction = groups < most ? groups : most;
            power = hash->from(until_reduction * group_blocks);
        }
        // Absorbs two vectors of a group, beginning with the second vector. The first one comes
        // last, when the accumulator to XOR into it is ready.
        WARPSEAL_INLINE void add(const uint8_t* summed, int step) {
            const int u = 2 * step + 1, v = (u + 1) % at_once;
            const V second = reflect(W::load(summed + v * W::bytes));
            products.add(reflect(W::load(summed + u * W::bytes)), W::load(power + u * W::bytes),
                         v == 0 ? second ^ carried : second, W::load(power + v * W::bytes));
        }
        WARPSEAL_INLINE void end_of_group() {
            --groups;
            power += 16 * group_blocks;
            carried = W::zero();
            if (--until_reduction != 0) return;
            carried = W::lowest_lane(products.sum());
            products = {};
            begin();
        }
        WARPSEAL_INLINE __m128i sum() const { return W::lowest(carried); }
    };

    // sum = sum * H^blocks + part
    static void combine(const Key& key, Block<4>& sum, const Block<4>& part, uint64_t blocks) {
        Element s{load(sum)};
        if (blocks != 0) {
            const Element h{_mm_loadu_si128(reinterpret_cast<const __m128i*>(key.from(1)))};
            s = multiply(s, macs::ghash::power(h, blocks));
        }
        store(sum, s.number ^ load(part));
    }

    WARPSEAL_INLINE static __m128i one_reflected(__m128i x) { return _mm_shuffle_epi8(x, order()); }

    WARPSEAL_INLINE static __m128i times(__m128i a, __m128i b) {
        Products product;
        product.add(W::lowest_lane(a), W::lowest_lane(b));
        return product.sum();
    }

    // Operand for macs::ghash::power: a power of H divided by x. Products are again divided by x.
    struct Element {
        __m128i number;
        friend WARPSEAL_INLINE Element multiply(const Element& a, const Element& b) {
            return {times(a.number, b.number)};
        }
    };

    WARPSEAL_INLINE static void store(uint8_t* p, __m128i x) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(p), x);
    }
};

}  // namespace
}  // namespace warpseal::cpu

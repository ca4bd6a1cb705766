// XTS on the CPU (IEEE 1619, SP 800-38E): data units in sequence, many tweaks at a time, and
// ciphertext stealing.
#pragma once

#include <utility>

#include "backends/cpu/parallel_modes.h"
#include "modes/xts.h"

namespace warpseal::cpu {
namespace {

// Tweaks of consecutive blocks of consecutive data units.
template <class Family>
struct Tweaks {
    using Key = typename Family::Key;
    static constexpr bool runs_wide = Family::narrow_blocks < 16;
    static constexpr size_t run_blocks = runs_wide ? Family::wide_blocks : Family::narrow_blocks;
    // Number of data units whose numbers are encrypted at once.
    static constexpr size_t ahead = run_blocks < 64 ? run_blocks : 64;

    const Key& key;
    Block<4> number;  // of the first unit not yet encrypted
    uint64_t unit_blocks, left = 0;
    size_t ready = 0;
    SecretOf<Block<4>> next;  // tweak of the next block, if `left` is not 0
    // First tweaks of the encrypted units, in order; the last `ready` are unused.
    Secret<16 * run_blocks> first;

    Tweaks(const Key& tweak_key, const XtsUnits& units)
        : key(tweak_key),
          number(load_block<4>(units.first)),
          unit_blocks(units.unit_bytes / 16 + (units.unit_bytes % 16 != 0)) {}

    // Sets `next` to the tweak of the next block, and `left` to the number of blocks left in its
    // unit.
    WARPSEAL_INLINE void enter() {
        if (left != 0) return;
        if (ready == 0) {
            for (size_t i = 0; i < ahead; ++i)
                store_block(first.data() + 16 * i, modes::unit_number(number, i));
            number = modes::unit_number(number, ahead);
            const typename Family::Functions& f = *key.functions;
            (runs_wide ? f.wide : f.narrow)[0](key, first.data(), first.data());
            ready = ahead;
        }
        next.value = load_block<4>(first.data() + 16 * (ahead - ready--));
        left = unit_blocks;
    }
    WARPSEAL_INLINE Block<4> take() {
        enter();
        const Block<4> tweak = next.value;
        next.value = modes::advance_tweak(tweak, 1);
        --left;
        return tweak;
    }
    WARPSEAL_INLINE void end_unit() { left = 0; }

    // Writes tweaks for a sweep; see CountedMasks.
    __attribute__((noinline)) void fill(uint8_t* to, const uint8_t*, size_t blocks, size_t) {
        while (blocks != 0) {
            enter();
            const size_t n = left < blocks ? left : blocks;
            powers(to, n);
            to += 16 * n, blocks -= n, left -= n;
        }
    }

private:
    static constexpr size_t word_bytes = sizeof(typename Family::Target::BitslicedWord);
    using Vector = VectorOf<uint64_t, word_bytes>;
    static constexpr int lanes = word_bytes / 16, vectors = 4, step = vectors * lanes;

    // Writes the next n tweaks. In whole steps, each tweak is x^step times the one `step` blocks
    // before it. The vectors therefore do not depend on each other.
    WARPSEAL_INLINE void powers(uint8_t* to, size_t n) {
        if (n >= step) {
            Vector v[vectors];
            for (int i = 0; i < step; ++i) {
                store_block(reinterpret_cast<uint8_t*>(v) + 16 * i, next.value);
                next.value = modes::advance_tweak(next.value, 1);
            }
            for (;; to += sizeof v) {
                memcpy(to, v, sizeof v);
                n -= step;
                for (Vector& each : v)
                    each = advanced(each, std::make_integer_sequence<int, 2 * lanes>{});
                if (n < step) break;
            }
            to += sizeof v;
            memcpy(next.value.word, v, 16);
        }
        for (; n != 0; --n, to += 16) {
            store_block(to, next.value);
            next.value = modes::advance_tweak(next.value, 1);
        }
    }
    template <int... i>
    WARPSEAL_INLINE static Vector advanced(const Vector& v, std::integer_sequence<int, i...>) {
        constexpr Vector low = {(i % 2 == 0 ? ~uint64_t{0} : 0)...};
        // Bits shifted out of each half. Those of the high half enter the low half times x^7 +
        // x^2 + x + 1.
        const Vector out = v >> (64 - step);
        const Vector in = __builtin_shufflevector(out, out, (i ^ 1)...);
        return v << step ^ in ^ ((in << 1 ^ in << 2 ^ in << 7) & low);
    }
};

// Tweaks of one data unit, from that of its first block.
struct UnitTweaks {
    SecretOf<Block<4>> next;

    WARPSEAL_INLINE Block<4> take() {
        const Block<4> tweak = next.value;
        next.value = modes::advance_tweak(tweak, 1);
        return tweak;
    }
    WARPSEAL_INLINE void end_unit() {}
};

template <class Family>
struct XtsMode {
    using Key = typename Family::Key;

    template <Direction direction>
    static void run(const Key& key, const Key& tweak_key, const XtsUnits& units, const uint8_t* in,
                    uint8_t* out, size_t bytes) {
        Tweaks<Family> tweaks(tweak_key, units);
        while (bytes != 0) {
            // Takes all of the text if data units are whole blocks, otherwise one unit.
            const size_t n =
                units.unit_bytes % 16 == 0 || bytes < units.unit_bytes ? bytes : units.unit_bytes;
            const size_t rest = n % 16, plain = n - rest - set_aside<direction>(rest);
            blocks<direction>(key, tweaks, in, out, plain);
            if (rest != 0) steal<direction>(key, tweaks, in + plain, out + plain, rest);
            in += n, out += n, bytes -= n;
        }
    }

    // Processes one data unit, or its beginning, by the representation's own loop.
    template <Direction direction>
    static void unit(const Key& key, const Key& tweak_key, const XtsUnits& units, const uint8_t* in,
                     uint8_t* out, size_t bytes) {
        UnitTweaks tweaks;
        tweaks.next.value = encrypt_one<Family>(tweak_key, load_block<4>(units.first));
        const size_t rest = bytes % 16, plain = bytes - rest - set_aside<direction>(rest);
        key.functions->xts_blocks[static_cast<int>(direction)](key, tweaks.next.value, in, out,
                                                               plain);
        if (rest != 0) steal<direction>(key, tweaks, in + plain, out + plain, rest);
    }

private:
    // Returns the bytes of the whole block that must wait for the `rest` bytes after it.
    template <Direction direction>
    static constexpr size_t set_aside(size_t rest) {
        return direction == Direction::decrypt && rest != 0 ? 16 : 0;
    }

    template <Direction direction>
    WARPSEAL_INLINE static void blocks(const Key& key, Tweaks<Family>& tweaks, const uint8_t* in,
                                       uint8_t* out, size_t bytes) {
        if constexpr (Family::functions.xts_blocks[0] != nullptr) {
            while (bytes != 0) {
                tweaks.enter();
                const size_t n = bytes / 16 < tweaks.left ? bytes : 16 * tweaks.left;
                key.functions->xts_blocks[static_cast<int>(direction)](key, tweaks.next.value, in,
                                                                       out, n);
                tweaks.left -= n / 16;
                in += n, out += n, bytes -= n;
            }
        } else {
            TileSweep<Family>::template run<modes::Xts, direction>(key, tweaks, in, out, bytes);
        }
    }

    // Ciphertext stealing at the end of a unit (IEEE 1619 5.3.2, 5.4.2). Encryption: the block
    // before the output position is complete, and its last bytes pad the `rest` bytes. Decryption:
    // the last whole block is not yet decrypted, and takes the second of the two tweaks.
    template <Direction direction, class Supply>
    __attribute__((noinline)) static void steal(const Key& key, Supply& tweaks, const uint8_t* in,
                                                uint8_t* out, size_t rest) {
        SecretOf<uint8_t[3][16]> secret;
        auto& [part, block, filled] = secret.value;
        if constexpr (direction == Direction::encrypt) {
            memcpy(part, in, rest);
            memcpy(block, out - 16, 16);
            memcpy(filled, part, rest);
            memcpy(filled + rest, block + rest, 16 - rest);
            one<direction>(key, tweaks.take(), filled);
            memcpy(out - 16, filled, 16);
            memcpy(out, block, rest);
        } else {
            const Block<4> before = tweaks.take(), last = tweaks.take();
            memcpy(part, in + 16, rest);
            memcpy(block, in, 16);
            one<direction>(key, last, block);
            memcpy(filled, part, rest);
            memcpy(filled + rest, block + rest, 16 - rest);
            one<direction>(key, before, filled);
            memcpy(out, filled, 16);
            memcpy(out + 16, block, rest);
        }
        tweaks.end_unit();
    }
    template <Direction direction>
    static void one(const Key& key, const Block<4>& tweak, uint8_t* block) {
        Secret<16 * Family::narrow_blocks> tile;
        store_block(tile.data(), load_block<4>(block) ^ tweak);
        key.functions->narrow[static_cast<int>(direction)](key, tile.data(), tile.data());
        store_block(block, load_block<4>(tile.data()) ^ tweak);
    }
};

}  // namespace
}  // namespace warpseal::cpu

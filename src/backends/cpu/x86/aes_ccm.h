// AES-CCM of one message (SP 800-38C 6.1 and 6.2). Counter blocks are encrypted during the latency
// of CBC-MAC.
#pragma once

#include "backends/cpu/x86/aes_chain.h"
#include "backends/cpu/x86/aes_rounds.h"
#include "core/block.h"
#include "modes/ccm.h"

namespace warpseal::cpu {
namespace {

// A block as two 64-bit halves, the first byte lowest. Blocks assembled this way stay in registers:
// a 16-byte load after narrower stores would stall on store forwarding.
struct Halves {
    uint64_t low, high;

    WARPSEAL_INLINE __m128i vector() const {
        return _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low));
    }
    template <class T>
    WARPSEAL_INLINE static uint64_t load(const uint8_t* p) {
        T x;
        memcpy(&x, p, sizeof x);
        return x;
    }
    // Loads fewer bytes than a block, and pads them with zeros.
    WARPSEAL_INLINE static Halves of(const uint8_t* p, size_t bytes) {
        if (bytes > 8)
            return {load<uint64_t>(p), load<uint64_t>(p + bytes - 8) >> (8 * (16 - bytes))};
        if (bytes >= 4)
            return {load<uint32_t>(p) | load<uint32_t>(p + bytes - 4) << (8 * (bytes - 4)), 0};
        uint64_t low = 0;
        for (size_t i = 0; i < bytes; ++i) low |= uint64_t{p[i]} << (8 * i);
        return {low, 0};
    }
};

// Inputs of a message other than its text.
struct CcmHead {
    const uint8_t* nonce;
    uint32_t nonce_bytes, tag_bytes;
    const uint8_t* aad;
    uint64_t aad_bytes;
};

template <class Aes, Direction direction>
struct AesCcm {
    using Schedule = typename Aes::Schedule;
    static constexpr int rounds = Aes::rounds;

    // Processes one message. Returns its full tag.
    static __m128i message(const Schedule& schedule, const CcmHead& head, const uint8_t* in,
                           uint8_t* out, size_t bytes) {
        // Same as modes/ccm.h, in halves. Both blocks begin with flags and nonce. The length field
        // fits in the bytes that the nonce leaves.
        const Halves nonce = Halves::of(head.nonce, head.nonce_bytes);
        const uint64_t after_flags = nonce.low << 8, high = nonce.high << 8 | nonce.low >> 56;
        const uint64_t flags = (head.aad_bytes != 0 ? 64u : 0u) | (head.tag_bytes - 2) / 2 << 3 |
                               (14 - head.nonce_bytes);
        const __m128i counter0 = Halves{after_flags | (14 - head.nonce_bytes), high}.vector();
        __m128i s[2] = {Halves{after_flags | flags, high | __builtin_bswap64(bytes)}.vector(),
                        counter0};
        Aes::template encipher<Direction::encrypt>(schedule, s);
        if (head.aad_bytes != 0) sum_aad(schedule, s[0], head.aad, head.aad_bytes);
        text(schedule, s[0], _mm_add_epi64(reversed(counter0), _mm_set_epi64x(0, 1)), in, out,
             bytes);
        return s[0] ^ s[1];
    }

private:
    // Absorbs the encoded length of the AAD and the AAD into the CBC-MAC, padded with zeros to
    // whole blocks.
    static void sum_aad(const Schedule& schedule, __m128i& sum, const uint8_t* aad,
                        uint64_t aad_bytes) {
        using Chain = AesChain<Aes, macs::CbcMac>;
        uint8_t length[modes::ccm::longest_length];
        const uint32_t length_bytes = modes::ccm::encode_length(aad_bytes, length);
        const size_t capacity = 16 - length_bytes,
                     beside = aad_bytes < capacity ? static_cast<size_t>(aad_bytes) : capacity;
        const Halves first = Halves::of(aad, beside);
        alignas(16) uint8_t block[16] = {};
        if (length_bytes == 2) {
            const Halves both = {
                first.low << 16 | __builtin_bswap16(static_cast<uint16_t>(aad_bytes)),
                first.high << 16 | first.low >> 48};
            sum = Aes::template one<Direction::encrypt>(schedule, sum ^ both.vector());
        } else {
            memcpy(block, length, length_bytes);
            memcpy(block + length_bytes, aad, capacity);
            Chain::run(schedule, sum, block, nullptr, 1);
        }
        const size_t left = static_cast<size_t>(aad_bytes) - beside;
        Chain::run(schedule, sum, aad + beside, nullptr, left / 16);
        if (left % 16 != 0)
            sum = Aes::template one<Direction::encrypt>(
                schedule, sum ^ Halves::of(aad + beside + left / 16 * 16, left % 16).vector());
    }

    // Encrypts or decrypts the text, and absorbs the plaintext into the CBC-MAC, padded with zeros
    // to whole blocks. See AesChain for the chain.
    WARPSEAL_INLINE static void text(const Schedule& schedule, __m128i& sum, __m128i first_counter,
                                     const uint8_t* in, uint8_t* out, size_t bytes) {
        if (bytes == 0) return;
        const __m128i first_key = key_at(schedule.forward, 0),
                      between = first_key ^ key_at(schedule.forward, rounds);
        Text text{schedule, first_counter, in, out, bytes};
        __m128i s = sum ^ first_key ^ text.next();
        while (true) {
            const bool last = text.bytes == 0;
            const __m128i following = last ? _mm_setzero_si128() : text.next();
            WARPSEAL_UNROLL
            for (int r = 1; r < rounds; ++r) s = _mm_aesenc_si128(s, key_at(schedule.forward, r));
            s = _mm_aesenclast_si128(s, between ^ following);
            if (last) break;
        }
        sum = s ^ first_key;
    }

    WARPSEAL_INLINE static __m128i reversed(__m128i x) {
        return _mm_shuffle_epi8(x,
                                _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    }

    struct Text {
        const Schedule& schedule;
        // Number in native order. At most 8 bytes of it count, and they never wrap (SP 800-38C
        // A.3).
        __m128i counter;
        const uint8_t* in;
        uint8_t* out;
        size_t bytes;

        // Processes the next block. Returns its plaintext.
        WARPSEAL_INLINE __m128i next() {
            __m128i mask = reversed(counter) ^ key_at(schedule.forward, 0);
            WARPSEAL_UNROLL
            for (int r = 1; r < rounds; ++r)
                mask = _mm_aesenc_si128(mask, key_at(schedule.forward, r));
            mask = _mm_aesenclast_si128(mask, key_at(schedule.forward, rounds));
            counter = _mm_add_epi64(counter, _mm_set_epi64x(0, 1));
            if (bytes < 16) return partial_block(mask);
            const __m128i data = load_one(in), result = data ^ mask;
            store_one(out, result);
            in += 16, out += 16, bytes -= 16;
            return direction == Direction::encrypt ? data : result;
        }
        __m128i partial_block(__m128i mask) {
            Secret<16> data, result;
            memcpy(data.data(), in, bytes);
            store_one(result.data(), load_one(data.data()) ^ mask);
            memcpy(out, result.data(), bytes);
            memset(result.data() + bytes, 0, 16 - bytes);
            bytes = 0;
            return load_one(direction == Direction::encrypt ? data.data() : result.data());
        }
    };
};

}  // namespace
}  // namespace warpseal::cpu

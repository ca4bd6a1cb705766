// BlockFunction: one block of a cipher in one direction on a GPU thread. Uses tables if a layout
// fits in shared memory, else the word-sliced, byte-sliced or bitsliced representation.
#pragma once

#include <type_traits>

#include "backends/cipher_backend.h"
#include "backends/cuda/device/tables.cuh"
#include "core/bitsliced_byte.h"
#include "core/block.h"

namespace warpseal::cuda {

template <class Cipher>
using TextBlock = Block<Cipher::block_bytes / 4>;

// Access to the key schedule for the word-sliced, byte-sliced and bitsliced representations.
struct KeyWords {
    const uint32_t* schedule;
    WARPSEAL_INLINE uint32_t operator()(int i) const { return schedule[i]; }
};
struct KeyBits {
    const uint32_t* schedule;
    WARPSEAL_INLINE uint32_t operator()(int i) const {
        return 0u - (schedule[i / 32] >> (i % 32) & 1);
    }
};

// Byte-sliced representation: one byte of a block in a word. S-boxes are circuits; device code has
// one copy of each.
#ifdef __CUDACC__
template <class S>
__device__ __noinline__ uint32_t substitute_once(uint32_t word) {
    return WordSubstitution{}.substitute<S>(word);
}
#endif
template <class S>
WARPSEAL_INLINE uint32_t substitute_bytes(uint32_t word) {
#if defined(__CUDA_ARCH__)
    return substitute_once<S>(word);
#else
    return WordSubstitution{}.substitute<S>(word);
#endif
}
struct OneByte {
    uint32_t value;
    WARPSEAL_INLINE static OneByte zero() { return OneByte{0}; }
    friend WARPSEAL_INLINE OneByte operator^(OneByte a, OneByte b) {
        return OneByte{a.value ^ b.value};
    }
    friend WARPSEAL_INLINE OneByte operator&(OneByte a, OneByte b) {
        return OneByte{a.value & b.value};
    }
    friend WARPSEAL_INLINE OneByte operator|(OneByte a, OneByte b) {
        return OneByte{a.value | b.value};
    }
    friend WARPSEAL_INLINE OneByte operator~(OneByte a) { return OneByte{a.value ^ 0xff}; }
    friend WARPSEAL_INLINE OneByte operator+(OneByte a, OneByte b) {
        return OneByte{(a.value + b.value) & 0xff};
    }
    WARPSEAL_INLINE OneByte& operator^=(OneByte other) { return *this = *this ^ other; }
    friend WARPSEAL_INLINE OneByte add3(OneByte a, OneByte b, OneByte c) { return a ^ b ^ c; }
    template <class S>
    friend WARPSEAL_INLINE OneByte substitute(OneByte a) {
        return OneByte{substitute_bytes<S>(a.value) & 0xff};
    }
    template <int n>
    friend WARPSEAL_INLINE OneByte shift_left(OneByte a) {
        return OneByte{a.value << n & 0xff};
    }
    template <int n>
    friend WARPSEAL_INLINE OneByte shift_right(OneByte a) {
        return OneByte{a.value >> n};
    }
};
struct KeyBytes {
    const uint32_t* schedule;
    WARPSEAL_INLINE OneByte operator()(int i) const {
        return {schedule[i / 4] >> (8 * (i % 4)) & 0xff};
    }
};

// Representations that a cipher header provides.
template <class Cipher>
concept HasTables = requires {
    typename Cipher::EncryptTables;
};
template <class Cipher>
concept HasWords = requires(uint32_t (&s)[Cipher::block_bytes / 4], KeyWords key) {
    Cipher::encrypt_words(s, key);
};
template <class Cipher>
concept HasBytes = requires(OneByte (&s)[Cipher::block_bytes], KeyBytes key) {
    Cipher::encrypt_bytes(s, key);
};
template <class Cipher>
concept HasBitsliced = requires(uint32_t (&p)[8 * Cipher::block_bytes], KeyBits key) {
    Cipher::encrypt_bitsliced(p, key);
};

// True if decryption is a separate function, not encryption under the inverse schedule.
template <class Cipher>
concept Decrypts = requires(uint32_t (&s)[Cipher::block_bytes / 4], KeyWords key) {
    Cipher::decrypt_words(s, key);
}
|| requires(OneByte (&s)[Cipher::block_bytes], KeyBytes key) { Cipher::decrypt_bytes(s, key); }
|| requires(uint32_t (&p)[8 * Cipher::block_bytes], KeyBits key) {
    Cipher::decrypt_bitsliced(p, key);
}
|| requires { typename Cipher::DecryptTables; };

template <class Cipher, Direction direction>
struct TablesOf {
    using type = void;
};
template <HasTables Cipher>
struct TablesOf<Cipher, Direction::encrypt> {
    using type = typename Cipher::EncryptTables;
};
template <HasTables Cipher>
requires requires { typename Cipher::DecryptTables; }
struct TablesOf<Cipher, Direction::decrypt> {
    using type = typename Cipher::DecryptTables;
};

// A cipher's block function in one direction. If decryption is encryption under another schedule,
// both directions are the same type.
template <class C, Direction cipher_direction>
struct BlockFunctionOf {
    using Cipher = C;
    static constexpr Direction direction = cipher_direction;
    using Tables = typename TablesOf<Cipher, cipher_direction>::type;
    static constexpr bool has_tables = !std::is_void_v<Tables>;

    // True if the header provides a table-based function for two blocks at a time.
    static constexpr bool pairs = [] {
        using Words = uint32_t[Cipher::block_bytes / 4];
        if constexpr (!has_tables)
            return false;
        else if constexpr (cipher_direction == Direction::encrypt)
            return requires(Words & s, const ArrayLayout<Tables>& tables) {
                Cipher::encrypt(s, s, s, tables);
            };
        else
            return requires(Words & s, const ArrayLayout<Tables>& tables) {
                Cipher::decrypt(s, s, s, tables);
            };
    }();

    // Fallback: byte by byte, or bitsliced with the block in one lane.
    WARPSEAL_INLINE static void run_bits(TextBlock<Cipher>& b, const uint32_t* k) {
        constexpr int n = Cipher::block_bytes;
        if constexpr (HasBytes<Cipher>) {
            OneByte s[n];
            for (int i = 0; i < n; ++i) s[i] = KeyBytes{b.word}(i);
            if constexpr (cipher_direction == Direction::encrypt)
                Cipher::encrypt_bytes(s, KeyBytes{k});
            else
                Cipher::decrypt_bytes(s, KeyBytes{k});
            b = {};
            for (int i = 0; i < n; ++i) b.word[i / 4] |= s[i].value << (8 * (i % 4));
        } else {
            uint32_t p[8 * n];
            for (int i = 0; i < 8 * n; ++i) p[i] = KeyBits{b.word}(i);
            if constexpr (cipher_direction == Direction::encrypt)
                Cipher::encrypt_bitsliced(p, KeyBits{k});
            else
                Cipher::decrypt_bitsliced(p, KeyBits{k});
            b = {};
            for (int i = 0; i < 8 * n; ++i) b.word[i / 32] |= (p[i] & 1) << (i % 32);
        }
    }

#ifdef __CUDACC__
    __device__ __noinline__ static TextBlock<Cipher> run_bits_once(TextBlock<Cipher> b,
                                                                   const uint32_t* k) {
        run_bits(b, k);
        return b;
    }
#endif

    template <class TableLookup>
    WARPSEAL_INLINE static void run(TextBlock<Cipher>& b, const uint32_t* k,
                                    const TableLookup& tables) {
        if constexpr (TableLookup::uses_tables) {
            if constexpr (cipher_direction == Direction::encrypt)
                Cipher::encrypt(b.word, k, tables);
            else
                Cipher::decrypt(b.word, k, tables);
        } else if constexpr (HasWords<Cipher>) {
            if constexpr (cipher_direction == Direction::encrypt)
                Cipher::encrypt_words(b.word, KeyWords{k});
            else
                Cipher::decrypt_words(b.word, KeyWords{k});
        } else {
#if defined(__CUDA_ARCH__)
            b = run_bits_once(b, k);
#else
            run_bits(b, k);
#endif
        }
    }

    template <class TableLookup>
    WARPSEAL_INLINE static void run(TextBlock<Cipher>& a, TextBlock<Cipher>& b, const uint32_t* k,
                                    const TableLookup& tables) {
        if constexpr (!TableLookup::uses_tables || !pairs) {
            run(a, k, tables);
            run(b, k, tables);
        } else if constexpr (cipher_direction == Direction::encrypt) {
            Cipher::encrypt(a.word, b.word, k, tables);
        } else {
            Cipher::decrypt(a.word, b.word, k, tables);
        }
    }
};

template <class Cipher, Direction direction>
using BlockFunction = BlockFunctionOf<Cipher, Decrypts<Cipher> ? direction : Direction::encrypt>;

// ---- table layout

// Shared memory in bytes that a block may use on the GPUs that code for this architecture (90: 9.0)
// targets. Each architecture has one compiled layout; the host computes the same choice.
constexpr size_t shared_limit(int architecture) {
    const int kilobytes = architecture < 80                          ? 64
                          : architecture == 80 || architecture == 87 ? 163
                          : architecture >= 90 && architecture < 120 ? 227
                                                                     : 99;
    return static_cast<size_t>(kilobytes) * 1024;
}

#if defined(__CUDA_ARCH__)
inline constexpr int compiled_for = __CUDA_ARCH__ / 10;
#else
inline constexpr int compiled_for = 0;  // host pass over device code
#endif

// Limit of the shared memory for tables. SmallestSharedMemory is the smallest of any supported GPU,
// so that layouts for small GPUs can be tested on large ones.
struct DeviceSharedMemory {
    static constexpr size_t limit(int architecture) { return shared_limit(architecture); }
};
struct SmallestSharedMemory {
    static constexpr size_t limit(int) { return shared_limit(75); }
};

enum class LayoutKind { none, merged, wide };

template <class BlockFunction, class SharedMemoryLimit, size_t reserved_bytes>
constexpr LayoutKind layout_kind(int architecture) {
    if constexpr (BlockFunction::has_tables) {
        if (WideLayout<typename BlockFunction::Tables>::bytes + reserved_bytes <=
            SharedMemoryLimit::limit(architecture))
            return LayoutKind::wide;
        if (MergedLayout<typename BlockFunction::Tables>::bytes + reserved_bytes <=
            SharedMemoryLimit::limit(architecture))
            return LayoutKind::merged;
    }
    return LayoutKind::none;
}

template <class BlockFunction, LayoutKind kind>
struct LayoutOf {
    using type = NoLayout;
};
template <class BlockFunction>
struct LayoutOf<BlockFunction, LayoutKind::merged> {
    using type = MergedLayout<typename BlockFunction::Tables>;
};
template <class BlockFunction>
struct LayoutOf<BlockFunction, LayoutKind::wide> {
    using type = WideLayout<typename BlockFunction::Tables>;
};

// Device code: the layout that leaves `reserved_bytes` bytes of shared memory for other use.
template <class BlockFunction, class SharedMemoryLimit, size_t reserved_bytes = 0>
using Layout =
    typename LayoutOf<BlockFunction, layout_kind<BlockFunction, SharedMemoryLimit, reserved_bytes>(
                                         compiled_for)>::type;

// Host code: the shared memory in bytes that a kernel with that layout needs.
template <class BlockFunction, class SharedMemoryLimit, size_t reserved_bytes = 0>
size_t shared_bytes(int architecture) {
    const LayoutKind kind =
        layout_kind<BlockFunction, SharedMemoryLimit, reserved_bytes>(architecture);
    if constexpr (BlockFunction::has_tables)
        return reserved_bytes + (kind == LayoutKind::wide
                                     ? LayoutOf<BlockFunction, LayoutKind::wide>::type::bytes
                                 : kind == LayoutKind::merged
                                     ? LayoutOf<BlockFunction, LayoutKind::merged>::type::bytes
                                     : 0);
    else
        return reserved_bytes;
}

#ifdef __CUDACC__

// Not inlined: one copy of the code, for calls off the hot path.
template <class BlockFunction, class TableLookup>
__device__ __noinline__ TextBlock<typename BlockFunction::Cipher> run_once(
    TextBlock<typename BlockFunction::Cipher> b, const uint32_t* schedule, TableLookup tables) {
    BlockFunction::run(b, schedule, tables);
    return b;
}

#endif

}  // namespace warpseal::cuda

// Rows: text in rows of 32 blocks, one block for each lane of a warp, at any alignment. No byte
// outside the text is accessed.
#pragma once

#include "backends/cuda/device/key_state.cuh"

namespace warpseal::cuda {

// Returns 16 of the 32 bytes of two blocks, from byte `shift` on. `shift` is the same in all lanes.
__device__ __forceinline__ Block<4> window(const Block<4>& low, const Block<4>& high,
                                           uint32_t shift) {
    uint32_t w[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) w[i] = i < 4 ? low.word[i % 4] : high.word[i % 4];
#pragma unroll
    for (int i = 0; i < 6; ++i) w[i] = shift & 8 ? w[i + 2] : w[i];
#pragma unroll
    for (int i = 0; i < 5; ++i) w[i] = shift & 4 ? w[i + 1] : w[i];
    Block<4> b;
#pragma unroll
    for (int i = 0; i < 4; ++i) b.word[i] = __funnelshift_r(w[i], w[i + 1], 8 * (shift & 3));
    return b;
}

__device__ __forceinline__ uint32_t misalignment(const uint8_t* p) {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(p)) & 15;
}

// This lane's block in a row that starts with block `first`, in a text of `text_bytes` bytes.
template <int n>
struct RowRange {
    int64_t first;
    uint64_t text_bytes;
    bool whole;

    __device__ __forceinline__ uint32_t bytes() const {
        const int64_t i = first + lane_id();
        return i < 0 || static_cast<uint64_t>(i) * 4 * n >= text_bytes
                   ? 0
                   : bytes_in_block<n>(text_bytes, static_cast<uint64_t>(i));
    }
};

// Returns this lane's block if it is not aligned to 16 bytes. For a whole row, the aligned lines
// are already loaded and lanes exchange their bytes. `in` is the lane's block in the text's first
// row. Not inlined: one copy of the code, off the hot path.
template <int n>
__device__ __noinline__ Block<n> load_unaligned(const uint8_t* in, Block<n> line,
                                                RowRange<n> range) {
    const uint8_t* const p = in + 4 * n * range.first;
    if constexpr (n == 4) {
        if (range.whole && misalignment(p) == 0) return line;
        if (range.whole) {
            Block<4> next = from_lane(line, lane_id() + 1);
            if (lane_id() == 31) load_aligned(next, p - misalignment(p) + 16);
            return window(line, next, misalignment(p));
        }
    }
    return load_partial<n>(p, range.bytes(), width_of(reinterpret_cast<uintptr_t>(p)));
}
// Stores a block that is not aligned to 16 bytes. The first and last line of a row are shared with
// adjacent rows.
template <int n>
__device__ __noinline__ void store_unaligned(uint8_t* out, Block<n> b, RowRange<n> range) {
    uint8_t* const p = out + 4 * n * range.first;
    if constexpr (n == 4) {
        const uint32_t shift = misalignment(p);
        if (range.whole && shift == 0) return store_aligned(p, b);
        if (range.whole) {
            const Block<4> line = window(from_lane(b, lane_id() + 31), b, 16 - shift);
            if (lane_id() != 0) store_aligned(p - shift, line);
#pragma unroll
            for (int i = 0; i < 16; ++i)
                if (lane_id() == (i < 16 - shift ? 0 : 31))
                    p[i] = static_cast<uint8_t>(b.word[i / 4] >> (8 * (i % 4)));
            return;
        }
    }
    store_partial(p, b, range.bytes(), width_of(reinterpret_cast<uintptr_t>(p)));
}

// A text processed in rows. One row may start before the text and one may end after it.
template <int n>
class RowText {
public:
    __device__ __forceinline__ RowText(const uint8_t* in, uint8_t* out, uint64_t bytes)
        : in_(in + 4 * n * lane_id()),
          out_(out + 4 * n * lane_id()),
          bytes_(bytes),
          margin_(common_width(in, out) == 16 ? 0 : 1),
          last_(static_cast<int64_t>(bytes / (4 * n)) - 32 - margin_) {}

    // Loads the aligned line (16 bytes) that contains the start of this lane's block, in the row
    // from block `first`. It has no branches, so that the load stays in flight during other work
    // until block() needs it.
    __device__ __forceinline__ Block<n> line(int64_t first) const {
        Block<n> b{};
        if constexpr (n == 4)
            if (whole(first)) load_aligned(b, in_ + 16 * first - misalignment(in_));
        return b;
    }
    // Returns the block; bytes outside the text are zero.
    __device__ __forceinline__ Block<n> block(int64_t first, const Block<n>& line) const {
        if (n == 4 && margin_ == 0 && whole(first)) return line;
        return load_unaligned<n>(in_, line, {first, bytes_, whole(first)});
    }
    __device__ __forceinline__ void store(int64_t first, const Block<n>& b) const {
        if constexpr (n == 4)
            if (margin_ == 0 && whole(first)) return store_aligned(out_ + 16 * first, b);
        store_unaligned<n>(out_, b, {first, bytes_, whole(first)});
    }

private:
    // True if the row is 32 whole blocks. If the text is not aligned, a block before and one after
    // the row must exist, because some of their bytes are read.
    __device__ __forceinline__ bool whole(int64_t first) const {
        return first >= margin_ && first <= last_;
    }

    const uint8_t* in_;  // this lane's block in the text's first row
    uint8_t* out_;
    uint64_t bytes_;
    int64_t margin_, last_;  // margin_: blocks that must precede and follow a whole row
};

// A text of whole, 16-byte aligned blocks. It avoids the calls of RowText, which take registers
// from the surrounding loop (AES-128 in CTR is 3 % faster).
class LineText {
public:
    __device__ __forceinline__ LineText(const uint8_t* in, uint8_t* out, uint64_t bytes)
        : in_(in + 16 * lane_id()),
          out_(out + 16 * lane_id()),
          blocks_(static_cast<int64_t>(bytes / 16) - lane_id()) {}

    __device__ __forceinline__ Block<4> line(int64_t first) const {
        Block<4> b{};
        if (within(first)) load_aligned(b, in_ + 16 * first);
        return b;
    }
    __device__ __forceinline__ Block<4> block(int64_t, const Block<4>& line) const { return line; }
    __device__ __forceinline__ void store(int64_t first, const Block<4>& b) const {
        if (within(first)) store_aligned(out_ + 16 * first, b);
    }

private:
    __device__ __forceinline__ bool within(int64_t first) const {
        return first >= -int64_t{lane_id()} && first < blocks_;
    }

    const uint8_t* in_;  // this lane's block in the text's first row
    uint8_t* out_;
    int64_t blocks_;  // number of blocks, minus the lane index
};

}  // namespace warpseal::cuda

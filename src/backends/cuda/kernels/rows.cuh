// Rows: text that a warp takes 32 blocks of 16 bytes at a time, a block to a lane, at any alignment
// and with never a byte outside.
#pragma once

#include "backends/cuda/device/key_state.cuh"

namespace warpseal::cuda {

// 16 of the 32 bytes of two blocks, from byte `shift` on; all lanes shift alike.
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

__device__ __forceinline__ uint32_t out_of_line(const uint8_t* p) {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(p)) & 15;
}

// Where a row that begins with block `first` has this lane's block, in a text of so many bytes.
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

// The block of this lane where it is not a line by itself. Of a whole row the lines of 16 bytes
// have been read, and what belongs to another block passes from lane to lane. `in` is where the
// lane has its block of the text's first row. Off the hot path: one copy of the code.
template <int n>
__device__ __noinline__ Block<n> load_apart(const uint8_t* in, Block<n> line, RowRange<n> range) {
    const uint8_t* const p = in + 4 * n * range.first;
    if constexpr (n == 4) {
        if (range.whole && out_of_line(p) == 0) return line;
        if (range.whole) {
            Block<4> next = from_lane(line, lane_id() + 1);
            if (lane_id() == 31) load_aligned(next, p - out_of_line(p) + 16);
            return window(line, next, out_of_line(p));
        }
    }
    return load_partial<n>(p, range.bytes(), width_of(reinterpret_cast<uintptr_t>(p)));
}
// The first and the last line of a row belong to its neighbours, too.
template <int n>
__device__ __noinline__ void store_apart(uint8_t* out, Block<n> b, RowRange<n> range) {
    uint8_t* const p = out + 4 * n * range.first;
    if constexpr (n == 4) {
        const uint32_t shift = out_of_line(p);
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

// A text that warps take in rows, of which one may begin before it and one end after it.
template <int n>
class RowText {
public:
    __device__ __forceinline__ RowText(const uint8_t* in, uint8_t* out, uint64_t bytes)
        : in_(in + 4 * n * lane_id()),
          out_(out + 4 * n * lane_id()),
          bytes_(bytes),
          beside_(common_width(in, out) == 16 ? 0 : 1),
          last_(static_cast<int64_t>(bytes / (4 * n)) - 32 - beside_) {}

    // The line in which this lane's block of the row from block `first` on begins. Nothing branches
    // here, so that it is on its way while the thread works on something else, until block() is
    // asked for.
    __device__ __forceinline__ Block<n> line(int64_t first) const {
        Block<n> b{};
        if constexpr (n == 4)
            if (whole(first)) load_aligned(b, in_ + 16 * first - out_of_line(in_));
        return b;
    }
    // The block; zeros outside of the text.
    __device__ __forceinline__ Block<n> block(int64_t first, const Block<n>& line) const {
        if (n == 4 && beside_ == 0 && whole(first)) return line;
        return load_apart<n>(in_, line, {first, bytes_, whole(first)});
    }
    __device__ __forceinline__ void store(int64_t first, const Block<n>& b) const {
        if constexpr (n == 4)
            if (beside_ == 0 && whole(first)) return store_aligned(out_ + 16 * first, b);
        store_apart<n>(out_, b, {first, bytes_, whole(first)});
    }

private:
    // 32 whole blocks, and out of line something before and after them that may be read as well.
    __device__ __forceinline__ bool whole(int64_t first) const {
        return first >= beside_ && first <= last_;
    }

    const uint8_t* in_;  // where this lane has its block of the text's first row
    uint8_t* out_;
    uint64_t bytes_;
    int64_t beside_, last_;
};

// The same of a text whose blocks are whole and lines by themselves: without the calls above, which
// take registers from the loop that they stand in (AES-128 in CTR is 3 % faster).
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

    const uint8_t* in_;  // where this lane has its block of the text's first row
    uint8_t* out_;
    int64_t blocks_;  // less those of the lanes before this one
};

}  // namespace warpseal::cuda

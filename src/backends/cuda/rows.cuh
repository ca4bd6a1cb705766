// Rows: text that a warp takes 32 blocks of 16 bytes at a time, a block to a lane, at any alignment and with never a byte outside.
#pragma once

#include "backends/cuda/state.cuh"

namespace warpseal::cuda {

// 16 of the 32 bytes of two blocks, from byte `shift` on; all lanes shift alike.
__device__ __forceinline__ Block<4> window(const Block<4>& low, const Block<4>& high, uint32_t shift) {
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

// Off the hot path: one copy of the code.
template <int n>
__device__ __noinline__ Block<n> load_part_once(const uint8_t* p, uint32_t bytes, uint32_t width) {
    return load_part<n>(p, bytes, width);
}
template <int n>
__device__ __noinline__ void store_part_once(uint8_t* p, Block<n> b, uint32_t bytes, uint32_t width) {
    store_part(p, b, bytes, width);
}

// A text that warps take in rows, of which one may begin before it and one end after it. Out of line, a row is read and written in lines of
// 16 bytes, and what belongs to another block passes from lane to lane.
template <int n>
class RowText {
public:
    __device__ __forceinline__ RowText(const uint8_t* in, uint8_t* out, uint64_t bytes)
        : in_(in), out_(out), bytes_(bytes), width_(common_width(in, out)) {}

    // The line in which this lane's block of the row from block `first` on begins. Nothing branches here, so that it is on its way while
    // the thread works on something else, until block() is asked for.
    __device__ __forceinline__ Block<n> line(int64_t first) const {
        Block<n> b{};
        if constexpr (n == 4)
            if (whole(first)) load_aligned(b, in_ + 16 * (first + lane_id()) - shift(in_));
        return b;
    }
    // The block; zeros outside of the text.
    __device__ __forceinline__ Block<n> block(int64_t first, const Block<n>& line) const {
        const int64_t i = first + lane_id();
        const uint8_t* const p = in_ + 4 * n * i;
        if constexpr (n == 4) {
            if (whole(first)) {
                if (shift(in_) == 0) return line;
                Block<4> next = from_lane(line, lane_id() + 1);
                if (lane_id() == 31) load_aligned(next, p - shift(in_) + 16);
                return window(line, next, shift(in_));
            }
        }
        return load_part_once<n>(p, bytes_at(i), width_);
    }
    __device__ __forceinline__ void store(int64_t first, const Block<n>& b) const {
        const int64_t i = first + lane_id();
        uint8_t* const p = out_ + 4 * n * i;
        if constexpr (n == 4) {
            if (whole(first)) {
                if (shift(out_) == 0) return store_aligned(p, b);
                const Block<4> line = window(from_lane(b, lane_id() + 31), b, 16 - shift(out_));
                if (lane_id() != 0) store_aligned(p - shift(out_), line);
#pragma unroll
                for (int j = 0; j < 16; ++j)
                    if (lane_id() == (j < 16 - shift(out_) ? 0 : 31)) p[j] = static_cast<uint8_t>(b.word[j / 4] >> (8 * (j % 4)));
                return;
            }
        }
        store_part_once<n>(p, b, bytes_at(i), width_);
    }

private:
    __device__ __forceinline__ static uint32_t shift(const uint8_t* p) {
        return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(p)) & 15;
    }
    // 32 whole blocks, and out of line something before and after them that may be read as well.
    __device__ __forceinline__ bool whole(int64_t first) const {
        const int64_t beside = width_ == 16 ? 0 : 1;
        return first >= beside && first + 32 + beside <= static_cast<int64_t>(bytes_ / 16);
    }
    __device__ __forceinline__ uint32_t bytes_at(int64_t i) const {
        return i < 0 || static_cast<uint64_t>(i) * 4 * n >= bytes_ ? 0 : bytes_in_block<n>(bytes_, static_cast<uint64_t>(i));
    }

    const uint8_t* in_;
    uint8_t* out_;
    uint64_t bytes_;
    uint32_t width_;
};

}  // namespace warpseal::cuda

// Every launch parameter of the CUDA backend, with the GPUs it was measured on.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpseal::cuda::tuning {

// One block of 32 warps on each multiprocessor, which then stays: its tables take most of the
// shared memory (AES on an H200: 160 of 227 KB; compute capability 8.0: of 163). Where they do not
// fit, the merged layout does: 7.5, 8.6, 8.9, 12.0. Measured on an H200.
inline constexpr int threads = 1024;
inline constexpr int warps = threads / 32;

// GHASH on tensor cores: sums of bits fill half of the registers that these threads share, and a
// quad of them takes a segment.
inline constexpr int reduction_threads = 512;
inline constexpr int image_threads = 128;
inline constexpr uint64_t segment_blocks = 1024;  // at most
inline constexpr uint64_t summing_lanes =
    256;  // of a multiprocessor, for segments' sums: a lane pays for powers of H
inline constexpr uint64_t segments_per_row =
    4;  // at least, where there is enough text: so many for each quad of the grid
// What that is worth its launches: so much of all messages, so much of each, and no more AAD, which
// is then folded by a thread.
inline constexpr uint64_t two_pass_bytes = uint64_t{8} << 20;
inline constexpr uint64_t two_pass_message_bytes = 1024;
inline constexpr uint64_t two_pass_aad_bytes = 1024;

// Blocks of one message that a warp folds before it pays for a power of H (which costs about as
// much as 80 of them, 800 if the key is the message's own). A grid that would be left half empty
// takes the smaller part.
inline constexpr uint64_t tile_blocks = 1024;
inline constexpr uint64_t tile_blocks_small_grid = 256;
inline constexpr uint64_t tile_blocks_own_key = 4096;
inline constexpr uint64_t tile_blocks_own_key_small_grid = 1024;
// Parts for each warp of the grid, so that the last wave is a small part of the whole.
inline constexpr uint64_t tiles_per_warp = 8;
// Parts that a message of a length unknown to the host may be split into at least: short ones leave
// most of them empty.
inline constexpr uint64_t tiles_of_unknown_length = 64;

// A sweep from here on is taken two blocks at a time by each thread, in CTR by steps of 2048
// counters, of which 16 MiB has 512, 4 for each multiprocessor; less is spread evenly, one block at
// a time.
inline constexpr size_t rows_bytes = size_t{16} << 20;

// Rows of 32 blocks at most that a warp takes at a time where each block needs the one before (CBC
// and CFB decryption).
inline constexpr uint64_t tile_rows = 16;
// Tiles whose last blocks scratch holds, if in place: those of 2 GiB, which takes a hundred times
// as long as the launches of another part.
inline constexpr uint64_t edges_at_once = uint64_t{1} << 18;
// Rows of a data unit of XTS at most that a warp takes at a time: it makes the tweak of the first
// one's blocks that of the next.
inline constexpr uint64_t unit_rows = 16;
// Tweaks of XTS in scratch, 16 bytes for 32 blocks or more: those of 1 GiB or more.
inline constexpr uint64_t tweaks_at_once = uint64_t{1} << 21;

// Plane form: a block of 12 warps on each multiprocessor, whose 65,536 registers are 168 for each
// thread: with 16 warps and 128 registers Triple DES would spill, and be no faster. Less data than
// this does not give each warp a tile.
inline constexpr int bitsliced_threads = 384;
inline constexpr size_t bitsliced_min_bytes = size_t{4} << 20;

// Pipeline. 16 MiB take about 0.3 ms over PCIe 5 x16, a hundred times a launch. Three of them, by
// the one thread that feeds pinned memory straight to the GPU, keep both directions busy; four or
// more are 1 to 2 % slower on an H200, where three just fit the second level of the cache. Blocks
// that wait for each other want more of them at once.
inline constexpr size_t slot_bytes = size_t{16} << 20;
inline constexpr size_t smallest_slot_bytes = size_t{1}
                                              << 20;  // tried before out of memory is reported
inline constexpr int slots_in_flight = 3, slots_of_chains = 4;
inline constexpr int staging_threads = 6;  // for pageable memory: one core copies about 10 GB/s
inline constexpr int slots_per_staging_thread = 2;
inline constexpr int slots_kept = 16;  // per device: 256 MiB there and as much pinned
inline constexpr size_t device_bytes_limit = size_t{512} << 20;
// How long a thread asks for the end of a piece before it sleeps until told: to be woken took 0.1
// ms and more on a virtual machine, a third of the time that a piece takes over the link.
inline constexpr int asking_microseconds = 2000;

// Work space that is kept between calls: to map it anew took 60 to 100 us a call, more than the
// kernels of some MiB.
inline constexpr size_t kept_work_bytes = size_t{256} << 20;

// NTRU: a warp for each item of a batch (in key generation for a group of them, too), as many on a
// multiprocessor as its registers hold without a spill (a product takes 12 for each 128
// coefficients); of the two sets of more than 1,000 coefficients, less in a block, whose shared
// memory is not everywhere that of an H200. Hashing takes a lane for each item.
template <int n>
inline constexpr int kem_threads = n < 1000 ? 128 : 64;
template <int n>
inline constexpr int kem_blocks = n<600 || n> 1000 ? 4 : 3;
template <int n>
inline constexpr int kem_encapsulate_blocks =
    n < 800 ? 4 : kem_blocks<n>;  // of two products and a sort; a pair is drawn with one and a sort
inline constexpr int kem_hash_threads = 128;
// Key generation: pairs are inverted in groups that leave each multiprocessor at least so many, as
// a longer one saves little and is later done. Of 1 to 32, for 64 to 131,072 pairs of four sets on
// an H200, no other choice was more than 8 % faster.
inline constexpr uint64_t kem_groups = 3, kem_most_of_a_group = 16;

}  // namespace warpseal::cuda::tuning

// Launch parameters of the CUDA backend, with the GPUs they were measured on.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpseal::cuda::tuning {

// Persistent kernels run one block of 32 warps on each multiprocessor. The wide table layout uses
// most of the shared memory. AES needs 160 KB; an H200 has 227 KB and compute capability 8.0 has
// 163 KB. Where it does not fit (7.5, 8.6, 8.9, 12.0), the merged layout does. Measured on an H200.
inline constexpr int threads = 1024;
inline constexpr int warps = threads / 32;

// GHASH on tensor cores. The bit counts fill half of the registers that these threads share; four
// lanes process one segment.
inline constexpr int reduction_threads = 512;
inline constexpr int image_threads = 128;
inline constexpr uint64_t segment_blocks = 1024;  // maximum
// Lanes for each multiprocessor that add up segments; each lane pays for powers of H.
inline constexpr uint64_t summing_lanes = 256;
// Minimum number of segments for each group of four lanes, if there is enough text.
inline constexpr uint64_t segments_per_row = 4;
// Minimum total bytes, minimum bytes per message and maximum AAD for which two passes pay for their
// launches. One thread hashes a message's AAD.
inline constexpr uint64_t two_pass_bytes = uint64_t{8} << 20;
inline constexpr uint64_t two_pass_message_bytes = 1024;
inline constexpr uint64_t two_pass_aad_bytes = 1024;

// Minimum blocks of one message that a warp hashes in one tile, as each tile costs a power of H.
// That power costs about as much as 80 blocks, or 800 if the key is the message's own. If the grid
// would be half empty, the smaller limit applies.
inline constexpr uint64_t tile_blocks = 1024;
inline constexpr uint64_t tile_blocks_small_grid = 256;
inline constexpr uint64_t tile_blocks_own_key = 4096;
inline constexpr uint64_t tile_blocks_own_key_small_grid = 1024;
// Tiles for each warp of the grid, so that the last wave is a small fraction of the whole.
inline constexpr uint64_t tiles_per_warp = 8;
// Minimum number of tiles that a message of a length unknown to the host may be split into. For
// short messages, most of them are empty.
inline constexpr uint64_t tiles_of_unknown_length = 64;
// Tiles for each warp of a batch in two passes whose lengths only the device knows.
inline constexpr uint64_t listed_tiles_per_warp = 32;

// Minimum length of a sweep in which each thread processes two blocks at a time. CTR goes in steps
// of 2048 counters: 16 MiB has 512 steps, 4 for each multiprocessor of an H200. Shorter sweeps are
// spread evenly, one block at a time.
inline constexpr size_t rows_bytes = size_t{16} << 20;

// Maximum number of rows of 32 blocks in a tile if each block needs the previous one (CBC and CFB
// decryption).
inline constexpr uint64_t tile_rows = 16;
// Tiles of one round of a sweep in place, whose last blocks are saved in scratch. They cover 2 GiB,
// which takes a hundred times as long as the launches of another round.
inline constexpr uint64_t tiles_per_round = uint64_t{1} << 18;
// Maximum number of rows of an XTS data unit in a tile. The warp derives the tweaks of each row
// from those of the row before.
inline constexpr uint64_t unit_rows = 16;
// XTS tweaks of one round, held in scratch: 16 bytes for 32 blocks or more, so they cover 1 GiB or
// more.
inline constexpr uint64_t tweaks_per_round = uint64_t{1} << 21;

// Bitsliced kernels: a block of 12 warps on each multiprocessor, whose 65,536 registers are 168 for
// each thread. With 16 warps and 128 registers Triple DES would spill and be no faster. Less data
// than the minimum does not give each warp a tile.
inline constexpr int bitsliced_threads = 384;
inline constexpr size_t bitsliced_min_bytes = size_t{4} << 20;

// Pipeline between host and GPU; that of files is src/container/pipeline/pipeline.cpp. A slot of 16
// MiB takes about 0.3 ms over PCIe 5 x16, a hundred times a launch. Three slots, fed from pinned
// memory by one thread, keep both directions of the link busy. Four or more are 1 to 2 % slower on
// an H200, where three just fit in the L2 cache. Serial modes need more slots in flight.
inline constexpr size_t slot_bytes = size_t{16} << 20;
// Smallest size that is tried before out of memory is reported.
inline constexpr size_t min_slot_bytes = size_t{1} << 20;
// The size of a chunk is the smaller of bytes done and bytes left, divided by chunk_growth, within
// the limits below. So chunks grow at the start and shrink at the end, and both directions of the
// link are busy throughout. No chunk is larger than a slot, or than max_staged_chunk_bytes if
// several threads copy the data.
inline constexpr uint64_t chunk_growth = 4;
inline constexpr uint64_t max_staged_chunk_bytes = uint64_t{8} << 20;
// Minimum size of a chunk: 1 / chunks_of_call of the call, but at least min_chunk_bytes. It is at
// most min_chunk_bytes too, or min_chunk_bytes_of_large_call for data that is copied directly. On
// an H200, a call of 1 GiB in AES-128-GCM reached 0.931 of the link with first chunks of 4 MiB, and
// 0.921 with 2 MiB: a chunk costs its launches.
inline constexpr uint64_t chunks_of_call = 64;
inline constexpr uint64_t min_chunk_bytes = uint64_t{2} << 20;
inline constexpr uint64_t min_chunk_bytes_of_large_call = uint64_t{4} << 20;
// Minimum bytes of a call whose output is copied from pinned memory with non-temporal stores:
// copies by several threads and the device would otherwise evict each other's cache lines.
inline constexpr uint64_t non_temporal_bytes = uint64_t{32} << 20;
// Minimum row length in bytes of a batch that is copied without staging. A core copies shorter rows
// faster than the copy engine does.
inline constexpr size_t min_direct_row_bytes = 4096;
inline constexpr int slots_in_flight = 3, serial_slots_in_flight = 4;
inline constexpr int staging_threads = 6;  // for pageable memory: one core copies about 10 GB/s
inline constexpr int slots_per_staging_thread = 2;
inline constexpr int max_slots = 16;  // per device: 256 MiB of device memory and as much pinned
// Slots for batches that are queued and not waited for, as segments of files are. Those of one slot
// follow each other, so that a copy waits for the kernels of the batch before: with two slots or
// more, another copy is in flight meanwhile. With more, other calls wait for fewer of them. On an
// H200, 4, 8 and 16 slots were equally fast.
inline constexpr int queued_slots = 8;
// Maximum bytes of IVs, AAD, keys and tags that a kernel copies to a slot whose text needs no
// staging: a second copy by the copy engine would delay the text of other chunks. Not measured.
inline constexpr size_t kernel_copy_bytes = size_t{64} << 10;
// Maximum device memory of all slots of a device, larger slots included.
inline constexpr size_t device_bytes_limit = size_t{512} << 20;
// Time in microseconds that a thread polls for the end of a chunk before it sleeps. Waking took 0.1
// ms and more on a virtual machine, a third of the time a chunk takes over the link.
inline constexpr int poll_microseconds = 2000;

// Scratch memory retained between calls. Mapping new memory took 60 to 100 us a call, more than the
// kernels of some MiB.
inline constexpr size_t retained_scratch_bytes = size_t{256} << 20;

// NTRU: one warp for each item of a batch, or in key generation for each group of items. A
// multiprocessor runs as many as its registers hold without a spill; a product takes 12 registers
// for each 128 coefficients. The two parameter sets of more than 1,000 coefficients use smaller
// blocks, because most GPUs have less shared memory than an H200. Hashing uses one lane for each
// item.
template <int n>
inline constexpr int kem_threads = n < 1000 ? 128 : 64;
template <int n>
inline constexpr int kem_blocks = n<600 || n> 1000 ? 4 : 3;
// Two products and a sort at a time. Sampling a key pair takes one product and a sort.
template <int n>
inline constexpr int kem_encapsulate_blocks = n < 800 ? 4 : kem_blocks<n>;
inline constexpr int kem_hash_threads = 128;
// Key generation inverts pairs in groups that give each multiprocessor at least `kem_min_groups` of
// them. A longer group saves only slightly and finishes later. For 64 to 131,072 pairs of four sets
// on an H200, no other minimum from 1 to 32 was more than 8 % faster.
inline constexpr uint64_t kem_min_groups = 3, kem_max_group = 16;

// ML-KEM: half a warp for each item, and blocks that fit the shared memory of every GPU: two warps
// take up to 28 KB, and 33 KB for their polynomials of the matrix. An H200 has room for 8 and 6.
inline constexpr int mlkem_threads = 64, mlkem_blocks = 8, mlkem_matrix_threads = 64;

// X25519: one lane for each item, in registers alone. The ladder's four numbers, its point, the
// scalar and a product take 110 registers, and a multiple of the base point takes 126. So 16 warps
// fit on a multiprocessor. Not measured yet.
inline constexpr int x25519_threads = 128, x25519_blocks = 4;

// Scratch memory of a KEM call on device memory. It holds the coins of some 120,000 items, coins
// and bands of 50,000 key pairs of NTRU, or 56,000 items of ML-KEM-1024. These are 25 and more for
// each warp of an H200, so that the partial wave at the end of a chunk matters little.
inline constexpr size_t kem_work_bytes = size_t{512} << 20;
// Limits of KEM calls on host memory: bytes of coins drawn at a time, slots of the single feeder
// thread, and minimum items in a chunk. The coins suffice for some 17,000 items.
// The minimum gives two items to each warp of an H200. Key pairs have fewer, as their bands fill a
// slot; one chunk does not fill the GPU, but all slots do. On an H200, 3 to 12 slots, 64 and 256
// MiB of coins and 2048 to 8448 items were tried. No other choice was faster by more than the
// variation between runs.
inline constexpr size_t kem_coins_bytes = size_t{64} << 20;
inline constexpr int kem_slots = 8;
inline constexpr uint64_t kem_min_items = 4224;

}  // namespace warpseal::cuda::tuning

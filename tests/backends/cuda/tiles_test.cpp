// Tiles of messages, on the host: each block belongs to one item, and each multiprocessor gets its
// share of the blocks.
#include "backends/cuda/kernels/tiles.cuh"
#include "backends/cuda/kernels/tile_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

namespace {

using namespace warpseal::cuda;

constexpr int multiprocessor_counts[] = {1, 7, 84, 132};
constexpr uint64_t message_counts[] = {1, 2, 3, 31, 100, 1057};
constexpr uint64_t block_bytes = 16;

uint64_t blocks_of(uint64_t bytes) { return (bytes + block_bytes - 1) / block_bytes; }

struct Item {
    uint64_t index, tile;
};

// A batch whose message i has bytes(i) bytes: of equal lengths, or of lengths that only the device
// knows.
class Divided {
public:
    Divided(int multiprocessors, uint64_t count, uint64_t bytes, bool own_keys = false)
        : Divided(multiprocessors, count, bytes, own_keys, nullptr,
                  [=](uint64_t) { return bytes; }) {}
    Divided(int multiprocessors, uint64_t count, std::function<uint64_t(uint64_t)> bytes,
            bool own_keys = false)
        : Divided(multiprocessors, count, 0, own_keys, &somewhere, std::move(bytes)) {}

    // Calls work(item, index, tile) for every item.
    template <class Work>
    void each_item(const Work& work) const {
        for (uint64_t item = 0; item < tiling.items(); ++item) {
            const Item of = {item % tiling.message_count, item / tiling.message_count};
            work(item, of, tile_of(tiling, blocks_of(bytes(of.index)), of.tile));
        }
    }
    // Blocks that each multiprocessor, or each warp, processes. Empty tiles are no work.
    std::vector<uint64_t> shares(uint64_t workers) const {
        std::vector<uint64_t> shares(workers);
        each_item([&](uint64_t item, const Item&, const Tile& tile) {
            if (!tile.empty) shares[item % workers] += tile.last - tile.first;
        });
        return shares;
    }

    const Tiling tiling;
    const std::function<uint64_t(uint64_t)> bytes;

private:
    static constexpr uint64_t somewhere = 0;

    Divided(int multiprocessors, uint64_t count, uint64_t bytes_of_all, bool own_keys,
            const uint64_t* lengths, std::function<uint64_t(uint64_t)> bytes_of_each)
        : tiling(divided(multiprocessors, count, bytes_of_all, own_keys, lengths)),
          bytes(std::move(bytes_of_each)) {}
    static Tiling divided(int multiprocessors, uint64_t count, uint64_t bytes, bool own_keys,
                          const uint64_t* lengths) {
        warpseal_batch batch = {};
        batch.message_count = count;
        batch.message_bytes = bytes;
        batch.lengths = lengths;
        Limits limits;
        limits.multiprocessors = multiprocessors;
        return divide(batch, 0, block_bytes, own_keys, limits);
    }
};

// The tiles of each message have its blocks in order, in whole rows, and each tile once.
void check_cover(const Divided& divided) {
    const Tiling& tiling = divided.tiling;
    std::vector<Tile> tiles(tiling.items());
    std::vector<int> met(tiling.items());
    divided.each_item([&](uint64_t, const Item& of, const Tile& tile) {
        tiles[of.index * tiling.tiles + of.tile] = tile;
        ++met[of.index * tiling.tiles + of.tile];
    });
    for (const int times : met) ASSERT_EQ(times, 1);
    for (uint64_t index = 0; index < tiling.message_count; ++index) {
        const uint64_t blocks = blocks_of(divided.bytes(index));
        uint64_t next = 0, parts = 0;
        for (uint64_t i = 0; i < tiling.tiles; ++i) {
            const Tile& tile = tiles[index * tiling.tiles + i];
            ASSERT_EQ(tile.empty, i > 0 && next == blocks);
            if (tile.empty) continue;
            ASSERT_EQ(tile.first, next);
            ASSERT_TRUE(tile.last > tile.first || blocks == 0);
            ASSERT_TRUE(tile.last == blocks || tile.last % 32 == 0);
            next = tile.last;
            ++parts;
        }
        ASSERT_EQ(next, blocks);
        ASSERT_EQ(tiles[index * tiling.tiles].whole, parts == 1);
    }
}

// Lengths around each limit.
std::vector<uint64_t> all_bytes() {
    std::vector<uint64_t> all = {0, 1, 15, 16, 17};
    for (uint64_t blocks = 32; blocks <= 70'000; blocks = blocks * 3 / 2)
        for (const uint64_t bytes : {16 * blocks - 1, 16 * blocks, 16 * blocks + 1})
            all.push_back(bytes);
    for (uint64_t blocks = 256; blocks <= 65'536; blocks *= 2)
        for (const uint64_t bytes : {16 * blocks - 16, 16 * blocks, 16 * blocks + 16})
            all.push_back(bytes);
    return all;
}

TEST(Tiles, EveryBlockBelongsToOneItem) {
    const std::vector<uint64_t> sizes = all_bytes();
    for (const int multiprocessors : multiprocessor_counts)
        for (const uint64_t count : message_counts)
            for (const bool own_keys : {false, true}) {
                SCOPED_TRACE(testing::Message()
                             << multiprocessors << " " << count << " " << own_keys);
                for (const uint64_t bytes : sizes) {
                    if (count > 100 && bytes % 16 != 0) continue;
                    check_cover(Divided(multiprocessors, count, bytes, own_keys));
                    if (testing::Test::HasFatalFailure()) FAIL() << bytes;
                }
                check_cover(Divided(
                    multiprocessors, count,
                    [&](uint64_t index) { return sizes[index * 7 % sizes.size()]; }, own_keys));
                if (testing::Test::HasFatalFailure()) return;
            }
}

void check_shares(const Divided& divided, uint64_t workers, double most) {
    const std::vector<uint64_t> shares = divided.shares(workers);
    const double mean =
        static_cast<double>(std::accumulate(shares.begin(), shares.end(), uint64_t{0})) /
        static_cast<double>(workers);
    EXPECT_LE(static_cast<double>(*std::max_element(shares.begin(), shares.end())), most * mean);
}

// Two or four tiles, which divide the number of multiprocessors, of which the last is shorter.
TEST(Tiles, MultiprocessorsGetEqualShares) {
    constexpr uint64_t multiprocessors = 132, warps = multiprocessors * tuning::warps;
    const struct {
        uint64_t count, bytes;
    } batches[] = {{8448, 8192}, {4224, 16384}, {4200, 16400}};
    for (const auto& batch : batches) {
        SCOPED_TRACE(batch.bytes);
        const Divided equal(multiprocessors, batch.count, batch.bytes);
        ASSERT_GT(equal.tiling.tiles, 1u);
        check_shares(equal, multiprocessors, 1.01);
        check_shares(equal, warps, 1.01);
    }
}

// A list as the device makes it, of messages with these numbers of blocks.
struct List {
    List(const std::vector<uint64_t>& blocks, const TileSize& size)
        : memory(tile_list_bytes(blocks.size()) / sizeof(uint64_t)) {
        list().blocks = std::accumulate(blocks.begin(), blocks.end(), uint64_t{0});
        list().tile_blocks = tile_blocks_for(size, list().blocks);
        list().message_count = blocks.size();
        // The device takes entries in any order.
        for (uint64_t i = blocks.size(); i-- > 0;) {
            const uint64_t tiles = list().tiles_of(blocks[i]);
            if (tiles < 2) continue;
            list().entries()[list().entry_count()] = {list().tile_count(), i};
            list().reserved += (1ull << 32) + tiles;
        }
    }
    TileList& list() { return *reinterpret_cast<TileList*>(memory.data()); }

    std::vector<uint64_t> memory;
};

TEST(TileLists, EveryTileIsListedOnce) {
    for (const uint64_t wanted : {1u, 50u, 3000u})
        for (const uint64_t expected : {0u, 20'000u, 5'000'000u}) {
            std::vector<uint64_t> blocks;
            for (const uint64_t bytes : all_bytes()) blocks.push_back(bytes / block_bytes);
            const TileSize size = tile_size(expected, wanted, 64, 1024);
            ASSERT_EQ(size.blocks % 64, 0u);
            List made(blocks, size);
            const TileList& list = made.list();
            EXPECT_LE(list.tile_count(), max_listed_tiles(blocks.size(), size));
            std::vector<std::vector<int>> met(blocks.size());
            for (size_t i = 0; i < blocks.size(); ++i) met[i].resize(list.tiles_of(blocks[i]));
            for (uint64_t item = 0; item < list.item_count(); ++item) {
                const ListedTile tile = listed_tile(list, item);
                ASSERT_LT(tile.index, blocks.size());
                const bool is_long = blocks[tile.index] > list.tile_blocks;
                if (item < blocks.size()) {
                    EXPECT_EQ(tile.index, item);
                    EXPECT_FALSE(tile.listed);
                    if (is_long || blocks[item] == 0) continue;
                } else {
                    EXPECT_TRUE(tile.listed && is_long);
                }
                ASSERT_LT(tile.tile, met[tile.index].size());
                ++met[tile.index][tile.tile];
            }
            for (const std::vector<int>& times : met)
                EXPECT_EQ(std::count(times.begin(), times.end(), 1),
                          static_cast<std::ptrdiff_t>(times.size()));
        }
}

// However long the batch is.
TEST(TileLists, TilesStayBelowTheirBound) {
    for (const uint64_t expected : {1u, 1000u, 70'000u}) {
        const TileSize size = tile_size(expected, 100, 64, 1024);
        for (uint64_t blocks = 1; blocks < 3'000'000; blocks += 1 + blocks / 50) {
            for (const uint64_t more : {uint64_t{0}, size.max_tiles - 1}) {
                const uint64_t all = blocks / size.max_tiles * size.max_tiles + more;
                EXPECT_LT(all / tile_blocks_for(size, all), size.max_tiles)
                    << expected << " " << all;
            }
        }
    }
}

// The device makes tiles longer where the batch is longer than expected, so that the scratch, which
// the host allocates, holds their sums.
TEST(TileLists, ExpectedSizesGiveTheirTiles) {
    const TileSize size = tile_size(1'000'000, 1000, 64, 1u << 20);
    EXPECT_EQ(size.blocks, 1024u);
    List as_expected(std::vector<uint64_t>(10, 100'000), size);
    EXPECT_EQ(as_expected.list().tile_blocks, 1024u);
    List longer(std::vector<uint64_t>(10, 1'000'000), size);
    EXPECT_GE(longer.list().tile_blocks, 10'000u);
    EXPECT_LE(longer.list().tile_count(), size.max_tiles + 10);
}

}  // namespace

// Engine calls on host memory of every kind that may be split, and all their outputs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "engine/engine.h"
#include "engine/key.h"
#include "engine/limits.h"
#include "support/random.h"

namespace tests {

using namespace warpseal;

struct Work {
    const char* cipher;
    warpseal_mode mode;
    Direction direction;
    bool batch, in_place;
    bool pinned = false;

    std::string name() const {
        std::string text = std::string(cipher) + "_" + warpseal_mode_name(mode) +
                           (direction == Direction::encrypt ? "_encrypt" : "_decrypt") +
                           (batch ? "_batch" : "") + (in_place ? "_in_place" : "") +
                           (pinned ? "_pinned" : "");
        std::replace(text.begin(), text.end(), '-', '_');  // a test name may contain it
        return text;
    }
};

struct Outcome {
    std::vector<uint8_t> out, tags;
    std::vector<int32_t> statuses;
    warpseal_status status = WARPSEAL_OK;
    const char* target = "";  // batches: the target that computed

    // Ignores the target.
    bool operator==(const Outcome& o) const {
        return out == o.out && tags == o.tags && statuses == o.statuses && status == o.status;
    }
};

// An engine's own memory, which is pinned if it has a GPU, or a caller's.
class HostMemory {
public:
    HostMemory(Engine& engine, size_t bytes, bool pinned)
        : engine_(pinned ? &engine : nullptr), bytes_(bytes) {
        if (engine_ != nullptr)
            EXPECT_EQ(engine_->host_alloc(bytes, &memory_), WARPSEAL_OK);
        else
            memory_ = std::aligned_alloc(64, bytes / 64 * 64 + 64);
        std::memset(memory_, 0, bytes);
    }
    ~HostMemory() { engine_ != nullptr ? engine_->host_free(memory_) : std::free(memory_); }
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;
    uint8_t* data() const { return static_cast<uint8_t*>(memory_); }

private:
    Engine* const engine_;
    const size_t bytes_;
    void* memory_ = nullptr;
};

// An engine on the cores alone: it seals the input for opening, and gives the reference output.
inline Engine& cores() {
    static const std::unique_ptr<Engine> engine = [] {
        EngineOptions options;
        options.device = "cpu";
        options.cuda = nullptr;
        std::unique_ptr<Engine> made;
        EXPECT_EQ(Engine::create(options, made), WARPSEAL_OK);
        return made;
    }();
    return *engine;
}

inline std::unique_ptr<Key> key_for(Engine& engine, const Work& work,
                                    const std::vector<uint8_t>& secret) {
    std::unique_ptr<Key> key;
    const KeyKind kind = work.mode == WARPSEAL_XTS ? KeyKind::xts : KeyKind::one;
    EXPECT_EQ(engine.key(work.cipher, {secret.data(), secret.size()}, key, kind), WARPSEAL_OK);
    return key;
}

// One message of about `bytes` bytes, not whole blocks where the mode allows it.
inline Outcome one_message(Engine& engine, const Work& work, const std::vector<uint8_t>& secret,
                           size_t bytes, Random& random) {
    if (work.mode == WARPSEAL_CTR || work.mode == WARPSEAL_CFB || work.mode == WARPSEAL_GCM)
        bytes += 5;
    const auto key = key_for(engine, work, secret);
    const auto text = random.text(bytes), iv = random.text(16), aad = random.text(20);
    const HostMemory in(engine, bytes, work.pinned), apart(engine, bytes, work.pinned);
    std::memcpy(in.data(), text.data(), bytes);
    uint8_t* const out = work.in_place ? in.data() : apart.data();
    Outcome all;
    all.tags.resize(16);
    const Bytes nonce{iv.data(), 12}, with{aad.data(), aad.size()},
        first{iv.data(), work.mode == WARPSEAL_ECB ? 0 : key->facts().block_bytes};
    if (work.mode == WARPSEAL_XTS) {
        all.status = engine.xts(*key, work.direction, {{0xff, 0xff}, 5008}, in.data(), out, bytes);
    } else if (work.mode != WARPSEAL_GCM) {
        all.status = engine.message(*key, work.mode, work.direction, first, in.data(), out, bytes);
    } else if (work.direction == Direction::encrypt) {
        all.status =
            engine.seal(*key, work.mode, nonce, with, in.data(), out, bytes, all.tags.data(), 16);
    } else {
        const auto sealer = key_for(cores(), work, secret);
        EXPECT_EQ(cores().seal(*sealer, work.mode, nonce, with, in.data(), in.data(), bytes,
                               all.tags.data(), 16),
                  WARPSEAL_OK);
        all.status =
            engine.open(*key, work.mode, nonce, with, in.data(), out, bytes, all.tags.data(), 16);
    }
    all.out.assign(out, out + bytes);
    return all;
}

// Messages of different lengths, so that shard boundaries in bytes fall within messages. Of those
// to open one in three verifies.
inline Outcome one_batch(Engine& engine, const Work& work, const std::vector<uint8_t>& secret,
                         Random& random) {
    constexpr size_t count = 2000, capacity = 8192, bytes = count * capacity;
    const auto key = key_for(engine, work, secret);
    std::vector<uint64_t> lengths(count), offsets(count);
    for (size_t i = 0; i < count; ++i) lengths[i] = 2000 + i * 37 % 6000, offsets[i] = i * capacity;
    const auto text = random.text(bytes), ivs = random.text(16 * count);
    const HostMemory in(engine, bytes, work.pinned), apart(engine, bytes, work.pinned);
    std::memcpy(in.data(), text.data(), bytes);
    Outcome all;
    all.tags.resize(16 * count);
    all.statuses.resize(count, 0x77);
    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.message_count = count;
    batch.lengths = lengths.data();
    batch.in = batch.out = in.data();
    batch.in_offsets = batch.out_offsets = offsets.data();
    batch.iv_bytes = tagged(work.mode) ? 12 : key->facts().block_bytes;
    batch.ivs = ivs.data();
    batch.iv_stride = 16;  // more than the 12 bytes of a mode with tags
    batch.tag_bytes = tagged(work.mode) ? 16 : 0;
    batch.tags = all.tags.data();
    batch.tag_stride = 16;
    batch.statuses = all.statuses.data();
    if (tagged(work.mode) && work.direction == Direction::decrypt) {
        const auto sealer = key_for(cores(), work, secret);
        EXPECT_EQ(cores().batch(*sealer, work.mode, Direction::encrypt, batch), WARPSEAL_OK);
        for (size_t i = 0; i < count; ++i) all.tags[16 * i] ^= i % 3 != 0 ? 1 : 0;
    }
    if (!work.in_place) batch.out = apart.data();
    all.status =
        engine.batch(*key, work.mode, work.direction, batch, Engine::Threads::all, &all.target);
    all.out.assign(batch.out, batch.out + bytes);
    return all;
}

// Deterministic for a seed, whatever the engine. bytes: length of a message.
inline Outcome outcome_of(Engine& engine, const Work& work, size_t bytes, uint64_t seed) {
    Random random(seed);
    const size_t key_bytes = cpu_cipher(Target::portable, work.cipher)->key_bytes;
    const auto secret = random.text(key_bytes * (work.mode == WARPSEAL_XTS ? 2 : 1));
    return work.batch ? one_batch(engine, work, secret, random)
                      : one_message(engine, work, secret, bytes, random);
}

}  // namespace tests

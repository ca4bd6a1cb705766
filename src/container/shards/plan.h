// A plan: the keys and the layout of one sealed file that several processes seal in shards
// (docs/shards.md). It holds the front of the file, so that all of them share its keys.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "container/front.h"

namespace warpseal::container {

// A pin identifies a text: the same pin means the same text.
inline constexpr size_t pin_bytes = 32;
// Identifies the text of a sealed shard.
inline constexpr size_t fingerprint_bytes = 32;
inline constexpr size_t plan_head_bytes = 56;  // before the front of the file
inline constexpr size_t plan_id_bytes = 32;
inline constexpr size_t part_head_bytes = 4096;  // of a part, before its chunks
inline constexpr uint32_t max_shards = uint32_t{1} << 20;

// Consecutive chunks of a sealed file.
struct Shard {
    uint64_t first_chunk, chunks;
    uint64_t text_offset, text_bytes;
    uint64_t file_offset, file_bytes;  // in the sealed file
};

// Two texts must never be sealed under one plan, as equal nonces would reveal both. A caller
// compares the pin before and after it reads the text. seal() also refuses a second text of a
// shard.
class Plan {
public:
    // WARPSEAL_INVALID_ARGUMENT: the text has fewer chunks than shards.
    static warpseal_status create(Engine& engine, const warpseal_file_options& options,
                                  uint64_t text_bytes, uint32_t shard_count,
                                  const uint8_t pin[pin_bytes], std::unique_ptr<Plan>& out,
                                  Fault& fault);
    // Verifies the plan. WARPSEAL_UNSUPPORTED: it is none, or of a newer version.
    static warpseal_status open(Engine& engine, Bytes data, const warpseal_file_options& options,
                                std::unique_ptr<Plan>& out, Fault& fault);
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    Engine& engine() const { return engine_; }
    const Suite& suite() const { return *opened_.suite; }
    const PayloadKey& payload() const { return opened_.payload; }
    uint32_t shard_count() const { return shard_count_; }
    uint64_t text_bytes() const { return text_bytes_; }
    const uint8_t* pin() const { return data_.data() + pin_at; }
    // The encoded plan, and the bytes of the sealed file before its first chunk.
    Bytes data() const { return {data_.data(), data_.size()}; }
    Bytes front() const;
    Shard shard(uint32_t index) const;  // index < shard_count()

    // Seals a shard from memory: shard(index).text_bytes to shard(index).file_bytes, apart.
    // Thread-safe. After a failure `out` is zeroized.
    // WARPSEAL_INVALID_ARGUMENT: this object sealed the shard with another text.
    warpseal_status seal(uint32_t index, const uint8_t* in, uint8_t* out,
                         uint8_t fingerprint[fingerprint_bytes], Fault& fault) const;

    // The head of a part, and its check. file_bytes: of head and chunks.
    // WARPSEAL_INVALID_ARGUMENT: the part is of another plan.
    void write_part_head(uint32_t index, uint8_t head[part_head_bytes]) const;
    warpseal_status check_part_head(const uint8_t* head, size_t have, uint64_t file_bytes,
                                    uint32_t& index, Fault& fault) const;

private:
    static constexpr size_t pin_at = 24;

    explicit Plan(Engine& engine) : engine_(engine) {}
    warpseal_status take_layout(uint64_t text_bytes, uint32_t shard_count, Fault& fault);
    void compute_mac(const Secret<data_key_bytes>& data_key, uint8_t mac[hmac_bytes]) const;
    void derive_part_key(const Secret<data_key_bytes>& data_key);
    const uint8_t* id() const { return data_.data() + data_.size() - hmac_bytes; }
    warpseal_status seal_chunks(const Shard& shard, bool ends, const uint8_t* in, uint8_t* out,
                                Fault& fault) const;
    void find_fingerprint(uint32_t index, const Shard& shard, const uint8_t* sealed,
                          uint8_t out[fingerprint_bytes]) const;
    bool is_same_text(uint32_t index, const uint8_t fingerprint[fingerprint_bytes]) const;

    Engine& engine_;
    Opened opened_;
    Secret<hmac_bytes> part_key_;
    std::vector<uint8_t> data_;
    uint64_t text_bytes_ = 0;
    uint32_t shard_count_ = 0;
    // 64 bits of the fingerprint of each shard that seal() has sealed; 0: not sealed.
    std::unique_ptr<std::atomic<uint64_t>[]> sealed_;
};

}  // namespace warpseal::container

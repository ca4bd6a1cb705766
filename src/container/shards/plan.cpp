// Creates, opens and applies plans.
#include "container/shards/plan.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "container/bytes.h"
#include "container/call.h"
#include "container/pipeline/chunk_batch.h"
#include "core/word.h"

namespace warpseal::container {
namespace {

using ull = unsigned long long;

constexpr uint8_t plan_magic[8] = {'W', 'A', 'R', 'P', 'P', 'L', 'A', 'N'};
constexpr uint8_t part_magic[8] = {'W', 'A', 'R', 'P', 'P', 'A', 'R', 'T'};
constexpr uint16_t shards_version = 1;
constexpr char plan_label[] = "warpseal/shard-plan/v1";
constexpr char part_label[] = "warpseal/shard-part/v1";
// Bytes of a part's head that its MAC covers, and where the MAC lies.
constexpr size_t part_mac_at = 64;

warpseal_status check_plan_options(const warpseal_file_options& options, SecretUse use,
                                   Fault& fault) {
    if (check_options(options, use, fault) != WARPSEAL_OK) return fault.status;
    return is_bare(options) ? fault.say(WARPSEAL_INVALID_ARGUMENT,
                                        "shards are for the format warpseal, not for cobblestone")
                            : WARPSEAL_OK;
}

// Checks magic and version of a plan or a part.
warpseal_status check_start(const uint8_t* data, size_t have, const uint8_t magic[8],
                            const char* what, Fault& fault) {
    if (have == 0) return fault.say(WARPSEAL_TRUNCATED, "the %s is empty", what);
    if (memcmp(data, magic, std::min<size_t>(have, 8)) != 0)
        return fault.say(WARPSEAL_UNSUPPORTED, "not a %s of shards", what);
    if (have < 12) return fault.say(WARPSEAL_TRUNCATED, "the %s ends after %zu bytes", what, have);
    if (get16(data + 8) != shards_version)
        return fault.say(WARPSEAL_UNSUPPORTED,
                         "a %s of version %u, and this program reads version %u", what,
                         get16(data + 8), shards_version);
    return WARPSEAL_OK;
}

ReadAt reading_memory(Bytes from) {
    return [from](uint64_t offset, void* out, size_t bytes, size_t& got, Fault&) {
        const size_t at = static_cast<size_t>(std::min<uint64_t>(offset, from.size));
        got = std::min(bytes, from.size - at);
        memcpy(out, from.data + at, got);
        return WARPSEAL_OK;
    };
}

}  // namespace

Bytes Plan::front() const {
    return {data_.data() + plan_head_bytes, data_.size() - plan_head_bytes - hmac_bytes};
}

warpseal_status Plan::take_layout(uint64_t text_bytes, uint32_t shard_count, Fault& fault) {
    if (text_bytes > max_text_bytes)
        return fault.say(WARPSEAL_LIMIT_EXCEEDED,
                         "the text has %llu bytes; a payload holds at most %llu", ull{text_bytes},
                         ull{max_text_bytes});
    const uint64_t chunks = text_bytes / chunk_text_bytes + 1;
    const uint64_t most = std::min<uint64_t>(chunks, max_shards);
    if (shard_count == 0 || shard_count > most)
        return fault.say(WARPSEAL_INVALID_ARGUMENT,
                         "%u shards: a text of %llu bytes takes 1 to %llu", shard_count,
                         ull{text_bytes}, ull{most});
    text_bytes_ = text_bytes;
    shard_count_ = shard_count;
    sealed_ = std::make_unique<std::atomic<uint64_t>[]>(shard_count);
    return WARPSEAL_OK;
}

// Computes HMAC-SHA-512 over the plan up to its MAC.
void Plan::compute_mac(const Secret<data_key_bytes>& data_key, uint8_t mac[hmac_bytes]) const {
    const Bytes label = container::text_bytes(plan_label);
    const Bytes text = {data_.data(), data_.size() - hmac_bytes};
    Secret<hmac_bytes> key;
    expand({data_key.data(), data_key.size()}, {&label, 1}, key.data(), key.size());
    hmac({key.data(), key.size()}, {&text, 1}, mac);
}

void Plan::derive_part_key(const Secret<data_key_bytes>& data_key) {
    const Bytes label = container::text_bytes(part_label);
    expand({data_key.data(), data_key.size()}, {&label, 1}, part_key_.data(), part_key_.size());
}

warpseal_status Plan::create(Engine& engine, const warpseal_file_options& options,
                             uint64_t text_bytes, uint32_t shard_count,
                             const uint8_t pin[pin_bytes], std::unique_ptr<Plan>& out,
                             Fault& fault) {
    std::unique_ptr<Plan> made(new Plan(engine));
    Secret<data_key_bytes> data_key;
    std::vector<uint8_t> front;
    if (check_plan_options(options, SecretUse::seal, fault) != WARPSEAL_OK ||
        check_sealing(options, made->opened_.suite, fault) != WARPSEAL_OK ||
        made->take_layout(text_bytes, shard_count, fault) != WARPSEAL_OK ||
        new_front(engine, *made->opened_.suite, options, made->opened_, front, data_key, fault) !=
            WARPSEAL_OK)
        return fault.status;
    std::vector<uint8_t>& data = made->data_;
    data.assign(plan_head_bytes + front.size() + hmac_bytes, 0);
    memcpy(data.data(), plan_magic, sizeof plan_magic);
    put16(data.data() + 8, shards_version);
    put32(data.data() + 12, shard_count);
    put64(data.data() + 16, text_bytes);
    memcpy(data.data() + pin_at, pin, pin_bytes);
    memcpy(data.data() + plan_head_bytes, front.data(), front.size());
    made->compute_mac(data_key, data.data() + data.size() - hmac_bytes);
    made->derive_part_key(data_key);
    if (options.secrets_used != nullptr) options.secrets_used(options.secrets_user);
    out = std::move(made);
    return WARPSEAL_OK;
}

warpseal_status Plan::open(Engine& engine, Bytes data, const warpseal_file_options& options,
                           std::unique_ptr<Plan>& out, Fault& fault) {
    if (check_plan_options(options, SecretUse::open, fault) != WARPSEAL_OK ||
        check_start(data.data, data.size, plan_magic, "plan", fault) != WARPSEAL_OK)
        return fault.status;
    constexpr size_t least = plan_head_bytes + first_block_bytes + hmac_bytes;
    if (data.size < least)
        return fault.say(WARPSEAL_TRUNCATED, "the plan ends after %zu bytes", data.size);
    std::unique_ptr<Plan> made(new Plan(engine));
    made->data_.assign(data.data, data.data + data.size);
    Secret<data_key_bytes> data_key;
    if (open_front(engine, options, reading_memory(made->front()), made->opened_, data_key,
                   fault) != WARPSEAL_OK)
        return fault.status;
    if (options.secrets_used != nullptr) options.secrets_used(options.secrets_user);
    // Secret, because the correct MAC of a forged plan would authenticate the forgery.
    Secret<hmac_bytes> mac;
    made->compute_mac(data_key, mac.data());
    if (made->opened_.head_bytes != made->front().size ||
        !equal_secret(mac.data(), made->id(), hmac_bytes))
        return fault.say(WARPSEAL_NOT_AUTHENTIC, "the plan was changed: its MAC does not verify");
    made->derive_part_key(data_key);
    if (made->take_layout(get64(data.data + 16), get32(data.data + 12), fault) != WARPSEAL_OK)
        return fault.status;
    out = std::move(made);
    return WARPSEAL_OK;
}

Shard Plan::shard(uint32_t index) const {
    const uint64_t all = text_bytes_ / chunk_text_bytes + 1;
    // The product is below 2^58.
    const auto first = [&](uint64_t i) { return all * i / shard_count_; };
    Shard shard = {};
    shard.first_chunk = first(index);
    shard.chunks = first(uint64_t{index} + 1) - shard.first_chunk;
    shard.text_offset = shard.first_chunk * chunk_text_bytes;
    shard.text_bytes = index + 1 == shard_count_ ? text_bytes_ - shard.text_offset
                                                 : shard.chunks * chunk_text_bytes;
    shard.file_offset = front().size + shard.first_chunk * chunk_bytes;
    shard.file_bytes = shard.text_bytes + shard.chunks * tag_bytes;
    return shard;
}

warpseal_status Plan::seal_chunks(const Shard& shard, bool ends, const uint8_t* in, uint8_t* out,
                                  Fault& fault) const {
    ChunkScratch scratch;
    const size_t whole = static_cast<size_t>(shard.text_bytes / chunk_text_bytes);
    for (size_t done = 0; done < whole;) {
        const size_t some = std::min(whole - done, batch_chunks);
        if (run_chunks(engine_, opened_.payload, Direction::encrypt, shard.first_chunk + done,
                       in + done * chunk_text_bytes, some, chunk_text_bytes,
                       out + done * chunk_bytes, scratch, fault) != WARPSEAL_OK)
            return fault.status;
        done += some;
    }
    if (!ends) return WARPSEAL_OK;
    return run_chunks(engine_, opened_.payload, Direction::encrypt, shard.first_chunk + whole,
                      in + whole * chunk_text_bytes, 1,
                      static_cast<size_t>(shard.text_bytes % chunk_text_bytes),
                      out + whole * chunk_bytes, scratch, fault);
}

// Under one plan, another text has other tags. Their MAC is short, and tells nothing of the text.
void Plan::find_fingerprint(uint32_t index, const Shard& shard, const uint8_t* sealed,
                            uint8_t out[fingerprint_bytes]) const {
    uint8_t number[4];
    put32(number, index);
    std::vector<Bytes> parts{{number, sizeof number}};
    parts.reserve(static_cast<size_t>(shard.chunks) + 1);
    for (uint64_t i = 1; i < shard.chunks; ++i)
        parts.push_back({sealed + i * chunk_bytes - tag_bytes, tag_bytes});
    parts.push_back({sealed + shard.file_bytes - tag_bytes, tag_bytes});
    Secret<hmac_bytes> mac;
    hmac({part_key_.data(), part_key_.size()}, {parts.data(), parts.size()}, mac.data());
    memcpy(out, mac.data(), fingerprint_bytes);
}

bool Plan::is_same_text(uint32_t index, const uint8_t fingerprint[fingerprint_bytes]) const {
    const uint64_t now = load_be64(fingerprint) | 1;
    uint64_t before = 0;
    return sealed_[index].compare_exchange_strong(before, now) || before == now;
}

warpseal_status Plan::seal(uint32_t index, const uint8_t* in, uint8_t* out,
                           uint8_t fingerprint[fingerprint_bytes], Fault& fault) const {
    const Shard it = shard(index);
    const auto failed = [&](warpseal_status status) {
        wipe(out, static_cast<size_t>(it.file_bytes));
        return status;
    };
    try {
        if (seal_chunks(it, index + 1 == shard_count_, in, out, fault) != WARPSEAL_OK)
            return failed(fault.status);
        find_fingerprint(index, it, out, fingerprint);
    } catch (const std::bad_alloc&) {
        return failed(fault.say(WARPSEAL_OUT_OF_MEMORY, "out of memory"));
    } catch (...) {
        failed(WARPSEAL_INVALID_ARGUMENT);
        throw;
    }
    if (is_same_text(index, fingerprint)) return WARPSEAL_OK;
    return failed(fault.say(WARPSEAL_INVALID_ARGUMENT,
                            "shard %u was sealed with another text: the source changed, so make "
                            "a new plan",
                            index + 1));
}

void Plan::write_part_head(uint32_t index, uint8_t head[part_head_bytes]) const {
    memset(head, 0, part_head_bytes);
    memcpy(head, part_magic, sizeof part_magic);
    put16(head + 8, shards_version);
    put32(head + 12, index + 1);
    put32(head + 16, shard_count_);
    put64(head + 24, shard(index).file_bytes);
    memcpy(head + 32, id(), plan_id_bytes);
    const Bytes text = {head, part_mac_at};
    hmac({part_key_.data(), part_key_.size()}, {&text, 1}, head + part_mac_at);
}

warpseal_status Plan::check_part_head(const uint8_t* head, size_t have, uint64_t file_bytes,
                                      uint32_t& index, Fault& fault) const {
    if (check_start(head, have, part_magic, "part", fault) != WARPSEAL_OK) return fault.status;
    if (have < part_head_bytes)
        return fault.say(WARPSEAL_TRUNCATED, "the part ends after %zu bytes", have);
    if (memcmp(head + 32, id(), plan_id_bytes) != 0)
        return fault.say(WARPSEAL_INVALID_ARGUMENT, "the part is of another plan");
    index = get32(head + 12) - 1;
    Secret<part_head_bytes> right;
    if (index < shard_count_) write_part_head(index, right.data());
    if (index >= shard_count_ || !equal_secret(right.data(), head, part_head_bytes))
        return fault.say(WARPSEAL_NOT_AUTHENTIC, "the head of the part was changed");
    const uint64_t wanted = part_head_bytes + shard(index).file_bytes;
    if (file_bytes < wanted)
        return fault.say(WARPSEAL_TRUNCATED, "the part has %llu bytes, and shard %u has %llu",
                         ull{file_bytes}, index + 1, ull{wanted});
    if (file_bytes > wanted)
        return fault.say(WARPSEAL_NOT_AUTHENTIC,
                         "the part has %llu bytes, and shard %u has %llu: something follows it",
                         ull{file_bytes}, index + 1, ull{wanted});
    return WARPSEAL_OK;
}

}  // namespace warpseal::container

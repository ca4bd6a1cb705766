// One message of a plain mode: in chunks on the cores, or in shards on GPUs and the cores, which
// finish what GPUs leave. Also CBC padding.
#include <cstring>
#include <new>

#include "core/secret.h"
#include "engine/refusal.h"
#include "engine/schedule/chunks.h"

namespace warpseal {
namespace {

constexpr size_t longest_block = 16;

void sweep_on_cores(const CoreWork& work, warpseal_mode mode, const uint8_t* iv) {
    const auto sweep = work.route.cores->sweep[mode][static_cast<int>(work.direction)];
    struct {
        const CoreWork& work;
        CpuCipher::Sweep sweep;
        const uint8_t* iv;
    } const all{work, sweep, iv};
    work.pool.run(work.chunks(), work.route.plan.threads, [&all](size_t i) {
        const CoreWork::Chunk p = all.work.chunk(i);
        all.sweep(all.work.route.state, all.iv, p.first_unit, p.in, p.out, p.bytes);
    });
}

// CBC and CFB decryption. Each chunk needs the ciphertext block before it, which an in-place call
// overwrites, so these blocks are saved first.
// iv: the block before the first chunk.
void feedback_on_cores(const CoreWork& work, warpseal_mode mode, const uint8_t* iv) {
    const auto sweep = work.route.cores->sweep[mode][static_cast<int>(work.direction)];
    const size_t count = work.chunks(), block_bytes = work.route.cores->block_bytes;
    std::unique_ptr<uint8_t[]> previous(
        count == 1 ? nullptr : new (std::nothrow) uint8_t[count * block_bytes]);
    if (!previous) {  // one chunk, or no memory to save the blocks between chunks
        sweep(work.route.state, iv, 0, work.message.in + work.done, work.message.out + work.done,
              work.message.bytes - work.done);
        return;
    }
    memcpy(previous.get(), iv, block_bytes);
    for (size_t i = 1; i < count; ++i)
        memcpy(&previous[i * block_bytes], work.chunk(i).in - block_bytes, block_bytes);
    struct {
        const CoreWork& work;
        CpuCipher::Sweep sweep;
        const uint8_t* previous;  // block before each chunk
        size_t block_bytes;
    } const all{work, sweep, previous.get(), block_bytes};
    work.pool.run(count, work.route.plan.threads, [&all](size_t i) {
        const CoreWork::Chunk p = all.work.chunk(i);
        all.sweep(all.work.route.state, all.previous + i * all.block_bytes, 0, p.in, p.out,
                  p.bytes);
    });
}

// ECB and CTR.
class Sweep : public ShardWork {
public:
    Sweep(Engine::Impl& impl, const Route& route, warpseal_mode mode, Direction direction,
          const uint8_t* iv, const Message& message)
        : impl_(impl),
          route_(route),
          mode_(mode),
          direction_(direction),
          iv_(iv),
          message_(message) {}

    warpseal_status on_gpu(Gpu& gpu, Shard& shard) override {
        size_t done = 0;
        const warpseal_status status = gpu.backend().sweep_host(
            gpu.device(), *route_.cuda, route_.cuda_state, mode_, direction_, iv_,
            shard.done / block_bytes(), message_.in + shard.done, message_.out + shard.done,
            shard.end - shard.done, &done, nullptr);
        shard.done += done;
        return status;
    }
    void on_cores(Shard& shard) override {
        sweep_on_cores(core_work(route_, impl_.pool, direction_, message_, shard, block_bytes()),
                       mode_, iv_);
        shard.done = shard.end;
    }

protected:
    size_t block_bytes() const { return route_.cores->block_bytes; }

    Engine::Impl& impl_;
    const Route& route_;
    const warpseal_mode mode_;
    const Direction direction_;
    const uint8_t* const iv_;
    const Message& message_;
};

// CBC and CFB decryption. Saves the ciphertext block before each shard, before anything is
// overwritten.
class Feedback : public Sweep {
public:
    Feedback(Engine::Impl& impl, const Route& route, warpseal_mode mode, const uint8_t* iv,
             const Message& message, const Shards& shards)
        : Sweep(impl, route, mode, Direction::decrypt, iv, message) {
        memcpy(previous_[0], iv, block_bytes());
        for (unsigned i = 1; i < shards.count; ++i)
            memcpy(previous_[i], message.in + shards.all[i].begin - block_bytes(), block_bytes());
    }

    warpseal_status on_gpu(Gpu& gpu, Shard& shard) override {
        size_t done = 0;
        uint8_t before[longest_block];
        const warpseal_status status = gpu.backend().sweep_host(
            gpu.device(), *route_.cuda, route_.cuda_state, mode_, direction_,
            previous_[shard.number], 0, message_.in + shard.done, message_.out + shard.done,
            shard.end - shard.done, &done, before);
        memcpy(previous_[shard.number], before, block_bytes());
        shard.done += done;
        return status;
    }
    void on_cores(Shard& shard) override {
        feedback_on_cores(core_work(route_, impl_.pool, direction_, message_, shard, block_bytes()),
                          mode_, previous_[shard.number]);
        shard.done = shard.end;
    }

private:
    uint8_t previous_[most_gpus + 1][longest_block];
};

// Returns the number of padding bytes at the end of the last block (RFC 5652 6.3), or 0 if invalid.
// The time depends only on block_bytes.
size_t padding_of(const uint8_t* block, size_t block_bytes) {
    const uint32_t bytes = block[block_bytes - 1];
    // 1 if the number is zero or exceeds a block.
    uint32_t wrong = (bytes - 1) >> 31 | (static_cast<uint32_t>(block_bytes) - bytes) >> 31;
    for (uint32_t i = 0; i < block_bytes; ++i) {
        // 1 if byte i is among the last `bytes`.
        const uint32_t is_padding = (static_cast<uint32_t>(block_bytes) - 1 - i - bytes) >> 31;
        wrong |= (0 - is_padding) & (block[i] ^ bytes);
    }
    return bytes & (((wrong + 0xff) >> 8) - 1);
}

// Publishes the result of the padding check, which is public from here on. A separate function, for
// tools that detect branches on secrets.
__attribute__((noinline)) warpseal_status publish_result(size_t padding, uint8_t* out, size_t bytes,
                                                         size_t* out_bytes) {
    if (padding == 0) {
        wipe(out, bytes);
        return WARPSEAL_BAD_PADDING;
    }
    *out_bytes = bytes - padding;
    return WARPSEAL_OK;
}

}  // namespace

uint64_t run_batch_of_one(Engine::Impl& impl, const Route& route, warpseal_mode mode,
                          Direction direction, const warpseal_batch& batch) {
    uint64_t done = 0, forgeries = 0;
    if (route.gpu) {
        Gpu& gpu = impl.gpus[route.shard_plan.first_gpu()];
        const warpseal_status status = gpu.backend().batch_host(
            gpu.device(), *route.cuda, route.cuda_state, mode, direction, batch, &done, &forgeries);
        if (status == WARPSEAL_OK || status == WARPSEAL_NOT_AUTHENTIC) return forgeries;
        gpu.failed(status);
        if (done == 1)
            return direction == Direction::decrypt && batch.statuses != nullptr &&
                           *batch.statuses != WARPSEAL_OK
                       ? 1
                       : 0;
    }
    return route.cores->batch[mode][static_cast<int>(direction)](route.state, batch, 0, 1);
}

warpseal_status Engine::message(const Key& key, warpseal_mode mode, Direction direction, Bytes iv,
                                const uint8_t* in, uint8_t* out, size_t bytes) {
    const Message message{in, out, bytes};
    warpseal_status status = check_plain(key, mode, direction, iv, bytes);
    if (status == WARPSEAL_OK) status = check(message);
    if (status != WARPSEAL_OK || bytes == 0) return status;
    // A copy: the caller's IV may lie in `out`, where one chunk would overwrite it before another
    // starts.
    uint8_t first[longest_block];
    if (iv.size != 0) {
        memcpy(first, iv.data, iv.size);
        iv.data = first;
    }

    Route route;
    const BackendEntry entry = entry_of(mode, direction);
    status = impl_->route(key, call_of(mode, direction, entry, message), route);
    if (status != WARPSEAL_OK) return status;
    if (entry == BackendEntry::batch) {
        (void)run_batch_of_one(*impl_, route, mode, direction, batch_of_one(message, iv));
        return WARPSEAL_OK;
    }
    Shards shards = shards_of(route, bytes, route.cores->block_bytes);
    if (mode == WARPSEAL_CBC || mode == WARPSEAL_CFB) {
        Feedback work(*impl_, route, mode, iv.data, message, shards);
        run_shards(*impl_, route, work, shards);
    } else {
        Sweep work(*impl_, route, mode, direction, iv.data, message);
        run_shards(*impl_, route, work, shards);
    }
    return WARPSEAL_OK;
}

namespace {

warpseal_status refuse_capacity(size_t given, size_t wanted) {
    return refuse("out_capacity is %zu: give at least %zu bytes", given, wanted);
}

}  // namespace

warpseal_status Engine::padded(const Key& key, Direction direction, Bytes iv, const uint8_t* in,
                               size_t bytes, uint8_t* out, size_t out_capacity, size_t* out_bytes) {
    *out_bytes = 0;
    const size_t block_bytes = key.facts().block_bytes, whole = bytes / block_bytes * block_bytes,
                 tail = bytes - whole;
    if (direction == Direction::decrypt) {
        if (bytes == 0 || tail != 0)
            return refuse("bytes is %zu: padded text has whole blocks of %zu bytes", bytes,
                          block_bytes);
        if (out_capacity < bytes) return refuse_capacity(out_capacity, bytes);
        const warpseal_status status = message(key, WARPSEAL_CBC, direction, iv, in, out, bytes);
        if (status != WARPSEAL_OK) return status;
        return publish_result(padding_of(out + bytes - block_bytes, block_bytes), out, bytes,
                              out_bytes);
    }
    if (out == nullptr) return refuse("out is null");
    if (in == nullptr && bytes != 0) return refuse("in is null");
    if (bytes > most_bytes) return refuse("bytes is %zu: no object in memory is that large", bytes);
    if (out_capacity < whole + block_bytes)
        return refuse_capacity(out_capacity, whole + block_bytes);
    if (overlap(in, bytes, out, whole + block_bytes))
        return refuse("out overlaps in: give the same address or disjoint memory");
    Secret<longest_block> last;
    if (tail != 0) memcpy(last.data(), in + whole, tail);
    memset(last.data() + tail, static_cast<int>(block_bytes - tail), block_bytes - tail);
    warpseal_status status = message(key, WARPSEAL_CBC, direction, iv, in, out, whole);
    if (status != WARPSEAL_OK) return status;
    uint8_t before[longest_block];  // IV or ciphertext block before the last block
    if (whole == 0)
        memcpy(before, iv.data, block_bytes);
    else
        memcpy(before, out + whole - block_bytes, block_bytes);
    status = message(key, WARPSEAL_CBC, direction, {before, block_bytes}, last.data(), last.data(),
                     block_bytes);
    if (status != WARPSEAL_OK) return status;
    memcpy(out + whole, last.data(), block_bytes);
    *out_bytes = whole + block_bytes;
    return WARPSEAL_OK;
}

}  // namespace warpseal

// One message with a tag in host memory: GCM sharded over cores and GPUs; CCM and CMAC, which are
// serial, as a batch of one.
#include <cstring>
#include <new>

#include "core/secret.h"
#include "engine/refusal.h"
#include "engine/schedule/chunks.h"

namespace warpseal {
namespace {

constexpr uint32_t gcm_tag_bytes = 16;

void gcm_on_cores(const CoreWork& work, GcmState& gcm) {
    const CpuCipher& cipher = *work.route.cores;
    const auto segment = cipher.gcm_segment[static_cast<int>(work.direction)];
    const size_t count = work.chunks();
    std::unique_ptr<GcmState[]> states(count == 1 ? nullptr : new (std::nothrow) GcmState[count]);
    if (!states) {  // one chunk, or no memory for the GHASH accumulators of several
        const size_t done = work.done;
        segment(work.route.state, &gcm, done / cipher.block_bytes, work.message.in + done,
                work.message.out + done, work.message.bytes - done);
        return;
    }
    struct {
        const CoreWork& work;
        CpuCipher::GcmSegment segment;
        const GcmState& gcm;
        GcmState* states;  // one for each chunk
    } const all{work, segment, gcm, states.get()};
    work.pool.run(count, work.route.plan.threads, [&all](size_t i) {
        GcmState& own = all.states[i];
        memcpy(own.counter0, all.gcm.counter0, sizeof own.counter0);
        memset(own.sum, 0, sizeof own.sum);
        const CoreWork::Chunk chunk = all.work.chunk(i);
        all.segment(all.work.route.state, &own, chunk.first_unit, chunk.in, chunk.out, chunk.bytes);
    });
    for (size_t i = 0; i < count; ++i)
        cipher.gcm_combine(work.route.state, gcm.sum, states[i].sum,
                           (work.chunk(i).bytes + cipher.block_bytes - 1) / cipher.block_bytes);
    wipe(states.get(), count * sizeof(GcmState));
}

// True if two ranges share a byte.
bool share_a_byte(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
    return a_bytes != 0 && b_bytes != 0 && (a == b || overlap(a, a_bytes, b, b_bytes));
}

// True if no output overwrites an input that is still needed. The text is written in chunks, and
// the IV, the AAD and a tag to verify must stay intact until the last one.
// A tag that is written must not overlap the text or the IV, which the caller still needs.
bool arguments_disjoint(Bytes iv, Bytes aad, const Message& message, const void* tag,
                        size_t tag_bytes) {
    const auto in_text = [&](const void* at, size_t bytes) {
        return share_a_byte(at, bytes, message.out, message.bytes);
    };
    return !in_text(iv.data, iv.size) && !in_text(aad.data, aad.size) && !in_text(tag, tag_bytes) &&
           !share_a_byte(tag, tag_bytes, iv.data, iv.size);
}

warpseal_status check_lengths(warpseal_mode mode, const CipherFacts& facts, uint64_t iv_bytes,
                              uint64_t aad_bytes, uint64_t text_bytes, uint64_t tag_bytes) {
    // Usual lengths, which both modes accept. The four checks below take 5 % of a message of 64
    // bytes.
    if (iv_bytes == 12 && tag_bytes == 16 && (aad_bytes | text_bytes) >> 24 == 0)
        return WARPSEAL_OK;
    warpseal_status status = check_iv(mode, facts, iv_bytes);
    if (status == WARPSEAL_OK) status = check_tag(mode, facts, tag_bytes);
    if (status == WARPSEAL_OK) status = check_aad(mode, aad_bytes);
    return status == WARPSEAL_OK ? check_text(mode, facts, iv_bytes, text_bytes) : status;
}

warpseal_status check_aead(const Key& key, warpseal_mode mode, Direction direction, Bytes iv,
                           Bytes aad, const Message& message, const void* tag, size_t tag_bytes) {
    if (!aead(mode)) return refuse("mode is %s: give gcm or ccm", mode_name(mode));
    warpseal_status status = check_mode_of_key(key, mode);
    if (status != WARPSEAL_OK) return status;
    const CpuCipher& facts = key.facts();
    if (iv.data == nullptr) return refuse("iv is null");
    if (tag == nullptr) return refuse("tag is null");
    if (aad.data == nullptr && aad.size != 0) return refuse("aad is null");
    status = check_lengths(mode, facts, iv.size, aad.size, message.bytes, tag_bytes);
    if (status == WARPSEAL_OK) status = check(message);
    if (status == WARPSEAL_OK && !arguments_disjoint(iv, aad, message, tag, tag_bytes))
        status = refuse("iv, aad, tag and out overlap: give disjoint memory");
    return status == WARPSEAL_OK && key.refuses(direction) ? WARPSEAL_WEAK_KEY : status;
}

// The first shard continues GHASH over the AAD. Every other shard starts a GHASH accumulator at
// zero.
class GcmShards : public ShardWork {
public:
    GcmShards(Engine::Impl& impl, const Route& route, Direction direction, const Message& message,
              const GcmState& after_aad)
        : impl_(impl), route_(route), direction_(direction), message_(message) {
        for (GcmState& state : states_.value) {
            state = after_aad;
            memset(state.sum, 0, sizeof state.sum);
        }
        states_.value[0] = after_aad;
    }

    warpseal_status on_gpu(Gpu& gpu, Shard& shard) override {
        size_t done = 0;
        const warpseal_status status = gpu.backend().gcm_host(
            gpu.device(), *route_.cuda, route_.cuda_state, direction_, &states_.value[shard.number],
            shard.done / route_.cores->block_bytes, message_.in + shard.done,
            message_.out + shard.done, shard.end - shard.done, &done);
        shard.done += done;
        return status;
    }
    void on_cores(Shard& shard) override {
        gcm_on_cores(
            core_work(route_, impl_.pool, direction_, message_, shard, route_.cores->block_bytes),
            states_.value[shard.number]);
        shard.done = shard.end;
    }

    void combine(const Shards& shards, GcmState& gcm) const {
        memcpy(gcm.sum, states_.value[0].sum, sizeof gcm.sum);
        const uint64_t block_bytes = route_.cores->block_bytes;
        for (unsigned i = 1; i < shards.count; ++i)
            route_.cores->gcm_combine(
                route_.state, gcm.sum, states_.value[i].sum,
                (shards.all[i].end - shards.all[i].begin + block_bytes - 1) / block_bytes);
    }

private:
    Engine::Impl& impl_;
    const Route& route_;
    const Direction direction_;
    const Message& message_;
    SecretOf<GcmState[most_gpus + 1]> states_;
};

// Processes the text of a message by its route.
void run_text(Engine::Impl& impl, const Route& route, Direction direction, const Message& message,
              GcmState& gcm) {
    if (message.bytes == 0) return;
    if (!route.gpu && !route.measured)
        return gcm_on_cores({route, impl.pool, direction, message, 0, route.cores->block_bytes},
                            gcm);
    Shards shards = shards_of(route, message.bytes, route.cores->block_bytes);
    GcmShards work(impl, route, direction, message, gcm);
    run_shards(impl, route, work, shards);
    work.combine(shards, gcm);
}

// Plaintext whose tag is not verified yet; zeroized if an exception ends the call.
class Unverified {
public:
    Unverified(uint8_t* text, size_t bytes) : text_(text), bytes_(bytes) {}
    ~Unverified() {
        if (bytes_ != 0) wipe(text_, bytes_);
    }
    Unverified(const Unverified&) = delete;
    Unverified& operator=(const Unverified&) = delete;
    void release() { bytes_ = 0; }

private:
    uint8_t* const text_;
    size_t bytes_;
};

// Encrypts or decrypts the text and computes the full tag.
warpseal_status run_gcm(Engine::Impl& impl, const Key& key, Direction direction, Bytes iv,
                        Bytes aad, const Message& message, uint8_t (&tag)[gcm_tag_bytes]) {
    Route route;
    const warpseal_status routed =
        impl.route(key, call_of(WARPSEAL_GCM, direction, BackendEntry::gcm, message), route);
    if (routed != WARPSEAL_OK) return routed;
    Secret<sizeof(GcmState)> secret;
    GcmState& gcm = *new (secret.data()) GcmState;
    route.cores->gcm_begin(route.state, iv.data, iv.size, aad.data, aad.size, &gcm);
    Unverified text(message.out, direction == Direction::decrypt ? message.bytes : 0);
    run_text(impl, route, direction, message, gcm);
    text.release();
    route.cores->gcm_finish(route.state, &gcm, aad.size, message.bytes, tag);
    return WARPSEAL_OK;
}

// CCM and CMAC. A tag to verify is only read.
// The blocks of a message are serial, so the CPU processes any length, unless only GPUs are
// allowed.
warpseal_status run_serial(Engine::Impl& impl, const Key& key, warpseal_mode mode,
                           Direction direction, Bytes iv, Bytes aad, const Message& message,
                           uint8_t* tag, size_t tag_bytes) {
    int32_t message_status = WARPSEAL_OK;
    warpseal_batch batch = batch_of_one(message, iv);
    batch.aad = aad.data;
    batch.aad_bytes = aad.size;
    batch.tags = tag;
    batch.tag_bytes = static_cast<uint32_t>(tag_bytes);
    batch.statuses = &message_status;
    if (!impl.cuda_only) {
        CorePath path;
        const warpseal_status tested =
            impl.path_on_cores(key, mode, direction, BackendEntry::batch, path);
        if (tested != WARPSEAL_OK) return tested;
        return path.cores->batch[mode][static_cast<int>(direction)](path.state, batch, 0, 1) == 0
                   ? WARPSEAL_OK
                   : WARPSEAL_NOT_AUTHENTIC;
    }
    Route route;
    const warpseal_status routed =
        impl.route(key, call_of(mode, direction, BackendEntry::batch, message), route);
    if (routed != WARPSEAL_OK) return routed;
    return run_batch_of_one(impl, route, mode, direction, batch) == 0 ? WARPSEAL_OK
                                                                      : WARPSEAL_NOT_AUTHENTIC;
}

}  // namespace

warpseal_status gcm_text(Engine::Impl& impl, const Key& key, Direction direction,
                         const Message& message, GcmState& gcm) {
    Route route;
    const warpseal_status routed =
        impl.route(key, call_of(WARPSEAL_GCM, direction, BackendEntry::gcm, message), route);
    if (routed == WARPSEAL_OK) run_text(impl, route, direction, message, gcm);
    return routed;
}

warpseal_status Engine::seal(const Key& key, warpseal_mode mode, Bytes iv, Bytes aad,
                             const uint8_t* in, uint8_t* out, size_t bytes, uint8_t* tag,
                             size_t tag_bytes) {
    const Message message{in, out, bytes};
    warpseal_status status =
        check_aead(key, mode, Direction::encrypt, iv, aad, message, tag, tag_bytes);
    if (status != WARPSEAL_OK) return status;
    if (mode == WARPSEAL_CCM)
        return run_serial(*impl_, key, mode, Direction::encrypt, iv, aad, message, tag, tag_bytes);
    Secret<gcm_tag_bytes> full_tag;
    status = run_gcm(*impl_, key, Direction::encrypt, iv, aad, message, full_tag.bytes);
    if (status == WARPSEAL_OK) memcpy(tag, full_tag.data(), tag_bytes);
    return status;
}

warpseal_status Engine::open(const Key& key, warpseal_mode mode, Bytes iv, Bytes aad,
                             const uint8_t* in, uint8_t* out, size_t bytes, const uint8_t* tag,
                             size_t tag_bytes) {
    const Message message{in, out, bytes};
    warpseal_status status =
        check_aead(key, mode, Direction::decrypt, iv, aad, message, tag, tag_bytes);
    if (status != WARPSEAL_OK) return status;
    if (mode == WARPSEAL_CCM)
        return run_serial(*impl_, key, mode, Direction::decrypt, iv, aad, message,
                          const_cast<uint8_t*>(tag), tag_bytes);
    // The correct tag of a forged message is secret: it would authenticate the forgery.
    Secret<gcm_tag_bytes> full_tag;
    status = run_gcm(*impl_, key, Direction::decrypt, iv, aad, message, full_tag.bytes);
    if (status == WARPSEAL_OK && !equal_secret(full_tag.data(), tag, tag_bytes))
        status = WARPSEAL_NOT_AUTHENTIC;
    if (status == WARPSEAL_NOT_AUTHENTIC && bytes != 0) wipe(out, bytes);
    return status;
}

// GHASH takes AAD and ciphertext alike, so the ciphertext is hashed as AAD. The lengths that end
// GHASH are those of the message (SP 800-38D 7.1 steps 4 and 5).
warpseal_status Engine::verify_gcm(const Key& key, Bytes iv, Bytes ciphertext, const uint8_t* tag,
                                   size_t tag_bytes) {
    warpseal_status status = check_mode_of_key(key, WARPSEAL_GCM);
    if (status == WARPSEAL_OK)
        status = check_lengths(WARPSEAL_GCM, key.facts(), iv.size, 0, ciphertext.size, tag_bytes);
    CorePath path;
    if (status == WARPSEAL_OK)
        status =
            impl_->path_on_cores(key, WARPSEAL_GCM, Direction::decrypt, BackendEntry::gcm, path);
    if (status != WARPSEAL_OK) return status;
    Secret<sizeof(GcmState)> secret;
    Secret<gcm_tag_bytes> full_tag;
    GcmState& gcm = *new (secret.data()) GcmState;
    path.cores->gcm_begin(path.state, iv.data, iv.size, ciphertext.data, ciphertext.size, &gcm);
    path.cores->gcm_finish(path.state, &gcm, 0, ciphertext.size, full_tag.data());
    return equal_secret(full_tag.data(), tag, tag_bytes) ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC;
}

warpseal_status Engine::mac(const Key& key, warpseal_mode mode, Direction direction, Bytes in,
                            uint8_t* tag, size_t tag_bytes) {
    if (mode != WARPSEAL_CMAC) return refuse("mode is %s: give cmac", mode_name(mode));
    warpseal_status status = check_mode_of_key(key, mode);
    if (status != WARPSEAL_OK) return status;
    if (tag == nullptr) return refuse("tag is null");
    if (in.data == nullptr && in.size != 0) return refuse("in is null");
    status = check_tag(mode, key.facts(), tag_bytes);
    if (status == WARPSEAL_OK) status = check_text(mode, key.facts(), 0, in.size);
    if (status != WARPSEAL_OK) return status;
    if (key.refuses(direction)) return WARPSEAL_WEAK_KEY;
    return run_serial(*impl_, key, mode, direction, {}, {}, {in.data, nullptr, in.size}, tag,
                      tag_bytes);
}

}  // namespace warpseal

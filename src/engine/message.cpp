// One message in host memory: split over the cores, or through the GPU with the cores to finish what it leaves.
#include <cstring>
#include <new>

#include "core/secret.h"
#include "engine/inside.h"

namespace warpseal {
namespace {

constexpr uint64_t gcm_text_limit = (uint64_t{1} << 36) - 32;  // bytes; SP 800-38D 5.2.1.1
constexpr uint64_t gcm_other_limit = (uint64_t{1} << 61) - 1;  // bytes of IV and of AAD
constexpr uint32_t gcm_tag_bytes = 16;

struct Message {
    const uint8_t* in;
    uint8_t* out;
    size_t bytes;
};

warpseal_status check(const Message& message) {
    if (message.bytes != 0 && (message.in == nullptr || message.out == nullptr)) return WARPSEAL_INVALID_ARGUMENT;
    return overlap(message.in, message.out, message.bytes) ? WARPSEAL_INVALID_ARGUMENT : WARPSEAL_OK;
}

size_t piece_count(const Plan& plan, size_t bytes) {
    return plan.threads == 1 ? 1 : static_cast<size_t>((bytes + plan.piece_bytes - 1) / plan.piece_bytes);
}

// The bytes from `done` on, on the cores. `done` is whole blocks.
struct CoreWork {
    const Route& route;
    Pool& pool;
    Direction direction;
    Message message;
    size_t done;

    size_t pieces() const { return piece_count(route.plan, message.bytes - done); }
    struct Piece {
        uint64_t first_block;
        const uint8_t* in;
        uint8_t* out;
        size_t bytes;
    };
    Piece piece(size_t i) const {
        const size_t step = pieces() == 1 ? message.bytes - done : static_cast<size_t>(route.plan.piece_bytes);
        const size_t begin = done + i * step;
        const size_t end = message.bytes - begin <= step ? message.bytes : begin + step;
        return {begin / route.cores->block_bytes, message.in + begin, message.out + begin, end - begin};
    }
};

void sweep_on_cores(const CoreWork& work, warpseal_mode mode, const uint8_t* iv) {
    const auto sweep = work.route.cores->sweep[mode][static_cast<int>(work.direction)];
    struct {
        const CoreWork& work;
        CpuCipher::Sweep sweep;
        const uint8_t* iv;
    } const all{work, sweep, iv};
    work.pool.run(work.pieces(), work.route.plan.threads, [&all](size_t i) {
        const CoreWork::Piece p = all.work.piece(i);
        all.sweep(all.work.route.state, all.iv, p.first_block, p.in, p.out, p.bytes);
    });
}

void gcm_on_cores(const CoreWork& work, GcmRun& run) {
    const CpuCipher& cipher = *work.route.cores;
    const auto piece = cipher.gcm_piece[static_cast<int>(work.direction)];
    const size_t count = work.pieces();
    std::unique_ptr<GcmRun[]> parts(count == 1 ? nullptr : new (std::nothrow) GcmRun[count]);
    if (!parts) {  // one piece, or no memory to hold the sums of several
        const size_t done = work.done;
        piece(work.route.state, &run, done / cipher.block_bytes, work.message.in + done, work.message.out + done,
              work.message.bytes - done);
        return;
    }
    struct {
        const CoreWork& work;
        CpuCipher::GcmPiece piece;
        const GcmRun& run;
        GcmRun* parts;
    } const all{work, piece, run, parts.get()};
    work.pool.run(count, work.route.plan.threads, [&all](size_t i) {
        GcmRun& part = all.parts[i];
        memcpy(part.counter0, all.run.counter0, sizeof part.counter0);
        memset(part.sum, 0, sizeof part.sum);
        const CoreWork::Piece p = all.work.piece(i);
        all.piece(all.work.route.state, &part, p.first_block, p.in, p.out, p.bytes);
    });
    for (size_t i = 0; i < count; ++i)
        cipher.gcm_combine(work.route.state, run.sum, parts[i].sum, (work.piece(i).bytes + cipher.block_bytes - 1) / cipher.block_bytes);
    wipe(parts.get(), count * sizeof(GcmRun));
}

warpseal_status check_gcm(const Key& key, warpseal_mode mode, Bytes iv, Bytes aad, const Message& message, const void* tag,
                          size_t tag_bytes) {
    if (mode != WARPSEAL_GCM) return WARPSEAL_INVALID_ARGUMENT;
    if ((key.facts().modes >> mode & 1) == 0) return WARPSEAL_UNSUPPORTED;
    if (iv.data == nullptr || iv.size == 0 || tag == nullptr || tag_bytes == 0 || tag_bytes > gcm_tag_bytes)
        return WARPSEAL_INVALID_ARGUMENT;
    if (aad.data == nullptr && aad.size != 0) return WARPSEAL_INVALID_ARGUMENT;
    if (iv.size > gcm_other_limit || aad.size > gcm_other_limit || message.bytes > gcm_text_limit) return WARPSEAL_LIMIT_EXCEEDED;
    return check(message);
}

// Ciphers the text and computes the whole tag.
warpseal_status gcm(Engine::Inside& inside, const Key& key, Direction direction, Bytes iv, Bytes aad, const Message& message,
                    uint8_t (&tag)[gcm_tag_bytes]) {
    Route route;
    const warpseal_status routed = inside.route(key, WARPSEAL_GCM, direction, message.bytes, route);
    if (routed != WARPSEAL_OK) return routed;
    Secret<sizeof(GcmRun)> secret;
    GcmRun& run = *new (secret.data()) GcmRun;
    route.cores->gcm_begin(route.state, iv.data, iv.size, aad.data, aad.size, &run);
    size_t done = 0;
    if (route.gpu && message.bytes != 0) {
        const warpseal_status status = inside.gpu.door().gcm_host(inside.gpu.device(), *route.cuda, route.cuda_state, direction, &run, 0,
                                                                  message.in, message.out, message.bytes, &done);
        if (status == WARPSEAL_OK)
            done = message.bytes;
        else
            inside.gpu.failed(status);
    }
    if (done < message.bytes) gcm_on_cores({route, inside.pool, direction, message, done}, run);
    route.cores->gcm_finish(route.state, &run, aad.size, message.bytes, tag);
    return WARPSEAL_OK;
}

}  // namespace

warpseal_status Engine::sweep(const Key& key, warpseal_mode mode, Direction direction, Bytes iv, const uint8_t* in, uint8_t* out,
                              size_t bytes) {
    const CpuCipher& facts = key.facts();
    if (mode < 0 || mode >= WARPSEAL_MODE_COUNT || mode == WARPSEAL_GCM) return WARPSEAL_INVALID_ARGUMENT;
    if ((facts.modes >> mode & 1) == 0) return WARPSEAL_UNSUPPORTED;
    if (iv.size != (mode == WARPSEAL_ECB ? 0 : facts.block_bytes) || (iv.size != 0 && iv.data == nullptr)) return WARPSEAL_INVALID_ARGUMENT;
    if (mode == WARPSEAL_ECB && bytes % facts.block_bytes != 0) return WARPSEAL_INVALID_ARGUMENT;
    const Message message{in, out, bytes};
    if (const warpseal_status status = check(message); status != WARPSEAL_OK || bytes == 0) return status;

    Route route;
    const warpseal_status routed = inside_->route(key, mode, direction, bytes, route);
    if (routed != WARPSEAL_OK) return routed;
    size_t done = 0;
    if (route.gpu) {
        const warpseal_status status = inside_->gpu.door().sweep_host(inside_->gpu.device(), *route.cuda, route.cuda_state, mode, direction,
                                                                      iv.data, 0, in, out, bytes, &done);
        if (status == WARPSEAL_OK) return WARPSEAL_OK;
        inside_->gpu.failed(status);
    }
    if (done < bytes) sweep_on_cores({route, inside_->pool, direction, message, done}, mode, iv.data);
    return WARPSEAL_OK;
}

warpseal_status Engine::seal(const Key& key, warpseal_mode mode, Bytes iv, Bytes aad, const uint8_t* in, uint8_t* out, size_t bytes,
                             uint8_t* tag, size_t tag_bytes) {
    const Message message{in, out, bytes};
    warpseal_status status = check_gcm(key, mode, iv, aad, message, tag, tag_bytes);
    Secret<gcm_tag_bytes> whole;
    if (status == WARPSEAL_OK) status = gcm(*inside_, key, Direction::encrypt, iv, aad, message, whole.bytes);
    if (status == WARPSEAL_OK) memcpy(tag, whole.data(), tag_bytes);
    return status;
}

warpseal_status Engine::open(const Key& key, warpseal_mode mode, Bytes iv, Bytes aad, const uint8_t* in, uint8_t* out, size_t bytes,
                             const uint8_t* tag, size_t tag_bytes) {
    const Message message{in, out, bytes};
    warpseal_status status = check_gcm(key, mode, iv, aad, message, tag, tag_bytes);
    if (status != WARPSEAL_OK) return status;
    Secret<gcm_tag_bytes> whole;  // the right tag of a forged message is worth as much as the key for that message
    status = gcm(*inside_, key, Direction::decrypt, iv, aad, message, whole.bytes);
    if (status == WARPSEAL_OK && !equal_secret(whole.data(), tag, tag_bytes)) status = WARPSEAL_NOT_AUTHENTIC;
    if (status == WARPSEAL_NOT_AUTHENTIC && bytes != 0) wipe(out, bytes);
    return status;
}

}  // namespace warpseal

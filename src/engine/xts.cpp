// XTS in host memory: pieces of whole data units over the cores, or through the GPU with the cores to finish what it leaves.
#include <cstring>

#include "engine/pieces.h"

namespace warpseal {
namespace {

// The units from number `first` + `count` on; numbers are 128 bits, least significant byte first, and wrap.
XtsUnits advanced(const XtsUnits& units, uint64_t count) {
    XtsUnits later = units;
    uint64_t carry = count;
    for (uint8_t& byte : later.first) {
        const auto sum = static_cast<uint32_t>(byte + (carry & 0xff));
        byte = static_cast<uint8_t>(sum);
        carry = (carry >> 8) + (sum >> 8);
    }
    return later;
}

void xts_on_cores(const CoreWork& work, const XtsUnits& units) {
    struct {
        const CoreWork& work;
        CpuCipher::Xts xts;
        const XtsUnits& units;
    } const all{work, work.route.cores->xts[static_cast<int>(work.direction)], units};
    work.pool.run(work.pieces(), work.route.plan.threads, [&all](size_t i) {
        const CoreWork::Piece p = all.work.piece(i);
        all.xts(all.work.route.state, all.work.route.tweak_state, advanced(all.units, p.first_unit), p.in, p.out, p.bytes);
    });
}

}  // namespace

warpseal_status Engine::xts(const Key& key, Direction direction, const XtsUnits& units, const uint8_t* in, uint8_t* out, size_t bytes) {
    const Message message{in, out, bytes};
    warpseal_status status = check_xts(key, direction, units, bytes);
    if (status == WARPSEAL_OK) status = check(message);
    if (status != WARPSEAL_OK || bytes == 0) return status;

    Route route;
    status = inside_->route(key, {WARPSEAL_XTS, direction, Shape::xts, bytes}, route);
    if (status != WARPSEAL_OK) return status;
    size_t done = 0;
    if (route.gpu) {
        status = inside_->gpu.door().xts_host(inside_->gpu.device(), *route.cuda, route.cuda_state, route.cuda_tweak_state, direction,
                                              units, in, out, bytes, &done);
        if (status == WARPSEAL_OK) return WARPSEAL_OK;
        inside_->gpu.failed(status);
    }
    if (done < bytes) xts_on_cores({route, inside_->pool, direction, message, done, static_cast<size_t>(units.unit_bytes)}, units);
    return WARPSEAL_OK;
}

}  // namespace warpseal

// XTS in host memory: pieces of whole data units over the cores, or through GPUs with the cores to
// finish what they leave.
#include <cstring>

#include "engine/pieces.h"

namespace warpseal {
namespace {

// The units from number `first` + `count` on; numbers are 128 bits, least significant byte first,
// and wrap.
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

class Units : public PartWork {
public:
    Units(Engine::Inside& inside, const Route& route, Direction direction, const XtsUnits& units,
          const Message& message)
        : inside_(inside), route_(route), direction_(direction), units_(units), message_(message) {}

    warpseal_status on_gpu(Gpu& gpu, Part& part) override {
        size_t done = 0;
        const warpseal_status status = gpu.backend().xts_host(
            gpu.device(), *route_.cuda, route_.cuda_state, route_.cuda_tweak_state, direction_,
            advanced(units_, part.done / units_.unit_bytes), message_.in + part.done,
            message_.out + part.done, part.end - part.done, &done);
        part.done += done;
        return status;
    }
    void on_cores(Part& part) override {
        const CoreWork work = core_work(route_, inside_.pool, direction_, message_, part,
                                        static_cast<size_t>(units_.unit_bytes));
        struct {
            const CoreWork& work;
            CpuCipher::Xts xts;
            const XtsUnits& units;
        } const all{work, route_.cores->xts[static_cast<int>(direction_)], units_};
        inside_.pool.run(work.pieces(), route_.plan.threads, [&all](size_t i) {
            const CoreWork::Piece p = all.work.piece(i);
            all.xts(all.work.route.state, all.work.route.tweak_state,
                    advanced(all.units, p.first_unit), p.in, p.out, p.bytes);
        });
        part.done = part.end;
    }

private:
    Engine::Inside& inside_;
    const Route& route_;
    const Direction direction_;
    const XtsUnits& units_;
    const Message& message_;
};

}  // namespace

warpseal_status Engine::xts(const Key& key, Direction direction, const XtsUnits& units,
                            const uint8_t* in, uint8_t* out, size_t bytes) {
    const Message message{in, out, bytes};
    warpseal_status status = check_xts(key, direction, units, bytes);
    if (status == WARPSEAL_OK) status = check(message);
    if (status != WARPSEAL_OK || bytes == 0) return status;

    Route route;
    status = inside_->route(key, call_of(WARPSEAL_XTS, direction, Shape::xts, message), route);
    if (status != WARPSEAL_OK) return status;
    Parts parts = parts_of(route, bytes, units.unit_bytes);
    Units work(*inside_, route, direction, units, message);
    run_parts(*inside_, route, work, parts);
    return WARPSEAL_OK;
}

}  // namespace warpseal

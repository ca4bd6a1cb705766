// XTS in host memory: chunks of complete data units on the CPU, or on GPUs with the CPU to finish
// what they leave.
#include <cstring>

#include "engine/schedule/chunks.h"

namespace warpseal {
namespace {

// Advances the data unit number by `count`. Numbers have 128 bits, least significant byte first,
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

class Units : public ShardWork {
public:
    Units(Engine::Impl& impl, const Route& route, Direction direction, const XtsUnits& units,
          const Message& message)
        : impl_(impl), route_(route), direction_(direction), units_(units), message_(message) {}

    warpseal_status on_gpu(Gpu& gpu, Shard& shard) override {
        size_t done = 0;
        const warpseal_status status = gpu.backend().xts_host(
            gpu.device(), *route_.cuda, route_.cuda_state, route_.cuda_tweak_state, direction_,
            advanced(units_, shard.done / units_.unit_bytes), message_.in + shard.done,
            message_.out + shard.done, shard.end - shard.done, &done);
        shard.done += done;
        return status;
    }
    void on_cores(Shard& shard) override {
        const CoreWork work = core_work(route_, impl_.pool, direction_, message_, shard,
                                        static_cast<size_t>(units_.unit_bytes));
        struct {
            const CoreWork& work;
            CpuCipher::Xts xts;
            const XtsUnits& units;
        } const all{work, route_.cores->xts[static_cast<int>(direction_)], units_};
        impl_.pool.run(work.chunks(), route_.plan.threads, [&all](size_t i) {
            const CoreWork::Chunk p = all.work.chunk(i);
            all.xts(all.work.route.state, all.work.route.tweak_state,
                    advanced(all.units, p.first_unit), p.in, p.out, p.bytes);
        });
        shard.done = shard.end;
    }

private:
    Engine::Impl& impl_;
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
    status = impl_->route(key, call_of(WARPSEAL_XTS, direction, BackendEntry::xts, message), route);
    if (status != WARPSEAL_OK) return status;
    Shards shards = shards_of(route, bytes, units.unit_bytes);
    Units work(*impl_, route, direction, units, message);
    run_shards(*impl_, route, work, shards);
    return WARPSEAL_OK;
}

}  // namespace warpseal

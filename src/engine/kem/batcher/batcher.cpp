// Interface of the batcher: checks arguments and finds the scheduler of the current process.
#include "engine/kem/batcher/batcher.h"

#include <cstring>

#include "engine/engine_impl.h"
#include "engine/kem/batcher/scheduler.h"
#include "engine/kem/check.h"
#include "engine/kem/paths.h"
#include "engine/refusal.h"

namespace warpseal {
namespace {

warpseal_status read_request(const Engine::Impl& impl, const warpseal_kem_request& given,
                             KemRequest& out, KemKind& kind) {
    if (given.operation < 0 || given.operation >= kem_operation_count)
        return refuse("the operation of request is %d: give one of warpseal_kem_operation",
                      static_cast<int>(given.operation));
    int set;
    const warpseal_status status = find_set(impl, given.set, set);
    if (status != WARPSEAL_OK) return status;
    kind = {static_cast<uint8_t>(set), static_cast<KemOperation>(given.operation)};
    out.public_key = given.public_key;
    out.secret_key = given.secret_key;
    out.ciphertext = given.ciphertext;
    out.shared_secret = given.shared_secret;
    out.done = given.done;
    out.user = given.user;
    return check_kem(kind.params(), kind.operation, out.as_batch());
}

}  // namespace

KemBatcher::KemBatcher(Engine& engine, KemBatcherOptions options, Engine::RandomSource random)
    : engine_(engine),
      options_(std::move(options)),
      random_(random),
      scheduler_(new KemScheduler(engine, options_, random, nullptr)) {}

KemBatcher::~KemBatcher() {
    if (KemScheduler* const last = scheduler_.load(std::memory_order_acquire);
        last->of_this_process())
        delete last;
}

KemScheduler& KemBatcher::scheduler() {
    KemScheduler* now = scheduler_.load(std::memory_order_acquire);
    if (now->of_this_process()) return *now;
    const std::lock_guard lock(mutex_);
    now = scheduler_.load(std::memory_order_relaxed);
    if (!now->of_this_process()) {
        now = new KemScheduler(engine_, options_, random_, now);
        scheduler_.store(now, std::memory_order_release);
    }
    return *now;
}

warpseal_status KemBatcher::run(const warpseal_kem_request& request) {
    KemRequest own;
    KemKind kind;
    const warpseal_status status = read_request(engine_.impl(), request, own, kind);
    return status == WARPSEAL_OK ? scheduler().run(own, kind) : status;
}

warpseal_status KemBatcher::submit(const warpseal_kem_request& request) {
    if (request.done == nullptr) return refuse("the done of request is null");
    KemRequest own;
    KemKind kind;
    const warpseal_status status = read_request(engine_.impl(), request, own, kind);
    return status == WARPSEAL_OK ? scheduler().submit(own, kind) : status;
}

void KemBatcher::read(warpseal_kem_batcher_counts& out) { scheduler().read(out); }

std::string KemBatcher::metrics() {
    warpseal_kem_batcher_counts counts{};
    KemScheduler& own = scheduler();
    own.read(counts);
    return prometheus_text(counts, own.who());
}

}  // namespace warpseal

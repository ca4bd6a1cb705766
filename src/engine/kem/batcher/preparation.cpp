// Steps of the preparation: open, pin, test, time.
#include "engine/kem/batcher/preparation.h"

#include <signal.h>

#include <algorithm>
#include <bit>
#include <system_error>

#include "core/secret.h"
#include "engine/engine_impl.h"
#include "engine/kem/batcher/staging_buffer.h"
#include "engine/kem/gpu_calls.h"

namespace warpseal {
namespace {

// Pinned bytes for each item of a batch: enough for every operation of the sets up to
// ntruhps4096821. Batches of larger sets are divided.
constexpr size_t block_item_bytes = 3072;
constexpr size_t most_pinned_items = 16384;
// Sizes of the timed batches.
constexpr size_t few_items = 64, many_items = 4096;
// The first call of a size also pays for memory that later ones reuse.
constexpr int timed_calls = 2;
// Pinning holds the lock of the process's memory map, which the page faults of other threads need.
constexpr std::chrono::milliseconds between_polls{1};
constexpr unsigned idle_polls = 3;  // in a row
// Polls of all steps that were asked for together, under a load without pauses.
constexpr unsigned most_polls = 30;

// A block that is zeroized and given back, also after an exception.
struct Lease {
    explicit Lease(KemPinnedBlocks& its_blocks) : blocks(its_blocks), block(its_blocks.lease()) {}
    ~Lease() {
        if (block.empty()) return;
        wipe(block.data(), block.size());
        blocks.give_back(block);
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    KemPinnedBlocks& blocks;
    const KemPinnedBlocks::Block block;
};

}  // namespace

KemPreparation::KemPreparation(Engine& engine, const KemBatcherOptions& options,
                               Engine::RandomSource random, unsigned blocks, Settled settled,
                               Busy busy)
    : engine_(engine),
      options_(options),
      random_(random),
      most_blocks_(blocks),
      block_bytes_(std::min(options.rule.most, most_pinned_items) * block_item_bytes),
      settled_(std::move(settled)),
      busy_(std::move(busy)),
      blocks_(engine) {}

KemPreparation::~KemPreparation() {
    stop();
    if (thread_.joinable()) thread_.join();
}

bool KemPreparation::start() {
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    try {
        thread_ = std::thread([this] { serve(); });
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread_.joinable();
}

void KemPreparation::ask(KemKind kind) {
    const std::lock_guard lock(mutex_);
    kinds_ |= kind.mask();
    asked_.notify_one();
}

void KemPreparation::stop() {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    asked_.notify_one();
}

size_t KemPreparation::most_items(KemKind kind) const {
    return KemStagingBuffer::capacity(kind, block_bytes_);
}

bool KemPreparation::stopping() {
    const std::lock_guard lock(mutex_);
    return stopping_;
}

std::optional<KemKind> KemPreparation::next() {
    std::unique_lock lock(mutex_);
    asked_.wait(lock, [&] { return stopping_ || kinds_ != 0; });
    if (stopping_) return std::nullopt;
    const int number = std::countr_zero(kinds_);
    kinds_ &= kinds_ - 1;
    return KemKind{static_cast<uint8_t>(number / kem_operation_count),
                   static_cast<KemOperation>(number % kem_operation_count)};
}

bool KemPreparation::idle_or_late(unsigned& patience) {
    std::unique_lock lock(mutex_);
    for (unsigned idle = 0; busy_ && !stopping_ && idle < idle_polls && patience != 0; --patience) {
        lock.unlock();
        const bool busy = busy_();
        lock.lock();
        idle = busy ? 0 : idle + 1;
        if (idle < idle_polls && !stopping_) asked_.wait_for(lock, between_polls);
    }
    return !stopping_;
}

// Exceptions, for lack of memory or other resources, must not end the thread.
void KemPreparation::serve() {
    try {
        open();
    } catch (const std::exception&) {
    }
    while (const std::optional<KemKind> kind = next()) {
        Outcome outcome;
        try {
            outcome = prepare(*kind);
        } catch (const std::exception&) {
        }
        settled_(*kind, outcome);
    }
}

// All memory is pinned before the first batch: pinning stalls a GPU that works.
void KemPreparation::open() {
    Engine::Impl& impl = engine_.impl();
    unsigned patience = most_polls;
    if (!idle_or_late(patience) || impl.gpus.open() != WARPSEAL_OK || !idle_or_late(patience))
        return;
    const Gpu& gpu = impl.gpus[0];
    if (gpu.backend().kem_prepare != nullptr) (void)gpu.backend().kem_prepare(gpu.device());
    for (unsigned i = 0; i < most_blocks_ && idle_or_late(patience); ++i)
        if (!blocks_.add(block_bytes_)) return;
}

KemPreparation::Outcome KemPreparation::prepare(KemKind kind) {
    Engine::Impl& impl = engine_.impl();
    unsigned patience = most_polls;
    if (!idle_or_late(patience)) return {};
    KemGpus gpus;
    const bool draws = kind.operation != KemOperation::decapsulate;
    if (kem_gpus(impl, kind.set, kind.operation, 1, draws, gpus) != WARPSEAL_OK) return {};
    std::optional<KemTimeModel> model;
    if (const Lease lease(blocks_); !lease.block.empty()) model = timed(kind, lease.block);
    if (!impl.gpus.any_open()) return {};
    return model.value_or(KemPlacement::assumed_gpu(kind));
}

// Any input takes the same time: the operations are constant-time.
std::optional<KemTimeModel> KemPreparation::timed(KemKind kind, KemPinnedBlocks::Block block) {
    const size_t many = std::min({options_.rule.most, many_items, most_items(kind)});
    if (many < 2 * few_items) return std::nullopt;
    const double seconds = seconds_of(kind, few_items, block);
    if (stopping()) return std::nullopt;
    const double more_seconds = seconds_of(kind, many, block);
    if (seconds < 0 || more_seconds < 0) return std::nullopt;
    return KemTimeModel::through(few_items, seconds, many, more_seconds);
}

// Returns a negative number if the call fails.
double KemPreparation::seconds_of(KemKind kind, size_t items, KemPinnedBlocks::Block block) {
    KemStagingBuffer staging;
    if (!staging.lay_out(kind, items, block)) return -1;
    double seconds = -1;
    for (int i = 0; i < timed_calls; ++i) {
        const BatcherClock::time_point begun = options_.now();
        const warpseal_status status = engine_.kem(kind.operation, kind.params().name,
                                                   staging.batch(), random_, KemSide::gpus);
        // An item may be invalid.
        if (status != WARPSEAL_OK && status != WARPSEAL_INVALID_ARGUMENT) return -1;
        seconds = std::chrono::duration<double>(options_.now() - begun).count();
    }
    return seconds;
}

}  // namespace warpseal

// Engine construction, key creation and memory allocation.
#include "engine/engine.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/secret.h"
#include "engine/engine_impl.h"
#include "engine/refusal.h"
#include "platform/cores.h"

namespace warpseal {
namespace {

constexpr size_t cuda_index = static_cast<size_t>(Target::cuda);

constexpr size_t huge_page = size_t{2} << 20;

bool any_core(const TargetSet& targets) {
    for (size_t i = 0; i < cpu_target_count; ++i)
        if (targets[i]) return true;
    return false;
}

TargetSet cores_of(const DeviceChoice& choice, const TargetSet& usable) {
    TargetSet cores = {};
    // The options named only GPUs: any CPU target may begin and finish messages and take over.
    const bool helpers = !any_core(choice.targets);
    for (size_t i = 0; i < cpu_target_count; ++i)
        cores[i] = usable[i] && (choice.targets[i] || helpers);
    // Keep one CPU target even if the mask leaves none: data must survive the loss of a GPU.
    if (!any_core(cores)) cores[static_cast<size_t>(Target::portable)] = true;
    return cores;
}

bool any_core_chosen(const DeviceChoice& choice, const TargetSet& usable) {
    for (size_t i = 0; i < cpu_target_count; ++i)
        if (usable[i] && choice.targets[i]) return true;
    return false;
}

}  // namespace

Engine::Impl::Impl(const EngineOptions& options, const DeviceChoice& choice,
                   const TargetSet& usable)
    : notice(options.notice),
      cpu_cipher(options.cores),
      cpu_has(options.cores_have),
      cores(cores_of(choice, usable)),
      cuda_allowed(choice.targets[cuda_index] && usable[cuda_index]),
      cuda_only(cuda_allowed && !any_core_chosen(choice, usable)),
      cuda_exists(cuda_allowed),
      gpus(cuda_exists ? options.cuda : nullptr, choice.cuda_devices, options.notice),
      pool(options.threads == 0 ? usable_cores() : options.threads),
      throughput(pool.threads()),
      kem(options.kems, options.kems_have, pool.threads()),
      speeds(options.speeds) {}

Key::Descriptors Engine::Impl::descriptors(const char* cipher) const {
    Key::Descriptors found;
    for (size_t i = 0; i < cpu_target_count; ++i)
        if (cores[i]) found.cores[i] = cpu_cipher(static_cast<Target>(i), cipher);
    if (cuda_exists && gpus.possible()) found.cuda = gpus.backend().cipher(cipher);
    return found;
}

Engine::Engine() = default;
Engine::~Engine() = default;

warpseal_status Engine::create(const EngineOptions& options, std::unique_ptr<Engine>& out) {
    if (options.threads > most_threads)
        return refuse("threads is %u: give at most %u", options.threads, most_threads);
    TargetSet usable;
    DeviceChoice choice;
    warpseal_status status = unmasked_targets(std::getenv("WARPSEAL_TARGETS"), usable);
    if (status == WARPSEAL_OK) status = choose_device(options.device, choice);
    if (status != WARPSEAL_OK) return status;
    for (size_t i = 0; i < cpu_target_count; ++i)
        usable[i] = usable[i] && options.cores_have(static_cast<Target>(i));
    usable[cuda_index] = usable[cuda_index] && options.cuda != nullptr;

    const bool some_core = any_core_chosen(choice, usable);
    if (!some_core && !(choice.targets[cuda_index] && usable[cuda_index]))
        return WARPSEAL_NO_DEVICE;
    std::unique_ptr<Engine> engine(new Engine);
    engine->impl_ = std::make_unique<Impl>(options, choice, usable);
    if (!some_core && engine->impl_->gpus.open_all() != WARPSEAL_OK) return WARPSEAL_NO_DEVICE;
    out = std::move(engine);
    return WARPSEAL_OK;
}

warpseal_status Engine::key(const char* cipher, Bytes key, std::unique_ptr<Key>& out, KeyKind kind,
                            WeakKeys weak, KeyUse use) {
    Impl& impl = *impl_;
    const Key::Descriptors descriptors = impl.descriptors(cipher);
    const CpuCipher* facts = nullptr;
    for (const Target target : cpu_targets_best_first)
        if (facts == nullptr) facts = descriptors.cores[static_cast<size_t>(target)];
    if (facts == nullptr)
        return refuse_as(WARPSEAL_UNSUPPORTED,
                         "cipher is %.40s: there is none; warpseal_cipher_at lists them", cipher);
    if (kind == KeyKind::xts && (facts->modes >> WARPSEAL_XTS & 1) == 0)
        return refuse_as(WARPSEAL_UNSUPPORTED, "cipher is %s: it has no xts", facts->name);
    const size_t wanted = facts->key_bytes * (kind == KeyKind::xts ? size_t{2} : 1);
    if (key.size != wanted)
        return refuse("key_bytes is %zu: %s%s takes %zu", key.size, facts->name,
                      kind == KeyKind::xts ? " in xts" : "", wanted);
    if (kind == KeyKind::xts && weak == WeakKeys::refused &&
        equal_secret(key.data, key.data + facts->key_bytes, facts->key_bytes))
        return WARPSEAL_WEAK_KEY;
    std::unique_ptr<Key> made = Key::create(descriptors, *facts, key.data, kind, weak, &impl.gpus);
    if (!made) return WARPSEAL_OUT_OF_MEMORY;
    // Tests all paths now, so that a call on device memory does not wait for a test, which a graph
    // capture would forbid.
    // A failure shows up when the path is used.
    const bool ready = use == KeyUse::anywhere && impl.cuda_exists;
    for (unsigned gpu = 0; ready && descriptors.cuda != nullptr && gpu < impl.gpus.count(); ++gpu)
        for (int i = 0; i < WARPSEAL_MODE_COUNT && impl.gpus[gpu].is_open(); ++i)
            for (const Direction direction : {Direction::encrypt, Direction::decrypt})
                if (const auto mode = static_cast<warpseal_mode>(i); made->supports(mode))
                    (void)impl.test_gpu_path(descriptors, mode, direction, Path::gpu_device_memory,
                                             gpu);
    out = std::move(made);
    return WARPSEAL_OK;
}

unsigned Engine::threads() const { return impl_->pool.threads(); }

int Engine::cuda_device() const {
    return impl_->cuda_exists && impl_->gpus.open() == WARPSEAL_OK ? impl_->gpus[0].device() : -1;
}

const GpuBackend* Engine::cuda() const {
    return cuda_device() < 0 ? nullptr : &impl_->gpus.backend();
}

unsigned Engine::gpu_count() const { return cuda_device() < 0 ? 0 : impl_->gpus.count(); }

int Engine::cuda_device_number(size_t gpu) const {
    return gpu < gpu_count() && impl_->gpus[gpu].open() == WARPSEAL_OK ? impl_->gpus[gpu].device()
                                                                       : -1;
}

bool Engine::gpu_is_open(size_t gpu) const {
    return gpu < impl_->gpus.count() && impl_->gpus[gpu].is_open();
}

int Engine::cuda_device_holding(const void* memory) const {
    if (cuda_device() < 0) return -1;
    const int gpu = impl_->gpus.holding(memory);
    return gpu < 0 ? -1 : impl_->gpus[static_cast<size_t>(gpu)].device();
}

void Engine::parallel(size_t count, const std::function<void(size_t)>& work) {
    impl_->pool.run(count, threads(), work);
}

void* Engine::Impl::pageable(size_t bytes) {
    const size_t alignment = bytes >= huge_page ? huge_page : 4096;
    const size_t whole = (bytes + alignment - 1) / alignment * alignment;
    void* const memory = std::aligned_alloc(alignment, whole);
    if (memory != nullptr && alignment == huge_page) (void)madvise(memory, whole, MADV_HUGEPAGE);
    return memory;
}

// Allocates the record first, so that no allocation can fail once there is memory to lose.
warpseal_status Engine::Impl::allocate(size_t bytes, Allocation::Kind wanted, void** out) {
    auto record = std::map<void*, Allocation>{{nullptr, {bytes, wanted}}}.extract(nullptr);
    Gpu& gpu = gpus[0];
    void* memory = nullptr;
    if (wanted == Allocation::Kind::device) {
        const warpseal_status status = gpus.backend().device_alloc(gpu.device(), bytes, &memory);
        if (status != WARPSEAL_OK) return status;
    } else {
        // A limit on pinned memory is no error where any is wanted: staging copies work from any.
        const bool pinned = cuda_exists && gpu.is_open() &&
                            gpus.backend().host_alloc(gpu.device(), bytes, &memory) == WARPSEAL_OK;
        if (!pinned) memory = wanted == Allocation::Kind::pinned ? nullptr : pageable(bytes);
        if (memory == nullptr) return WARPSEAL_OUT_OF_MEMORY;
        record.mapped().kind = pinned ? Allocation::Kind::pinned : Allocation::Kind::pageable;
    }
    record.key() = memory;
    const std::lock_guard lock(allocations_mutex);
    allocations.insert(std::move(record));
    *out = memory;
    return WARPSEAL_OK;
}

void Engine::Impl::free(void* memory, bool on_device) {
    using Kind = Allocation::Kind;
    Allocation allocation;
    {
        const std::lock_guard lock(allocations_mutex);
        const auto found = allocations.find(memory);
        if (found == allocations.end() || (found->second.kind == Kind::device) != on_device) return;
        allocation = found->second;
        allocations.erase(found);
    }
    if (!on_device) wipe(memory, allocation.bytes);
    if (allocation.kind == Kind::pageable) return std::free(memory);
    Gpu& gpu = gpus[0];
    if (!gpu.is_open()) return;  // the process frees it: no CUDA call may be made on a lost GPU
    (on_device ? gpus.backend().device_free : gpus.backend().host_free)(gpu.device(), memory,
                                                                        allocation.bytes);
}

warpseal_status Engine::host_alloc(size_t bytes, void** out) {
    *out = nullptr;
    if (bytes == 0) return refuse("bytes is 0");
    if (bytes > SIZE_MAX / 2) return refuse("bytes is %zu: no memory is that large", bytes);
    return impl_->allocate(bytes, Impl::Allocation::Kind::pageable, out);
}

void Engine::host_free(void* memory) { impl_->free(memory, false); }

PinnedBlocks& Engine::pinned_blocks() { return impl_->pinned_blocks; }

warpseal_status Engine::device_alloc(size_t bytes, void** out) {
    *out = nullptr;
    if (cuda_device() < 0) return WARPSEAL_NO_DEVICE;
    return impl_->allocate(bytes, Impl::Allocation::Kind::device, out);
}

void Engine::device_free(void* memory) { impl_->free(memory, true); }

}  // namespace warpseal

// The life of an engine: options, targets, keys, memory, and the route of each call.
#include "engine/engine.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/secret.h"
#include "engine/cores.h"
#include "engine/inside.h"
#include "engine/self_test.h"

namespace warpseal {
namespace {

constexpr size_t cuda_index = static_cast<size_t>(Target::cuda);

// What one core does before a GPU has begun is not worth a question.
constexpr double least_seconds_for_gpu = 0.1e-3;

bool small(const CpuCipher& cipher, Target core, const Call& call) {
    const CallFacts facts{call.bytes, Place::host, cipher.block_bytes, call.mode, call.direction, form_of(cipher)};
    return static_cast<double>(call.bytes) * 1e-9 < least_seconds_for_gpu * usual_core_speed(core, facts);
}

constexpr size_t huge_page = size_t{2} << 20;
constexpr unsigned most_threads = 4096;  // more than any machine has cores

bool any_core(const TargetSet& targets) {
    for (size_t i = 0; i < cpu_target_count; ++i)
        if (targets[i]) return true;
    return false;
}

TargetSet cores_of(const DeviceChoice& choice, const TargetSet& usable) {
    TargetSet cores = {};
    const bool helpers = !any_core(choice.targets);  // a GPU alone was named: any core may begin, finish and take over
    for (size_t i = 0; i < cpu_target_count; ++i) cores[i] = usable[i] && (choice.targets[i] || helpers);
    // Even where the mask leaves none: a GPU that is lost must not take data with it.
    if (!any_core(cores)) cores[static_cast<size_t>(Target::portable)] = true;
    return cores;
}

bool any_core_chosen(const DeviceChoice& choice, const TargetSet& usable) {
    for (size_t i = 0; i < cpu_target_count; ++i)
        if (usable[i] && choice.targets[i]) return true;
    return false;
}

}  // namespace

Engine::Inside::Inside(const EngineOptions& options, const DeviceChoice& choice, const TargetSet& usable)
    : notice(options.notice),
      cpu_cipher(options.cores),
      cpu_has(options.cores_have),
      cores(cores_of(choice, usable)),
      cuda_allowed(choice.targets[cuda_index] && usable[cuda_index]),
      cuda_only(cuda_allowed && !any_core_chosen(choice, usable)),
      cuda_exists(cuda_allowed),
      gpus(cuda_exists ? options.cuda : nullptr, choice.cuda_devices, options.notice),
      pool(options.threads == 0 ? usable_cores() : std::min(options.threads, most_threads)),
      kem(options.kems, options.kems_have),
      speeds(options.speeds) {}

Key::Descriptors Engine::Inside::descriptors(const char* cipher) const {
    Key::Descriptors found;
    for (size_t i = 0; i < cpu_target_count; ++i)
        if (cores[i]) found.cores[i] = cpu_cipher(static_cast<Target>(i), cipher);
    if (cuda_exists && gpus.possible()) found.cuda = gpus.door().cipher(cipher);
    return found;
}

void Engine::Inside::say_closed(Target target, const char* cipher, warpseal_mode mode, Direction direction) const {
    if (!notice) return;
    const std::string text = std::string(target_name(target)) + " failed its self-test in " + cipher + "-" + warpseal_mode_name(mode) +
                             (direction == Direction::encrypt ? " encryption" : " decryption") + " and is closed for it in this process";
    notice(text.c_str());
}

// Portable code unless it fails the published block itself: then whatever passes it.
const CpuCipher* Engine::Inside::block_reference(const char* cipher) const {
    for (size_t i = 0; i < cpu_target_count; ++i) {
        const Target target = static_cast<Target>(i);
        const CpuCipher* candidate = cpu_has(target) ? cpu_cipher(target, cipher) : nullptr;
        if (candidate != nullptr && gives_known_block(*candidate)) return candidate;
    }
    return nullptr;
}

warpseal_status Engine::Inside::prove_cores(const Key::Descriptors& descriptors, warpseal_mode mode, Direction direction, Target& target) {
    for (const Target candidate : cpu_targets_best_first) {
        const CpuCipher* cipher = descriptors.cores[static_cast<size_t>(candidate)];
        if (cipher == nullptr || (cipher->modes >> mode & 1) == 0) continue;
        bool failed_now = false;
        const auto test = [&] {
            const CpuCipher* reference = block_reference(cipher->name);
            return reference == nullptr ? WARPSEAL_SELF_TEST_FAILED : test_cores(*cipher, *reference, mode, direction);
        };
        const warpseal_status status = verdict({cipher, nullptr, -1, Path::cores, mode, direction}, test, &failed_now);
        if (failed_now) say_closed(candidate, cipher->name, mode, direction);
        if (status == WARPSEAL_OK) {
            target = candidate;
            return WARPSEAL_OK;
        }
        if (status != WARPSEAL_SELF_TEST_FAILED) return status;
    }
    return WARPSEAL_SELF_TEST_FAILED;
}

warpseal_status Engine::Inside::prove_cuda(const Key::Descriptors& descriptors, warpseal_mode mode, Direction direction, Path path,
                                           unsigned number) {
    const CudaCipher* cipher = descriptors.cuda;
    if (cipher == nullptr || (cipher->modes >> mode & 1) == 0) return WARPSEAL_NO_DEVICE;
    Gpu& gpu = gpus[number];
    const warpseal_status opened = number == 0 ? gpus.open() : gpu.open();
    if (opened != WARPSEAL_OK) return opened;
    bool failed_now = false;
    const auto test = [&] {
        const CpuCipher* reference = block_reference(cipher->name);
        if (reference == nullptr) return WARPSEAL_SELF_TEST_FAILED;
        return path == Path::gpu_device_memory ? test_device_memory(gpu.door(), gpu.device(), *cipher, *reference, mode, direction)
                                               : test_through_gpu(gpu.door(), gpu.device(), *cipher, *reference, mode, direction);
    };
    const warpseal_status status = verdict({cipher, &gpu.door(), gpu.device(), path, mode, direction}, test, &failed_now);
    if (failed_now) say_closed(Target::cuda, cipher->name, mode, direction);
    if (status != WARPSEAL_OK && status != WARPSEAL_SELF_TEST_FAILED) gpu.failed(status);
    return status;
}

Place Engine::Inside::place_of(const Call& call) const {
    if (call.in == nullptr || call.out == nullptr || !gpus.any_open()) return Place::host;
    const auto pinned = [&](const void* begin, uint64_t bytes) { return gpus.door().pinned(begin, bytes); };
    if (!pinned(call.in, call.in_extent)) return Place::host;
    if (call.in == call.out) return Place::pinned_in_place;
    return pinned(call.out, call.out_extent) ? Place::pinned : Place::host;
}

Pace Engine::Inside::pace_of(const Key::Descriptors& descriptors, Target core, const Call& call) const {
    return {descriptors.cores[static_cast<size_t>(core)], call.mode, call.direction, call.shape, place_of(call)};
}

Plan Engine::Inside::plan_call(const Key::Descriptors& descriptors, Target core, const Call& call, const Pace& pace, const void* state,
                               uint32_t without) {
    MachineFacts machine;
    machine.threads = call.one_thread ? 1 : pool.threads();
    const unsigned count = gpus.count(), first = call.one_thread && count > 1 ? turn.fetch_add(1, std::memory_order_relaxed) : 0;
    for (unsigned n = 0; n < count; ++n) {
        const unsigned i = (first + n) % count;
        if (!gpus[i].possible() || (without >> i & 1) != 0) continue;
        machine.gpu_numbers[machine.gpu_count] = i;
        const int number = static_cast<int>(i);
        machine.gpus[machine.gpu_count++] = {gpus[i].is_open(), speeds ? speeds(number) : rates.of(pace, number)};
    }
    const CpuCipher& cipher = *descriptors.cores[static_cast<size_t>(core)];
    machine.usable[static_cast<size_t>(core)] = !cuda_only || machine.gpu_count == 0;
    if (!cuda_only) {
        machine.cores = speeds ? speeds(Rates::cores) : rates.of(pace, Rates::cores);
        if (machine.cores.alone == 0 && call.bytes >= telling_bytes && state != nullptr)
            machine.cores.alone = rates.calibrated(pace, state, pool.threads());
        if (call.one_thread) machine.cores.alone /= pool.threads();
    }
    return plan({call.bytes, pace.place, cipher.block_bytes, call.mode, call.direction, form_of(cipher), call.chains(), call.divisible},
                machine);
}

warpseal_status Engine::Inside::route_cores(const Key& key, const Call& call, Route& out) {
    const Key::Descriptors& descriptors = key.descriptors();
    std::atomic<int8_t>& chosen = key.chosen(call.mode, call.direction);
    Target core = static_cast<Target>(chosen.load(std::memory_order_acquire));
    if (static_cast<int8_t>(core) < 0) {
        const warpseal_status status = prove_cores(descriptors, call.mode, call.direction, core);
        if (status != WARPSEAL_OK) return status;
        chosen.store(static_cast<int8_t>(core), std::memory_order_release);
    }
    out.cores = descriptors.cores[static_cast<size_t>(core)];
    out.core = core;
    if (!runs(out.cores, call.shape, call.mode, call.direction)) return WARPSEAL_UNSUPPORTED;
    out.state = key.state(core);
    if (call.shape == Shape::xts) out.tweak_state = key.tweak_state(core);
    if (out.state == nullptr || (call.shape == Shape::xts && out.tweak_state == nullptr)) return WARPSEAL_OUT_OF_MEMORY;
    out.target = target_name(core);

    MachineFacts machine;
    machine.threads = pool.threads();
    machine.usable[static_cast<size_t>(core)] = true;
    out.plan =
        plan({call.bytes, Place::host, out.cores->block_bytes, call.mode, call.direction, form_of(*out.cores), call.chains()}, machine);
    return WARPSEAL_OK;
}

uint32_t Engine::Inside::unproved(const Key& key, const Call& call, const Plan& shares, warpseal_status& why) {
    uint32_t failed = 0;
    std::atomic<uint32_t>& proved = key.cuda_proved(call.mode, call.direction, false);
    for (unsigned i = 0; i < gpus.count(); ++i) {
        if (shares.gpu_bytes[i] == 0) continue;
        const bool known = (proved.load(std::memory_order_acquire) >> i & 1) != 0;
        const warpseal_status status =
            known ? gpus[i].open() : prove_cuda(key.descriptors(), call.mode, call.direction, Path::gpu_host_memory, i);
        if (status == WARPSEAL_OK) {
            proved.fetch_or(1u << i, std::memory_order_acq_rel);
        } else {
            failed |= 1u << i;
            why = status;
        }
    }
    return failed;
}

warpseal_status Engine::Inside::route(const Key& key, const Call& call, Route& out) {
    const Key::Descriptors& descriptors = key.descriptors();
    warpseal_status status = route_cores(key, call, out);
    if (status != WARPSEAL_OK) return status;
    out.shares.core_bytes = call.bytes;
    const bool runs_there = runs(descriptors.cuda, call.shape, call.mode, call.direction);
    if (!cuda_allowed || (!cuda_only && small(*out.cores, out.core, call)) || !gpus.possible()) return WARPSEAL_OK;
    if (!runs_there) return cuda_only ? WARPSEAL_UNSUPPORTED : WARPSEAL_OK;
    if (call.bytes == 0) return WARPSEAL_OK;

    out.pace = pace_of(descriptors, out.core, call);
    out.rated = true;
    uint32_t failed = 0;
    for (bool settled = false; !settled;) {
        if (!gpus.possible()) return WARPSEAL_OK;  // lost on the way
        Plan shares = plan_call(descriptors, out.core, call, out.pace, out.state, failed);
        if (shares.target != Target::cuda) return cuda_only && status == WARPSEAL_SELF_TEST_FAILED ? status : WARPSEAL_OK;
        const uint32_t before = failed;
        failed |= unproved(key, call, shares, status);
        settled = failed == before;
        out.shares = shares;
    }
    out.cuda = descriptors.cuda;
    out.cuda_state = key.cuda_state();
    if (call.shape == Shape::xts) out.cuda_tweak_state = key.cuda_tweak_state();
    if (out.cuda_state == nullptr || (call.shape == Shape::xts && out.cuda_tweak_state == nullptr)) return WARPSEAL_OUT_OF_MEMORY;
    out.gpu = true;
    out.target = out.shares.shared() ? shared_name(out.core) : target_name(Target::cuda);
    return WARPSEAL_OK;
}

Engine::Engine() = default;
Engine::~Engine() = default;

warpseal_status Engine::create(const EngineOptions& options, std::unique_ptr<Engine>& out) {
    TargetSet usable;
    DeviceChoice choice;
    warpseal_status status = unmasked_targets(std::getenv("WARPSEAL_TARGETS"), usable);
    if (status == WARPSEAL_OK) status = choose_device(options.device, choice);
    if (status != WARPSEAL_OK) return status;
    for (size_t i = 0; i < cpu_target_count; ++i) usable[i] = usable[i] && options.cores_have(static_cast<Target>(i));
    usable[cuda_index] = usable[cuda_index] && options.cuda != nullptr;

    const bool some_core = any_core_chosen(choice, usable);
    if (!some_core && !(choice.targets[cuda_index] && usable[cuda_index])) return WARPSEAL_NO_DEVICE;
    std::unique_ptr<Engine> engine(new Engine);
    engine->inside_ = std::make_unique<Inside>(options, choice, usable);
    if (!some_core && engine->inside_->gpus.open_all() != WARPSEAL_OK) return WARPSEAL_NO_DEVICE;
    out = std::move(engine);
    return WARPSEAL_OK;
}

warpseal_status Engine::key(const char* cipher, Bytes key, std::unique_ptr<Key>& out, KeyKind kind, WeakKeys weak) {
    Inside& inside = *inside_;
    const Key::Descriptors descriptors = inside.descriptors(cipher);
    const CpuCipher* facts = nullptr;
    for (const Target target : cpu_targets_best_first)
        if (facts == nullptr) facts = descriptors.cores[static_cast<size_t>(target)];
    if (facts == nullptr) return WARPSEAL_UNSUPPORTED;
    if (kind == KeyKind::xts && (facts->modes >> WARPSEAL_XTS & 1) == 0) return WARPSEAL_UNSUPPORTED;
    if (key.size != facts->key_bytes * (kind == KeyKind::xts ? size_t{2} : 1)) return WARPSEAL_INVALID_ARGUMENT;
    if (kind == KeyKind::xts && weak == WeakKeys::refused && equal_secret(key.data, key.data + facts->key_bytes, facts->key_bytes))
        return WARPSEAL_WEAK_KEY;
    std::unique_ptr<Key> made = Key::create(descriptors, *facts, key.data, kind, weak, &inside.gpus);
    if (!made) return WARPSEAL_OUT_OF_MEMORY;
    // So that device-memory calls need not wait for it, which a capture would forbid. A failure shows where the path is used.
    for (unsigned gpu = 0; inside.cuda_exists && descriptors.cuda != nullptr && gpu < inside.gpus.count(); ++gpu)
        for (int i = 0; i < WARPSEAL_MODE_COUNT && inside.gpus[gpu].is_open(); ++i)
            for (const Direction direction : {Direction::encrypt, Direction::decrypt})
                if (const auto mode = static_cast<warpseal_mode>(i); made->fits(mode))
                    (void)inside.prove_cuda(descriptors, mode, direction, Path::gpu_device_memory, gpu);
    out = std::move(made);
    return WARPSEAL_OK;
}

unsigned Engine::threads() const { return inside_->pool.threads(); }

int Engine::cuda_device() const { return inside_->cuda_exists && inside_->gpus.open() == WARPSEAL_OK ? inside_->gpus[0].device() : -1; }

const GpuDoor* Engine::cuda() const { return cuda_device() < 0 ? nullptr : &inside_->gpus.door(); }

unsigned Engine::gpu_count() const { return cuda_device() < 0 ? 0 : inside_->gpus.count(); }

int Engine::cuda_device_number(size_t gpu) const {
    return gpu < gpu_count() && inside_->gpus[gpu].open() == WARPSEAL_OK ? inside_->gpus[gpu].device() : -1;
}

bool Engine::gpu_is_open(size_t gpu) const { return gpu < inside_->gpus.count() && inside_->gpus[gpu].is_open(); }

int Engine::cuda_device_holding(const void* memory) const {
    if (cuda_device() < 0) return -1;
    const int gpu = inside_->gpus.holding(memory);
    return gpu < 0 ? -1 : inside_->gpus[static_cast<size_t>(gpu)].device();
}

const char* Engine::pick(const char* cipher, warpseal_mode mode, uint64_t bytes, const void* in, const void* out) {
    Inside& inside = *inside_;
    const Key::Descriptors descriptors = inside.descriptors(cipher);
    Target core = Target::portable;
    if (!known(mode)) return "";
    if (inside.prove_cores(descriptors, mode, Direction::encrypt, core) != WARPSEAL_OK) return "";
    Call call{mode, Direction::encrypt, shape_of(mode, Direction::encrypt), bytes};
    call.in = in;
    call.out = out;
    call.in_extent = call.out_extent = bytes;
    call.divisible = call.shape != Shape::batch;
    if (!inside.cuda_only && small(*descriptors.cores[static_cast<size_t>(core)], core, call)) return target_name(core);
    if (!inside.cuda_allowed || !inside.gpus.possible() || !runs(descriptors.cuda, call.shape, mode, call.direction))
        return target_name(core);
    const Plan shares = inside.plan_call(descriptors, core, call, inside.pace_of(descriptors, core, call), nullptr, 0);
    if (shares.target == Target::cuda && inside.prove_cuda(descriptors, mode, Direction::encrypt, Path::gpu_host_memory, 0) == WARPSEAL_OK)
        return shares.shared() ? shared_name(core) : target_name(Target::cuda);
    return target_name(core);
}

void Engine::parallel(size_t count, const std::function<void(size_t)>& work) { inside_->pool.run(count, threads(), work); }

warpseal_status Engine::host_alloc(size_t bytes, void** out) {
    Inside& inside = *inside_;
    *out = nullptr;
    if (bytes == 0 || bytes > SIZE_MAX / 2) return WARPSEAL_INVALID_ARGUMENT;
    void* memory = nullptr;
    bool pinned = false;
    if (inside.cuda_exists && inside.gpus[0].is_open()) {
        pinned = inside.gpus.door().host_alloc(inside.gpus[0].device(), bytes, &memory) == WARPSEAL_OK;
        if (!pinned) memory = nullptr;  // a limit on pinned memory is no reason to fail: staging copies work from any memory
    }
    if (memory == nullptr) {
        const size_t alignment = bytes >= huge_page ? huge_page : 4096;
        const size_t whole = (bytes + alignment - 1) / alignment * alignment;
        memory = std::aligned_alloc(alignment, whole);
        if (memory == nullptr) return WARPSEAL_OUT_OF_MEMORY;
        if (alignment == huge_page) (void)madvise(memory, whole, MADV_HUGEPAGE);
    }
    const std::lock_guard lock(inside.allocations_mutex);
    inside.allocations[memory] = {bytes, pinned};
    *out = memory;
    return WARPSEAL_OK;
}

void Engine::host_free(void* memory, size_t) {
    Inside& inside = *inside_;
    Inside::Allocation allocation;
    {
        const std::lock_guard lock(inside.allocations_mutex);
        const auto found = inside.allocations.find(memory);
        if (found == inside.allocations.end()) return;
        allocation = found->second;
        inside.allocations.erase(found);
    }
    wipe(memory, allocation.bytes);
    if (!allocation.pinned)
        std::free(memory);
    else if (inside.gpus[0].is_open())  // else it goes with the process: no call may be made for it
        inside.gpus.door().host_free(inside.gpus[0].device(), memory, allocation.bytes);
}

}  // namespace warpseal

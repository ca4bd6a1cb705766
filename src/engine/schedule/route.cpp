// Chooses the route of a call: self-tested targets, and the plan that assigns shards by measured
// throughput.
#include "engine/engine_impl.h"
#include "engine/self_test/self_test.h"

namespace warpseal {
namespace {

double default_speed(const CpuCipher& cipher, Target core, const Call& call) {
    return default_core_speed(core, {call.bytes, MemoryKind::host, cipher.block_bytes, call.mode,
                                     call.direction, representation_of(cipher)});
}

// True if a target of that speed finishes before a GPU would have started, for any memory kind.
bool before_any_gpu(const Call& call, double speed) {
    return static_cast<double>(call.bytes) * 1e-9 < default_gpu_delay(MemoryKind::pinned) * speed;
}

// True if one core at its usual speed is enough. Checks neither the throughput model nor any lock.
bool fits_one_core(const CpuCipher& cipher, Target core, const Call& call) {
    return before_any_gpu(call, default_speed(cipher, core, call));
}

// Call class without regard to the memory kind.
CallClass class_anywhere(const CpuCipher& cipher, const Call& call) {
    return {&cipher, call.mode, call.direction, call.entry, MemoryKind::host, scale_of(call.bytes)};
}

}  // namespace

void Engine::Impl::say_closed(Target target, const char* cipher, warpseal_mode mode,
                              Direction direction) const {
    if (!notice) return;
    std::string text = std::string(target_name(target)) + " failed its self-test in " + cipher +
                       "-" + warpseal_mode_name(mode) +
                       (direction == Direction::encrypt ? " encryption" : " decryption") +
                       " and is closed for it in this process";
    if (!has_digests(cipher))
        text += std::string(": there are no self-test digests for ") + cipher +
                "; run scripts/self-test-digests";
    notice(text.c_str());
}

warpseal_status Engine::Impl::tested_cores(const Key::Descriptors& descriptors, warpseal_mode mode,
                                           Direction direction, Target& target) {
    for (const Target candidate : cpu_targets_best_first) {
        const CpuCipher* cipher = descriptors.cores[static_cast<size_t>(candidate)];
        if (cipher == nullptr || (cipher->modes >> mode & 1) == 0) continue;
        bool failed_now = false;
        const auto test = [&] { return test_cores(*cipher, mode, direction); };
        const warpseal_status status = self_test_result(
            {cipher, nullptr, -1, Path::cores, mode, direction}, test, &failed_now);
        if (failed_now) say_closed(candidate, cipher->name, mode, direction);
        if (status == WARPSEAL_OK) {
            target = candidate;
            return WARPSEAL_OK;
        }
        if (status != WARPSEAL_SELF_TEST_FAILED) return status;
    }
    return WARPSEAL_SELF_TEST_FAILED;
}

warpseal_status Engine::Impl::test_gpu_path(const Key::Descriptors& descriptors, warpseal_mode mode,
                                            Direction direction, Path path, unsigned number) {
    const CudaCipher* cipher = descriptors.cuda;
    if (cipher == nullptr || (cipher->modes >> mode & 1) == 0) return WARPSEAL_NO_DEVICE;
    Gpu& gpu = gpus[number];
    const warpseal_status opened = number == 0 ? gpus.open() : gpu.open();
    if (opened != WARPSEAL_OK) return opened;
    bool failed_now = false;
    const auto test = [&] {
        const KnownAnswer& known = cpu_cipher(Target::portable, cipher->name)->known;
        return path == Path::gpu_device_memory
                   ? test_device_memory(gpu.backend(), gpu.device(), *cipher, known, mode,
                                        direction)
                   : test_through_gpu(gpu.backend(), gpu.device(), *cipher, known, mode, direction);
    };
    const warpseal_status status = self_test_result(
        {cipher, &gpu.backend(), gpu.device(), path, mode, direction}, test, &failed_now);
    if (failed_now) say_closed(Target::cuda, cipher->name, mode, direction);
    if (status != WARPSEAL_OK && status != WARPSEAL_SELF_TEST_FAILED) gpu.failed(status);
    return status;
}

MemoryKind Engine::Impl::memory_kind_of(const Call& call) const {
    if (call.in == nullptr || call.out == nullptr || !gpus.any_open()) return MemoryKind::host;
    const auto pinned = [&](const void* begin, uint64_t bytes) {
        return gpus.backend().is_pinned(begin, bytes);
    };
    if (!pinned(call.in, call.in_extent)) return MemoryKind::host;
    if (call.in == call.out) return MemoryKind::pinned_in_place;
    return pinned(call.out, call.out_extent) ? MemoryKind::pinned : MemoryKind::host;
}

CallClass Engine::Impl::call_class_of(const Key::Descriptors& descriptors, Target core,
                                      const Call& call) const {
    CallClass call_class = class_anywhere(*descriptors.cores[static_cast<size_t>(core)], call);
    call_class.memory_kind = memory_kind_of(call);
    return call_class;
}

Speed Engine::Impl::core_speed(const Call& call, const CallClass& call_class, const void* state) {
    Speed speed = speeds ? speeds(Throughput::cores) : throughput.of(call_class, Throughput::cores);
    if (speed.alone == 0 && !speeds && call.bytes >= min_measured_bytes && state != nullptr) {
        throughput.calibrate(call_class, state);
        speed = throughput.of(call_class, Throughput::cores);
    }
    if (call.one_thread) speed.alone /= pool.threads();
    return speed;
}

bool Engine::Impl::cpu_is_faster(const CpuCipher& cipher, Target core, const Call& call,
                                 const CallClass& call_class, const void* state) {
    const double measured = core_speed(call, call_class, state).alone,
                 usual = default_speed(cipher, core, call);
    return before_any_gpu(call, measured > 0      ? measured
                                : call.one_thread ? usual
                                                  : usual * pool.threads());
}

Plan Engine::Impl::plan_call(const Key::Descriptors& descriptors, Target core, const Call& call,
                             const CallClass& call_class, const void* state, uint32_t without) {
    MachineFacts machine;
    machine.threads = call.one_thread ? 1 : pool.threads();
    const unsigned count = gpus.count(), first = call.one_thread && count > 1
                                                     ? turn.fetch_add(1, std::memory_order_relaxed)
                                                     : 0;
    for (unsigned n = 0; n < count; ++n) {
        const unsigned i = (first + n) % count;
        if (!gpus[i].possible() || (without >> i & 1) != 0) continue;
        machine.gpu_numbers[machine.gpu_count] = i;
        const int number = static_cast<int>(i);
        machine.gpus[machine.gpu_count++] = {
            gpus[i].is_open(), speeds ? speeds(number) : throughput.of(call_class, number)};
    }
    // GPUs take turns: the next one gets the call even if another is faster.
    if (call.one_thread && machine.gpu_count > 1) {
        const auto open = [](const GpuFacts& gpu) { return gpu.open; };
        const auto next =
            std::find_if(machine.gpus, machine.gpus + machine.gpu_count, open) - machine.gpus;
        const auto chosen = next == machine.gpu_count ? 0 : next;
        machine.gpus[0] = machine.gpus[chosen];
        machine.gpu_numbers[0] = machine.gpu_numbers[chosen];
        machine.gpu_count = 1;
    }
    const CpuCipher& cipher = *descriptors.cores[static_cast<size_t>(core)];
    machine.usable[static_cast<size_t>(core)] = !cuda_only || machine.gpu_count == 0;
    if (!cuda_only) machine.cores = core_speed(call, call_class, state);
    return plan({call.bytes, call_class.memory_kind, cipher.block_bytes, call.mode, call.direction,
                 representation_of(cipher), call.chains(), call.divisible, call.mixed},
                machine);
}

warpseal_status Engine::Impl::path_on_cores(const Key& key, warpseal_mode mode, Direction direction,
                                            BackendEntry entry, CorePath& out) {
    const Key::Descriptors& descriptors = key.descriptors();
    std::atomic<int8_t>& chosen = key.chosen(mode, direction);
    Target core = static_cast<Target>(chosen.load(std::memory_order_acquire));
    if (static_cast<int8_t>(core) < 0) {
        const warpseal_status status = tested_cores(descriptors, mode, direction, core);
        if (status != WARPSEAL_OK) return status;
        chosen.store(static_cast<int8_t>(core), std::memory_order_release);
    }
    out.cores = descriptors.cores[static_cast<size_t>(core)];
    out.core = core;
    if (!runs(out.cores, entry, mode, direction)) return WARPSEAL_UNSUPPORTED;
    out.state = key.state(core);
    if (entry == BackendEntry::xts) out.tweak_state = key.tweak_state(core);
    return out.state == nullptr || (entry == BackendEntry::xts && out.tweak_state == nullptr)
               ? WARPSEAL_OUT_OF_MEMORY
               : WARPSEAL_OK;
}

warpseal_status Engine::Impl::route_cores(const Key& key, const Call& call, Route& out) {
    const warpseal_status status = path_on_cores(key, call.mode, call.direction, call.entry, out);
    if (status != WARPSEAL_OK) return status;
    out.target = target_name(out.core);

    out.plan.target = out.core;
    out.plan.core_bytes = call.bytes;
    plan_cores({call.bytes, MemoryKind::host, out.cores->block_bytes, call.mode, call.direction,
                representation_of(*out.cores), call.chains()},
               out.core, pool.threads(), out.plan);
    return WARPSEAL_OK;
}

uint32_t Engine::Impl::failed_gpus(const Key& key, const Call& call, const Plan& shard_plan,
                                   warpseal_status& why) {
    uint32_t failed = 0;
    std::atomic<uint32_t>& tested = key.gpu_tested(call.mode, call.direction, false);
    for (unsigned i = 0; i < gpus.count(); ++i) {
        if (shard_plan.gpu_bytes[i] == 0) continue;
        const bool known = (tested.load(std::memory_order_acquire) >> i & 1) != 0;
        const warpseal_status status =
            known ? gpus[i].open()
                  : test_gpu_path(key.descriptors(), call.mode, call.direction,
                                  Path::gpu_host_memory, i);
        if (status == WARPSEAL_OK) {
            tested.fetch_or(1u << i, std::memory_order_acq_rel);
        } else {
            failed |= 1u << i;
            why = status;
        }
    }
    return failed;
}

warpseal_status Engine::Impl::route(const Key& key, const Call& call, Route& out) {
    const Key::Descriptors& descriptors = key.descriptors();
    warpseal_status status = route_cores(key, call, out);
    if (status != WARPSEAL_OK) return status;
    out.shard_plan.core_bytes = call.bytes;
    const bool runs_there = runs(descriptors.cuda, call.entry, call.mode, call.direction);
    // In a forked child no GPU is possible, and no lock may be taken.
    if (!cuda_allowed || (!cuda_only && fits_one_core(*out.cores, out.core, call)) ||
        !gpus.possible())
        return WARPSEAL_OK;
    out.call_class = class_anywhere(*out.cores, call);
    // A call on one thread shares the machine, so its time is not representative.
    out.measured = call.bytes >= min_measured_bytes && !call.one_thread;
    if (!cuda_only && cpu_is_faster(*out.cores, out.core, call, out.call_class, out.state))
        return WARPSEAL_OK;
    if (!runs_there) return cuda_only ? WARPSEAL_UNSUPPORTED : WARPSEAL_OK;
    if (call.bytes == 0) return WARPSEAL_OK;

    out.call_class = call_class_of(descriptors, out.core, call);
    uint32_t failed = 0;
    for (bool settled = false; !settled;) {
        if (!gpus.possible()) return WARPSEAL_OK;  // lost meanwhile
        Plan shard_plan = plan_call(descriptors, out.core, call, out.call_class, out.state, failed);
        if (shard_plan.target != Target::cuda)
            return cuda_only && status == WARPSEAL_SELF_TEST_FAILED ? status : WARPSEAL_OK;
        const uint32_t before = failed;
        failed |= failed_gpus(key, call, shard_plan, status);
        settled = failed == before;
        out.shard_plan = shard_plan;
    }
    out.cuda = descriptors.cuda;
    out.cuda_state = key.cuda_state();
    if (call.entry == BackendEntry::xts) out.cuda_tweak_state = key.cuda_tweak_state();
    if (out.cuda_state == nullptr ||
        (call.entry == BackendEntry::xts && out.cuda_tweak_state == nullptr))
        return WARPSEAL_OUT_OF_MEMORY;
    out.gpu = true;
    out.target = out.shard_plan.shared() ? shared_name(out.core) : target_name(Target::cuda);
    return WARPSEAL_OK;
}

bool Engine::Impl::plan_ahead(const char* cipher, const Call& call, Target& core,
                              Plan& shard_plan) {
    const Key::Descriptors found = descriptors(cipher);
    if (tested_cores(found, call.mode, call.direction, core) != WARPSEAL_OK) return false;
    shard_plan = {};
    shard_plan.target = core;
    const CpuCipher& on_cores = *found.cores[static_cast<size_t>(core)];
    if (!cuda_only && fits_one_core(on_cores, core, call)) return true;
    if (!cuda_allowed || !gpus.possible() ||
        !runs(found.cuda, call.entry, call.mode, call.direction))
        return true;
    if (!cuda_only && cpu_is_faster(on_cores, core, call, class_anywhere(on_cores, call), nullptr))
        return true;
    const CallClass call_class = call_class_of(found, core, call);
    for (uint32_t failed = 0;;) {
        if (!gpus.possible()) return true;
        const Plan wanted = plan_call(found, core, call, call_class, nullptr, failed);
        if (wanted.target != Target::cuda) return true;
        const uint32_t before = failed;
        for (unsigned i = 0; i < most_gpus; ++i)
            if (wanted.gpu_bytes[i] != 0 && test_gpu_path(found, call.mode, call.direction,
                                                          Path::gpu_host_memory, i) != WARPSEAL_OK)
                failed |= 1u << i;
        if (failed != before) continue;
        shard_plan = wanted;
        return true;
    }
}

const char* Engine::pick(const char* cipher, warpseal_mode mode, uint64_t bytes, const void* in,
                         const void* out) {
    if (!known(mode)) return "";
    Call call{mode, Direction::encrypt, entry_of(mode, Direction::encrypt), bytes};
    call.in = in;
    call.out = out;
    call.in_extent = call.out_extent = bytes;
    call.divisible = call.entry != BackendEntry::batch;
    Target core = Target::portable;
    Plan shard_plan;
    if (!impl_->plan_ahead(cipher, call, core, shard_plan)) return "";
    return shard_plan.shared() ? shared_name(core) : target_name(shard_plan.target);
}

bool Engine::gpus_for_segments(const char* cipher, warpseal_mode mode, Direction direction,
                               uint64_t bytes) {
    Call call{mode, direction, entry_of(mode, direction), bytes};
    call.mixed = false;
    Target core = Target::portable;
    Plan shard_plan;
    const auto wanted = [&] {
        return impl_->plan_ahead(cipher, call, core, shard_plan) &&
               shard_plan.target == Target::cuda;
    };
    return wanted() && wanted();  // the number of GPUs is known once the first is open
}

}  // namespace warpseal

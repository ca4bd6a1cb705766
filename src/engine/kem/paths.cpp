// Selection and self-test of the paths of key encapsulation.
#include "engine/kem/paths.h"

#include <string>

#include "engine/kem/self_test.h"
#include "engine/refusal.h"

namespace warpseal {
namespace {

// Reports a path that failed its self-test. how: "", or follows the operation.
void say_closed(const Engine::Impl& impl, Target target, const char* set, KemOperation operation,
                const char* how = "") {
    constexpr const char* names[kem_operation_count] = {"key generation", "encapsulation",
                                                        "decapsulation"};
    if (!impl.notice) return;
    const std::string text = std::string(target_name(target)) + " failed its self-test in " + set +
                             " " + names[static_cast<int>(operation)] + how +
                             " and is closed for it in this process";
    impl.notice(text.c_str());
}

}  // namespace

warpseal_status find_set(const Engine::Impl& impl, const char* name, int& number) {
    number = kem_set_number(name);
    if (number < 0)
        return refuse_as(WARPSEAL_UNSUPPORTED,
                         "set is %.40s: there is none; warpseal_kem_at lists them", name);
    if (kem_sets[number].has_cuda() || !impl.cuda_only) return WARPSEAL_OK;
    return refuse_as(WARPSEAL_UNSUPPORTED,
                     "set is %s: it has no GPU code; give an engine with cores", name);
}

// If none of the engine's targets implements the set, a lower target that runs on the same machines
// stands in.
warpseal_status tested_kem(Engine::Impl& impl, int set, KemOperation operation,
                           const CpuKem*& out) {
    std::atomic<int8_t>& chosen = impl.kem.chosen[set][static_cast<int>(operation)];
    const char* name = kem_sets[set].name;
    if (const int8_t known = chosen.load(std::memory_order_acquire); known >= 0) {
        out = impl.kem.cpu_kem(static_cast<Target>(known), name);
        return WARPSEAL_OK;
    }
    warpseal_status status = WARPSEAL_UNSUPPORTED;
    for (const bool fallbacks : {false, true}) {
        bool reached = false;
        for (const Target target : cpu_targets_best_first) {
            reached = reached || impl.cores[static_cast<size_t>(target)];
            if (!(fallbacks ? reached : impl.cores[static_cast<size_t>(target)]) ||
                !impl.kem.cpu_has_kem(target))
                continue;
            const CpuKem* candidate = impl.kem.cpu_kem(target, name);
            if (candidate == nullptr) continue;
            // Identifies the path by the address of its function pointer, which is unique: modes
            // and directions apply to ciphers only.
            bool failed_now = false;
            const PathName path{&candidate->run[static_cast<int>(operation)],
                                nullptr,
                                -1,
                                Path::cores,
                                WARPSEAL_ECB,
                                Direction::encrypt};
            status = self_test_result(
                path, [&] { return test_kem(kem_sets[set], *candidate, operation); }, &failed_now);
            if (failed_now) say_closed(impl, target, name, operation);
            if (status == WARPSEAL_SELF_TEST_FAILED) continue;
            if (status != WARPSEAL_OK) return status;
            chosen.store(static_cast<int8_t>(target), std::memory_order_release);
            out = candidate;
            return WARPSEAL_OK;
        }
        if (status != WARPSEAL_UNSUPPORTED) break;
    }
    return status;
}

warpseal_status tested_prepared_kem(Engine::Impl& impl, int set, KemKeyKind kind,
                                    const CpuKem*& out) {
    const KemOperation operation = operation_of(kind);
    const CpuKem* kem = nullptr;
    warpseal_status status = tested_kem(impl, set, operation, kem);
    if (status != WARPSEAL_OK) return status;
    std::atomic<bool>& tested = impl.kem.prepared_tested[set][static_cast<int>(kind)];
    if (tested.load(std::memory_order_acquire)) {
        out = kem;
        return WARPSEAL_OK;
    }
    bool failed_now = false;
    const PathName path{&kem->run_prepared[static_cast<int>(kind)],
                        nullptr,
                        -1,
                        Path::cores,
                        WARPSEAL_ECB,
                        Direction::encrypt};
    status = self_test_result(
        path, [&] { return test_prepared_kem(kem_sets[set], *kem, kind); }, &failed_now);
    if (failed_now)
        say_closed(impl,
                   static_cast<Target>(impl.kem.chosen[set][static_cast<int>(operation)].load()),
                   kem_sets[set].name, operation, " with a prepared key");
    if (status != WARPSEAL_OK) return status;
    tested.store(true, std::memory_order_release);
    out = kem;
    return WARPSEAL_OK;
}

warpseal_status tested_coins(Engine::Impl& impl, const CpuCipher*& out) {
    constexpr const char* cipher = "aes-256";
    Target target = static_cast<Target>(impl.kem.chosen_for_coins.load(std::memory_order_acquire));
    if (static_cast<int8_t>(target) < 0) {
        const warpseal_status status =
            impl.tested_cores(impl.descriptors(cipher), WARPSEAL_ECB, Direction::encrypt, target);
        if (status != WARPSEAL_OK) return status;
        impl.kem.chosen_for_coins.store(static_cast<int8_t>(target), std::memory_order_release);
    }
    out = impl.cpu_cipher(target, cipher);
    return WARPSEAL_OK;
}

warpseal_status test_kem_gpu(Engine::Impl& impl, int set, KemOperation operation, Path path,
                             unsigned number, const CudaKem*& out) {
    if (!kem_sets[set].has_cuda()) return WARPSEAL_NO_DEVICE;
    Gpu& gpu = impl.gpus[number];
    warpseal_status status = number == 0 ? impl.gpus.open() : gpu.open();
    if (status != WARPSEAL_OK) return status;
    out = gpu.backend().kem(kem_sets[set].name);
    if (out == nullptr) return WARPSEAL_NO_DEVICE;
    const bool device_memory = path == Path::gpu_device_memory;
    std::atomic<uint32_t>& tested =
        impl.kem.gpu_tested[device_memory ? 1 : 0][set][static_cast<int>(operation)];
    if ((tested.load(std::memory_order_acquire) >> number & 1) != 0) return WARPSEAL_OK;
    bool failed_now = false;
    const PathName name{&out->run[static_cast<int>(operation)],
                        &gpu.backend(),
                        gpu.device(),
                        path,
                        WARPSEAL_ECB,
                        Direction::encrypt};
    const auto test = [&] {
        return device_memory ? test_kem_device_memory(gpu.backend(), gpu.device(), kem_sets[set],
                                                      *out, operation)
                             : test_kem_through_gpu(gpu.backend(), gpu.device(), kem_sets[set],
                                                    *out, operation);
    };
    status = self_test_result(name, test, &failed_now);
    if (failed_now) say_closed(impl, Target::cuda, kem_sets[set].name, operation);
    if (status == WARPSEAL_OK) tested.fetch_or(1u << number, std::memory_order_acq_rel);
    if (status != WARPSEAL_OK && status != WARPSEAL_SELF_TEST_FAILED) gpu.failed(status);
    return status;
}

warpseal_status test_coins_gpu(Engine::Impl& impl, unsigned number, Path path,
                               const CudaCipher*& out) {
    const Key::Descriptors found = impl.descriptors("aes-256");
    out = found.cuda;
    std::atomic<uint32_t>& tested =
        impl.kem.gpu_coins_tested[path == Path::gpu_device_memory ? 1 : 0];
    if ((tested.load(std::memory_order_acquire) >> number & 1) != 0)
        return impl.gpus[number].open();
    const warpseal_status status =
        impl.test_gpu_path(found, WARPSEAL_CTR, Direction::encrypt, path, number);
    if (status == WARPSEAL_OK) tested.fetch_or(1u << number, std::memory_order_acq_rel);
    return status;
}

}  // namespace warpseal

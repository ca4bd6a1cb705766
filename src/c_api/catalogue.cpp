// Statuses, modes, ciphers, targets and devices by number and name.
#include <cstdlib>
#include <cstring>

#include "backends/gpu_backend.h"
#include "c_api/handles.h"
#include "c_api/internal.h"
#include "engine/schedule/device_count.h"
#include "engine/targets.h"

namespace warpseal::c_api {
namespace {

const char* missing_instructions(Target target) {
    switch (target) {
        case Target::aesni: return "this machine has no AES-NI and PCLMULQDQ";
        case Target::avx2: return "this machine has no AVX2 and BMI2 with AES-NI";
        case Target::vaes256: return "this machine has no VAES, VPCLMULQDQ and GFNI with AVX2";
        case Target::vaes512:
            return "this machine has no VAES, VPCLMULQDQ and GFNI with AVX-512 and its VBMI";
        default: return "this machine cannot run it";
    }
}

// Returns the reason why a target cannot be used, or "".
const char* reason(Target target, const TargetSet& allowed) {
    if (!allowed[static_cast<size_t>(target)]) return "masked by WARPSEAL_TARGETS";
    if (target != Target::cuda) return cpu_has(target) ? "" : missing_instructions(target);
    const GpuBackend* backend = gpu_backend();
    int count = 0;
    if (backend == nullptr) return "built without CUDA";
    if (backend->lost()) return "the GPU can no longer be used by this process";
    return count_devices(*backend, &count) == WARPSEAL_OK && count > 0 ? ""
                                                                       : "no CUDA driver or no GPU";
}

// Returns null if the target lacks the cipher.
const char* representation_of(const char* cipher, Target target) {
    if (target == Target::cuda) {
        const CudaCipher* found =
            gpu_backend() == nullptr ? nullptr : gpu_backend()->cipher(cipher);
        return found == nullptr ? nullptr : found->representation;
    }
    const CpuCipher* found = cpu_cipher(target, cipher);
    return found == nullptr ? nullptr : found->representation;
}

}  // namespace
}  // namespace warpseal::c_api

using namespace warpseal;

extern "C" {

const char* warpseal_status_text(warpseal_status status) {
    switch (status) {
        case WARPSEAL_OK: return "Success.";
        case WARPSEAL_INVALID_ARGUMENT:
            return "An argument is null, overlaps another, or has a length that is not allowed.";
        case WARPSEAL_UNSUPPORTED:
            return "This library does not have that cipher, mode, file format or version.";
        case WARPSEAL_LIMIT_EXCEEDED:
            return "That is past a limit of the standard or of the file format.";
        case WARPSEAL_WRONG_KEY: return "Wrong key file or passphrase: it does not open this file.";
        case WARPSEAL_NOT_AUTHENTIC:
            return "The data was changed, or the key is another: nothing of it was released.";
        case WARPSEAL_TRUNCATED: return "The file ends too early.";
        case WARPSEAL_IO: return "Reading or writing failed.";
        case WARPSEAL_NO_DEVICE:
            return "The named device or target cannot be used on this machine.";
        case WARPSEAL_SELF_TEST_FAILED:
            return "A self-test failed: that path is closed for this process.";
        case WARPSEAL_OUT_OF_MEMORY: return "There is not enough memory.";
        case WARPSEAL_NO_RANDOM: return "The random source of the operating system failed.";
        case WARPSEAL_CANCELLED: return "The caller asked to stop.";
        case WARPSEAL_WEAK_KEY:
            return "That key is weak, or repeats itself: nothing is encrypted under it.";
        case WARPSEAL_BAD_PADDING:
            return "The padding is not PKCS#7: the key is another, or the data was changed or "
                   "never padded.";
    }
    return "A status that this library does not know.";
}

const char* warpseal_version(void) { return WARPSEAL_VERSION; }

const char* warpseal_mode_name(warpseal_mode mode) { return mode_name(mode); }

warpseal_status warpseal_cipher_at(size_t index, warpseal_cipher_info* info) {
    const CpuCipher* cipher = cpu_cipher_at(index);
    if (info == nullptr) return refuse("info is null");
    if (cipher == nullptr) return refuse("index is %zu: there are fewer ciphers", index);
    *info = {cipher->name, cipher->key_bytes, cipher->block_bytes, cipher->modes,
             cipher->legacy ? 1 : 0};
    return WARPSEAL_OK;
}

int32_t warpseal_internal_device_known(const char* device) {
    if (device == nullptr) return 0;
    const warpseal_status status = c_api::guarded([&] {
        DeviceChoice choice;
        return choose_device(device, choice);
    });
    return status == WARPSEAL_OK ? 1 : 0;
}

const char* warpseal_internal_representation(const char* cipher, const char* target) {
    if (cipher == nullptr || target == nullptr) return nullptr;
    const char* representation = nullptr;
    (void)c_api::guarded([&] {
        Target known;
        if (target_by_name(target, known)) representation = c_api::representation_of(cipher, known);
        return WARPSEAL_OK;
    });
    return representation;
}

const char* warpseal_internal_side_channels(const char* cipher, const char* target) {
    const char* representation = warpseal_internal_representation(cipher, target);
    const char* text = nullptr;
    (void)c_api::guarded([&] {
        Target known;
        if (representation != nullptr && target_by_name(target, known))
            text = representation_side_channels(known, representation);
        return WARPSEAL_OK;
    });
    return text;
}

warpseal_status warpseal_target_at(size_t index, warpseal_target_info* info) {
    if (info == nullptr) return refuse("info is null");
    if (index >= target_count)
        return refuse("index is %zu: there are %d targets", index, int{target_count});
    return c_api::guarded_waiting([&] {
        TargetSet allowed;
        const warpseal_status status = unmasked_targets(std::getenv("WARPSEAL_TARGETS"), allowed);
        if (status != WARPSEAL_OK) return status;
        const Target target = static_cast<Target>(index);
        const char* why = c_api::reason(target, allowed);
        *info = {target_name(target), *why == 0 ? 1 : 0, why, target_side_channels(target)};
        return WARPSEAL_OK;
    });
}

warpseal_status warpseal_device_at(size_t index, warpseal_device_info* info) {
    if (info == nullptr) return refuse("info is null");
    const CancellationDisabled disabled;
    const GpuBackend* backend = gpu_backend();
    int count = 0;
    if (backend == nullptr || backend->lost() || count_devices(*backend, &count) != WARPSEAL_OK ||
        count <= 0)
        return c_api::ended(WARPSEAL_NO_DEVICE);
    if (index >= static_cast<size_t>(count))
        return refuse("index is %zu: there are %d devices", index, count);
    return c_api::ended(backend->describe(static_cast<int>(index), info));
}

}  // extern "C"

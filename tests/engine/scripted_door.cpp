// The scripted door: device memory is host memory, a kernel is a call of the CPU backend, and a step may fail.
#include "engine/scripted_door.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

namespace tests {
namespace {

using namespace warpseal;

constexpr size_t step_bytes = 4096;

Script current;
// What a lost device keeps for good is held here, beyond the end of the program, so that only real leaks are reported.
std::set<void*>& on_device = *new std::set<void*>;

const CpuCipher& cores_of(const CudaCipher& cipher) {
    return *cpu_cipher(cpu_has(Target::aesni) ? Target::aesni : Target::portable, cipher.name);
}

bool wrong(uint32_t bits, warpseal_mode mode, Direction direction, bool batch) {
    return (batch || !current.wrong_batches_only) && (bits >> (2 * mode + static_cast<int>(direction)) & 1) != 0;
}

// The next step: its outcome by the script. A real backend makes no CUDA call once the device is lost; the engine must not even ask.
warpseal_status step() {
    if (current.lost) {
        ++current.calls_after_lost;
        return WARPSEAL_NO_DEVICE;
    }
    if (++current.steps != current.fail_at) return WARPSEAL_OK;
    current.lost = current.failure == WARPSEAL_NO_DEVICE && !current.passing;
    return current.failure;
}

// Says that there is a batch; the door runs it itself.
warpseal_status offered(const void*, const warpseal_batch&, void*) { return WARPSEAL_UNSUPPORTED; }

template <int index>
void expand(void* state, const uint8_t* key) {
    const CpuCipher& facts = *cpu_cipher_at(index);
    cpu_cipher(cpu_has(Target::aesni) ? Target::aesni : Target::portable, facts.name)->expand(state, key);
}

const CudaCipher* cipher(const char* name) {
    constexpr decltype(CudaCipher::expand) expands[] = {expand<0>, expand<1>, expand<2>};
    static std::vector<CudaCipher> all;
    if (all.empty()) {
        for (size_t i = 0; i < std::size(expands) && cpu_cipher_at(i) != nullptr; ++i) {
            const CpuCipher& facts = *cpu_cipher_at(i);
            CudaCipher made = {};
            made.name = facts.name;
            made.key_bytes = facts.key_bytes;
            made.block_bytes = facts.block_bytes;
            made.modes = facts.modes;
            made.state_bytes = cores_of(made).state_bytes;
            made.expand = expands[i];
            for (const warpseal_mode mode : {WARPSEAL_CTR, WARPSEAL_GCM})
                for (auto& batch : made.batch[mode]) batch = offered;
            all.push_back(made);
        }
    }
    for (const CudaCipher& made : all)
        if (std::strcmp(made.name, name) == 0) return &made;
    return nullptr;
}

warpseal_status device_count(int* count) {
    *count = current.device_count;
    return step();
}

warpseal_status describe(int, warpseal_device_info* info) {
    *info = {};
    std::strcpy(info->name, "scripted");
    return step();
}

bool lost() { return current.lost; }

warpseal_status device_alloc(int, size_t bytes, void** out) {
    const warpseal_status status = step();
    if (status != WARPSEAL_OK) return status;
    *out = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    on_device.insert(*out);
    ++current.live_device_allocations;
    return WARPSEAL_OK;
}

void device_free(int, void* memory, size_t) {
    if (current.lost) ++current.calls_after_lost;
    --current.live_device_allocations;
    on_device.erase(memory);
    std::free(memory);
}

warpseal_status host_alloc(int, size_t bytes, void** out) {
    const warpseal_status status = step();
    if (status != WARPSEAL_OK) return status;
    *out = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    ++current.live_host_allocations;
    return WARPSEAL_OK;
}

void host_free(int, void* memory, size_t) {
    if (current.lost) ++current.calls_after_lost;
    --current.live_host_allocations;
    std::free(memory);
}

warpseal_status copy(int, void* to, const void* from, size_t bytes) {
    const warpseal_status status = step();
    if (status == WARPSEAL_OK) std::memmove(to, from, bytes);
    return status;
}

warpseal_status synchronize(int, void*) { return step(); }

warpseal_status time(int, warpseal_status (*work)(void*, void*), void* user, float* milliseconds) {
    *milliseconds = 1;
    const warpseal_status status = step();
    return status == WARPSEAL_OK ? work(user, nullptr) : status;
}

warpseal_status sweep_device(int, const CudaCipher& cipher, const void* state, warpseal_mode mode, Direction direction, const uint8_t* iv,
                             const uint8_t* in, uint8_t* out, size_t bytes, void*) {
    const warpseal_status status = step();
    if (status != WARPSEAL_OK) return status;
    cores_of(cipher).sweep[mode][static_cast<int>(direction)](state, iv, 0, in, out, bytes);
    if (wrong(current.wrong_device, mode, direction, false)) out[bytes - 1] ^= 1;
    return WARPSEAL_OK;
}

warpseal_status batch_device(int, const CudaCipher& cipher, const void* state, warpseal_mode mode, Direction direction,
                             const warpseal_batch& batch, void*) {
    const warpseal_status status = step();
    if (status != WARPSEAL_OK) return status;
    cores_of(cipher).batch[mode][static_cast<int>(direction)](state, batch, 0, batch.message_count);
    if (wrong(current.wrong_device, mode, direction, true)) batch.out[0] ^= 1;
    return WARPSEAL_OK;
}

// Walks a message step by step; what failed leaves rubbish behind where the output is not the input too.
template <class Work>
warpseal_status walk(const uint8_t* in, uint8_t* out, size_t bytes, size_t* done, Work work) {
    ++current.host_calls;
    *done = 0;
    while (*done < bytes) {
        const size_t part = bytes - *done < step_bytes ? bytes - *done : step_bytes;
        const warpseal_status status = step();
        if (status != WARPSEAL_OK) {
            if (in != out) std::memset(out + *done, 0xee, part);
            return status;
        }
        work(*done, part);
        *done += part;
    }
    return WARPSEAL_OK;
}

warpseal_status sweep_host(int, const CudaCipher& cipher, const void* state, warpseal_mode mode, Direction direction, const uint8_t* iv,
                           uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes, size_t* done_bytes) {
    const CpuCipher& cores = cores_of(cipher);
    const bool flip = wrong(current.wrong_host, mode, direction, false);
    return walk(in, out, bytes, done_bytes, [&](size_t at, size_t part) {
        cores.sweep[mode][static_cast<int>(direction)](state, iv, first_block + at / cores.block_bytes, in + at, out + at, part);
        if (flip) out[at + part - 1] ^= 1;
    });
}

warpseal_status gcm_host(int, const CudaCipher& cipher, const void* state, Direction direction, GcmRun* run, uint64_t first_block,
                         const uint8_t* in, uint8_t* out, size_t bytes, size_t* done_bytes) {
    const CpuCipher& cores = cores_of(cipher);
    const bool flip = wrong(current.wrong_host, WARPSEAL_GCM, direction, false);
    return walk(in, out, bytes, done_bytes, [&](size_t at, size_t part) {
        cores.gcm_piece[static_cast<int>(direction)](state, run, first_block + at / 16, in + at, out + at, part);
        if (flip) run->sum[15] ^= 1;
    });
}

warpseal_status batch_host(int, const CudaCipher& cipher, const void* state, warpseal_mode mode, Direction direction,
                           const warpseal_batch& batch, uint64_t* done_messages, uint64_t* not_authentic) {
    ++current.host_calls;
    *not_authentic = 0;
    for (*done_messages = 0; *done_messages < batch.message_count; ++*done_messages) {
        const warpseal_status status = step();
        if (status != WARPSEAL_OK) return status;
        *not_authentic += cores_of(cipher).batch[mode][static_cast<int>(direction)](state, batch, *done_messages, 1);
    }
    if (wrong(current.wrong_host, mode, direction, true)) batch.out[0] ^= 1;
    return WARPSEAL_OK;
}

}  // namespace

Script& script() { return current; }

const warpseal::CudaDoor* scripted_door(const Script& script) {
    static std::vector<std::unique_ptr<CudaDoor>> doors;  // never freed: outcomes are remembered by address
    current = script;
    doors.push_back(
        std::make_unique<CudaDoor>(CudaDoor{cipher, device_count, describe, lost, device_alloc, device_free, host_alloc, host_free, copy,
                                            copy, synchronize, time, sweep_device, batch_device, sweep_host, gcm_host, batch_host}));
    return doors.back().get();
}

}  // namespace tests

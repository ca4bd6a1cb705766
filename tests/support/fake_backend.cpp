// The fake GPU backend: device memory is host memory, a kernel is a call of the CPU backend, and
// any step may fail.
#include "support/fake_backend.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "backends/batch_message.h"
#include "backends/kem_catalogue.h"
#include "modes/gcm.h"

namespace tests {
namespace {

using namespace warpseal;

constexpr size_t step_bytes = 4096;

Script current;
std::mutex stepping;
std::atomic<int> calls_in_progress{0};  // calls on host memory in progress
// Allocations that a lost device never frees. They outlive the program, so that a leak checker
// reports only real leaks.
std::map<void*, std::pair<size_t, int>>& on_device = *new std::map<void*, std::pair<size_t, int>>;
std::set<void*>& on_host = *new std::set<void*>;
std::set<void*>& iv_counters = *new std::set<void*>;

const CpuCipher& cores_of(const CudaCipher& cipher) {
    return *cpu_cipher(cpu_has(Target::aesni) ? Target::aesni : Target::portable, cipher.name);
}

bool wrong(int device, uint32_t bits, warpseal_mode mode, Direction direction, bool batch) {
    return (current.wrong_gpu < 0 || current.wrong_gpu == device) &&
           (batch || !current.wrong_batches_only) &&
           (bits >> (2 * mode + static_cast<int>(direction)) & 1) != 0;
}

// The number of losses, and its value when lost() last told this thread that the GPU works.
uint64_t losses = 0;
thread_local uint64_t losses_when_told = UINT64_MAX;

// Counts a call after the loss. A thread that was told before the loss that the GPU works may make
// one more call, as it cannot know of another thread's loss.
void count_if_lost() {
    if (!current.lost) return;
    if (losses_when_told + 1 != losses) ++current.calls_after_lost;
    losses_when_told = UINT64_MAX;
}

// Returns the scripted status of the next step. A real backend makes no CUDA call after the device
// is lost; the engine must not even try. With several GPUs each has a thread of its own: calls
// already entered are refused inside the backend.
warpseal_status step(int device = 0, bool within_a_call = false) {
    const std::lock_guard lock(stepping);
    if (current.lost) {
        if (!within_a_call) count_if_lost();
        return WARPSEAL_NO_DEVICE;
    }
    if (device < 16) ++current.steps_of[device];
    if (++current.steps != current.fail_at &&
        (device != current.fail_device || current.steps_of[device] < current.fail_device_at))
        return WARPSEAL_OK;
    current.lost = current.failure == WARPSEAL_NO_DEVICE && !current.passing;
    if (current.lost) ++losses, losses_when_told = UINT64_MAX;
    return current.failure;
}

// A step of a call with a stream.
warpseal_status step_on(void* stream, int device = 0) {
    {
        const std::lock_guard lock(stepping);
        current.last_stream = stream;
    }
    return step(device);
}

// Placeholders for offered functions, which the backend runs itself.
warpseal_status offered(const void*, const warpseal_scattered_batch&, void*) {
    return WARPSEAL_UNSUPPORTED;
}
warpseal_status offered_sweep(const void*, const uint8_t*, uint64_t, const uint8_t*, uint8_t*,
                              size_t, void*) {
    return WARPSEAL_UNSUPPORTED;
}
warpseal_status offered_xts(const void*, const void*, const XtsUnits&, const uint8_t*, uint8_t*,
                            size_t, void*) {
    return WARPSEAL_UNSUPPORTED;
}
warpseal_status offered_chunk(const void*, const uint8_t*, uint64_t, const uint8_t*, uint8_t*,
                              size_t, void*, void*) {
    return WARPSEAL_UNSUPPORTED;
}

template <int index>
void expand(void* state, const uint8_t* key) {
    const CpuCipher& facts = *cpu_cipher_at(index);
    cpu_cipher(cpu_has(Target::aesni) ? Target::aesni : Target::portable, facts.name)
        ->expand(state, key);
}

std::vector<CudaCipher> all_ciphers() {
    constexpr decltype(CudaCipher::expand) expands[] = {expand<0>, expand<1>, expand<2>};
    std::vector<CudaCipher> all;
    for (size_t i = 0; i < std::size(expands) && cpu_cipher_at(i) != nullptr; ++i) {
        const CpuCipher& facts = *cpu_cipher_at(i);
        CudaCipher made = {};
        made.name = facts.name;
        made.key_bytes = facts.key_bytes;
        made.block_bytes = facts.block_bytes;
        made.modes = facts.modes;
        const CpuCipher& cores = cores_of(made);
        made.state_bytes = cores.state_bytes;
        made.expand = expands[i];
        for (int mode = 0; mode < WARPSEAL_MODE_COUNT; ++mode)
            for (int direction = 0; direction < direction_count; ++direction) {
                if (cores.sweep[mode][direction] != nullptr)
                    made.sweep[mode][direction] = offered_sweep;
                if (cores.batch[mode][direction] != nullptr) made.batch[mode][direction] = offered;
            }
        for (auto& xts : made.xts) xts = offered_xts;
        for (auto& segment : made.gcm_segment) segment = offered_chunk;
        all.push_back(made);
    }
    return all;
}

const CudaCipher* cipher(const char* name) {
    static const std::vector<CudaCipher> all = all_ciphers();
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

bool lost() {
    const std::lock_guard lock(stepping);
    if (!current.lost) losses_when_told = losses;
    return current.lost;
}

warpseal_status device_alloc(int device, size_t bytes, void** out) {
    const warpseal_status status = step(device);
    if (status != WARPSEAL_OK) return status;
    *out = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    const std::lock_guard lock(stepping);
    on_device[*out] = {bytes, device};
    ++current.live_device_allocations;
    return WARPSEAL_OK;
}

void device_free(int, void* memory, size_t bytes) {
    const std::lock_guard lock(stepping);
    current.last_freed_bytes = bytes;
    count_if_lost();
    if (iv_counters.erase(memory) != 0)
        --current.live_iv_counters;
    else
        --current.live_device_allocations;
    on_device.erase(memory);
    std::free(memory);
}

warpseal_status host_alloc(int, size_t bytes, void** out) {
    const warpseal_status status = step();
    if (status != WARPSEAL_OK) return status;
    const std::lock_guard lock(stepping);
    if (current.live_host_allocations >= current.pinnable) return WARPSEAL_OUT_OF_MEMORY;
    std::unique_ptr<void, decltype(&std::free)> made(
        std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096), &std::free);
    on_host.insert(made.get());
    *out = made.release();
    ++current.host_allocations;
    ++current.live_host_allocations;
    return WARPSEAL_OK;
}

void host_free(int, void* memory, size_t bytes) {
    const std::lock_guard lock(stepping);
    current.last_freed_bytes = bytes;
    on_host.erase(memory);
    std::free(memory);
    count_if_lost();
    --current.live_host_allocations;
}

warpseal_status copy(int, void* to, const void* from, size_t bytes) {
    const warpseal_status status = step();
    if (status == WARPSEAL_OK) std::memmove(to, from, bytes);
    return status;
}

warpseal_status synchronize(int, void* stream) { return step_on(stream); }

warpseal_status time(int, warpseal_status (*work)(void*, void*), void* user, float* milliseconds) {
    *milliseconds = 1;
    const warpseal_status status = step();
    return status == WARPSEAL_OK ? work(user, nullptr) : status;
}

warpseal_status sweep_device(int device, const CudaCipher& cipher, const void* state,
                             warpseal_mode mode, Direction direction, const uint8_t* iv,
                             const uint8_t* in, uint8_t* out, size_t bytes, void* stream) {
    const warpseal_status status = step_on(stream, device);
    if (status != WARPSEAL_OK) return status;
    cores_of(cipher).sweep[mode][static_cast<int>(direction)](state, iv, 0, in, out, bytes);
    if (wrong(device, current.wrong_device, mode, direction, false)) out[bytes - 1] ^= 1;
    return WARPSEAL_OK;
}

void spoil(Direction direction, const warpseal_batch& batch) {
    if (batch.out != nullptr)
        batch.out[0] ^= 1;
    else if (direction == Direction::encrypt)
        batch.tags[0] ^= 1;
    else
        batch.statuses[0] ^= WARPSEAL_NOT_AUTHENTIC;
}

// Returns message i as a batch of its own.
warpseal_batch alone(const warpseal_scattered_batch& batch, uint64_t i, const BatchMessage& m,
                     uint32_t key_bytes) {
    warpseal_batch one = {};
    one.struct_bytes = sizeof one;
    one.message_count = 1, one.message_bytes = m.bytes;
    one.iv_bytes = batch.batch.iv_bytes, one.tag_bytes = batch.batch.tag_bytes;
    one.keys = batch.batch.keys == nullptr ? nullptr : batch.batch.keys + i * key_bytes;
    one.ivs = m.iv, one.aad = m.aad, one.aad_bytes = m.aad_bytes;
    one.in = m.in, one.out = m.out, one.tags = m.tag, one.statuses = m.status;
    return one;
}

size_t workspace_bytes(warpseal_mode mode, const warpseal_scattered_batch& batch) {
    return mode == WARPSEAL_GCM ? 16 * batch.batch.message_count : 0;
}

// Uses the workspace as a kernel would, or scratch of its own.
void use_workspace(warpseal_mode mode, const warpseal_scattered_batch& batch) {
    const size_t bytes = workspace_bytes(mode, batch);
    if (bytes == 0) return;
    if (batch.workspace != nullptr) {
        std::memset(batch.workspace, 0, bytes);
        return;
    }
    const std::lock_guard lock(stepping);
    ++current.scratch_allocations;
}

// The limits of the kernels.
MessageLimits limits_of(const CudaCipher& cipher, warpseal_mode mode, uint32_t iv_bytes) {
    if (mode == WARPSEAL_CBC) return {UINT64_MAX, UINT64_MAX, cipher.block_bytes};
    if (mode == WARPSEAL_GCM) return {modes::gcm_max_text_bytes, modes::gcm_max_aad_bytes};
    if (mode != WARPSEAL_CCM) return {};
    const uint64_t text_bytes =
        iv_bytes > 7 ? (uint64_t{1} << 8 * (15 - iv_bytes)) - 1 : UINT64_MAX;
    return {text_bytes, modes::gcm_max_aad_bytes};
}

warpseal_status batch_device(int device, const CudaCipher& cipher, const void* state,
                             warpseal_mode mode, Direction direction,
                             const warpseal_scattered_batch& batch, void* stream) {
    const warpseal_status status = step_on(stream, device);
    if (status != WARPSEAL_OK) return status;
    use_workspace(mode, batch);
    const auto run = cores_of(cipher).batch[mode][static_cast<int>(direction)];
    const MessageLimits limits = limits_of(cipher, mode, batch.batch.iv_bytes);
    for (uint64_t i = 0; i < batch.batch.message_count; ++i) {
        const BatchMessage m = message_of(batch, i);
        const warpseal_status refusal = refusal_of(batch, i, m, limits);
        if (refusal == WARPSEAL_OK)
            run(state, alone(batch, i, m, cipher.key_bytes), 0, 1);
        else if (m.status != nullptr)
            *m.status = refusal;
    }
    if (wrong(device, current.wrong_device, mode, direction, true))
        spoil(direction, alone(batch, 0, message_of(batch, 0), cipher.key_bytes));
    return WARPSEAL_OK;
}

warpseal_status batch_workspace(int device, warpseal_mode mode,
                                const warpseal_scattered_batch& batch, size_t* bytes) {
    *bytes = workspace_bytes(mode, batch);
    return step(device);
}

warpseal_status draw_ivs(int device, void* counter, const warpseal_scattered_batch& batch,
                         void* stream) {
    const warpseal_status status = step_on(stream, device);
    if (status != WARPSEAL_OK) return status;
    {
        const std::lock_guard lock(stepping);
        if (iv_counters.insert(counter).second)
            --current.live_device_allocations, ++current.live_iv_counters;
    }
    auto& from = *static_cast<IvCounter*>(counter);
    const uint64_t count = batch.batch.message_count,
                   first = __atomic_fetch_add(&from.next, count, __ATOMIC_RELAXED);
    for (uint64_t i = 0; i < count; ++i) {
        const BatchMessage m = message_of(batch, i);
        if (within_extents(batch, i, m))
            write_drawn_iv(from.start, current.wrong_ivs ? 7 : first + i,
                           const_cast<uint8_t*>(m.iv));
    }
    return WARPSEAL_OK;
}

warpseal_status xts_device(int device, const CudaCipher& cipher, const void* state,
                           const void* tweak_state, Direction direction, const XtsUnits& units,
                           const uint8_t* in, uint8_t* out, size_t bytes, void* stream) {
    const warpseal_status status = step_on(stream, device);
    if (status != WARPSEAL_OK) return status;
    cores_of(cipher).xts[static_cast<int>(direction)](state, tweak_state, units, in, out, bytes);
    if (wrong(device, current.wrong_device, WARPSEAL_XTS, direction, false)) out[bytes - 1] ^= 1;
    return WARPSEAL_OK;
}

// Records a call on host memory.
void called(int device) {
    const std::lock_guard lock(stepping);
    ++current.host_calls;
    if (device < 16) ++current.host_calls_of[device];
    // Does not count calls made while another GPU's call is failing, as no engine can know.
    if (calls_in_progress == 0) count_if_lost();
}

struct CallInProgress {
    explicit CallInProgress(int device) {
        called(device);
        ++calls_in_progress;
    }
    ~CallInProgress() { --calls_in_progress; }
};

// Processes a message step by step. After a failure it leaves garbage in outputs that are not
// inputs too.
template <class Work>
warpseal_status walk(int device, const uint8_t* in, uint8_t* out, size_t bytes, size_t* done,
                     Work work, size_t unit_bytes = 16) {
    const size_t most = unit_bytes < step_bytes ? step_bytes / unit_bytes * unit_bytes : unit_bytes;
    const CallInProgress here(device);
    *done = 0;
    while (*done < bytes) {
        const size_t step_bytes = bytes - *done < most ? bytes - *done : most;
        const warpseal_status status = step(device, true);
        if (status != WARPSEAL_OK) {
            if (in != out) std::memset(out + *done, 0xee, step_bytes);
            return status;
        }
        work(*done, step_bytes);
        *done += step_bytes;
    }
    return WARPSEAL_OK;
}

warpseal_status sweep_host(int device, const CudaCipher& cipher, const void* state,
                           warpseal_mode mode, Direction direction, const uint8_t* iv,
                           uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes,
                           size_t* done_bytes, uint8_t* previous) {
    const CpuCipher& cores = cores_of(cipher);
    const bool flip = wrong(device, current.wrong_host, mode, direction, false),
               feedback = mode == WARPSEAL_CBC || mode == WARPSEAL_CFB;
    uint8_t before[16] = {}, last[16] = {};
    if (feedback) std::memcpy(before, iv, cores.block_bytes);
    const warpseal_status status =
        walk(device, in, out, bytes, done_bytes, [&](size_t at, size_t step_bytes) {
            if (feedback && step_bytes >= cores.block_bytes)
                std::memcpy(last, in + at + step_bytes - cores.block_bytes, cores.block_bytes);
            cores.sweep[mode][static_cast<int>(direction)](state, feedback ? before : iv,
                                                           first_block + at / cores.block_bytes,
                                                           in + at, out + at, step_bytes);
            std::memcpy(before, last, sizeof before);
            if (flip) out[at + step_bytes - 1] ^= 1;
        });
    if (previous != nullptr && feedback) std::memcpy(previous, before, cores.block_bytes);
    return status;
}

warpseal_status xts_host(int device, const CudaCipher& cipher, const void* state,
                         const void* tweak_state, Direction direction, const XtsUnits& units,
                         const uint8_t* in, uint8_t* out, size_t bytes, size_t* done_bytes) {
    const CpuCipher& cores = cores_of(cipher);
    const bool flip = wrong(device, current.wrong_host, WARPSEAL_XTS, direction, false);
    XtsUnits next = units;
    return walk(
        device, in, out, bytes, done_bytes,
        [&](size_t at, size_t step_bytes) {
            cores.xts[static_cast<int>(direction)](state, tweak_state, next, in + at, out + at,
                                                   step_bytes);
            for (size_t i = 0; i < step_bytes / units.unit_bytes; ++i)
                for (size_t byte = 0; byte < 16 && ++next.first[byte] == 0; ++byte) {
                }
            if (flip) out[at + step_bytes - 1] ^= 1;
        },
        static_cast<size_t>(units.unit_bytes));
}

warpseal_status gcm_host(int device, const CudaCipher& cipher, const void* state,
                         Direction direction, GcmState* run, uint64_t first_block,
                         const uint8_t* in, uint8_t* out, size_t bytes, size_t* done_bytes) {
    const CpuCipher& cores = cores_of(cipher);
    const bool flip = wrong(device, current.wrong_host, WARPSEAL_GCM, direction, false);
    return walk(device, in, out, bytes, done_bytes, [&](size_t at, size_t step_bytes) {
        cores.gcm_segment[static_cast<int>(direction)](state, run, first_block + at / 16, in + at,
                                                       out + at, step_bytes);
        if (flip) run->sum[15] ^= 1;
    });
}

warpseal_status run_batch(int device, const CudaCipher& cipher, const void* state,
                          warpseal_mode mode, Direction direction, const warpseal_batch& batch,
                          uint64_t* done_messages, uint64_t* not_authentic) {
    *not_authentic = 0;
    for (*done_messages = 0; *done_messages < batch.message_count; ++*done_messages) {
        const warpseal_status status = step(device, true);
        if (status != WARPSEAL_OK) return status;
        *not_authentic += cores_of(cipher).batch[mode][static_cast<int>(direction)](
            state, batch, *done_messages, 1);
    }
    if (wrong(device, current.wrong_host, mode, direction, true)) spoil(direction, batch);
    return WARPSEAL_OK;
}

warpseal_status batch_host(int device, const CudaCipher& cipher, const void* state,
                           warpseal_mode mode, Direction direction, const warpseal_batch& batch,
                           uint64_t* done_messages, uint64_t* not_authentic) {
    const CallInProgress here(device);
    return run_batch(device, cipher, state, mode, direction, batch, done_messages, not_authentic);
}

warpseal_status device_of(const void* memory, int* device) {
    const std::lock_guard lock(stepping);
    const auto after = on_device.upper_bound(const_cast<void*>(memory));
    if (after == on_device.begin()) return WARPSEAL_INVALID_ARGUMENT;
    const auto& [begin, what] = *std::prev(after);
    *device = what.second;
    return static_cast<const uint8_t*>(memory) < static_cast<uint8_t*>(begin) + what.first
               ? WARPSEAL_OK
               : WARPSEAL_INVALID_ARGUMENT;
}

// A batch with text in device memory. It runs as late as a GPU may: where the caller waits for it.
struct Resident {
    const CallInProgress here;
    const int device;
    const CudaCipher& cipher;
    const void* const state;
    const warpseal_mode mode;
    const Direction direction;
    const warpseal_batch given;
    const TextWindow window;
    warpseal_batch batch = given;
    std::vector<uint8_t> ivs = {}, text = {};
};

// The resident side must be memory of the device. The IVs may change once this returns, and nothing
// else may.
warpseal_status begin_resident(int device, const CudaCipher& cipher, const void* state,
                               warpseal_mode mode, Direction direction, const warpseal_batch& batch,
                               const TextWindow* window, uint8_t* space, void** begun) {
    const bool opens = direction == Direction::decrypt;
    int holder = -1;
    *begun = nullptr;
    if (batch.message_bytes != 0 &&
        (device_of(opens ? batch.out : batch.in, &holder) != WARPSEAL_OK || holder != device))
        return WARPSEAL_INVALID_ARGUMENT;
    std::unique_ptr<Resident> made(new Resident{CallInProgress(device), device, cipher, state, mode,
                                                direction, batch,
                                                window != nullptr ? *window : TextWindow{}});
    const size_t iv_bytes = batch.iv_bytes, count = batch.message_count;
    if (space == nullptr) made->ivs.resize(iv_bytes * count);
    uint8_t* const ivs = space != nullptr ? space : made->ivs.data();
    for (size_t i = 0; i < count; ++i)
        std::memcpy(ivs + i * iv_bytes, batch.ivs + i * batch.iv_stride, iv_bytes);
    made->batch.ivs = ivs;
    made->batch.iv_stride = iv_bytes;
    if (window != nullptr) {
        made->text.resize(batch.message_bytes + 1);
        made->batch.out = made->text.data();
    }
    const warpseal_status status = step(device, true);
    if (status != WARPSEAL_OK) return status;
    const std::lock_guard lock(stepping);
    ++current.resident_calls;
    ++current.resident_in_flight;
    *begun = made.release();
    return WARPSEAL_OK;
}

// After a failure `out` has garbage where messages were in flight.
warpseal_status finish_resident(void* begun, uint64_t* not_authentic) {
    if (current.before_resident_ends) current.before_resident_ends();
    const std::unique_ptr<Resident> own(static_cast<Resident*>(begun));
    const warpseal_batch& given = own->given;
    const bool in_window = !own->text.empty();
    uint64_t done = 0;
    {
        const std::lock_guard lock(stepping);
        --current.resident_in_flight;
    }
    const warpseal_status status = run_batch(own->device, own->cipher, own->state, own->mode,
                                             own->direction, own->batch, &done, not_authentic);
    if (status == WARPSEAL_OK && in_window)
        std::memcpy(given.out, own->text.data() + own->window.begin, own->window.bytes);
    if (status != WARPSEAL_OK && own->direction == Direction::decrypt)
        std::memset(given.out + done * given.out_stride, 0xee,
                    in_window ? own->window.bytes : given.message_bytes);
    return status;
}

warpseal_status zeroize(int device, void* memory, size_t bytes) {
    const warpseal_status status = step(device);
    if (status == WARPSEAL_OK) std::memset(memory, 0, bytes);
    return status;
}

bool pinned(const void* begin, size_t bytes) {
    const std::lock_guard lock(stepping);
    count_if_lost();
    return begin != nullptr && current.all_pinned && bytes <= current.most_pinned;
}

warpseal_status copy_both_ways(int, const void*, void* out, size_t bytes) {
    std::memset(out, 0, bytes);
    return step();
}

// ---- key encapsulation

warpseal_status offered_kem(const warpseal_kem_batch&, uint64_t, void*, void*) {
    return WARPSEAL_UNSUPPORTED;
}

// Returns a separate descriptor for each set: result tables are keyed by its address.
const CudaKem* kem(const char* set) {
    static const std::array<CudaKem, kem_set_count> all = [] {
        std::array<CudaKem, kem_set_count> made;
        for (size_t i = 0; i < made.size(); ++i)
            made[i] = {&kem_sets[i],
                       [](KemOperation, uint64_t) { return size_t{0}; },
                       {offered_kem, offered_kem, offered_kem}};
        return made;
    }();
    for (const CudaKem& made : all)
        if (std::strcmp(made.set->name, set) == 0) return &made;
    return nullptr;
}

// Computes one item with its coins of the call. Returns the number of items without a result: 0 or
// 1.
uint64_t kem_item(const CudaKem& kem, KemOperation operation, const warpseal_kem_batch& batch,
                  const DrawnCoins* coins, uint64_t item) {
    // A sanitizer slows the portable loops down to minutes.
    const CpuKem& cores =
        *cpu_kem(cpu_has_kem(Target::avx2) ? Target::avx2 : Target::portable, kem.set->name);
    const size_t stride = drawn_coins_stride(*kem.set, operation);
    std::vector<uint8_t> drawn(stride), memory(cores.work_bytes(operation, 1) + 64);
    warpseal_kem_batch one = sub_batch(batch, item, 1);
    if (coins != nullptr) {
        cores_of(*coins->aes)
            .sweep[WARPSEAL_CTR][0](coins->state, coins->counter,
                                    (coins->first_item + item) * (stride / 16), drawn.data(),
                                    drawn.data(), stride);
        one.coins = drawn.data();
    }
    void* work =
        reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
    const uint64_t failed = cores.run[static_cast<int>(operation)](one, 0, 1, work);
    if ((current.wrong_kem >> static_cast<int>(operation) & 1) != 0)
        (operation == KemOperation::keypair ? one.public_keys : one.shared_secrets)[0] ^= 1;
    return failed;
}

warpseal_status kem_device(int device, const CudaKem& kem, KemOperation operation,
                           const warpseal_kem_batch& batch, uint64_t, const DrawnCoins* coins,
                           void* stream) {
    const warpseal_status status = step_on(stream, device);
    for (uint64_t i = 0; status == WARPSEAL_OK && i < batch.count; ++i)
        kem_item(kem, operation, batch, coins, i);
    return status;
}

warpseal_status kem_host(int device, const CudaKem& kem, KemOperation operation,
                         const warpseal_kem_batch& batch, uint64_t, const DrawnCoins* coins,
                         uint64_t* done, uint64_t* failed) {
    const CallInProgress here(device);
    *failed = 0;
    for (*done = 0; *done < batch.count; ++*done) {
        const warpseal_status status = step(device, true);
        if (status != WARPSEAL_OK) {  // outputs that were in flight
            if (operation != KemOperation::keypair)
                std::memset(batch.shared_secrets + *done * batch.shared_secret_stride, 0x3c,
                            kem.set->shared_secret_bytes());
            return status;
        }
        *failed += kem_item(kem, operation, batch, coins, *done);
    }
    return WARPSEAL_OK;
}

warpseal_status pool_transfer(int device, PoolTransfer what, void* slots, void* items,
                              size_t stride, const uint32_t* numbers, uint64_t count, void*) {
    const warpseal_status status = step(device);
    for (uint64_t i = 0; status == WARPSEAL_OK && i < count; ++i) {
        const uint64_t number = numbers == nullptr ? i : numbers[i];
        const bool absent = number == no_pool_slot;
        uint8_t *const slot = static_cast<uint8_t*>(slots) + number * stride,
                       *const item = static_cast<uint8_t*>(items) + i * stride;
        if (what == PoolTransfer::get && absent) std::memset(item, 0, stride);
        if (what == PoolTransfer::get && !absent) std::memcpy(item, slot, stride);
        if (what == PoolTransfer::put)
            std::memcpy(slot, item, stride), std::memset(item, 0, stride);
        if (what == PoolTransfer::wipe && !absent) std::memset(slot, 0, stride);
    }
    return status;
}

// Computes one leaf after another, each with counter mode under its own key.
warpseal_status drbg_device(int device, const DrbgRequest& request, uint8_t* out, size_t bytes,
                            void* stream) {
    const warpseal_status status = step_on(stream, device);
    if (status != WARPSEAL_OK) return status;
    const CpuCipher& aes = cores_of(*request.aes);
    std::vector<uint8_t> seeds(drbg::leaves_for(bytes) * drbg::seed_bytes), schedule_memory(4096);
    aes.sweep[WARPSEAL_CTR][0](request.state, request.counter, 0, seeds.data(), seeds.data(),
                               seeds.size());
    void* const schedule = reinterpret_cast<void*>(
        (reinterpret_cast<uintptr_t>(schedule_memory.data()) + 63) / 64 * 64);
    std::memset(out, 0, bytes);
    for (size_t leaf = 0; leaf * drbg::max_request_bytes < bytes; ++leaf) {
        uint8_t* const seed = seeds.data() + leaf * drbg::seed_bytes;
        for (size_t i = 0; i < drbg::seed_bytes; ++i) seed[i] ^= request.instantiation[i];
        for (size_t byte = drbg::seed_bytes; byte-- > 32 && ++seed[byte] == 0;) {
        }
        aes.expand(schedule, seed);
        uint8_t* const text = out + leaf * drbg::max_request_bytes;
        const size_t left = bytes - leaf * drbg::max_request_bytes;
        aes.sweep[WARPSEAL_CTR][0](schedule, seed + 32, 0, text, text,
                                   std::min(left, drbg::max_request_bytes));
    }
    if (current.wrong_drbg) out[bytes - 1] ^= 1;
    return WARPSEAL_OK;
}

void zeroize_launches(int) {
    const std::lock_guard lock(stepping);
    count_if_lost();
    ++current.zeroized;
}

}  // namespace

Script& script() { return current; }

void lose_fake_gpu(uint64_t more) {
    const std::lock_guard lock(stepping);
    current.failure = WARPSEAL_NO_DEVICE;
    current.passing = false;
    current.fail_at = current.steps + more + 1;
}

const warpseal::GpuBackend* fake_backend(const Script& script) {
    static std::vector<std::unique_ptr<GpuBackend>>
        backends;  // never freed: results are recorded by address
    current = script;
    backends.push_back(std::make_unique<GpuBackend>(
        GpuBackend{cipher,          device_count,   describe,        lost,       device_alloc,
                   device_free,     host_alloc,     host_free,       copy,       copy,
                   synchronize,     time,           sweep_device,    xts_device, batch_device,
                   batch_workspace, draw_ivs,       sweep_host,      xts_host,   gcm_host,
                   batch_host,      begin_resident, finish_resident, zeroize,    zeroize_launches,
                   pinned,          device_of,      copy_both_ways,  kem,        kem_device,
                   kem_host,        pool_transfer,  nullptr,         drbg_device}));
    return backends.back().get();
}

}  // namespace tests

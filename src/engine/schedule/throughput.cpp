// Rates rise at once and fall slowly: other load slows a call, but nothing makes it faster than its
// target.
// An idle party's estimate grows slowly until it is tried again.
#include "engine/schedule/throughput.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "core/secret.h"

namespace warpseal {
namespace {

constexpr size_t calibration_bytes = size_t{64} << 10;
constexpr int calibration_runs = 3;
// All cores together are slower than one core times their number: clocks drop, and
// hyperthreads share units.
constexpr double all_cores_efficiency = 0.7;
constexpr uint8_t scales = 5;
constexpr unsigned least_seen = 3;
// Relative growth of an idle party's estimate for each measurement of others in its class, so that
// it is tried again. A party slower by more than half never is; retrying the others costs about one
// percent.
constexpr double retry_growth = 0.01;
constexpr uint64_t max_retry_steps = 50;

// The memory kind matters to the CPU only when it shares a call with a GPU.
CallClass stored_class(CallClass call_class, int party, bool shared) {
    if (party == Throughput::cores && !shared) call_class.memory_kind = MemoryKind::host;
    return call_class;
}

// Class over all parties and memory kinds.
CallClass kind_of(CallClass call_class) {
    call_class.memory_kind = MemoryKind::host;
    return call_class;
}

// Class over all sizes as well.
CallClass of_any_scale(CallClass call_class) {
    call_class.scale = 0;
    return kind_of(call_class);
}

// Class over all ciphers, for a GPU: the link limits them all alike.
CallClass of_any_cipher(CallClass call_class) {
    call_class.cipher = nullptr;
    call_class.mode = WARPSEAL_ECB;
    call_class.direction = Direction::encrypt;
    return call_class;
}

void run_once(const CallClass& call_class, const void* state, uint8_t* text) {
    const int direction = static_cast<int>(call_class.direction);
    const uint8_t iv[16] = {};
    if (call_class.entry == BackendEntry::gcm) {
        Secret<sizeof(GcmState)> gcm;
        call_class.cipher->gcm_segment[direction](state, new (gcm.data()) GcmState, 0, text, text,
                                                  calibration_bytes);
    } else if (call_class.entry == BackendEntry::xts) {
        call_class.cipher->sweep[WARPSEAL_ECB][direction](state, nullptr, 0, text, text,
                                                          calibration_bytes);
    } else {
        call_class.cipher->sweep[call_class.mode][direction](state, iv, 0, text, text,
                                                             calibration_bytes);
    }
}

}  // namespace

uint8_t scale_of(uint64_t bytes) {
    uint8_t scale = 0;
    while (scale < scales - 1 && bytes >= min_measured_bytes << (2 * scale + 2)) ++scale;
    return scale;
}

double Throughput::known(const CallClass& call_class, int party, bool shared) const {
    const auto found = figures_.find({stored_class(call_class, party, shared), party, shared});
    if (found == figures_.end() || found->second.seen < least_seen) return 0;
    const auto all = measurements_.find(kind_of(call_class));
    const uint64_t of_others = all == measurements_.end() ? 0 : all->second - found->second.at;
    return found->second.rate *
           (1 + retry_growth * static_cast<double>(std::min(of_others, max_retry_steps)));
}

Speed Throughput::of(const CallClass& call_class, int party) const {
    const std::lock_guard lock(mutex_);
    Speed speed = {known(call_class, party, false), known(call_class, party, true)};
    if (speed.alone != 0) return speed;
    if (party != cores) {
        speed.alone = known(of_any_cipher(call_class), party, false);
    } else if (const auto found = calibrated_.find(of_any_scale(call_class));
               found != calibrated_.end()) {
        speed.alone = found->second * threads_;
    }
    return speed;
}

void Throughput::calibrate(const CallClass& call_class, const void* state,
                           Clock::time_point (*now)()) {
    if (call_class.entry == BackendEntry::batch) return;
    const CallClass kind = of_any_scale(call_class);
    {
        const std::lock_guard lock(mutex_);
        if (calibrated_.find(kind) != calibrated_.end()) return;
    }
    // Measures without a lock, because a fork waits for all of them. Concurrent threads all
    // measure, and the fastest result counts.
    // Zeros, which the caller's key turns into keystream.
    Secret<calibration_bytes> text;
    double least = 0;
    for (int i = 0; i < calibration_runs; ++i) {
        const Clock::time_point begin = now();
        run_once(call_class, state, text.data());
        const double seconds = std::chrono::duration<double>(now() - begin).count();
        least = i == 0 ? seconds : std::min(least, seconds);
    }
    const std::lock_guard lock(mutex_);
    double& rate = calibrated_[kind];
    rate = std::max(rate, all_cores_efficiency * calibration_bytes * 1e-9 / std::max(least, 1e-9));
}

void Throughput::update(const CallClass& call_class, int party, bool shared, double rate) {
    const uint64_t at = ++measurements_[kind_of(call_class)];
    Figure& figure = figures_[{stored_class(call_class, party, shared), party, shared}];
    figure.at = at;
    if (figure.seen++ == 0) return;
    figure.rate = std::max(rate, (3 * figure.rate + rate) / 4);
}

void Throughput::note(const CallClass& call_class, int party, bool shared, uint64_t bytes,
                      double seconds) noexcept try {
    if (bytes < min_measured_bytes || seconds <= 0) return;
    if (party != cores)
        seconds = std::max(seconds - default_gpu_delay(call_class.memory_kind), seconds / 2);
    const double rate = static_cast<double>(bytes) * 1e-9 / seconds;
    const std::lock_guard lock(mutex_);
    update(call_class, party, shared, rate);
    if (party != cores && !shared) update(of_any_cipher(call_class), party, shared, rate);
} catch (const std::bad_alloc&) {
    // Drops the measurement.
}

}  // namespace warpseal

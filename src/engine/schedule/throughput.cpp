// Rates rise at once and fall slowly: a call is never faster than the target is, but may well be
// slower, as others use the machine too. And who was slow once is not left alone for ever: what was
// not measured lately rises by little and little, until it is tried again.
#include "engine/schedule/throughput.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "core/secret.h"

namespace warpseal {
namespace {

constexpr size_t calibration_bytes = size_t{64} << 10;
constexpr int calibration_runs = 3;
// All cores at once are not as fast as one alone: clocks fall, and some share a core's units.
constexpr double together = 0.7;
constexpr uint8_t scales = 5;
constexpr unsigned least_seen = 3;
// For each measurement of others of its kind. Who is slower by more than half is not asked again,
// the others now and then: what that costs is about a percent.
constexpr double doubt = 0.01;
constexpr uint64_t most_doubts = 50;

// The cores do not care where the data lies, until they share the call with a GPU that does.
CallClass filed(CallClass call_class, int party, bool shared) {
    if (party == Throughput::cores && !shared) call_class.memory_kind = MemoryKind::host;
    return call_class;
}

// Whoever does it, from wherever.
CallClass kind_of(CallClass call_class) {
    call_class.memory_kind = MemoryKind::host;
    return call_class;
}

// And however much.
CallClass of_any_scale(CallClass call_class) {
    call_class.scale = 0;
    return kind_of(call_class);
}

// The same of whatever cipher, for a GPU: behind a link they are all alike.
CallClass of_any_cipher(CallClass call_class) {
    call_class.cipher = nullptr;
    call_class.mode = WARPSEAL_ECB;
    call_class.direction = Direction::encrypt;
    return call_class;
}

void run_once(const CallClass& call_class, const void* state, uint8_t* text) {
    const int direction = static_cast<int>(call_class.direction);
    const uint8_t iv[16] = {};
    if (call_class.shape == Shape::gcm) {
        Secret<sizeof(GcmRun)> run;
        call_class.cipher->gcm_segment[direction](state, new (run.data()) GcmRun, 0, text, text,
                                                  calibration_bytes);
    } else if (call_class.shape == Shape::xts) {
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
    while (scale < scales - 1 && bytes >= telling_bytes << (2 * scale + 2)) ++scale;
    return scale;
}

double Throughput::known(const CallClass& call_class, int party, bool shared) const {
    const auto found = figures_.find({filed(call_class, party, shared), party, shared});
    if (found == figures_.end() || found->second.seen < least_seen) return 0;
    const auto all = measurements_.find(kind_of(call_class));
    const uint64_t of_others = all == measurements_.end() ? 0 : all->second - found->second.at;
    return found->second.rate * (1 + doubt * static_cast<double>(std::min(of_others, most_doubts)));
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

void Throughput::calibrate(const CallClass& call_class, const void* state) {
    if (call_class.shape == Shape::batch) return;
    const CallClass kind = of_any_scale(call_class);
    {
        const std::lock_guard lock(mutex_);
        if (calibrated_.find(kind) != calibrated_.end()) return;
    }
    // No lock is held while it measures: a fork waits for every one. Threads that come at once all
    // measure, and the fastest counts.
    Secret<calibration_bytes> text;  // zeros under the caller's key: a keystream
    double least = 0;
    for (int i = 0; i < calibration_runs; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        run_once(call_class, state, text.data());
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        least = i == 0 ? seconds : std::min(least, seconds);
    }
    const std::lock_guard lock(mutex_);
    double& rate = calibrated_[kind];
    rate = std::max(rate, together * calibration_bytes * 1e-9 / std::max(least, 1e-9));
}

void Throughput::learn(const CallClass& call_class, int party, bool shared, double rate) {
    const uint64_t at = ++measurements_[kind_of(call_class)];
    Figure& figure = figures_[{filed(call_class, party, shared), party, shared}];
    figure.at = at;
    if (figure.seen++ == 0) return;
    figure.rate = std::max(rate, (3 * figure.rate + rate) / 4);
}

void Throughput::note(const CallClass& call_class, int party, bool shared, uint64_t bytes,
                      double seconds) noexcept try {
    if (bytes < telling_bytes || seconds <= 0) return;
    if (party != cores)
        seconds = std::max(seconds - usual_gpu_delay(call_class.memory_kind), seconds / 2);
    const double rate = static_cast<double>(bytes) * 1e-9 / seconds;
    const std::lock_guard lock(mutex_);
    learn(call_class, party, shared, rate);
    if (party != cores && !shared) learn(of_any_cipher(call_class), party, shared, rate);
} catch (const std::bad_alloc&) {
    // As it says.
}

}  // namespace warpseal

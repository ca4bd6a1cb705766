// Rates rise at once and fall slowly: a call is never faster than the target is, but may well be slower, as others use the machine too.
#include "engine/rates.h"

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

// The cores do not care where the data lies, until they share the call with a GPU that does.
Pace filed(Pace pace, int party, bool shared) {
    if (party == Rates::cores && !shared) pace.place = Place::host;
    return pace;
}

// The same of whatever cipher, for a GPU: behind a link they are all alike.
Pace of_any_cipher(Pace pace) {
    pace.cipher = nullptr;
    pace.mode = WARPSEAL_ECB;
    pace.direction = Direction::encrypt;
    return pace;
}

void run_once(const Pace& pace, const void* state, uint8_t* text) {
    const int direction = static_cast<int>(pace.direction);
    const uint8_t iv[16] = {};
    if (pace.shape == Shape::gcm) {
        Secret<sizeof(GcmRun)> run;
        pace.cipher->gcm_piece[direction](state, new (run.data()) GcmRun, 0, text, text, calibration_bytes);
    } else if (pace.shape == Shape::xts) {
        pace.cipher->sweep[WARPSEAL_ECB][direction](state, nullptr, 0, text, text, calibration_bytes);
    } else {
        pace.cipher->sweep[pace.mode][direction](state, iv, 0, text, text, calibration_bytes);
    }
}

}  // namespace

double Rates::known(const Pace& pace, int party, bool shared) const {
    const auto found = figures_.find({filed(pace, party, shared), party, shared});
    return found == figures_.end() ? 0 : found->second.rate;
}

Speed Rates::of(const Pace& pace, int party) const {
    const std::lock_guard lock(mutex_);
    Speed speed = {known(pace, party, false), known(pace, party, true)};
    if (party != cores && speed.alone == 0) speed.alone = known(of_any_cipher(pace), party, false);
    return speed;
}

double Rates::calibrated(const Pace& pace, const void* state, unsigned threads) {
    if (pace.shape == Shape::batch) return 0;
    const Pace kind = filed(pace, cores, false);
    const std::lock_guard lock(mutex_);
    const auto found = calibrated_.find(kind);
    if (found != calibrated_.end()) return found->second * threads;
    Secret<calibration_bytes> text;  // zeros under the caller's key: a keystream
    double least = 0;
    for (int i = 0; i < calibration_runs; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        run_once(pace, state, text.data());
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        least = i == 0 ? seconds : std::min(least, seconds);
    }
    const double rate = together * calibration_bytes * 1e-9 / std::max(least, 1e-9);
    calibrated_[kind] = rate;
    return rate * threads;
}

void Rates::learn(const Pace& pace, int party, bool shared, double rate) {
    Figure& figure = figures_[{filed(pace, party, shared), party, shared}];
    if (figure.seen++ == 0) return;
    figure.rate = std::max(rate, (3 * figure.rate + rate) / 4);
}

void Rates::note(const Pace& pace, int party, bool shared, uint64_t bytes, double seconds) noexcept try {
    if (bytes < telling_bytes || seconds <= 0) return;
    const double rate = static_cast<double>(bytes) * 1e-9 / seconds;
    const std::lock_guard lock(mutex_);
    learn(pace, party, shared, rate);
    if (party != cores && !shared) learn(of_any_cipher(pace), party, shared, rate);
} catch (const std::bad_alloc&) {
    // As it says.
}

}  // namespace warpseal

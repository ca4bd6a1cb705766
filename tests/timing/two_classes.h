// Timings of two classes of secrets, all zero and random, and Welch's t between them (Reparaz,
// Balasch, Verbauwhede, "Dude, is my code constant time?", 2017).
#pragma once

#include <x86intrin.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "support/random.h"

namespace timing {

// Only `timed` is timed, after `prepare`. Both use the same addresses for both classes of secrets.
struct Work {
    size_t secret_bytes;
    std::function<void(const uint8_t*secrets)> prepare, timed;
};

// Running mean and variance of one class (Welford).
struct Moments {
    double n = 0, mean = 0, squares = 0;
    void add(double x) {
        n += 1;
        const double d = x - mean;
        mean += d / n;
        squares += d * (x - mean);
    }
    double error() const { return squares / (n - 1) / n; }
};

inline double welch(const Moments& a, const Moments& b) {
    constexpr double enough = 200;  // timings of a class, for its mean to be nearly normal
    if (a.n < enough || b.n < enough) return 0;
    const double error = a.error() + b.error();
    return error == 0 ? 0 : (a.mean - b.mean) / std::sqrt(error);
}

// Pooled timings, whole and without their slowest 1, 10 and 50 per cent: interrupts hide the effect
// of secrets.
class Cropped {
public:
    void learn(std::vector<uint32_t> pooled) {
        if (pooled.empty()) return;
        std::sort(pooled.begin(), pooled.end());
        most_[1] = pooled[pooled.size() * 99 / 100];
        most_[2] = pooled[pooled.size() * 9 / 10];
        most_[3] = pooled[pooled.size() / 2];
    }
    void add(int secrets_class, uint32_t cycles) {
        for (int c = 0; c < crops; ++c)
            if (cycles <= most_[c]) moments_[c][secrets_class].add(cycles);
    }
    // Returns the t of the greatest magnitude, with its sign: which class is slower.
    double worst() const {
        double t = 0;
        for (const auto& m : moments_)
            if (std::fabs(welch(m[0], m[1])) > std::fabs(t)) t = welch(m[0], m[1]);
        return t;
    }

private:
    static constexpr int crops = 4;
    double most_[crops] = {1e18, 1e18, 1e18, 1e18};
    Moments moments_[crops][2];
};

inline uint32_t cycles_of(const Work& work, const uint8_t* secrets) {
    unsigned core;
    work.prepare(secrets);
    _mm_lfence();
    const uint64_t start = __rdtsc();
    _mm_lfence();
    work.timed(secrets);
    const uint64_t end = __rdtscp(&core);
    _mm_lfence();
    return static_cast<uint32_t>(end - start);
}

// equal: both classes are all zero, so the result is noise. The first timings only set the cropping
// limits.
inline double measure(const Work& work, uint64_t timings, uint64_t seed, bool equal) {
    struct alignas(64) Line {
        uint8_t bytes[64];
    };
    const size_t lines = (work.secret_bytes + 63) / 64,
                 group = std::clamp<size_t>(4096 / lines, 16, 256);
    std::vector<Line> laid_out(group * lines), input(lines);
    std::vector<uint32_t> pooled;
    std::vector<uint8_t> classes(group);
    tests::Random random(seed);
    Cropped cropped;
    const uint64_t warm_up = std::min<uint64_t>(timings / 4, 20000), all = timings + warm_up;
    for (uint64_t done = 0; done < all; done += group) {
        for (size_t i = 0; i < group;
             ++i) {  // a group at a time, so that drawing is not next to each timing
            classes[i] = static_cast<uint8_t>(random.next() & 1);
            uint64_t word;  // drawn for both classes, so that the preceding work does not
                            // distinguish them
            for (size_t at = 0; at < 64 * lines; at += 8) {
                word = random.next();
                if (classes[i] == 0 || equal) word = 0;
                std::memcpy(laid_out[i * lines + at / 64].bytes + at % 64, &word, 8);
            }
        }
        for (size_t i = 0; i < group; ++i) {
            std::memcpy(input.data(), &laid_out[i * lines], 64 * lines);
            const uint32_t cycles = cycles_of(work, input[0].bytes);
            if (done < warm_up)
                pooled.push_back(cycles);
            else
                cropped.add(classes[i], cycles);
        }
        if (done < warm_up && done + group >= warm_up) cropped.learn(pooled);
    }
    return cropped.worst();
}

}  // namespace timing

// Constant time by the clock, for targets that valgrind cannot run: Welch's t-test between timings under a fixed key and text and under
// random ones (Reparaz, Balasch, Verbauwhede, "Dude, is my code constant time?", 2017). |t| < 4.5 over a million timings each; between
// 4.5 and 10 three fresh repeats decide. Two planted leaks must reach 50, and a control of two equal classes must stay below 4.5.
//
//   warpseal-dudect TARGET...          WARPSEAL_TIMINGS: how many timings, if not a million
#include <sched.h>
#include <x86intrin.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "backends/ops.h"
#include "engine/targets.h"
#include "random.h"

namespace {

using warpseal::CpuCipher;
using Text = std::vector<uint8_t>;

constexpr size_t input_bytes = 64;  // a key of up to 32 bytes, then a text
constexpr size_t group = 256;       // inputs laid out at a time, before any of them is timed
constexpr double limit = 4.5, hopeless = 10, planted_at_least = 50;

struct Input {
    uint8_t bytes[input_bytes];
};
using Work = std::function<void(const uint8_t* input)>;

// Mean and variance of one class, one number after the other (Welford).
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

double welch(const Moments& a, const Moments& b) {
    const double error = a.error() + b.error();
    return error == 0 ? 0 : (a.mean - b.mean) / std::sqrt(error);
}

uint64_t timings() {
    const char* given = std::getenv("WARPSEAL_TIMINGS");
    return given != nullptr ? std::strtoull(given, nullptr, 0) : 1000000;
}

// The greatest |t| of the timings as they are and without their slowest 1, 10 and 50 per cent. equal: both classes get the fixed input.
double measure(const Work& work, bool equal, uint64_t seed) {
    tests::Random random(seed);
    Input fixed;
    random.fill(fixed.bytes, input_bytes);
    std::vector<Input> inputs(group);
    std::vector<uint8_t> classes(group);
    std::vector<uint32_t> cycles(group);
    std::vector<uint32_t> first;  // pooled, to find where to crop
    double crops[4] = {1e18, 0, 0, 0};
    Moments moments[4][2];
    alignas(64) Input input;
    const uint64_t warm_up = std::min<uint64_t>(20000, timings() / 4), all = timings() + warm_up;
    for (uint64_t done = 0; done < all; done += group) {
        uint64_t bits = 0;
        for (size_t i = 0; i < group; ++i) {
            if (i % 64 == 0) bits = random.next();
            classes[i] = static_cast<uint8_t>(bits >> (i % 64) & 1);
            random.fill(inputs[i].bytes, input_bytes);  // drawn for both classes, so that what came before does not tell them apart
            if (classes[i] == 0 || equal) inputs[i] = fixed;
        }
        for (size_t i = 0; i < group; ++i) {
            input = inputs[i];
            unsigned core;
            _mm_lfence();
            const uint64_t start = __rdtsc();
            _mm_lfence();
            work(input.bytes);
            const uint64_t end = __rdtscp(&core);
            _mm_lfence();
            cycles[i] = static_cast<uint32_t>(end - start);
        }
        if (done < warm_up) {
            first.insert(first.end(), cycles.begin(), cycles.end());
            continue;
        }
        if (!first.empty()) {
            std::sort(first.begin(), first.end());
            crops[1] = first[first.size() * 99 / 100];
            crops[2] = first[first.size() * 9 / 10];
            crops[3] = first[first.size() / 2];
            first.clear();
        }
        for (size_t i = 0; i < group; ++i)
            for (int c = 0; c < 4; ++c)
                if (cycles[i] <= crops[c]) moments[c][classes[i]].add(cycles[i]);
    }
    double worst = 0;
    for (const auto& m : moments) worst = std::max(worst, m[0].n < 1000 || m[1].n < 1000 ? 0 : std::fabs(welch(m[0], m[1])));
    return worst;
}

int passed = 0, failed = 0;

void report(bool right, const std::string& what, const std::string& figures) {
    ++(right ? passed : failed);
    std::printf("%s %-44s |t| =%s\n", right ? "    " : "LEAK", what.c_str(), figures.c_str());
    std::fflush(stdout);
}

std::string figure(double t) {
    char text[32];
    std::snprintf(text, sizeof text, " %.1f", t);
    return text;
}

void expect_constant(const std::string& what, const Work& work, bool equal = false) {
    double t = measure(work, equal, 1);
    std::string figures = figure(t);
    bool right = t < limit;
    if (!right && t < hopeless) {
        right = true;
        for (uint64_t again = 2; again < 5; ++again) {
            t = measure(work, equal, again);
            figures += figure(t);
            right = right && t < limit;
        }
    }
    report(right, what, figures);
}

void expect_leak(const std::string& what, const Work& work) {
    const double t = measure(work, false, 9);
    report(t > planted_at_least, what, figure(t));
}

// What a key and a text pass through: expansion; a block of ECB each way; with GCM also a message of one block, hashed and tagged.
void subject(const char* target, const CpuCipher& cipher) {
    Text memory(cipher.state_bytes + 64);
    void* const state = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
    const uint8_t iv[16] = {3};
    uint8_t out[16];
    expect_constant(std::string(target) + " " + cipher.name, [&](const uint8_t* in) {
        cipher.expand(state, in);
        cipher.sweep[WARPSEAL_ECB][1](state, nullptr, 0, in + 32, out, cipher.block_bytes);
        if (cipher.gcm_begin == nullptr) return cipher.sweep[WARPSEAL_ECB][0](state, nullptr, 0, in + 32, out, cipher.block_bytes);
        warpseal::GcmRun run;
        cipher.gcm_begin(state, iv, 12, iv, 5, &run);
        cipher.gcm_piece[0](state, &run, 0, in + 32, out, 16);
        cipher.gcm_finish(state, &run, 5, 16, out);
    });
}

void controls() {
    static uint8_t table[1 << 20];
    std::memset(table, 1, sizeof table);
    const Work branch = [](const uint8_t* in) {  // square and multiply's mistake
        unsigned x = 1;
        for (int i = 0; i < 128; ++i) {
            x = x * x + 1;
            if (in[i / 8] >> (i % 8) & 1) x = x * 3 + in[0];
            __asm__ volatile("" : "+r"(x));
        }
    };
    const Work look_up = [](const uint8_t* in) {  // the mistake of tables
        uint32_t at;
        std::memcpy(&at, in, 4);
        const uint8_t found = table[at % sizeof table];
        __asm__ volatile("" : : "r"(found));
    };
    expect_leak("planted: a branch for each bit of the key", branch);
    expect_leak("planted: a look-up by the key", look_up);
    expect_constant("control: both classes the same", branch, true);
}

}  // namespace

int main(int argc, char** argv) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(static_cast<size_t>(std::max(0, sched_getcpu())), &cores);
    sched_setaffinity(0, sizeof cores, &cores);
    bool ran = false;
    controls();
    for (int i = 1; i < argc; ++i) {
        warpseal::Target target;
        if (!warpseal::target_by_name(argv[i], target) || target == warpseal::Target::cuda || !warpseal::cpu_has(target)) {
            std::printf("NOT RUN %s: this machine does not have it\n", argv[i]);
            continue;
        }
        ran = true;
        for (size_t c = 0; const CpuCipher* portable = warpseal::cpu_cipher_at(c); ++c)
            if (const CpuCipher* cipher = warpseal::cpu_cipher(target, portable->name))
                subject(argv[i], *cipher);
            else
                report(false, std::string(argv[i]) + " " + portable->name, " no door");
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed != 0 ? 1 : ran ? 0 : 77;
}

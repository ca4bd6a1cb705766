// The frame of the differential fuzzers: seeded sequences of random calls to two implementations,
// which must answer alike.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/random.h"

namespace fuzz {

struct Difference : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The calls of one sequence, for the report, and the number of compared answers.
class Record {
public:
    void call(std::string text) { calls_.push_back(std::move(text)); }
    void compare(bool equal, const std::string& what) {
        ++compared_;
        if (!equal) throw Difference(what);
    }
    // Counts a call that succeeded and whose output was compared.
    void output() { ++outputs_; }
    void begin() { calls_.clear(); }
    uint64_t compared() const { return compared_; }
    uint64_t outputs() const { return outputs_; }
    const std::vector<std::string>& calls() const { return calls_; }

private:
    std::vector<std::string> calls_;
    uint64_t compared_ = 0, outputs_ = 0;
};

struct Limits {
    uint64_t seed = 0, sequences = UINT64_MAX, at_least = 1;
    double seconds = 60;
};

// Returns false if an argument is unknown or is no number.
inline bool parse(int argc, char** argv, Limits& limits) {
    limits.seed = std::random_device()() % 1'000'000'000;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc) return false;
        const std::string_view name = argv[i];
        char* end = nullptr;
        const double value = std::strtod(argv[i + 1], &end);
        if (end == argv[i + 1] || *end != 0 || !(value >= 0 && value < 1e18)) return false;
        if (name == "--seconds")
            limits.seconds = value;
        else if (name == "--seed")
            limits.seed = static_cast<uint64_t>(value);
        else if (name == "--sequences")
            limits.sequences = static_cast<uint64_t>(value);
        else if (name == "--at-least")
            limits.at_least = static_cast<uint64_t>(value);
        else
            return false;
    }
    return true;
}

// Prints the calls that led to a difference, and the arguments that repeat them.
inline void report(const char* program, uint64_t seed, const Record& record,
                   const std::exception& error) {
    for (const std::string& call : record.calls()) std::printf("  %s\n", call.c_str());
    std::printf("DIFFERENCE: %s\nrepeat with: %s --seed %llu --sequences 1\n", error.what(),
                program, static_cast<unsigned long long>(seed));
}

// Runs sequences until a limit is reached or two answers differ. Sequence i has the seed + i, so
// that one sequence can be repeated. Fails also if it compared fewer than at_least outputs.
inline int run(int argc, char** argv,
               const std::function<void(tests::Random&, Record&)>& sequence) {
    Limits limits;
    if (!parse(argc, argv, limits)) {
        std::fprintf(stderr,
                     "usage: %s [--seconds S] [--seed N] [--sequences N] [--at-least N]\n"
                     "--at-least: the number of compared outputs below which the run fails\n",
                     argv[0]);
        return 2;
    }
    const bool single = limits.sequences != UINT64_MAX;
    std::printf("seed %llu\n", static_cast<unsigned long long>(limits.seed));
    std::fflush(stdout);
    const auto start = std::chrono::steady_clock::now();
    Record record;
    uint64_t done = 0;
    for (; done < limits.sequences; ++done) {
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
        if (!single && passed.count() >= limits.seconds) break;
        record.begin();
        tests::Random random(limits.seed + done);
        try {
            sequence(random, record);
        } catch (const std::exception& error) {
            report(argv[0], limits.seed + done, record, error);
            return 1;
        }
    }
    std::printf("%llu sequences, %llu comparisons of which %llu are outputs, 0 differences\n",
                static_cast<unsigned long long>(done),
                static_cast<unsigned long long>(record.compared()),
                static_cast<unsigned long long>(record.outputs()));
    if (record.outputs() >= limits.at_least) return 0;
    std::printf("FAILED: fewer than %llu outputs were compared\n",
                static_cast<unsigned long long>(limits.at_least));
    return 1;
}

}  // namespace fuzz

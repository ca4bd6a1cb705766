// The yardsticks of a row: their calls, figures and outputs.
#pragma once

#include <memory>
#include <vector>

#include "bench/bulk/side.h"
#include "bench/bulk/yardsticks/yardstick.h"

namespace warpseal::bench {

// Each yardstick has options.threads threads with a buffer each, as our side has. One without the
// mode is not run. If none has the mode, those with the cipher's ECB run that instead.
class YardstickMeters {
public:
    // Compares one output of each thread. Throws BenchWrong, which names the yardstick.
    YardstickMeters(const BenchOptions& options, const BenchCase& what, uint64_t bytes,
                    uint64_t message_bytes);
    ~YardstickMeters();
    YardstickMeters(const YardstickMeters&) = delete;
    YardstickMeters& operator=(const YardstickMeters&) = delete;

    // Runs one repetition of each in turn. Returns false if there is none to run.
    bool measure();
    // Compares an output of each again and returns the figures, in the order of the options.
    std::vector<YardstickFigures> finish();

private:
    class Meter;
    const double seconds_;
    std::vector<std::unique_ptr<Meter>> meters_;
};

}  // namespace warpseal::bench

// P2: Camellia's counter mode with its table in global memory, in one shared copy, and in one
// shared copy per bank.
#include <fmt/core.h>

#include "bench/papers/published.h"
#include "bench/papers/study.h"

namespace warpseal::papers {
namespace {

namespace paper = published::p2;

constexpr Table layouts{"P2", "table 2", "Camellia-CTR, 2^35 blocks in one launch", paper::gpu,
                        "the method makes keystream that stays in registers, there and here; the "
                        "default reads, adds and writes, and its time "
                        "is computed from its rate within device memory"};
constexpr Table savings{"P2", "section 4.2",
                        "time saved over the table in global memory, Camellia-128", paper::gpu,
                        "of this machine's own figures; GPUs since 2017 cache global memory in the "
                        "very memory that is shared"};

constexpr const char* steps[] = {"global", "merged", "merged-copies"};
constexpr double blocks_bits = 128.0 * paper::blocks;

double seconds_at(double gigabytes_per_second) {
    return blocks_bits / 8 / 1e9 / gigabytes_per_second;
}

void take_pair(Study& study, const paper::Layout& layout, int key, const Study::StepFigure& method,
               const Figure& ours) {
    for (const bool as_time : {true, false}) {
        const auto convert = as_time ? seconds_at : as_gigabits;
        Row row{.table = &layouts,
                .row = fmt::format("Camellia-{}, {}", paper::key_bits[key], layout.name),
                .unit = as_time ? "s" : "Gbit/s"};
        row.published = as_time ? layout.seconds[key] : layout.gigabits_per_second[key];
        set_method(row, method, convert);
        set_ours(row, ours, convert);
        if (method.gigabytes_per_second) {
            const uint64_t blocks = method.measured.bytes / 16;
            row.more.emplace_back("method_blocks", static_cast<double>(blocks));
            row.more.emplace_back("method_milliseconds", method.measured.milliseconds);
        }
        study.take(row);
    }
}

}  // namespace

void reproduce_p2(Study& study) {
    double rates[std::size(steps)] = {};
    std::string not_run;
    for (size_t layout = 0; layout < std::size(steps); ++layout)
        for (int key = 0; key < 3; ++key) {
            const std::string cipher = fmt::format("camellia-{}", paper::key_bits[key]);
            const auto method =
                study.step(cipher + "." + steps[layout], study.limited(16 * paper::blocks), 0, 1);
            take_pair(study, paper::layouts[layout], key, method,
                      study.on_gpu(cipher + "-ctr", true, study.limited(uint64_t{1} << 30)));
            if (key == 0) rates[layout] = method.gigabytes_per_second.value_or(0);
            if (not_run.empty()) not_run = method.not_run;
        }
    for (size_t layout = 1; layout < std::size(steps); ++layout) {
        Row row{.table = &savings,
                .row = paper::layouts[layout].name,
                .unit = "% of the time",
                .published = paper::saved[layout - 1]};
        row.not_run = not_run;
        if (not_run.empty()) row.method = 100 * (1 - rates[0] / rates[layout]);
        study.take(row);
    }
}

}  // namespace warpseal::papers

// A ladder whose steps have known figures, to test the papers' tables without a GPU.
#include "bench/ladder/ladder.h"

#include <cstdlib>
#include <string_view>
#include <vector>

#include "bench/ladder/kem.h"

namespace warpseal::ladder {
namespace {

constexpr const char* names[] = {"aes-128.bytes",
                                 "aes-128.words",
                                 "aria-128.bytes",
                                 "aria-128.words",
                                 "des.words",
                                 "camellia-128.global",
                                 "camellia-128.merged",
                                 "camellia-128.merged-copies",
                                 "camellia-192.global",
                                 "camellia-192.merged",
                                 "camellia-192.merged-copies",
                                 "camellia-256.global",
                                 "camellia-256.merged",
                                 "camellia-256.merged-copies",
                                 "gkrypt.global",
                                 "gkrypt.constant",
                                 "gkrypt.shared-state",
                                 "gkrypt.device-keys",
                                 "gkrypt.unrolled",
                                 "gkrypt.shared-tables",
                                 "gkrypt.decrypt.global",
                                 "gkrypt.decrypt.constant",
                                 "gkrypt.decrypt.shared-state",
                                 "gkrypt.decrypt.unrolled",
                                 "gkrypt.decrypt.device-keys",
                                 "gkrypt.decrypt.shared-tables",
                                 "aes-128.bytes-persistent",
                                 "aria-128.bytes-persistent",
                                 "aes-128.words-persistent",
                                 "aria-128.words-persistent",
                                 "des.words-persistent",
                                 "camellia-128.byte-tables",
                                 "camellia-192.byte-tables",
                                 "camellia-256.byte-tables",
                                 "camellia-128.word-tables",
                                 "camellia-192.word-tables",
                                 "camellia-256.word-tables"};

// WARPSEAL_TEST_FAULT names a step whose output is wrong.
warpseal_status status_of(const char* name) {
    const char* const wrong = std::getenv("WARPSEAL_TEST_FAULT");
    return wrong != nullptr && std::string_view(wrong) == name ? WARPSEAL_SELF_TEST_FAILED
                                                               : WARPSEAL_OK;
}

std::vector<Step> made() {
    std::vector<Step> all;
    for (const char* name : names)
        all.push_back({.name = name,
                       .cipher = "",
                       .mode = "ecb",
                       .what = "",
                       .taught = "",
                       .study = nullptr});
    return all;
}

KemStep ntru(const char* name, KemOperation operation, bool product = false) {
    return {.name = name,
            .set = "ntruhps4096821",
            .operation = operation,
            .product = product,
            .what = "",
            .taught = ""};
}

// 5 blocks on each of 100 multiprocessors, with half of the warps, unless limited; 1000 in all.
void set_launch(LaunchedKernel& kernel, int i, const Options& options) {
    kernel.registers = 100 + i;
    kernel.local_bytes = 200 + i;
    kernel.shared_bytes = 300 + i;
    kernel.threads_per_block = options.threads_per_block == 0 ? 256 : options.threads_per_block;
    kernel.resident_blocks = options.resident_blocks == 0 ? 5 : options.resident_blocks;
    kernel.occupancy = 0.5;
    kernel.multiprocessors = options.multiprocessors == 0 ? 100 : options.multiprocessors;
    kernel.blocks = 1000;
}

}  // namespace

std::span<const KemStep> kem_steps() {
    static const KemStep all[] = {
        ntru("ntruhps4096821.keypair.product", KemOperation::keypair, true),
        ntru("ntruhps4096821.encapsulate.block", KemOperation::encapsulate),
        ntru("ntruhps4096821.encapsulate.split-hash", KemOperation::encapsulate),
        ntru("ntruhps4096821.encapsulate.product", KemOperation::encapsulate, true),
        ntru("ntruhps4096821.decapsulate.block", KemOperation::decapsulate),
        ntru("ntruhps4096821.decapsulate.split-hash", KemOperation::decapsulate),
        ntru("ntruhps4096821.decapsulate.product", KemOperation::decapsulate, true),
        ntru("ntruhps4096821.encapsulate.block-768", KemOperation::encapsulate),
        ntru("ntruhps4096821.decapsulate.block-768", KemOperation::decapsulate),
        ntru("ntruhps4096821.encapsulate.copy-runs", KemOperation::encapsulate),
        ntru("ntruhps4096821.encapsulate.copy-alone", KemOperation::encapsulate),
        ntru("ntruhps4096821.encapsulate.lane-hash", KemOperation::encapsulate),
        ntru("ntruhps4096821.encapsulate.doubled", KemOperation::encapsulate),
        ntru("ntruhps4096821.decapsulate.copy-runs", KemOperation::decapsulate),
        ntru("ntruhps4096821.decapsulate.copy-alone", KemOperation::decapsulate),
        ntru("ntruhps4096821.decapsulate.lane-hash", KemOperation::decapsulate),
        ntru("ntruhps4096821.decapsulate.doubled", KemOperation::decapsulate)};
    return all;
}

std::span<const Component> components() {
    static constexpr const char* set = "ntruhps4096821";
    static constexpr Component all[] = {
        {"randombytes", set, nullptr},           {"sample-iid", set, nullptr},
        {"sample-fixed", set, nullptr},          {"Rq-mul", set, nullptr},
        {"mod(3, x^n-1)", set, nullptr},         {"Lift", set, nullptr},
        {"+mod(q, x^n-1)", set, nullptr},        {"-mod(q, x^n-1)", set, nullptr},
        {"Rq-mul, doubled factor", set, nullptr}};
    return all;
}

// The step at index i: i + 1 microseconds an operation, divided by the number of threads if
// requested; 100 + i registers. The component at index i: a millisecond divided by the number of
// threads, 200 + i registers.
warpseal_status run(const KemStep& step, const KemOptions& options, KemMeasured* measured) {
    int i = 0;
    while (std::string_view(step.name) != kem_steps()[static_cast<size_t>(i)].name) ++i;
    const double sharers = options.threads_per_block == 0 ? 1 : options.threads_per_block;
    set_launch(*measured, i, {});
    measured->local_bytes = measured->shared_bytes = 0;
    measured->threads_per_block = 192;
    measured->milliseconds = static_cast<double>(options.count) * (i + 1) / 1000 / sharers;
    measured->count = options.count;
    return status_of(step.name);
}
warpseal_status run(const Component& component, const KemOptions& options, KemMeasured* measured) {
    const int i = static_cast<int>(&component - components().data());
    measured->milliseconds = 500.0 / options.threads_per_block;
    measured->count = 500;
    measured->registers = 200 + i;
    measured->threads_per_block = options.threads_per_block;
    return WARPSEAL_OK;
}

std::span<const Step> steps() {
    static const std::vector<Step> all = made();
    return all;
}

// The step at index i: 10 (i + 1) GB/s, 100 + i registers, 200 + i local bytes, 300 + i shared
// ones. The rate is proportional to a limited number of multiprocessors, of 100, or of resident
// blocks, of 10.
warpseal_status run(const Step& step, const Options& options, Measured* measured) {
    const int i = static_cast<int>(&step - steps().data());
    double rate = 10.0 * (i + 1);
    if (options.multiprocessors != 0) rate *= options.multiprocessors / 100.0;
    if (options.resident_blocks != 0) rate *= options.resident_blocks / 10.0;
    set_launch(*measured, i, options);
    measured->gigabytes_per_second = rate;
    measured->milliseconds = static_cast<double>(options.bytes) / rate / 1e6;
    measured->bytes = options.bytes;
    return status_of(step.name);
}

}  // namespace warpseal::ladder

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
                                 "gkrypt.shared-tables",
                                 "gkrypt.unrolled",
                                 "gkrypt.device-keys",
                                 "gkrypt.decrypt.global",
                                 "gkrypt.decrypt.constant",
                                 "gkrypt.decrypt.shared-state",
                                 "gkrypt.decrypt.unrolled",
                                 "gkrypt.decrypt.device-keys",
                                 "gkrypt.decrypt.shared-tables"};

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

}  // namespace

std::span<const KemStep> kem_steps() {
    static const KemStep all[] = {
        ntru("ntruhps4096821.keypair.product", KemOperation::keypair, true),
        ntru("ntruhps4096821.encapsulate.block", KemOperation::encapsulate),
        ntru("ntruhps4096821.encapsulate.split-hash", KemOperation::encapsulate),
        ntru("ntruhps4096821.encapsulate.product", KemOperation::encapsulate, true),
        ntru("ntruhps4096821.decapsulate.block", KemOperation::decapsulate),
        ntru("ntruhps4096821.decapsulate.split-hash", KemOperation::decapsulate),
        ntru("ntruhps4096821.decapsulate.product", KemOperation::decapsulate, true)};
    return all;
}

std::span<const Component> components() {
    static constexpr const char* set = "ntruhps4096821";
    static constexpr Component all[] = {
        {"randombytes", set, nullptr},    {"sample-iid", set, nullptr},
        {"sample-fixed", set, nullptr},   {"Rq-mul", set, nullptr},
        {"mod(3, x^n-1)", set, nullptr},  {"Lift", set, nullptr},
        {"+mod(q, x^n-1)", set, nullptr}, {"-mod(q, x^n-1)", set, nullptr}};
    return all;
}

// The step at index i: i + 1 microseconds an operation, divided by the number of threads if
// requested; 100 + i registers. The component at index i: a millisecond divided by the number of
// threads, 200 + i registers.
warpseal_status run(const KemStep& step, const KemOptions& options, KemMeasured* measured) {
    int i = 0;
    while (std::string_view(step.name) != kem_steps()[static_cast<size_t>(i)].name) ++i;
    const double sharers = options.threads_per_block == 0 ? 1 : options.threads_per_block;
    *measured = {static_cast<double>(options.count) * (i + 1) / 1000 / sharers,
                 options.count,
                 100 + i,
                 0,
                 0,
                 192};
    return status_of(step.name);
}
warpseal_status run(const Component& component, const KemOptions& options, KemMeasured* measured) {
    const int i = static_cast<int>(&component - components().data());
    *measured = {500.0 / options.threads_per_block, 500, 200 + i, 0, 0, options.threads_per_block};
    return WARPSEAL_OK;
}

std::span<const Step> steps() {
    static const std::vector<Step> all = made();
    return all;
}

// The step at index i: 10 (i + 1) GB/s, 100 + i registers, 200 + i local bytes, 300 + i shared
// ones.
warpseal_status run(const Step& step, const Options& options, Measured* measured) {
    const int i = static_cast<int>(&step - steps().data());
    const double rate = 10.0 * (i + 1);
    *measured = {rate,
                 static_cast<double>(options.bytes) / rate / 1e6,
                 options.bytes,
                 100 + i,
                 200 + i,
                 300 + i,
                 256};
    return status_of(step.name);
}

}  // namespace warpseal::ladder

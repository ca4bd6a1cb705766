// Runs steps and components of NTRU's ladder for P4.
#include "bench/papers/ntru_on_gpu.h"

#include <algorithm>

#include "bench/papers/published.h"
#include "cli/support/format.h"

namespace warpseal::papers {

namespace paper = published::p4;

namespace {

std::string step_name(KemOperation operation, const char* how) {
    constexpr const char* names[kem_operation_count] = {"keypair", "encapsulate", "decapsulate"};
    return cli::format("{}.{}.{}", paper::set, names[static_cast<int>(operation)], how);
}

template <class All>
const auto& named(const All& all, const std::string& name, const char* kind) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const auto& candidate) { return name == candidate.name; });
    if (found == all.end())
        throw cli::Failure(cli::ExitCode::error,
                           cli::format("the ladder has no {} {}.", kind, name));
    return *found;
}

}  // namespace

void set_method(Row& row, const TimedStep& step) {
    row.method = step.milliseconds;
    row.method_what = step.what;
    row.method_units = step.units;
    if (row.scaled.empty()) row.scaled = step.scaled;
    if (row.not_run.empty()) row.not_run = step.not_run;
}

void set_ours(Row& row, const TimedStep& step) {
    row.ours = step.milliseconds;
    row.ours_what = step.what;
    row.ours_units = step.units;
    if (row.scaled.empty()) row.scaled = step.scaled;
    if (row.not_run.empty()) row.not_run = step.not_run;
}

NtruOnGpu::NtruOnGpu(Study& study) : study_(study) {
    constexpr uint64_t bytes = 4096;  // approximate memory of one operation's keys and coins
    most_ = study.options().bytes == 0 ? UINT64_MAX
                                       : std::max<uint64_t>(study.options().bytes / bytes, 1);
}

TimedStep NtruOnGpu::component(const std::string& name, int threads) {
    TimedStep out{.what = cli::format("{}, T = {}", name, threads), .not_run = study_.no_gpu()};
    if (study_.gpu().empty()) return out;
    const ladder::Component& component = named(ladder::components(), name, "component");
    ladder::KemOptions options{.count = 0,
                               .threads_per_block = threads,
                               .repetitions = 3,
                               .seconds = study_.options().seconds / 10};
    options.device = study_.gpu_number();
    finish(out, ladder::run(component, options, &out.measured));
    out.units = study_.on_multiprocessors(1);
    return out;
}

TimedStep NtruOnGpu::step(KemOperation operation, const char* how, uint64_t count, int threads) {
    TimedStep out{.what = step_name(operation, how), .not_run = study_.no_gpu()};
    if (study_.gpu().empty()) return out;
    const ladder::KemStep& step = named(ladder::kem_steps(), out.what, "step");
    ladder::KemOptions options{.count = std::min(count, most_),
                               .threads_per_block = threads,
                               .seconds = study_.options().seconds};
    options.device = study_.gpu_number();
    finish(out, ladder::run(step, options, &out.measured));
    out.units = study_.on_multiprocessors();
    if (out.milliseconds && most_ < count)
        out.scaled =
            cli::format("{} of {} operations ran (--bytes); times are scaled", most_, count);
    if (out.milliseconds)
        *out.milliseconds *= static_cast<double>(count) / static_cast<double>(paper::count);
    return out;
}

// Scales the time to the paper's number of operations.
void NtruOnGpu::finish(TimedStep& out, warpseal_status status) {
    if (status == WARPSEAL_OK)
        out.milliseconds = out.measured.milliseconds / static_cast<double>(out.measured.count) *
                           static_cast<double>(paper::count);
    else
        out.not_run = status == WARPSEAL_INVALID_ARGUMENT ? "a block cannot have so many threads"
                                                          : warpseal_status_text(status);
    const bool no_fault = status == WARPSEAL_OK || status == WARPSEAL_INVALID_ARGUMENT ||
                          status == WARPSEAL_OUT_OF_MEMORY;
    if (!no_fault) study_.wrong(out.what + ": no figure: " + warpseal_status_text(status));
}

}  // namespace warpseal::papers

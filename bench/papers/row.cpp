// Evaluates a row of `warpseal bench papers`.
#include "bench/papers/row.h"

#include <algorithm>
#include <string_view>

#include "bench/papers/published.h"
#include "cli/support/format.h"

namespace warpseal::papers {
namespace {

bool is_quotient(std::string_view unit) { return unit == "times" || unit.starts_with('%'); }

std::optional<double> ratio(std::optional<bool> higher_is_better, std::optional<double> one,
                            std::optional<double> other) {
    if (!higher_is_better || !one || !other || *other <= 0) return std::nullopt;
    if (*higher_is_better) return *one / *other;  // below 0 for a quotient below 0
    return *one > 0 ? std::optional(*other / *one) : std::nullopt;
}

const published::Machine* machine_of(std::string_view name) {
    const auto found = std::find_if(std::begin(published::machines), std::end(published::machines),
                                    [&](const auto& machine) { return name == machine.name; });
    return found == std::end(published::machines) ? nullptr : found;
}

std::optional<double> without_machine(bool higher_is_better, std::optional<double> figure,
                                      const Units& units, bool gpu) {
    const double size = units.count * units.gigahertz;
    if (!figure || units.gpu != gpu || size <= 0) return std::nullopt;
    return higher_is_better ? *figure / size : *figure * size;
}

}  // namespace

std::string Printed::text() const {
    if (digits_) return digits_;
    return computed_ ? cli::format("{:.4g}", value_) : cli::format("{}", value_);
}

std::string Row::figure_name() const {
    return figure.empty() ? cli::format("{} {}: {}, {}", table->paper, table->name, row, unit)
                          : figure;
}

std::optional<bool> Row::higher_is_better() const {
    const std::string_view name = unit;
    if (name == "times" || name == "% of the time" || name.ends_with("/s")) return true;
    if (name == "s" || name == "ms" || name == "us" || name == "ns" || name == "s/GB") return false;
    return std::nullopt;
}

std::optional<double> Row::method_over_published() const {
    if (published_bound == "below") return std::nullopt;
    return ratio(higher_is_better(), method, published);
}

std::optional<double> Row::ours_over_published() const {
    if (published_bound == "below") return std::nullopt;
    return ratio(higher_is_better(), ours, published);
}

std::optional<double> Row::ours_over_method() const {
    return ratio(higher_is_better(), ours, method);
}

std::optional<bool> Row::beats() const {
    const auto over_published = ours_over_published(), over_method = ours_over_method();
    if (!over_published) return std::nullopt;
    if (is_quotient(unit) || !method) return *over_published > 1;
    return *over_published > 1 && over_method && *over_method > 1;
}

bool Row::noisy() const {
    return std::max(method_spread.value_or(1), ours_spread.value_or(1)) > noisy_spread;
}

PerUnit per_unit(const Row& row) {
    const std::optional<bool> higher = row.higher_is_better();
    const published::Machine* const machine = machine_of(row.on());
    if (!higher || is_quotient(row.unit) || !row.published || !machine) return {};
    PerUnit out{.of = machine->gpu ? "multiprocessor and GHz" : "core and GHz",
                .source = machine->source};
    out.published_units = {machine->gpu,
                           row.published_units > 0 ? row.published_units : double(machine->units),
                           machine->gigahertz};
    out.published = without_machine(*higher, row.published, out.published_units, machine->gpu);
    out.method = without_machine(*higher, row.method, row.method_units, machine->gpu);
    out.ours = without_machine(*higher, row.ours, row.ours_units, machine->gpu);
    out.method_over_published = ratio(higher, out.method, out.published);
    out.ours_over_published = ratio(higher, out.ours, out.published);
    return out;
}

}  // namespace warpseal::papers

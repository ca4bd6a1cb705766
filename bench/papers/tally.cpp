// Counts what the default and the papers' methods reach.
#include "bench/papers/tally.h"

#include "bench/papers/text.h"
#include "cli/support/format.h"

namespace warpseal::papers {
namespace {

std::string place_text(const Row& row) {
    return cli::format("{} {}, {}", row.table->paper, row.table->name, row.row);
}

std::string published_with_unit(const Row& row) {
    return cli::format("{} {}", published_text(row), row.unit);
}

std::string miss_of_default(const Row& row) {
    if (*row.ours_over_published() > 1)
        return cli::format("{}: our default has {}, the paper's method here {} {}", place_text(row),
                           figure_text(row.ours), figure_text(row.method), row.unit);
    return cli::format("{}: our default has {} of {} published ({})", place_text(row),
                       figure_text(row.ours), published_with_unit(row),
                       times_text(row.ours_over_published()));
}

std::string miss_of_method(const Row& row) {
    return cli::format("{}: the method has {} of {} published ({})", place_text(row),
                       figure_text(row.method), published_with_unit(row),
                       times_text(row.method_over_published()));
}

std::string list(const char* title, const std::vector<std::string>& lines, const char* bullet) {
    std::string text = lines.empty() ? "" : cli::format("\n{}:\n", title);
    for (const std::string& line : lines) text += bullet + line + "\n";
    return text;
}

}  // namespace

void Tally::Outcomes::add(const std::string& figure, const std::string& miss) {
    const auto [at, fresh] = index.try_emplace(figure, misses.size());
    if (fresh) misses.emplace_back();
    if (misses[at->second].empty()) misses[at->second] = miss;
}

std::vector<std::string> Tally::missed(const Outcomes& outcomes) {
    std::vector<std::string> texts;
    for (const std::string& miss : outcomes.misses)
        if (!miss.empty()) texts.push_back(miss);
    return texts;
}

void Tally::take(const Row& row) {
    if (const auto beats = row.beats())
        defaults_.add(row.figure_name(), *beats ? "" : miss_of_default(row));
    if (const auto over = row.method_over_published())
        methods_.add(row.figure_name() + ", " + row.method_what,
                     *over < 1 ? miss_of_method(row) : "");
}

std::string Tally::text(const char* bullet) const {
    if (judged() == 0 && methods_judged() == 0)
        return "\nNo figure was compared with a published one: none was measured here.\n";
    return list("Not beaten by our default", not_beaten_texts(), bullet) +
           list("Methods that are below their published figure here", methods_below_texts(),
                bullet) +
           cli::format(
               "\n{} of {} distinct figures that the papers publish are beaten by our default; {} "
               "of {} methods are below theirs here\n",
               beaten(), judged(), methods_below(), methods_judged());
}

}  // namespace warpseal::papers

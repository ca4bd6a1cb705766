// A row of `warpseal bench papers`: a published figure with this machine's measurements beside it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/papers/printed.h"

namespace warpseal::papers {

// A table or figure of a paper, or a related study of ours.
struct Table {
    const char* paper;         // e.g. "P1"
    const char* name;          // e.g. "table 3"
    const char* title;         // subject of its rows
    const char* published_on;  // the paper's machine
    const char* differs;       // Differences from the paper's measurement, apart from the machine.
};

// Multiprocessors of a GPU, or cores, that made a figure, and their clock. A count or clock of 0 is
// unknown.
struct Units {
    bool gpu = false;
    double count = 0, gigahertz = 0;
};

// A figure of speed is noisy if its slowest repetition took this many times the fastest.
inline constexpr double noisy_spread = 1.1;

struct Row {
    const Table* table = nullptr;
    std::string row = {};
    std::string unit = {};
    std::optional<Printed> published = {};
    // "at least", "over", "below" or "about", if the paper does so; else empty.
    std::string published_bound = {};
    std::string published_on = {};  // Machine of this row, if it differs from the table's.
    double published_units = 0;     // Units of that machine that worked; 0: all of them.
    std::optional<double> method = {}, ours = {};
    // The paper's method as it ran here: a step of the ladder, or a description.
    std::string method_what = {};
    std::string ours_what = {};  // our default path: the call
    std::string not_run = {};    // reason of a missing figure
    // further figures of the row, by JSON name
    std::vector<std::pair<std::string, double>> more = {};
    // Our figure that the row is about. Rows with the same one count once in the tally.
    std::string figure = {};
    // The slowest repetition over the fastest; empty if there was one repetition.
    std::optional<double> method_spread = {}, ours_spread = {};
    Units method_units = {}, ours_units = {};
    // The smaller measurement that the figures were scaled from or are of; empty: the full one.
    std::string scaled = {};

    const char* on() const {
        return published_on.empty() ? table->published_on : published_on.c_str();
    }
    // Returns `figure`, or a name that no other row has.
    std::string figure_name() const;
    // Returns true if a larger figure is better, false if a smaller one is, and nothing for a
    // figure that is neither, e.g. a number of registers.
    std::optional<bool> higher_is_better() const;
    // Ratios of speeds, or of speed-ups: 2 is twice as good, for times too. Empty if a figure is
    // missing, is neither better nor worse, or the published one is an upper bound.
    std::optional<double> method_over_published() const;
    std::optional<double> ours_over_published() const;
    std::optional<double> ours_over_method() const;
    // Returns true if ours is better than the published figure. A speed must also be better than
    // the paper's method here; a quotient of two figures of one machine need not.
    std::optional<bool> beats() const;
    bool noisy() const;
    // Returns true if the row has no measurement, for the reason in `not_run`.
    bool bare() const { return !method && !ours && !not_run.empty(); }
};

// Speeds without the machine: a rate divided by multiprocessors (or cores) and GHz, or a time
// multiplied by them. Empty where the units of a figure are unknown or of the other kind.
struct PerUnit {
    const char* of = "";      // "multiprocessor and GHz" or "core and GHz"; empty: not a speed
    const char* source = "";  // origin of the published machine's units and clock
    Units published_units = {};
    std::optional<double> published = {}, method = {}, ours = {};
    // Ratios of speeds: 2 is twice as fast on each unit.
    std::optional<double> method_over_published = {}, ours_over_published = {};
};
PerUnit per_unit(const Row& row);

}  // namespace warpseal::papers

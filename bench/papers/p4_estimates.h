// P4's shares of time, its estimates by Amdahl's law, and its sizes beside other KEMs.
#pragma once

#include <array>
#include <map>
#include <string>

#include "bench/papers/study.h"

namespace warpseal::papers {

// Milliseconds of an operation on a core, in all and by part (index in published::p4::parts).
struct CoreProfile {
    double whole = 0;
    std::map<size_t, double> parts = {};

    // Percent of the whole. The rest is what no part has; below zero if parts ran slower alone.
    double share(size_t part) const { return 100 * parts.at(part) / whole; }
    double rest() const;
};

// Amdahl's law for an operation: part i becomes speed_up(i) times as fast, and the rest stays.
double estimate(const CoreProfile& profile, const std::map<size_t, double>& speed_up);
// The paper's profile, by its table 5.
CoreProfile published_profile(bool encapsulates);

// The speed-ups that the paper's estimates assume: a product 150 times as fast, or its table 6.
std::map<size_t, double> product_alone(bool encapsulates);
std::map<size_t, double> by_components(bool encapsulates,
                                       const std::map<std::string, double>& speed_up);

// `profiles`: [encapsulates]. `speed_up`: of components here, by name; empty without a GPU.
void print_shares(Study& study, const std::array<CoreProfile, 2>& profiles);
void print_estimates(Study& study, const std::array<CoreProfile, 2>& profiles,
                     const std::map<std::string, double>& speed_up);
void print_sizes(Study& study);

}  // namespace warpseal::papers

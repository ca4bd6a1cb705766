// Summary of a run of `warpseal bench papers`. It counts distinct figures of ours, not rows.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/papers/row.h"

namespace warpseal::papers {

class Tally {
public:
    void take(const Row& row);

    // Distinct figures of our default that have a published one, and those that beat all of
    // theirs.
    size_t judged() const { return defaults_.size(); }
    size_t beaten() const { return defaults_.size() - missed(defaults_).size(); }
    // Distinct figures of the papers' methods that have a published one, and those below it.
    size_t methods_judged() const { return methods_.size(); }
    size_t methods_below() const { return missed(methods_).size(); }
    // One line for each, in the order of the rows.
    std::vector<std::string> not_beaten_texts() const { return missed(defaults_); }
    std::vector<std::string> methods_below_texts() const { return missed(methods_); }

    // Returns the closing lines, with what is not beaten first. `bullet` begins each line of a
    // list.
    std::string text(const char* bullet = "  ") const;

private:
    // By figure: an empty text if no row misses, else the first that does.
    struct Outcomes {
        std::map<std::string, size_t> index;
        std::vector<std::string> misses;
        size_t size() const { return misses.size(); }
        void add(const std::string& figure, const std::string& miss);
    };
    static std::vector<std::string> missed(const Outcomes& outcomes);

    Outcomes defaults_, methods_;
};

}  // namespace warpseal::papers

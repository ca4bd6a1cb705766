// Random local search over circuits of the same or smaller size: a gate is replaced by another
// function of other signals, wherever the gates that use it can be adapted.
#pragma once

#include "network.h"

namespace circuits {

class Resubstitution {
public:
    Resubstitution(const Network& start, const Function& function, Random& random);

    // Replaces one random gate, or with `copy` adds a gate for some users of one. Returns false if
    // there was no other choice.
    bool move(bool copy);
    // Replaces one random gate, and one that only it uses, by two others. It considers at most
    // `budget` choices.
    bool move_two(long budget);
    // Continues from another circuit of the same function.
    void take(const Network& network);

    // Prefer choices that remove gates. Without, the search leaves a local minimum sooner.
    bool greedy = true;

    const Network& network() const { return network_; }

private:
    // What the replaced gate must still allow: within each cell of rows, `on` is told from `off`.
    // `same` forces the replacement to be 1 where `on`, else a complement is allowed per cell.
    struct Cell {
        Truth on, off;
        bool same;
    };
    struct User {
        int gate;
        Truth value, care;
    };

    std::vector<Truth> with_forced(const std::vector<int>& signals,
                                   const std::vector<Truth>& values) const;
    Truth wrong_rows(const std::vector<Truth>& value) const;
    std::vector<char> fanout_cone(int signal) const;
    void cells_of_gate(int signal, std::vector<Cell>& cells) const;
    void cells_of_users(int signal, const std::vector<int>& gates, std::vector<Cell>& cells,
                        std::vector<User>& users) const;
    void sample_pairs(const std::vector<Cell>& cells);
    void columns(const std::vector<int>& candidates);
    int replacement(const std::vector<Cell>& cells, int a, int b, int c, int& p, int& q);
    int gain(int signal, std::initializer_list<int> read) const;
    bool apply(int signal, bool copy, const Gate& gate, const std::vector<User>& users);

    const Function& function_;
    Random& random_;
    Network network_;
    std::vector<Truth> value_;
    std::vector<int> uses_;                // of each signal, outputs included
    std::vector<std::vector<int>> users_;  // gates, as signals
    Truth all_;
    int first_[256], second_[256];  // sampled pairs of rows
    std::vector<Truth> column_;     // of each candidate: the pairs that it distinguishes
};

}  // namespace circuits

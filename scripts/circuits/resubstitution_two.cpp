// The move of two gates.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "resubstitution.h"

namespace circuits {

bool Resubstitution::move_two(long budget) {
    const int signal = network_.inputs + random_.below(network_.size());
    const Gate old = network_.gates[signal - network_.inputs];
    const int inner = old.in[random_.below(3)];
    if (inner < network_.inputs || uses_[inner] != 1) return false;
    std::vector<Cell> cells;
    cells_of_gate(signal, cells);
    const Truth on = cells[0].on, off = cells[0].off;
    if (none(on) || none(off)) return false;

    std::vector<char> excluded = fanout_cone(signal);
    excluded[inner] = 1;
    std::vector<int> candidates;
    for (int s = 0; s < network_.signals(); ++s)
        if (!excluded[s]) candidates.push_back(s);
    const int n = static_cast<int>(candidates.size());
    for (int i = n - 1; i > 0; --i) std::swap(candidates[i], candidates[random_.below(i + 1)]);
    sample_pairs(cells);
    columns(candidates);

    int best_gain = -1, seen = 0, slot = 0, chosen[5] = {}, chosen_table = 0;
    const Truth ones = ~Truth{};
    for (int i = 1; i < n && budget > 0; ++i)
        for (int j = 0; j < i && budget > 0; ++j) {
            const int a = candidates[i], b = candidates[j];
            cells.clear();
            for (int k = 0; k < 4; ++k) {
                const Truth here =
                    (k & 1 ? value_[a] : ~value_[a]) & (k & 2 ? value_[b] : ~value_[b]);
                if (!none(here & on) && !none(here & off))
                    cells.push_back({here & on, here & off, false});
            }
            const Truth two = column_[i] | column_[j];
            for (int x = 2; x < n; ++x)
                for (int y = 1; y < x; ++y) {
                    const Truth four = column_[x] | column_[y] | two;
                    budget -= y;
                    for (int z = 0; z < y; ++z) {
                        if (!contains(column_[z] | four, ones)) continue;
                        const int in[3] = {candidates[x], candidates[y], candidates[z]};
                        int p, q;
                        const int table = replacement(cells, in[0], in[1], in[2], p, q);
                        if (table < 0) {
                            if (p < 0) continue;
                            for (int s = 0; s < n; ++s)
                                if (bit(column_[s], slot) != (bit(value_[candidates[s]], p) !=
                                                              bit(value_[candidates[s]], q)))
                                    flip(column_[s], slot);
                            slot = (slot + 1) & 255;
                            continue;
                        }
                        const int g = greedy ? gain(signal, {a, b, in[0], in[1], in[2]}) : 0;
                        if (g > best_gain) best_gain = g, seen = 0;
                        if (g == best_gain && random_.below(++seen) == 0) {
                            const int now[5] = {a, b, in[0], in[1], in[2]};
                            std::copy(now, now + 5, chosen);
                            chosen_table = table;
                        }
                    }
                }
        }
    if (best_gain < 0) return false;
    const Gate first = {chosen_table, {chosen[2], chosen[3], chosen[4]}};
    const Truth h =
        value_of(first.table, value_[chosen[2]], value_[chosen[3]], value_[chosen[4]]) & all_;
    const Truth a = value_[chosen[0]], b = value_[chosen[1]];
    Gate second = {0, {network_.signals(), chosen[0], chosen[1]}};
    for (int k = 0; k < 8; ++k) {
        const Truth here = (k & 4 ? h : ~h) & (k & 2 ? a : ~a) & (k & 1 ? b : ~b);
        const bool some_on = !none(here & on), some_off = !none(here & off);
        if (some_on && some_off) std::fprintf(stderr, "two gates: wrong\n"), std::abort();
        second.table |= (some_on || (!some_off && random_.below(2))) << k;
    }
    Network changed = network_;
    changed.gates[signal - network_.inputs] = second;
    changed.gates.push_back(first);
    take(changed);
    if (!computes(network_, function_))
        std::fprintf(stderr, "two gates: the circuit is wrong\n"), std::abort();
    return true;
}

}  // namespace circuits

// The moves of the local search.
#include "resubstitution.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace circuits {

Resubstitution::Resubstitution(const Network& start, const Function& function, Random& random)
    : function_(function), random_(random), all_(all_rows(function.inputs)) {
    take(start);
}

void Resubstitution::take(const Network& network) {
    network_ = cleaned(sorted(network));
    value_ = evaluate(network_);
    const size_t n = value_.size();
    uses_.assign(n, 0);
    users_.assign(n, {});
    for (int i = 0; i < network_.size(); ++i) {
        const Gate& g = network_.gates[i];
        for (int k = 0; k < 3; ++k) {
            const int in = g.in[k];
            if (std::find(g.in, g.in + k, in) != g.in + k) continue;
            ++uses_[in];
            users_[in].push_back(network_.inputs + i);
        }
    }
    for (const int output : network_.outputs) ++uses_[output];
}

// Values of all signals where some signals are given.
std::vector<Truth> Resubstitution::with_forced(const std::vector<int>& signals,
                                               const std::vector<Truth>& values) const {
    std::vector<Truth> value = value_;
    std::vector<char> changed(value.size(), 0);
    for (size_t i = 0; i < signals.size(); ++i)
        value[signals[i]] = values[i], changed[signals[i]] = 2;
    const int lowest = *std::min_element(signals.begin(), signals.end());
    for (int s = lowest; s < network_.signals(); ++s) {
        if (changed[s] == 2 || s < network_.inputs) continue;
        const Gate& g = network_.gates[s - network_.inputs];
        if (!(changed[g.in[0]] | changed[g.in[1]] | changed[g.in[2]])) continue;
        value[s] = value_of(g.table, value[g.in[0]], value[g.in[1]], value[g.in[2]]) & all_;
        changed[s] = 1;
    }
    return value;
}

Truth Resubstitution::wrong_rows(const std::vector<Truth>& value) const {
    Truth wrong{};
    for (const int output : network_.outputs) wrong |= value[output] ^ value_[output];
    return wrong;
}

std::vector<char> Resubstitution::fanout_cone(int signal) const {
    std::vector<char> in_cone(value_.size(), 0);
    in_cone[signal] = 1;
    for (int s = signal + 1; s < network_.signals(); ++s) {
        if (s < network_.inputs) continue;
        const Gate& g = network_.gates[s - network_.inputs];
        in_cone[s] = in_cone[g.in[0]] | in_cone[g.in[1]] | in_cone[g.in[2]];
    }
    return in_cone;
}

// The replacement is equal to the gate wherever an output depends on it.
void Resubstitution::cells_of_gate(int signal, std::vector<Cell>& cells) const {
    const bool is_output =
        std::count(network_.outputs.begin(), network_.outputs.end(), signal) != 0;
    const Truth care = is_output ? all_ : care_of(network_, value_, signal);
    cells.push_back({value_[signal] & care, ~value_[signal] & care, true});
}

// Each user of the replacement can still compute its function, wherever outputs depend on users.
void Resubstitution::cells_of_users(int signal, const std::vector<int>& gates,
                                    std::vector<Cell>& cells, std::vector<User>& users) const {
    const int n = static_cast<int>(gates.size());
    Truth care{};
    std::vector<Truth> forced(gates.size());
    for (int flips = 1; flips < 1 << n; ++flips) {
        for (int i = 0; i < n; ++i)
            forced[i] = flips >> i & 1 ? value_[gates[i]] ^ all_ : value_[gates[i]];
        care |= wrong_rows(with_forced(gates, forced));
    }
    for (const int user : gates) {
        const Gate& g = network_.gates[user - network_.inputs];
        Truth other[2] = {all_, all_};
        int others = 0;
        for (const int in : g.in)
            if (in != signal) other[others++] = value_[in];
        for (int k = 0; k < 4; ++k) {
            const Truth cell =
                care & (k & 1 ? other[0] : ~other[0]) & (k & 2 ? other[1] : ~other[1]);
            const Truth on = cell & value_[user], off = cell & ~value_[user];
            if (!none(on) && !none(off)) cells.push_back({on, off, false});
        }
        users.push_back({user, value_[user], care});
    }
}

namespace {

int random_row(const Truth& t, Random& random) {
    const int start = random.below(256);
    for (int word = start >> 6, i = 0; i < 5; ++i, word = (word + 1) & 3) {
        uint64_t w = t[word];
        if (i == 0) w &= ~uint64_t{0} << (start & 63);
        if (w != 0) return 64 * word + __builtin_ctzll(w);
    }
    return -1;
}

void transpose64(uint64_t (&a)[64]) {
    uint64_t mask = 0x00000000ffffffff;
    for (int j = 32; j != 0; j >>= 1, mask ^= mask << j)
        for (int k = 0; k < 64; k = ((k | j) + 1) & ~j) {
            const uint64_t t = ((a[k] >> j) ^ a[k | j]) & mask;
            a[k] ^= t << j;
            a[k | j] ^= t;
        }
}

// Bits of the replacement's eight entries and a complement for each cell, joined by equations.
struct Parities {
    int parent[64];
    int sign[64];
    explicit Parities(int n) {
        for (int i = 0; i < n; ++i) parent[i] = i, sign[i] = 0;
    }
    int root(int i, int& parity) {
        parity = 0;
        while (parent[i] != i) parity ^= sign[i], i = parent[i];
        return i;
    }
    bool join(int i, int j, int different) {
        int p, q;
        const int a = root(i, p), b = root(j, q);
        if (a == b) return (p ^ q) == different;
        parent[a] = b;
        sign[a] = p ^ q ^ different;
        return true;
    }
};

}  // namespace

void Resubstitution::sample_pairs(const std::vector<Cell>& cells) {
    for (int i = 0; i < 256; ++i) {
        const Cell& cell = cells[random_.below(static_cast<int>(cells.size()))];
        first_[i] = random_row(cell.on, random_);
        second_[i] = random_row(cell.off, random_);
    }
}

void Resubstitution::columns(const std::vector<int>& candidates) {
    const int n = static_cast<int>(candidates.size());
    column_.assign(candidates.size(), Truth{});
    for (int base = 0; base < n; base += 64) {
        const int count = std::min(64, n - base);
        uint64_t row[4][64];
        for (int word = 0; word < 4; ++word) {
            for (int i = 0; i < 64; ++i)
                row[word][i] = i < count ? value_[candidates[base + i]][word] : 0;
            transpose64(row[word]);
        }
        for (int word = 0; word < 4; ++word) {
            uint64_t pair[64];
            for (int i = 0; i < 64; ++i) {
                const int p = first_[64 * word + i], q = second_[64 * word + i];
                pair[i] = row[p >> 6][p & 63] ^ row[q >> 6][q & 63];
            }
            transpose64(pair);
            for (int i = 0; i < count; ++i) column_[base + i][word] = pair[i];
        }
    }
}

// Returns a table that meets all cells, or -1 and a pair of rows that a, b and c do not distinguish
// (p is -1 if there is none).
int Resubstitution::replacement(const std::vector<Cell>& cells, int a, int b, int c, int& p,
                                int& q) {
    const Truth va = value_[a], vb = value_[b], vc = value_[c];
    Truth entry[8];
    for (int k = 0; k < 8; ++k)
        entry[k] = (k & 4 ? va : ~va) & (k & 2 ? vb : ~vb) & (k & 1 ? vc : ~vc);
    // Node 8 is the constant 0.
    Parities parities(9 + static_cast<int>(cells.size()));
    p = -1;
    for (size_t i = 0; i < cells.size(); ++i) {
        const int flipped = cells[i].same ? 8 : 9 + static_cast<int>(i);
        for (int k = 0; k < 8; ++k) {
            const Truth on = entry[k] & cells[i].on, off = entry[k] & cells[i].off;
            const bool some_on = !none(on), some_off = !none(off);
            if (some_on && some_off) {
                p = random_row(on, random_), q = random_row(off, random_);
                return -1;
            }
            if ((some_on || some_off) && !parities.join(k, flipped, some_on)) return -1;
        }
    }
    const int free = random_.below(256);
    int table = 0, zero = 0;
    const int zero_root = parities.root(8, zero);
    for (int k = 0; k < 8; ++k) {
        int parity;
        const int root = parities.root(k, parity);
        const int base = root == zero_root ? zero : free >> (root & 7) & 1;
        table |= (parity ^ base) << k;
    }
    return table;
}

// Number of other gates that lose their last use if the gate reads other signals instead.
int Resubstitution::gain(int signal, std::initializer_list<int> read) const {
    std::vector<int> uses = uses_;
    for (const int s : read) ++uses[s];
    int dead = 0;
    const auto release = [&](const auto& self, int s) -> void {
        const Gate& g = network_.gates[s - network_.inputs];
        for (int k = 0; k < 3; ++k) {
            const int in = g.in[k];
            if (std::find(g.in, g.in + k, in) != g.in + k) continue;
            if (--uses[in] == 0 && in >= network_.inputs) ++dead, self(self, in);
        }
    };
    release(release, signal);
    return dead;
}

bool Resubstitution::apply(int signal, bool copy, const Gate& gate,
                           const std::vector<User>& users) {
    Network changed = network_;
    const int replaced = signal;
    if (copy) {
        signal = changed.signals();
        changed.gates.push_back(gate);
    } else {
        changed.gates[signal - network_.inputs] = gate;
    }
    const Truth value =
        value_of(gate.table, value_[gate.in[0]], value_[gate.in[1]], value_[gate.in[2]]) & all_;
    for (const User& user : users) {
        Gate& g = changed.gates[user.gate - network_.inputs];
        Truth in[3];
        for (int k = 0; k < 3; ++k) {
            in[k] = g.in[k] == replaced ? value : value_[g.in[k]];
            if (g.in[k] == replaced) g.in[k] = signal;
        }
        int table = 0;
        for (int k = 0; k < 8; ++k) {
            const Truth here = user.care & (k & 4 ? in[0] : ~in[0]) & (k & 2 ? in[1] : ~in[1]) &
                               (k & 1 ? in[2] : ~in[2]);
            if (none(here))
                table |= random_.below(2) << k;
            else if (contains(user.value, here))
                table |= 1 << k;
            else if (!none(user.value & here))
                std::fprintf(stderr, "resubstitution: a user is not met\n"), std::abort();
        }
        g.table = table;
    }
    take(changed);
    if (!computes(network_, function_))
        std::fprintf(stderr, "resubstitution: the circuit is wrong\n"), std::abort();
    return true;
}

bool Resubstitution::move(bool copy) {
    const int signal = network_.inputs + random_.below(network_.size());
    std::vector<int> gates = users_[signal];
    std::vector<Cell> cells;
    std::vector<User> users;
    if (copy) {
        if (uses_[signal] < 2) return false;
        const uint64_t chosen = random_.next() >> 8;
        std::erase_if(gates, [&](const int& g) { return chosen >> (&g - gates.data()) & 1; });
        if (gates.empty() || gates.size() == static_cast<size_t>(uses_[signal])) return false;
        if (gates.size() > 4) return false;
    }
    const bool whole = static_cast<int>(gates.size()) == uses_[signal];
    if (copy || (random_.below(4) != 0 && whole && gates.size() <= 4))
        cells_of_users(signal, gates, cells, users);
    else
        cells_of_gate(signal, cells);
    const int constant = cells.empty() || !none(cells[0].on) ? 255 : 0;
    std::erase_if(cells, [](const Cell& c) { return none(c.on) || none(c.off); });
    if (cells.size() > 40) return false;
    if (cells.empty()) return apply(signal, copy, {constant, {0, 1, 2}}, users);

    std::vector<char> excluded = fanout_cone(signal);
    if (copy) excluded[signal] = 0;
    std::vector<int> candidates;
    for (int s = 0; s < network_.signals(); ++s)
        if (!excluded[s]) candidates.push_back(s);
    sample_pairs(cells);
    columns(candidates);

    const Gate old = network_.gates[signal - network_.inputs];
    int last_uses = 0;
    for (const int in : old.in) last_uses += in >= network_.inputs && uses_[in] == 1;
    Gate best{-1, {}};
    int best_gain = -1, seen = 0, slot = 0;
    const Truth ones = ~Truth{};
    const int n = static_cast<int>(candidates.size());
    const auto consider = [&](int i, int j, int k) {
        const int a = candidates[i], b = candidates[j], c = candidates[k];
        int p, q;
        const int table = replacement(cells, a, b, c, p, q);
        if (table < 0) {
            if (p < 0) return;
            // The pair replaces one of the sample, so that it rejects similar choices at once.
            for (int s = 0; s < n; ++s)
                if (bit(column_[s], slot) !=
                    (bit(value_[candidates[s]], p) != bit(value_[candidates[s]], q)))
                    flip(column_[s], slot);
            slot = (slot + 1) & 255;
            return;
        }
        int same = 0;
        for (const int in : old.in) same += in == a || in == b || in == c;
        if (same == 3) return;
        const int g = last_uses == 0 || copy || !greedy ? 0 : gain(signal, {a, b, c});
        if (g > best_gain) best_gain = g, seen = 0;
        if (g == best_gain && random_.below(++seen) == 0) best = {table, {a, b, c}};
    };
    for (int i = 1; i < n; ++i)
        for (int j = 0; j < i; ++j) {
            const Truth two = column_[i] | column_[j];
            if (equal(two, ones)) {
                int p, q;
                if (replacement(cells, candidates[i], candidates[j], candidates[j], p, q) >= 0) {
                    consider(i, j, j);
                    continue;
                }
            }
            for (int k = 0; k < j; ++k)
                if (contains(column_[k] | column_[i] | column_[j], ones)) consider(i, j, k);
        }
    if (best.table < 0) return false;
    return apply(signal, copy, best, users);
}

}  // namespace circuits

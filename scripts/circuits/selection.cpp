// The recursive search.
#include "selection.h"

#include <algorithm>

namespace circuits {

namespace {

using Rows = uint64_t;

struct Result {
    int signal = -1;
    bool complement = false;
};

Rows here(int k, Rows a, Rows b, Rows c) {
    return (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
}

struct Builder {
    int inputs = 0;
    std::vector<Rows> value;
    std::vector<Gate> gates;
    Random* random = nullptr;

    int size() const { return static_cast<int>(gates.size()); }

    int append(int table, int a, int b, int c) {
        Rows rows = 0;
        for (int k = 0; k < 8; ++k)
            if (table >> k & 1) rows |= here(k, value[a], value[b], value[c]);
        value.push_back(rows);
        gates.push_back({table, {a, b, c}});
        return static_cast<int>(value.size()) - 1;
    }

    // A table for f on the rows of `care`, or -1.
    int table_of(Rows f, Rows care, int a, int b, int c) {
        int table = 0;
        for (int k = 0; k < 8; ++k) {
            const Rows rows = care & here(k, value[a], value[b], value[c]);
            if (rows == 0)
                table |= random->below(2) << k;
            else if ((f & rows) == rows)
                table |= 1 << k;
            else if ((f & rows) != 0)
                return -1;
        }
        return table;
    }

    std::vector<int> shuffled() {
        std::vector<int> order(value.size());
        for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
        for (size_t i = order.size() - 1; i > 0; --i)
            std::swap(order[i], order[random->below(static_cast<int>(i) + 1)]);
        return order;
    }

    bool one_gate(Rows f, Rows care, Result& result) {
        const std::vector<int> order = shuffled();
        const int n = static_cast<int>(order.size());
        for (int i = 2; i < n; ++i)
            for (int j = 1; j < i; ++j) {
                Rows undecided = 0;
                const Rows a = value[order[i]], b = value[order[j]];
                for (int k = 0; k < 8; k += 2) {
                    const Rows rows = care & (k & 4 ? a : ~a) & (k & 2 ? b : ~b);
                    if ((f & rows) != 0 && (~f & rows) != 0) undecided |= rows;
                }
                for (int k = 0; k < j; ++k) {
                    const int table = table_of(f, care, order[i], order[j], order[k]);
                    if (table < 0) continue;
                    result = {append(table, order[i], order[j], order[k]), false};
                    return true;
                }
            }
        return false;
    }

    // Pairs of rows in `care` that a gate must tell apart, one bit for each.
    struct Pairs {
        int p[64], q[64];
        Rows column(Rows v) const {
            Rows c = 0;
            for (int i = 0; i < 64; ++i) c |= ((v >> p[i] ^ v >> q[i]) & 1) << i;
            return c;
        }
    };

    int random_row(Rows rows) {
        const int start = random->below(64);
        const Rows high = rows >> start << start;
        return __builtin_ctzll(high != 0 ? high : rows);
    }

    bool two_gates(Rows f, Rows care, Result& result) {
        const std::vector<int> order = shuffled();
        const int n = static_cast<int>(order.size());
        Pairs pairs;
        for (int i = 0; i < 64; ++i)
            pairs.p[i] = random_row(f & care), pairs.q[i] = random_row(~f & care);
        std::vector<Rows> column(order.size());
        for (int i = 0; i < n; ++i) column[i] = pairs.column(value[order[i]]);
        for (int i = 1; i < n; ++i)
            for (int j = 0; j < i; ++j) {
                const Rows two = column[i] | column[j];
                for (int x = 2; x < n; ++x)
                    for (int y = 1; y < x; ++y) {
                        const Rows four = two | column[x] | column[y];
                        for (int z = 0; z < y; ++z)
                            if ((four | column[z]) == ~Rows{0} &&
                                decomposed(f, care, order[i], order[j], order[x], order[y],
                                           order[z], result))
                                return true;
                    }
            }
        return false;
    }

    // f as a gate of a, b and a gate of x, y and z.
    bool decomposed(Rows f, Rows care, int a, int b, int x, int y, int z, Result& result) {
        for (int flip = random->below(8), count = 0; count < 8; ++count, flip = (flip + 1) & 7) {
            Rows wanted = f, undecided = 0;
            for (int k = 0; k < 4; ++k) {
                const Rows cell = (k & 1 ? value[a] : ~value[a]) & (k & 2 ? value[b] : ~value[b]);
                const Rows rows = cell & care;
                if ((f & rows) == 0 || (f & rows) == rows) continue;
                undecided |= rows;
                if (k > 0 && flip >> (k - 1) & 1) wanted ^= cell;
            }
            const int first = table_of(wanted, undecided, x, y, z);
            if (first < 0) continue;
            const int h = append(first, x, y, z);
            const int second = table_of(f, care, h, a, b);
            if (second < 0) {
                gates.pop_back(), value.pop_back();
                continue;
            }
            result = {append(second, h, a, b), false};
            return true;
        }
        return false;
    }

    // Adds at most `limit` gates for f on the rows of `care`.
    bool build(Rows f, Rows care, int limit, int depth, Result& result) {
        for (const int s : shuffled()) {
            const Rows difference = (value[s] ^ f) & care;
            if (difference != 0 && difference != care) continue;
            result = {s, difference != 0};
            return true;
        }
        if (limit < 1) return false;
        if (one_gate(f, care, result)) return true;
        if (limit < 2) return false;
        if (two_gates(f, care, result)) return true;
        if (limit < 3 || depth == 4) return false;
        return select(f, care, limit, depth, result);
    }

    bool select(Rows f, Rows care, int limit, int depth, Result& result) {
        const int tries = limit <= 5 ? static_cast<int>(value.size()) : depth == 0 ? 3 : 2;
        Builder best;
        bool found = false;
        for (int i = 0; i < tries; ++i) {
            const int by = limit <= 5 || random->below(8) == 0
                               ? random->below(static_cast<int>(value.size()))
                               : random->below(inputs);
            const Rows s = value[by];
            if ((care & s) == 0 || (care & ~s) == 0) continue;
            Builder next = *this;
            Result half[2];
            const int first = random->below(2);
            if (!next.build(f, care & (first ? s : ~s), limit - 1, depth + 1, half[first]))
                continue;
            const int used = next.size() - size();
            if (!next.build(f, care & (first ? ~s : s), limit - 1 - used, depth + 1,
                            half[1 - first]))
                continue;
            int table = 0;
            for (int k = 0; k < 8; ++k) {
                const bool one = (k >> 1 & 1) != half[1].complement;
                const bool zero = (k & 1) != half[0].complement;
                table |= (k & 4 ? one : zero) << k;
            }
            result = {next.append(table, by, half[1].signal, half[0].signal), false};
            limit = next.size() - size() - 1;
            best = next;
            found = true;
            if (limit < 3) break;
        }
        if (found) *this = best, result.signal = static_cast<int>(value.size()) - 1;
        return found;
    }
};

}  // namespace

Network selection_circuit(const Function& function, Random& random) {
    Builder builder;
    builder.inputs = function.inputs;
    builder.random = &random;
    const Rows all = function.inputs == 6 ? ~Rows{0} : (Rows{1} << (1 << function.inputs)) - 1;
    for (int i = 0; i < function.inputs; ++i)
        builder.value.push_back(input_row(function.inputs, i)[0]);
    std::vector<int> left(function.outputs.size());
    for (size_t i = 0; i < left.size(); ++i) left[i] = static_cast<int>(i);
    Network network;
    network.outputs.assign(left.size(), 0);
    while (!left.empty()) {
        const int at = random.below(static_cast<int>(left.size()));
        const int output = left[at];
        left.erase(left.begin() + at);
        Result result;
        if (!builder.build(function.outputs[output][0], all, 40, 0, result)) return {};
        if (result.complement)
            result.signal = builder.append(0x0f, result.signal, result.signal, result.signal);
        network.outputs[output] = result.signal;
    }
    network.inputs = function.inputs;
    network.gates = builder.gates;
    return network;
}

Network rebuilt(const Network& network, int more, Random& random) {
    const int signal = network.inputs + random.below(network.size());
    const std::vector<Truth> value = evaluate(network);
    // The gates without use once the signal is dropped, and those that depend on it.
    std::vector<char> gone(value.size(), 0), depends(value.size(), 0);
    depends[signal] = 1;
    for (int s = signal + 1; s < network.signals(); ++s)
        for (const int in : network.gates[s - network.inputs].in) depends[s] |= depends[in];
    std::vector<char> used(value.size(), 0);
    for (const int output : network.outputs) used[output] = 1;
    used[signal] = 0;
    int dropped = 0;
    for (int s = network.signals() - 1; s >= network.inputs; --s) {
        if (!used[s]) {
            gone[s] = 1, ++dropped;
            continue;
        }
        for (const int in : network.gates[s - network.inputs].in)
            if (in != signal) used[in] = 1;
    }
    Builder builder;
    builder.inputs = network.inputs;
    builder.random = &random;
    std::vector<int> index;
    for (int s = 0; s < network.signals(); ++s)
        if (s < network.inputs || (!gone[s] && !depends[s])) {
            builder.value.push_back(value[s][0]);
            index.push_back(s);
        }
    const bool is_output = std::count(network.outputs.begin(), network.outputs.end(), signal) != 0;
    const Rows care = (is_output ? all_rows(network.inputs) : care_of(network, value, signal))[0];
    Result result;
    if (!builder.build(value[signal][0], care, dropped + more, 0, result)) return {};
    if (result.complement)
        result = {builder.append(0x0f, result.signal, result.signal, result.signal), false};

    Network next = network;
    for (int i = 0; i < builder.size(); ++i) index.push_back(network.signals() + i);
    for (Gate g : builder.gates) {
        for (int& in : g.in) in = index[in];
        next.gates.push_back(g);
    }
    const int replacement = index[result.signal];
    for (int i = 0; i < network.size(); ++i)
        for (int& in : next.gates[i].in)
            if (in == signal) in = replacement;
    for (int& output : next.outputs)
        if (output == signal) output = replacement;
    return cleaned(sorted(next));
}

Network rebuilt_outputs(const Network& network, const Function& function, int more,
                        Random& random) {
    const std::vector<Truth> value = evaluate(network);
    std::vector<int> order(network.outputs.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    for (size_t i = order.size() - 1; i > 0; --i)
        std::swap(order[i], order[random.below(static_cast<int>(i) + 1)]);
    order.resize(1 + random.below(2));
    std::vector<char> used(value.size(), 0);
    for (size_t i = 0; i < network.outputs.size(); ++i)
        if (std::find(order.begin(), order.end(), static_cast<int>(i)) == order.end())
            used[network.outputs[i]] = 1;
    int limit = more;
    for (int s = network.signals() - 1; s >= network.inputs; --s) {
        limit += !used[s];
        if (used[s])
            for (const int in : network.gates[s - network.inputs].in) used[in] = 1;
    }
    Builder builder;
    builder.inputs = network.inputs;
    builder.random = &random;
    std::vector<int> index;
    for (int s = 0; s < network.signals(); ++s)
        if (s < network.inputs || used[s]) builder.value.push_back(value[s][0]), index.push_back(s);
    Network next = network;
    for (const int i : order) {
        Result result;
        const Rows all = all_rows(network.inputs)[0];
        if (!builder.build(function.outputs[i][0], all, limit - builder.size(), 0, result))
            return {};
        if (result.complement)
            result.signal = builder.append(0x0f, result.signal, result.signal, result.signal);
        next.outputs[i] = result.signal;
    }
    for (int i = 0; i < builder.size(); ++i) index.push_back(network.signals() + i);
    for (Gate g : builder.gates) {
        for (int& in : g.in) in = index[in];
        next.gates.push_back(g);
    }
    for (const int i : order) next.outputs[i] = index[next.outputs[i]];
    return cleaned(sorted(next));
}

}  // namespace circuits

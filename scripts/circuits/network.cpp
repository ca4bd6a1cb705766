// Evaluation, cleaning and text of circuits.
#include "network.h"

#include <algorithm>
#include <sstream>

namespace circuits {

Truth value_of(int table, Truth a, Truth b, Truth c) {
    const auto constant = [table](int k) {
        const uint64_t w = 0 - static_cast<uint64_t>(table >> k & 1);
        return Truth{w, w, w, w};
    };
    const auto choose = [](Truth p, Truth one, Truth zero) { return zero ^ (p & (zero ^ one)); };
    const Truth low =
        choose(b, choose(c, constant(3), constant(2)), choose(c, constant(1), constant(0)));
    const Truth high =
        choose(b, choose(c, constant(7), constant(6)), choose(c, constant(5), constant(4)));
    return choose(a, high, low);
}

Truth all_rows(int inputs) {
    Truth t{};
    for (int row = 0; row < 1 << inputs; ++row) flip(t, row);
    return t;
}

Truth input_row(int inputs, int i) {
    Truth t{};
    for (int row = 0; row < 1 << inputs; ++row)
        if (row >> i & 1) flip(t, row);
    return t;
}

std::vector<Truth> evaluate(const Network& network) {
    std::vector<Truth> value(static_cast<size_t>(network.signals()));
    const Truth all = all_rows(network.inputs);
    for (int i = 0; i < network.inputs; ++i) value[i] = input_row(network.inputs, i);
    for (int i = 0; i < network.size(); ++i) {
        const Gate& g = network.gates[i];
        value[network.inputs + i] =
            value_of(g.table, value[g.in[0]], value[g.in[1]], value[g.in[2]]) & all;
    }
    return value;
}

Truth care_of(const Network& network, const std::vector<Truth>& value, int signal) {
    const Truth all = all_rows(network.inputs);
    std::vector<Truth> changed = value;
    changed[signal] ^= all;
    for (int s = std::max(signal + 1, network.inputs); s < network.signals(); ++s) {
        const Gate& g = network.gates[s - network.inputs];
        changed[s] = value_of(g.table, changed[g.in[0]], changed[g.in[1]], changed[g.in[2]]) & all;
    }
    Truth care{};
    for (const int output : network.outputs) care |= changed[output] ^ value[output];
    return care;
}

bool computes(const Network& network, const Function& function) {
    if (network.inputs != function.inputs || network.outputs.size() != function.outputs.size())
        return false;
    const std::vector<Truth> value = evaluate(network);
    for (size_t i = 0; i < function.outputs.size(); ++i)
        if (!equal(value[network.outputs[i]], function.outputs[i])) return false;
    return true;
}

Network sorted(const Network& network) {
    Network to;
    to.inputs = network.inputs;
    std::vector<char> used(static_cast<size_t>(network.signals()), 0);
    const auto mark = [&](const auto& self, int signal) -> void {
        if (signal < network.inputs || used[signal]) return;
        used[signal] = 1;
        for (const int in : network.gates[signal - network.inputs].in) self(self, in);
    };
    for (const int output : network.outputs) mark(mark, output);
    std::vector<int> moved(static_cast<size_t>(network.signals()), -1);
    for (int i = 0; i < network.inputs; ++i) moved[i] = i;
    const auto visit = [&](const auto& self, int signal) -> int {
        if (moved[signal] >= 0) return moved[signal];
        Gate g = network.gates[signal - network.inputs];
        for (int& in : g.in) in = self(self, in);
        to.gates.push_back(g);
        return moved[signal] = to.signals() - 1;
    };
    for (int signal = network.inputs; signal < network.signals(); ++signal)
        if (used[signal]) visit(visit, signal);
    for (const int output : network.outputs) to.outputs.push_back(moved[output]);
    return to;
}

namespace {

// Exchanges the table's entries for which input k is 0 with those for which it is 1.
int complemented(int table, int k) {
    const int n = 4 >> k;
    int result = 0;
    for (int i = 0; i < 8; ++i) result |= (table >> (i ^ n) & 1) << i;
    return result;
}

struct Alias {
    int signal;
    bool complement;
};

}  // namespace

Network cleaned(const Network& network) {
    const std::vector<Truth> value = evaluate(network);
    const Truth all = all_rows(network.inputs);
    std::vector<Alias> alias(value.size());
    for (int i = 0; i < network.signals(); ++i) {
        alias[i] = {i, false};
        for (int j = 0; j < i; ++j) {
            if (alias[j].signal != j) continue;
            const Truth difference = value[i] ^ value[j];
            if (!none(difference) && !equal(difference, all)) continue;
            alias[i] = {j, !none(difference)};
            break;
        }
    }
    Network to = network;
    for (Gate& g : to.gates)
        for (int k = 0; k < 3; ++k) {
            const Alias a = alias[g.in[k]];
            if (a.complement) g.table = complemented(g.table, k);
            g.in[k] = a.signal;
        }
    // An output that is a complement keeps its own gate: outputs must not be inverted.
    for (int& output : to.outputs)
        if (!alias[output].complement) output = alias[output].signal;
    return sorted(to);
}

std::string text_of(const Network& network) {
    std::ostringstream out;
    const auto name = [&](int signal) {
        return signal < network.inputs ? "x" + std::to_string(signal)
                                       : "g" + std::to_string(signal - network.inputs + 1);
    };
    out << "inputs " << network.inputs << "\n";
    for (int i = 0; i < network.size(); ++i) {
        const Gate& g = network.gates[i];
        const char* digit = "0123456789abcdef";
        out << name(network.inputs + i) << " = " << digit[g.table >> 4] << digit[g.table & 15];
        for (const int in : g.in) out << " " << name(in);
        out << "\n";
    }
    out << "y =";
    for (const int output : network.outputs) out << " " << name(output);
    out << "\n";
    return out.str();
}

Network network_of(const std::string& text) {
    Network network;
    std::istringstream in(text);
    std::string line;
    const auto signal = [&](const std::string& name) {
        if (name.size() < 2) return -1;
        const int i = std::atoi(name.c_str() + 1);
        return name[0] == 'x' ? i : network.inputs + i - 1;
    };
    while (std::getline(in, line)) {
        std::istringstream words(line);
        std::string first, equals, word;
        words >> first;
        if (first.empty() || first[0] == '#') continue;
        if (first == "inputs") {
            words >> network.inputs;
        } else if (first == "y") {
            words >> equals;
            while (words >> word) network.outputs.push_back(signal(word));
        } else {
            Gate g{};
            words >> equals >> std::hex >> g.table;
            for (int& i : g.in) {
                words >> word;
                i = signal(word);
                if (i < 0 || i >= network.signals()) return {};
            }
            network.gates.push_back(g);
        }
    }
    for (const int output : network.outputs)
        if (output < 0 || output >= network.signals()) return {};
    return network;
}

}  // namespace circuits

// Text of circuits for the headers. clang-format makes the lines.
#include "data.h"

#include <cstdio>
#include <sstream>
#include <utility>

#include "core/sbox4.h"

namespace circuits {

namespace {

// The table of a gate whose inputs i and j are exchanged.
int exchanged(int table, int i, int j) {
    int result = 0;
    for (int k = 0; k < 8; ++k) {
        const int from_i = k >> (2 - i) & 1, from_j = k >> (2 - j) & 1;
        const int rest = k & ~(4 >> i) & ~(4 >> j);
        result |= (table >> (rest | from_j << (2 - i) | from_i << (2 - j)) & 1) << k;
    }
    return result;
}

}  // namespace

Network with_cheap_tables(const Network& network) {
    Network result = network;
    const std::vector<Truth> value = evaluate(network);
    const Truth all = all_rows(network.inputs);
    for (Gate& g : result.gates) {
        int free = 0;
        for (int k = 0; k < 8; ++k) {
            Truth here = all;
            for (int i = 0; i < 3; ++i) here &= k >> (2 - i) & 1 ? value[g.in[i]] : ~value[g.in[i]];
            free |= none(here) << k;
        }
        const int fixed = g.table & ~free;
        int best = fixed;
        for (int some = free; some != 0; some = (some - 1) & free)
            if (warpseal::circuit4::operators.of[fixed | some] <
                warpseal::circuit4::operators.of[best])
                best = fixed | some;
        g.table = best;
    }
    return result;
}

int operators_of(const Network& network) {
    int sum = 0;
    for (const Gate& g : with_cheap_tables(network).gates)
        sum += warpseal::circuit4::operators.of[g.table];
    return sum;
}

Network with_dead_signal_first(const Network& network) {
    Network result = network;
    std::vector<int> last(static_cast<size_t>(network.signals()), -1);
    for (int i = 0; i < network.size(); ++i)
        for (const int in : network.gates[i].in) last[in] = i;
    for (const int output : network.outputs) last[output] = network.size();
    for (int i = 0; i < network.size(); ++i) {
        Gate& g = result.gates[i];
        int best = 0;
        const auto worth = [&](int k) {
            return last[g.in[k]] != i ? 0 : g.in[k] < network.inputs ? 1 : 2;
        };
        for (int k = 1; k < 3; ++k)
            if (worth(k) > worth(best)) best = k;
        g.table = exchanged(g.table, 0, best);
        std::swap(g.in[0], g.in[best]);
    }
    return result;
}

std::string data_of(const std::string& type, const Network& network) {
    const Network data = with_cheap_tables(with_dead_signal_first(network));
    std::ostringstream out;
    out << "struct " << type << " {\n    static constexpr int inputs = " << data.inputs
        << ", outputs = " << data.outputs.size() << ", gates = " << data.size() << ";\n"
        << "    static constexpr Gate gate[gates] = {";
    for (const Gate& g : data.gates) {
        char text[32];
        std::snprintf(text, sizeof text, "{0x%02x, %d, %d, %d}, ", g.table, g.in[0], g.in[1],
                      g.in[2]);
        out << text;
    }
    out << "};\n    static constexpr uint8_t result[outputs] = {";
    for (size_t i = 0; i < data.outputs.size(); ++i) out << (i ? ", " : "") << data.outputs[i];
    out << "};\n};\n";
    return out.str();
}

}  // namespace circuits

// Text of circuits for the headers. clang-format makes the lines.
#include "data.h"

#include <cstdio>
#include <sstream>

#include "core/sbox4.h"

namespace circuits {

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

std::string data_of(const std::string& type, const Network& network) {
    const Network cheap = with_cheap_tables(network);
    std::ostringstream out;
    out << "struct " << type << " {\n    static constexpr int inputs = " << cheap.inputs
        << ", outputs = " << cheap.outputs.size() << ", gates = " << cheap.size() << ";\n"
        << "    static constexpr Gate gate[gates] = {";
    for (const Gate& g : cheap.gates) {
        char text[32];
        std::snprintf(text, sizeof text, "{0x%02x, %d, %d, %d}, ", g.table, g.in[0], g.in[1],
                      g.in[2]);
        out << text;
    }
    out << "};\n    static constexpr uint8_t result[outputs] = {";
    for (size_t i = 0; i < cheap.outputs.size(); ++i) out << (i ? ", " : "") << cheap.outputs[i];
    out << "};\n};\n";
    return out.str();
}

}  // namespace circuits

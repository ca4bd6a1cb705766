// A circuit of three-input gates, and the truth table of each signal over at most eight inputs.
#pragma once

#include <immintrin.h>
#include <stdint.h>

#include <string>
#include <vector>

namespace circuits {

// Bit x of a truth table is the value for input x. Bit i of x is input i.
typedef uint64_t Truth __attribute__((vector_size(32)));

inline bool none(Truth t) { return _mm256_testz_si256((__m256i)t, (__m256i)t) != 0; }
// True if every bit of `part` is set in `whole`.
inline bool contains(Truth whole, Truth part) {
    return _mm256_testc_si256((__m256i)whole, (__m256i)part) != 0;
}
inline bool equal(Truth a, Truth b) { return none(a ^ b); }
inline bool bit(const Truth& t, int row) { return t[row >> 6] >> (row & 63) & 1; }
inline void flip(Truth& t, int row) { t[row >> 6] ^= uint64_t{1} << (row & 63); }

// Value of the table at 4 a + 2 b + c, as in core/lut.h.
Truth value_of(int table, Truth a, Truth b, Truth c);

struct Gate {
    int table;
    int in[3];
};

// Signals 0 to inputs - 1 are the inputs, signal inputs + i is gate i. Gates are in topological
// order.
struct Network {
    int inputs = 0;
    std::vector<Gate> gates;
    std::vector<int> outputs;

    int signals() const { return inputs + static_cast<int>(gates.size()); }
    int size() const { return static_cast<int>(gates.size()); }
};

// The function that a circuit must compute.
struct Function {
    std::string name;
    int inputs = 0;
    std::vector<Truth> outputs;
};

Truth all_rows(int inputs);
Truth input_row(int inputs, int i);
std::vector<Truth> evaluate(const Network& network);
// Rows where an output depends on the signal.
Truth care_of(const Network& network, const std::vector<Truth>& value, int signal);
bool computes(const Network& network, const Function& function);

// Moves gates before those that read them, keeps their order otherwise, and removes gates without
// use.
Network sorted(const Network& network);

// Removes gates without use, and gates equal to another signal or its complement.
// Adds no gate: an output that is the complement of another keeps its gate.
Network cleaned(const Network& network);

// One line per gate: `g1 = 96 x0 x3 x4`; then `y = g7 g9 ...`.
std::string text_of(const Network& network);
// Reads what text_of writes. Returns an empty network if the text is malformed.
Network network_of(const std::string& text);

// Pseudorandom numbers: xorshift64*.
struct Random {
    uint64_t state;
    explicit Random(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15u + 0x1234567u) {
        for (int i = 0; i < 8; ++i) next();
    }
    uint64_t next() {
        state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
        return state * 0x2545f4914f6cdd1du;
    }
    int below(int n) { return static_cast<int>((next() >> 32) * static_cast<uint64_t>(n) >> 32); }
};

}  // namespace circuits

// The choice of windows, their encoding as clauses, and the call of the solver.
#include "window.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>

namespace circuits {

bool solver_is_there() { return std::system("cadical --version >/dev/null 2>&1") == 0; }

namespace {

// What the window computes: its outputs for each combination of its inputs that occurs.
struct Window {
    std::vector<char> member;  // of each signal
    std::vector<int> inputs, outputs;
    std::vector<std::vector<bool>> input_value, output_value;  // [combination][signal]
};

// True if a path leaves the window and comes back: its replacement might close a cycle.
bool comes_back(const Network& network, const std::vector<char>& member) {
    std::vector<char> after(member.size(), 0);
    for (int s = network.inputs; s < network.signals(); ++s) {
        for (const int in : network.gates[s - network.inputs].in) {
            if (member[s] && after[in]) return true;
            if (!member[s] && (member[in] || after[in])) after[s] = 1;
        }
    }
    return false;
}

// Adds signals that do not depend on the window, and puts all its inputs in random order, by which
// the solver's answers differ.
void add_others(const Network& network, const WindowOptions& options, Random& random,
                Window& window) {
    std::vector<char> depends = window.member;
    for (int s = network.inputs; s < network.signals(); ++s)
        for (const int in : network.gates[s - network.inputs].in) depends[s] |= depends[in];
    for (const int s : window.inputs) depends[s] = 1;
    std::vector<int> others;
    for (int s = 0; s < network.signals(); ++s)
        if (!depends[s]) others.push_back(s);
    const auto shuffle = [&random](std::vector<int>& list) {
        for (int i = static_cast<int>(list.size()) - 1; i > 0; --i)
            std::swap(list[i], list[random.below(i + 1)]);
    };
    shuffle(others);
    if (static_cast<int>(others.size()) > options.others) others.resize(options.others);
    window.inputs.insert(window.inputs.end(), others.begin(), others.end());
    shuffle(window.inputs);
}

bool choose(const Network& network, const WindowOptions& options, Random& random, Window& window) {
    window.member.assign(static_cast<size_t>(network.signals()), 0);
    window.member[network.inputs + random.below(network.size())] = 1;
    for (int count = 1; count < options.gates; ++count) {
        std::vector<int> next;
        for (int s = network.inputs; s < network.signals(); ++s)
            for (const int in : network.gates[s - network.inputs].in) {
                if (window.member[s] && !window.member[in] && in >= network.inputs)
                    next.push_back(in);
                if (!window.member[s] && window.member[in]) next.push_back(s);
            }
        if (next.empty()) return false;
        window.member[next[random.below(static_cast<int>(next.size()))]] = 1;
    }
    if (comes_back(network, window.member)) return false;
    std::vector<char> used(window.member.size(), 0), outside(window.member.size(), 0);
    for (const int output : network.outputs) outside[output] = 1;
    for (int s = network.inputs; s < network.signals(); ++s)
        for (const int in : network.gates[s - network.inputs].in)
            (window.member[s] ? used : outside)[in] = 1;
    for (int s = 0; s < network.signals(); ++s) {
        if (!window.member[s] && used[s]) window.inputs.push_back(s);
        if (window.member[s] && outside[s]) window.outputs.push_back(s);
    }
    if (static_cast<int>(window.inputs.size()) > options.inputs ||
        static_cast<int>(window.outputs.size()) > options.outputs)
        return false;
    add_others(network, options, random, window);
    return true;
}

// Rows where the circuit's outputs depend on the window's outputs, each of which may be flipped.
Truth care_rows(const Network& network, const Window& window, const std::vector<Truth>& value) {
    const Truth all = all_rows(network.inputs);
    Truth care{};
    for (unsigned flips = 1; flips < 1u << window.outputs.size(); ++flips) {
        std::vector<Truth> changed = value;
        for (int i = 0; i < network.size(); ++i) {
            const int s = network.inputs + i;
            const Gate& g = network.gates[i];
            const auto at = std::find(window.outputs.begin(), window.outputs.end(), s);
            if (at != window.outputs.end())
                changed[s] = flips >> (at - window.outputs.begin()) & 1 ? value[s] ^ all : value[s];
            else
                changed[s] =
                    value_of(g.table, changed[g.in[0]], changed[g.in[1]], changed[g.in[2]]) & all;
        }
        for (const int output : network.outputs) care |= changed[output] ^ value[output];
    }
    return care;
}

void tabulate(const Network& network, Window& window) {
    const std::vector<Truth> value = evaluate(network);
    const Truth care = care_rows(network, window, value);
    std::map<std::vector<bool>, std::vector<bool>> seen;
    for (int row = 0; row < 1 << network.inputs; ++row) {
        if (!bit(care, row)) continue;
        std::vector<bool> in, out;
        for (const int s : window.inputs) in.push_back(bit(value[s], row));
        for (const int s : window.outputs) out.push_back(bit(value[s], row));
        seen[in] = out;
    }
    for (const auto& [in, out] : seen) {
        window.input_value.push_back(in);
        window.output_value.push_back(out);
    }
}

// Variables and clauses for a window of `gates` gates.
struct Encoding {
    const Window& window;
    int gates, inputs, rows, variables = 0;
    std::vector<int> clauses;  // each ends in 0

    Encoding(const Window& w, int count)
        : window(w),
          gates(count),
          inputs(static_cast<int>(w.inputs.size())),
          rows(static_cast<int>(w.input_value.size())) {}

    std::vector<std::vector<int>> select[3];  // [operand][gate][signal]
    std::vector<std::vector<int>> entry;      // [gate][index of the table]
    std::vector<std::vector<int>> value;      // [gate][row]
    std::vector<std::vector<int>> output;     // [output][gate]

    void clause(std::initializer_list<int> literals) {
        clauses.insert(clauses.end(), literals);
        clauses.push_back(0);
    }
    void exactly_one(const std::vector<int>& literals) {
        clauses.insert(clauses.end(), literals.begin(), literals.end());
        clauses.push_back(0);
        for (size_t i = 0; i < literals.size(); ++i)
            for (size_t j = 0; j < i; ++j) clause({-literals[i], -literals[j]});
    }
    std::vector<int> fresh(int n) {
        std::vector<int> result;
        for (int i = 0; i < n; ++i) result.push_back(++variables);
        return result;
    }

    void encode() {
        for (int i = 0; i < gates; ++i) {
            for (auto& operand : select) {
                operand.push_back(fresh(inputs + i));
                exactly_one(operand[i]);
            }
            entry.push_back(fresh(8));
            value.push_back(fresh(rows));
            order(i);
            for (int row = 0; row < rows; ++row) gate_in_row(i, row);
        }
        for (size_t h = 0; h < window.outputs.size(); ++h) {
            output.push_back(fresh(gates));
            exactly_one(output[h]);
            for (int i = 0; i < gates; ++i)
                for (int row = 0; row < rows; ++row)
                    clause({-output[h][i],
                            window.output_value[row][h] ? value[i][row] : -value[i][row]});
        }
    }

    // Operands are in falling order; the first two differ.
    void order(int i) {
        for (int k = 0; k < 2; ++k)
            for (int first = 0; first < inputs + i; ++first)
                for (int second = first + k; second < inputs + i; ++second)
                    clause({-select[k][i][first], -select[k + 1][i][second]});
    }

    void gate_in_row(int i, int row) {
        int operand[3];
        for (int k = 0; k < 3; ++k) {
            operand[k] = ++variables;
            for (int s = 0; s < inputs + i; ++s) {
                const int selected = select[k][i][s];
                if (s < inputs) {
                    clause({-selected, window.input_value[row][s] ? operand[k] : -operand[k]});
                } else {
                    clause({-selected, -operand[k], value[s - inputs][row]});
                    clause({-selected, operand[k], -value[s - inputs][row]});
                }
            }
        }
        for (int index = 0; index < 8; ++index) {
            int not_here[3];
            for (int k = 0; k < 3; ++k)
                not_here[k] = index >> (2 - k) & 1 ? -operand[k] : operand[k];
            clause({not_here[0], not_here[1], not_here[2], -entry[i][index], value[i][row]});
            clause({not_here[0], not_here[1], not_here[2], entry[i][index], -value[i][row]});
        }
    }
};

// Runs the solver. Returns the value of each variable, or nothing.
std::vector<bool> solve(const Encoding& encoding, int seconds, Random& random) {
    char path[] = "/tmp/circuits-XXXXXX";
    const int descriptor = mkstemp(path);
    if (descriptor < 0) return {};
    FILE* file = fdopen(descriptor, "w");
    const long count = std::count(encoding.clauses.begin(), encoding.clauses.end(), 0);
    std::fprintf(file, "p cnf %d %ld\n", encoding.variables, count);
    for (const int literal : encoding.clauses)
        std::fprintf(file, literal == 0 ? "0\n" : "%d ", literal);
    std::fclose(file);
    const std::string command = "cadical -q -t " + std::to_string(seconds) +
                                " --shuffle=1 --seed=" + std::to_string(random.below(1000000)) +
                                " " + path;
    std::vector<bool> model;
    FILE* answer = popen(command.c_str(), "r");
    char line[4096];
    while (answer != nullptr && std::fgets(line, sizeof line, answer) != nullptr) {
        if (line[0] == 's' && line[2] == 'S')
            model.assign(static_cast<size_t>(encoding.variables) + 1, false);
        if (line[0] != 'v' || model.empty()) continue;
        char* at = line + 1;
        for (long literal = std::strtol(at, &at, 10); literal != 0;
             literal = std::strtol(at, &at, 10))
            model[static_cast<size_t>(std::labs(literal))] = literal > 0;
    }
    if (answer != nullptr) pclose(answer);
    unlink(path);
    return model;
}

int chosen(const std::vector<bool>& model, const std::vector<int>& variables) {
    for (size_t i = 0; i < variables.size(); ++i)
        if (model[static_cast<size_t>(variables[i])]) return static_cast<int>(i);
    return 0;
}

// The circuit with the window's gates from the model. Removed gates read constants.
Network replaced(const Network& network, const Window& window, const Encoding& encoding,
                 const std::vector<bool>& model) {
    Network result = network;
    const auto signal = [&](int s) {
        return s < encoding.inputs ? window.inputs[s] : network.signals() + s - encoding.inputs;
    };
    for (int i = 0; i < encoding.gates; ++i) {
        Gate g{};
        for (int k = 0; k < 3; ++k) g.in[k] = signal(chosen(model, encoding.select[k][i]));
        for (int index = 0; index < 8; ++index)
            g.table |= model[static_cast<size_t>(encoding.entry[i][index])] << index;
        result.gates.push_back(g);
    }
    std::vector<int> moved(static_cast<size_t>(network.signals()));
    for (int s = 0; s < network.signals(); ++s) moved[s] = s;
    for (size_t h = 0; h < window.outputs.size(); ++h)
        moved[window.outputs[h]] = network.signals() + chosen(model, encoding.output[h]);
    for (int i = 0; i < network.size(); ++i)
        for (int& in : result.gates[i].in) in = moved[in];
    for (int& output : result.outputs) output = moved[output];
    return cleaned(sorted(result));
}

}  // namespace

bool replace_window(Network& network, const Function& function, const WindowOptions& options,
                    Random& random) {
    Window window;
    int attempts = 0;
    while (!choose(network, options, random, window = {})) {
        if (++attempts == 1000) return false;
    }
    tabulate(network, window);
    if (options.gates <= options.fewer || window.input_value.empty()) return false;
    Encoding encoding(window, options.gates - options.fewer);
    encoding.encode();
    const std::vector<bool> model = solve(encoding, options.seconds, random);
    if (model.empty()) return false;
    Network next = replaced(network, window, encoding, model);
    if (!computes(next, function)) {
        std::fprintf(stderr, "window: the circuit is wrong\n");
        return false;
    }
    network = next;
    return true;
}

}  // namespace circuits

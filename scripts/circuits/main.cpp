// find-circuits: searches for circuits of three-input gates for the S-boxes.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "data.h"
#include "search.h"
#include "window.h"

using namespace circuits;

namespace {

const char usage[] =
    "usage: find-circuits [option value]... [S-box]...\n"
    "  --directory DIR   where the best circuits are read and written, one file each\n"
    "  --seconds N       for each S-box (60)\n"
    "  --seed N          of the pseudorandom numbers (1)\n"
    "  --stop FILE       end while this file exists\n"
    "  --slack N         gates over the best size that a descent may add (2)\n"
    "  --copies N        attempts to add a gate, of 1000 moves (50)\n"
    "  --resets N        returns to the best circuit, of 100000 moves over its size (100)\n"
    "  --pairs N         moves of two gates, of 1000 (50)\n"
    "  --patience N      moves without a smaller circuit that end a descent (300000)\n"
    "  --fresh 1         start from a new circuit each time\n"
    "  --rounds N        parts of a DES circuit dropped and found again, after each descent "
    "(3000)\n"
    "  --windows N       windows tried by the SAT solver after each descent (0)\n"
    "  --window-gates N  gates of a window, at most (5)\n"
    "  --others N        signals beside a window's inputs that its replacement may read (8)\n"
    "  --print TYPE      search nothing; print the circuit as a type for core/gates.h\n"
    "Without an S-box it prints the size of each best circuit.\n";

bool set(SearchOptions& options, const char* name, const char* value) {
    const long number = std::strtol(value, nullptr, 10);
    const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
    if (is("--directory"))
        options.directory = value;
    else if (is("--seconds"))
        options.seconds = std::atof(value);
    else if (is("--seed"))
        options.seed = static_cast<uint64_t>(number);
    else if (is("--stop"))
        options.stop_file = value;
    else if (is("--slack"))
        options.slack = static_cast<int>(number);
    else if (is("--copies"))
        options.copies = static_cast<int>(number);
    else if (is("--resets"))
        options.resets = static_cast<int>(number);
    else if (is("--pairs"))
        options.pairs = static_cast<int>(number);
    else if (is("--patience"))
        options.patience = number;
    else if (is("--fresh"))
        options.fresh = number != 0;
    else if (is("--rounds"))
        options.rounds = static_cast<int>(number);
    else if (is("--windows"))
        options.windows = static_cast<int>(number);
    else if (is("--window-gates"))
        options.window_gates = static_cast<int>(number);
    else if (is("--others"))
        options.others = static_cast<int>(number);
    else
        return false;
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    SearchOptions options;
    std::vector<std::string> names;
    std::string type;
    for (int i = 1; i < argc; ++i) {
        if (argv[i][0] != '-') {
            names.push_back(argv[i]);
        } else if (i + 1 < argc && std::strcmp(argv[i], "--print") == 0) {
            type = argv[++i];
        } else if (i + 1 == argc || !set(options, argv[i], argv[i + 1])) {
            std::fputs(usage, stderr);
            return 2;
        } else {
            ++i;
        }
    }
    if (options.windows > 0 && !solver_is_there()) {
        std::fputs("find-circuits: no cadical (Debian package `cadical`): no windows\n", stderr);
        options.windows = 0;
    }
    bool known = true;
    for (const Box& box : all_boxes()) {
        const std::string& name = box.function.name;
        if (names.empty())
            std::printf("%s %d (in the tree: %d)\n", name.c_str(),
                        best_of(box, options.directory).size(), box.circuit.size());
    }
    for (const std::string& name : names) {
        bool found = false;
        for (const Box& box : all_boxes()) {
            if (box.function.name != name) continue;
            found = true;
            if (!type.empty()) {
                const Network best = best_of(box, options.directory);
                std::fputs(data_of(type, best).c_str(), stdout);
                continue;
            }
            std::printf("%s: %d gates at the end\n", name.c_str(), search(box, options).size());
        }
        if (!found)
            std::fprintf(stderr, "find-circuits: no S-box %s\n", name.c_str()), known = false;
    }
    return known ? 0 : 2;
}

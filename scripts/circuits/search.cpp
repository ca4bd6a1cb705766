// The loop of the search.
#include "search.h"

#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "data.h"
#include "resubstitution.h"
#include "selection.h"
#include "tower.h"
#include "window.h"

namespace circuits {

namespace {

double now() {
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(time).count();
}

struct Search {
    const Box& box;
    const SearchOptions& options;
    Random random;
    double end;
    Network best;

    bool over() const {
        struct stat status;
        return now() >= end ||
               (!options.stop_file.empty() && stat(options.stop_file.c_str(), &status) == 0);
    }

    void keep(const Network& found) {
        if (found.size() > best.size()) return;
        if (found.size() == best.size() && operators_of(found) > operators_of(best)) return;
        if (found.size() < best.size()) {
            std::printf("%s: %d gates\n", box.function.name.c_str(), found.size());
            std::fflush(stdout);
        }
        best = found;
        if (options.directory.empty()) return;
        std::ofstream(options.directory + "/" + box.function.name + ".txt") << text_of(best);
    }

    Network start() {
        if (!options.fresh && random.below(4) != 0) return best;
        const Network fresh = box.inversion ? tower_circuit(box.in, box.out, random)
                                            : selection_circuit(box.function, random);
        if (computes(fresh, box.function)) return fresh;
        std::fprintf(stderr, "%s: a start is wrong\n", box.function.name.c_str());
        return best;
    }

    // A random walk over circuits of the least size so far and a few gates more.
    Network descend(const Network& from) {
        Resubstitution walk(from, box.function, random);
        Network least = walk.network();
        for (long quiet = 0; quiet < options.patience; ++quiet) {
            if (quiet % 1000 == 0 && over()) break;
            if (random.below(1000) < options.pairs)
                walk.move_two(300000);
            else
                walk.move(false);
            const int size = walk.network().size();
            if (size < least.size()) quiet = 0;
            if (size <= least.size())
                least = walk.network();
            else if (random.below(100000) < options.resets)
                walk.take(least);
            if (size < least.size() + options.slack && random.below(1000) < options.copies)
                walk.move(true);
        }
        return least;
    }

    // Drops a part of a small circuit, finds another, and walks from there; again from the result
    // if it is no larger, at times if it is by one gate.
    void rebuild(Network current) {
        for (int round = 0; round < options.rounds && !over(); ++round) {
            const Network next = random.below(4) == 0
                                     ? rebuilt_outputs(current, box.function, 3, random)
                                     : rebuilt(current, random.below(2), random);
            if (next.outputs.empty() || next.size() > current.size() + 3) continue;
            Resubstitution walk(next, box.function, random);
            for (int i = 0; i < 20; ++i) {
                if (walk.network().size() <= current.size() && random.below(4) == 0)
                    walk.move(true);
                walk.greedy = false;
                walk.move(false);
            }
            walk.greedy = true;
            const int moves = 200 << random.below(4);
            for (int i = 0; i < moves; ++i)
                if (random.below(1000) < options.pairs)
                    walk.move_two(300000);
                else
                    walk.move(false);
            keep(walk.network());
            const int allowed = random.below(20) == 0 ? best.size() + 1 : current.size();
            if (walk.network().size() <= allowed) current = walk.network();
            if (random.below(100) == 0) current = best;
        }
    }

    void windows() {
        WindowOptions window;
        Network network = best;
        for (int i = 0; i < options.windows && !over(); ++i) {
            window.gates = 2 + random.below(options.window_gates - 1);
            window.fewer = random.below(2);
            window.others = options.others;
            if (replace_window(network, box.function, window, random)) keep(network);
        }
    }
};

}  // namespace

Network best_of(const Box& box, const std::string& directory) {
    std::ifstream file(directory + "/" + box.function.name + ".txt");
    std::ostringstream text;
    text << file.rdbuf();
    const Network read = network_of(text.str());
    const Network tree = cleaned(sorted(box.circuit));
    return computes(read, box.function) && read.size() <= tree.size() ? read : tree;
}

Network search(const Box& box, const SearchOptions& options) {
    Search search{box, options, Random(options.seed), now() + options.seconds,
                  best_of(box, options.directory)};
    while (!search.over()) {
        const Network found = search.descend(search.start());
        std::printf("%s: descent to %d, best %d\n", box.function.name.c_str(), found.size(),
                    search.best.size());
        std::fflush(stdout);
        search.keep(found);
        if (!box.inversion)
            search.rebuild(found.size() <= search.best.size() + 1 ? found : search.best);
        search.windows();
    }
    return search.best;
}

}  // namespace circuits

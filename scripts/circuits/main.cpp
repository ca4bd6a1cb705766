// Searches for smaller circuits of S-boxes.
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "boxes.h"
#include "resubstitution.h"

using namespace circuits;

static double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main(int argc, char** argv) {
    const std::string name = argv[1];
    const double limit = std::atof(argv[2]);
    const uint64_t seed = std::strtoull(argv[3], nullptr, 10);
    (void)argc;
    for (const Box& box : all_boxes()) {
        if (!computes(box.circuit, box.function)) std::printf("%s wrong\n", box.function.name.c_str());
        if (box.function.name != name) continue;
        Random random(seed);
        Resubstitution search(box.circuit, box.function, random);
        std::printf("start %d\n", search.network().size());
        const double start = seconds();
        double said = start;
        long moves = 0;
        Network best = search.network();
        while (seconds() - start < limit) {
            for (int i = 0; i < 100; ++i, ++moves) {
                search.move(false);
                if (search.network().size() < best.size()) {
                    best = search.network();
                    std::printf("%.1f s, %ld moves: %d\n", seconds() - start, moves, best.size());
                    std::fflush(stdout);
                }
            }
            if (search.network().size() < best.size() + 1 && random.below(10) == 0) search.move(true);
            if (search.network().size() > best.size() && random.below(50) == 0) search.take(best);
        }
        std::printf("%ld moves, best %d, now %d\n", moves, best.size(), search.network().size());
        std::ofstream("/tmp/" + name + "." + std::to_string(seed)) << text_of(best);
    }
}

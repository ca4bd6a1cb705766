// The program `warpseal-bench`.
#include "bench/commands.h"

int main(int argument_count, char** arguments) {
    return warpseal::bench::run_bench(argument_count, arguments);
}

// The program `warpseal-bench`.
#include "bench/commands.h"

int main(int argument_count, char** arguments) {
    return warpseal::papers::run_program(argument_count, arguments);
}

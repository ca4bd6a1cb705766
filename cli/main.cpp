// The program `warpseal`.
#include "cli/commands.h"

int main(int argument_count, char** arguments) {
    return warpseal::cli::run_warpseal(argument_count, arguments);
}

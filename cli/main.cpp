// The program `warpseal`.
#include "cli/support/command.h"

int main(int argument_count, char** arguments) {
    return warpseal::cli::run_program(argument_count, arguments);
}

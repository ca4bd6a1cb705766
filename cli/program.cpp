// The commands of `warpseal`, and the text of `warpseal --help`.
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <cstring>

#include "cli/commands.h"
#include "cli/program.h"
#include "cli/support/format.h"
#include "cli/support/program.h"

namespace warpseal::cli {
namespace {

std::string exit_codes() {
    std::string text = "Exit codes (stable; take an unknown one for a failure):\n";
    for (const ExitCodeText& row : exit_code_texts)
        text += cli::format("  {:>3}  {}\n", static_cast<int>(row.code), row.text);
    return text;
}

// CLI11 takes a positional argument "[a,b]" for the list of a and b, and "{}" for an empty list.
// The same path is no list if it begins with "./". Without memory the argument stays as it is.
void keep_names(int argument_count, char** arguments) {
    for (int i = 1; i < argument_count; ++i) {
        const size_t length = strlen(arguments[i]);
        const bool brackets =
            length >= 2 && arguments[i][0] == '[' && arguments[i][length - 1] == ']';
        if (!brackets && strcmp(arguments[i], "{}") != 0) continue;
        char* const path = static_cast<char*>(malloc(length + 3));
        if (path == nullptr) continue;
        stpcpy(stpcpy(path, "./"), arguments[i]);
        arguments[i] = path;  // as long as the program runs
    }
}

}  // namespace

void add_commands(CLI::App& program, Session& session) {
    program.fallthrough();
    program.require_subcommand(1);
    for (const auto add : {add_encrypt, add_decrypt, add_verify, add_rescue, add_info, add_key,
                           add_keygen, add_random, add_raw, add_devices, add_list, add_doctor,
                           add_bench, add_kem, add_vectors, add_tls_bench, add_help})
        add(program, session);
    program.footer(
        "Examples:\n"
        "  warpseal keygen -o my.key\n"
        "  warpseal encrypt -k my.key disk.img -o disk.img.ws\n"
        "  warpseal decrypt -k my.key disk.img.ws -o disk.img\n"
        "  warpseal encrypt -p --tar photos -o photos.ws\n"
        "  warpseal decrypt -p --tar photos.ws --output-dir .\n"
        "`warpseal COMMAND --help` shows a command's options.\n\n" +
        exit_codes());
}

int run_warpseal(int argument_count, char** arguments) {
    keep_names(argument_count, arguments);
    return run_program(
        {"warpseal", "Warpseal encrypts and authenticates big files on all cores and GPUs.",
         add_commands},
        argument_count, arguments);
}

}  // namespace warpseal::cli

// Registers the options of many files.
#include "cli/many/choice.h"

#include <CLI/CLI.hpp>

namespace warpseal::cli {

void add_many_options(CLI::App& command, ManyChoice& choice) {
    command.add_flag("--recursive", choice.recursive,
                     "take the files in directories; symbolic links in them are not followed");
    command
        .add_option("--files-from0", choice.names_file,
                    "take the names in FILE too, each ended by a zero byte; - is standard input")
        ->type_name("FILE")
        ->check([](const std::string& path) { return path.empty() ? "it names no file" : ""; });
    command.add_flag("--keep-going", choice.keep_going,
                     "go on after a file that failed; the exit code is then 3");
    command.add_flag("--json", choice.json, "print one JSON object for each file on stdout");
}

void add_tar_option(CLI::App& command, ManyChoice& choice, const char* text) {
    command.add_flag("--tar", choice.tar, text);
}

void add_many_output_options(CLI::App& command, ManyChoice& choice) {
    command
        .add_option("--output-dir", choice.output_directory,
                    "write into DIR, which is created; --recursive keeps the tree")
        ->type_name("DIR")
        ->check(
            [](const std::string& path) { return path.empty() ? "it names no directory" : ""; });
    command
        .add_option("--suffix", choice.suffix,
                    "what names of sealed files end in (default .ws; .age for age files)")
        ->type_name(".EXT")
        ->check([](const std::string& suffix) {
            const bool good = suffix.size() > 1 && suffix.find('/') == std::string::npos &&
                              suffix.find('\0') == std::string::npos;
            return good ? "" : "it has at least two characters and no /";
        });
    command.add_flag("--skip-done", choice.skip_done,
                     "skip files whose output is there, opens and has the right length");
    command.add_flag("--rm", choice.remove,
                     "remove each input after its output is whole and synced");
}

}  // namespace warpseal::cli

// Declares the options for files of other programs.
#include <CLI/CLI.hpp>

#include "cli/foreign/choice.h"
#include "cli/foreign/floe.h"

namespace warpseal::cli {

bool choose_foreign_format(const std::string& name, ForeignChoice& choice) {
    choice.format_given = true;
    choice.format = name == "floe"      ? ForeignFormat::floe
                    : name == "openssl" ? ForeignFormat::openssl
                                        : ForeignFormat::none;
    return choice.format != ForeignFormat::none;
}

void add_floe_options(CLI::App& command, ForeignChoice& choice) {
    CLI::Option* const aad =
        command.add_option("--aad", choice.aad, "floe: data to authenticate, hexadecimal")
            ->type_name("HEX");
    command
        .add_option("--aad-file", choice.aad_file,
                    "floe: data to authenticate, the content of a file")
        ->type_name("FILE")
        ->check([](const std::string& path) {
            return path.empty() ? "it names no file; without data to authenticate, leave it out"
                                : "";
        })
        ->excludes(aad);
}

void add_floe_segment_option(CLI::App& command, ForeignChoice& choice) {
    command
        .add_option("--segment-bytes", choice.segment_bytes,
                    "floe: length of a segment, 33 to 16MiB (default 1MiB)")
        ->type_name("N")
        ->transform(size_value().description(""))
        ->check(CLI::Range(uint64_t{FloeHeader::least_segment}, uint64_t{FloeHeader::most_segment})
                    .description(""));
}

void add_openssl_options(CLI::App& command, ForeignChoice& choice) {
    command
        .add_option("-c,--cipher", choice.cipher,
                    "files of openssl enc: aes-256-cbc, des3, …, which they do not record")
        ->type_name("CIPHER-MODE");
    command
        .add_option("--digest", choice.digest,
                    "openssl enc -md: sha256 (default), or md5 for files from before 2016, …")
        ->type_name("DIGEST");
    command.add_flag("--pbkdf2", choice.pbkdf2, "openssl enc -pbkdf2: 10,000 iterations");
    command.add_option("--iter", choice.iterations, "openssl enc -iter: PBKDF2 with N iterations")
        ->type_name("N")
        ->check(CLI::Range(uint32_t{1}, uint32_t{INT32_MAX}).description(""));
    command.add_flag("--no-salt", choice.no_salt,
                     "openssl enc -nosalt: needs --format openssl, as such a file has no header");
    command.add_flag("--base64", choice.base64,
                     "openssl enc -a: recognised by itself unless there is no salt");
}

}  // namespace warpseal::cli

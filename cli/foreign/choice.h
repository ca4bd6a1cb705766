// Options for files in formats of other programs.
#pragma once

#include <cstdint>
#include <string>

#include "cli/support/command.h"

namespace warpseal::cli {

enum class ForeignFormat { none, floe, openssl };

struct ForeignChoice {
    ForeignFormat format = ForeignFormat::none;
    bool format_given = false;  // --format names any format
    std::string aad, aad_file;  // FLOE; `aad` is hexadecimal
    uint64_t segment_bytes = 0;
    std::string cipher, digest;  // openssl enc
    uint32_t iterations = 0;
    bool pbkdf2 = false, no_salt = false, base64 = false;
    bool has_floe_options() const {
        return !aad.empty() || !aad_file.empty() || segment_bytes != 0;
    }
    bool has_openssl_options() const {
        return !cipher.empty() || !digest.empty() || iterations != 0 || pbkdf2 || no_salt || base64;
    }
};

// Handles a name of --format. Returns false for a name of another format.
bool choose_foreign_format(const std::string& name, ForeignChoice& choice);

void add_floe_options(CLI::App& command, ForeignChoice& choice);         // --aad, --aad-file
void add_floe_segment_option(CLI::App& command, ForeignChoice& choice);  // --segment-bytes
void add_openssl_options(CLI::App& command, ForeignChoice& choice);

}  // namespace warpseal::cli

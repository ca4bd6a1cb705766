// Ciphers, targets, modes and suites of the library, as the commands name them.
#pragma once

#include <string>
#include <vector>

#include "warpseal/warpseal.h"

namespace warpseal::cli {

std::vector<warpseal_cipher_info> all_ciphers();
std::vector<warpseal_target_info> all_targets();
std::vector<warpseal_mode> modes_of(const warpseal_cipher_info& cipher);

// Returns the mode name used by standards and vector files: "cfb128" or "cfb64" by block size,
// otherwise warpseal_mode_name.
std::string full_mode_name(const warpseal_cipher_info& cipher, warpseal_mode mode);

// Returns names such as "aes-256-gcm", the default first: the suites of docs/file-format.md whose
// ciphers the library has.
std::vector<std::string> file_suites();

}  // namespace warpseal::cli

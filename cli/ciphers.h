// The ciphers of the library as the commands name them.
#pragma once

#include <string>
#include <vector>

#include "warpseal/warpseal.h"

namespace warpseal::cli {

std::vector<warpseal_cipher_info> all_ciphers();
std::vector<warpseal_target_info> all_targets();
std::vector<warpseal_mode> modes_of(const warpseal_cipher_info& cipher);

// As the standards and vector files write it: "cfb128" or "cfb64" by the block, else
// warpseal_mode_name.
std::string full_mode_name(const warpseal_cipher_info& cipher, warpseal_mode mode);

// "aes-256-gcm" and its like, the default first: the suites of docs/file-format.md whose ciphers
// the library has.
std::vector<std::string> file_suites();

}  // namespace warpseal::cli

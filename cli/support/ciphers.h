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

// Returns every name that -c of `warpseal raw` knows, such as "aes-256-ctr" and "aria-128-cfb128".
std::vector<std::string> cipher_mode_names();
// Returns the devices that a name without numbers can choose: auto, cpu, cuda and the targets.
std::vector<std::string> device_names();

// Returns names such as "aes-256-gcm", the default first: the suites of docs/file-format.md whose
// ciphers the library has.
std::vector<std::string> file_suites();

}  // namespace warpseal::cli

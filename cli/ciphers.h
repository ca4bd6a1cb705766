// The ciphers of the library as the commands name them.
#pragma once

#include <string>
#include <vector>

#include "warpseal/warpseal.h"

namespace warpseal::cli {

std::vector<warpseal_cipher_info> all_ciphers();
std::vector<warpseal_target_info> all_targets();

// "aes-256-gcm" and its like, the default first: files take GCM with 16- and 32-byte keys, as chunked encryption defines it.
std::vector<std::string> file_suites();

}  // namespace warpseal::cli

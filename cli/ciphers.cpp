// The ciphers of the library as the commands name them, asked from the library: a new cipher needs no change here.
#include "ciphers.h"

#include <algorithm>

namespace warpseal::cli {

std::vector<warpseal_cipher_info> all_ciphers() {
    std::vector<warpseal_cipher_info> all;
    warpseal_cipher_info info{};
    while (warpseal_cipher_at(all.size(), &info) == WARPSEAL_OK) all.push_back(info);
    return all;
}

std::vector<warpseal_target_info> all_targets() {
    std::vector<warpseal_target_info> all;
    warpseal_target_info info{};
    while (warpseal_target_at(all.size(), &info) == WARPSEAL_OK) all.push_back(info);
    return all;
}

std::vector<warpseal_mode> modes_of(const warpseal_cipher_info& cipher) {
    std::vector<warpseal_mode> modes;
    for (int mode = 0; mode < WARPSEAL_MODE_COUNT; ++mode)
        if (cipher.modes >> mode & 1U) modes.push_back(static_cast<warpseal_mode>(mode));
    return modes;
}

std::string full_mode_name(const warpseal_cipher_info& cipher, warpseal_mode mode) {
    const std::string name = warpseal_mode_name(mode);
    return mode == WARPSEAL_CFB ? name + std::to_string(8 * cipher.block_bytes) : name;
}

std::vector<std::string> file_suites() {
    std::vector<warpseal_cipher_info> ciphers = all_ciphers();
    std::stable_sort(ciphers.begin(), ciphers.end(), [](const auto& a, const auto& b) { return a.key_bytes > b.key_bytes; });
    std::vector<std::string> suites;
    for (const warpseal_cipher_info& cipher : ciphers) {
        const bool gcm = (cipher.modes >> WARPSEAL_GCM & 1U) != 0;
        if (gcm && (cipher.key_bytes == 16 || cipher.key_bytes == 32)) suites.push_back(std::string(cipher.name) + "-gcm");
    }
    return suites;
}

}  // namespace warpseal::cli

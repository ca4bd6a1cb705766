// Lists the library's ciphers by asking the library, so that a new cipher needs no change here.
#include "cli/support/ciphers.h"

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

std::vector<std::string> cipher_mode_names() {
    std::vector<std::string> names;
    for (const warpseal_cipher_info& cipher : all_ciphers())
        for (const warpseal_mode mode : modes_of(cipher))
            names.push_back(std::string(cipher.name) + "-" + full_mode_name(cipher, mode));
    return names;
}

std::vector<std::string> device_names() {
    std::vector<std::string> names{"auto", "cpu", "cuda"};
    for (const warpseal_target_info& target : all_targets())
        if (std::find(names.begin(), names.end(), target.name) == names.end())
            names.emplace_back(target.name);
    return names;
}

std::vector<std::string> file_suites() {
    const std::vector<warpseal_cipher_info> ciphers = all_ciphers();
    std::vector<std::string> suites;
    for (const char* const cipher : {"aes-256", "aes-128", "aria-256", "camellia-256"})
        if (std::any_of(ciphers.begin(), ciphers.end(),
                        [&](const auto& info) { return info.name == std::string(cipher); }))
            suites.push_back(std::string(cipher) + "-gcm");
    return suites;
}

}  // namespace warpseal::cli

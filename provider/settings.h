// What a user may set, in the provider's section of openssl.cnf or, before that, in the
// environment.
#pragma once

#include <openssl/core.h>

#include <array>
#include <cstdint>
#include <string>

#include "provider/groups.h"

namespace warpseal::provider {

struct CoreCalls;

struct GroupSetting {
    bool offered = true;
    uint16_t number = 0;
};

struct Settings {
    std::string device = "auto";  // as warpseal_engine_options has it
    uint32_t threads = 0;
    // As warpseal_kem_batcher_options has them; 0: its own.
    uint32_t max_batch = 0;
    uint32_t max_delay_us = 0;
    uint32_t max_waiting = 0;
    std::string metrics_directory;
    std::array<GroupSetting, groups.size()> by_group;  // in the order of the table
};

// False, with an error raised that names the setting, if one has a value that it cannot have.
bool read_settings(const OSSL_CORE_HANDLE* core, const CoreCalls& calls, Settings& settings);

}  // namespace warpseal::provider

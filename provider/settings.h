// User settings from the environment or, with lower priority, from the provider's section of
// openssl.cnf.
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

// Condition on which the module provides algorithms and groups with ML-KEM. automatic: always, but
// behind those that OpenSSL 3.5 and later have (precedence.h).
enum class MlKemSetting : uint8_t { automatic, always, never };

struct Settings {
    std::string device = "auto";  // as in warpseal_engine_options
    uint32_t threads = 0;
    // Values of warpseal_kem_batcher_options; 0: the batcher's default.
    uint32_t max_batch = 0;
    uint32_t max_delay_us = 0;
    uint32_t max_waiting = 0;
    std::string metrics_directory;
    MlKemSetting mlkem = MlKemSetting::automatic;
    bool x25519 = true;                                // provided, behind OpenSSL's own
    std::array<GroupSetting, groups.size()> by_group;  // in the order of `groups`
};

// Returns false, with an error raised that names the setting, if a value is invalid.
bool read_settings(const OSSL_CORE_HANDLE* core, const CoreCalls& calls, Settings& settings);

}  // namespace warpseal::provider

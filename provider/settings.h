// What a user may set, in the provider's section of openssl.cnf or, before that, in the environment.
#pragma once

#include <openssl/core.h>

#include <cstdint>
#include <string>

namespace warpseal::provider {

struct CoreCalls;

struct Settings {
    std::string device = "auto";  // as warpseal_engine_options has it
    uint32_t threads = 0;
};

// False, with an error raised that names the setting, if one has a value that it cannot have.
bool read_settings(const OSSL_CORE_HANDLE* core, const CoreCalls& calls, Settings& settings);

}  // namespace warpseal::provider

// Engines without a GPU unless they are given one, and keys of a fixed pattern.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "engine/key.h"
#include "engine/pattern.h"

namespace tests {

using namespace warpseal;

inline warpseal_status create(const char* device, std::unique_ptr<Engine>& engine,
                              unsigned threads = 1, const GpuBackend* cuda = nullptr) {
    EngineOptions options;
    options.device = device;
    options.threads = threads;
    options.cuda = cuda;
    return Engine::create(options, engine);
}

inline std::unique_ptr<Key> key_of(Engine& engine, const char* cipher = "aes-256") {
    const Text secret = pattern(32, 1);
    std::unique_ptr<Key> key;
    EXPECT_EQ(
        engine.key(cipher, {secret.data(), std::strcmp(cipher, "aes-128") == 0 ? size_t{16} : 32},
                   key),
        WARPSEAL_OK);
    return key;
}

}  // namespace tests

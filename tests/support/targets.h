// The targets of this machine, and self-freeing handles of the C interface, for tests.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "vectors.h"
#include "warpseal/warpseal.h"

namespace targets {

struct Freed {
    void operator()(warpseal_engine* engine) const { warpseal_engine_destroy(engine); }
    void operator()(warpseal_key* key) const { warpseal_key_destroy(key); }
};
using EngineHandle = std::unique_ptr<warpseal_engine, Freed>;
using KeyHandle = std::unique_ptr<warpseal_key, Freed>;

inline std::vector<warpseal_target_info> all() {
    std::vector<warpseal_target_info> out;
    warpseal_target_info info;
    while (warpseal_target_at(out.size(), &info) == WARPSEAL_OK) out.push_back(info);
    return out;
}

inline std::vector<warpseal_cipher_info> ciphers() {
    std::vector<warpseal_cipher_info> out;
    warpseal_cipher_info info;
    for (size_t i = 0; warpseal_cipher_at(i, &info) == WARPSEAL_OK; ++i)
        if (vectors::wanted(info.name)) out.push_back(info);
    return out;
}

inline bool has(const warpseal_cipher_info& cipher, warpseal_mode mode) {
    return (cipher.modes >> mode & 1) != 0;
}

// Fails a test on an unexpected notice: work returned by a GPU is still completed, so results alone
// would not show it. A forked child has lost its parent's GPU, and may report that.
inline const pid_t this_process = getpid();
inline void unexpected(void*, const char* text) {
    if (getpid() == this_process) ADD_FAILURE() << "notice of the engine: " << text;
}

// Returns an engine on that device alone; null after a failed expectation.
inline EngineHandle engine(const std::string& device, unsigned threads = 1,
                           void (*notice)(void*, const char*) = nullptr) {
    warpseal_engine_options options{};
    options.struct_bytes = sizeof options;
    options.threads = threads;
    options.device = device.c_str();
    options.notice = notice;
    warpseal_engine* out = nullptr;
    EXPECT_EQ(warpseal_engine_create(&options, &out), WARPSEAL_OK) << device;
    return EngineHandle(out);
}

inline KeyHandle key(const EngineHandle& engine, const std::string& cipher,
                     const vectors::Text& bytes) {
    warpseal_key* out = nullptr;
    EXPECT_EQ(warpseal_key_create(engine.get(), cipher.c_str(), bytes.data(), bytes.size(), &out),
              WARPSEAL_OK)
        << cipher;
    return KeyHandle(out);
}

}  // namespace targets

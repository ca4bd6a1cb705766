// Shared by the known-answer tests: an engine on one target alone, modes as the vectors name them,
// and the count for the matrix.
#pragma once

#include <gtest/gtest.h>

#include "c_api/internal.h"
#include "support/matrix.h"
#include "support/targets.h"
#include "support/vectors.h"

namespace tests {

// Maps "cbc-pkcs7", "cfb128" and "cfb64" to the library's shorter names.
inline warpseal_mode mode_of(const std::string& name) {
    const std::string ours = name == "cbc-pkcs7" ? "cbc" : name.rfind("cfb", 0) == 0 ? "cfb" : name;
    for (int m = 0; m < WARPSEAL_MODE_COUNT; ++m)
        if (ours == warpseal_mode_name(static_cast<warpseal_mode>(m)))
            return static_cast<warpseal_mode>(m);
    throw std::runtime_error("vectors of a mode that the library does not have: " + name);
}

inline bool is_tagged(warpseal_mode mode) { return mode == WARPSEAL_GCM || mode == WARPSEAL_CCM; }

class OnEachTarget : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        for (const warpseal_target_info& target : targets::all()) {
            if (std::string(target.name) != GetParam()) continue;
            if (!target.usable) GTEST_SKIP() << "NOT RUN: " << target.reason;
            engine_ = targets::engine(target.name);
            ASSERT_TRUE(engine_);
            return;
        }
        FAIL() << "the library does not list this target";
    }
    void count(const std::string& cipher, warpseal_mode mode, warpseal::Direction direction) {
        matrix::count(GetParam(), cipher, mode, direction);
    }
    // Uses the internal interface, which accepts the weak keys that occur in many vectors.
    targets::KeyHandle key(const std::string& cipher, warpseal_mode mode,
                           const vectors::Text& bytes) const {
        warpseal_key* out = nullptr;
        const auto create =
            mode == WARPSEAL_XTS ? warpseal_internal_key_create_xts : warpseal_internal_key_create;
        EXPECT_EQ(create(engine_.get(), cipher.c_str(), bytes.data(), bytes.size(), &out),
                  WARPSEAL_OK)
            << cipher;
        return targets::KeyHandle(out);
    }

    targets::EngineHandle engine_;
};

inline auto every_target() {
    return testing::Values("portable", "aesni", "avx2", "vaes256", "vaes512", "cuda");
}
inline std::string target_name(const testing::TestParamInfo<const char*>& info) {
    return info.param;
}

}  // namespace tests

// Generators of drbg.h in tests, on cores and on a GPU.
#pragma once

#include "support/targets.h"
#include "tree.h"
#include "warpseal/drbg.h"

namespace tests {

struct DrbgFreed {
    void operator()(warpseal_drbg* drbg) const { warpseal_drbg_destroy(drbg); }
};
using DrbgHandle = std::unique_ptr<warpseal_drbg, DrbgFreed>;

inline warpseal_status create(const targets::EngineHandle& engine, const Text& personalization,
                              bool prediction_resistance, DrbgHandle& out) {
    warpseal_drbg_options options{};
    options.struct_bytes = sizeof options;
    options.personalization = personalization.data();
    options.personalization_bytes = personalization.size();
    options.prediction_resistance = prediction_resistance ? 1 : 0;
    warpseal_drbg* made = nullptr;
    const warpseal_status status = warpseal_drbg_create(engine.get(), &options, &made);
    out.reset(made);
    return status;
}

inline DrbgHandle drbg_on(const targets::EngineHandle& engine, const Text& personalization = {},
                          bool prediction_resistance = false) {
    DrbgHandle out;
    EXPECT_EQ(create(engine, personalization, prediction_resistance, out), WARPSEAL_OK);
    return out;
}

inline Text filled(const DrbgHandle& drbg, size_t bytes) {
    Text out(bytes, 0xa5);
    EXPECT_EQ(warpseal_drbg_fill(drbg.get(), out.data(), bytes), WARPSEAL_OK);
    return out;
}

// Returns why a target cannot be used here; empty if it can.
inline std::string why_not(const std::string& name) {
    for (const warpseal_target_info& target : targets::all())
        if (target.name == name && !target.usable) return target.reason;
    return "";
}

// Restores the kernel's random source after each test.
class DrbgTest : public testing::Test {
protected:
    ~DrbgTest() override { source = Source::kernel; }
};

}  // namespace tests

// All values of ML-KEM's single coefficients, in every lane of every target.
#include "mlkem_coefficients.h"

#include "support/kem_backends.h"

namespace {

struct OnTarget {
    const char* name;
    warpseal::Target target;
    const MlKemCoefficients& checks;
    friend void PrintTo(const OnTarget& on, std::ostream* out) { *out << on.name; }
};

class MlKemCoefficient : public testing::TestWithParam<OnTarget> {
protected:
    void SetUp() override {
        if (!warpseal::cpu_has_kem(GetParam().target))
            GTEST_SKIP() << "NOT RUN: no key encapsulation on " << GetParam().name << " here";
    }
    const MlKemCoefficients& checks() const { return GetParam().checks; }
};

TEST_P(MlKemCoefficient, CompressesEveryResidueAndBack) {
    for (const auto& check : checks().compressions) EXPECT_EQ(check(), 0);
}
TEST_P(MlKemCoefficient, ReducesEveryNumber) { EXPECT_EQ(checks().reductions(), 0); }
TEST_P(MlKemCoefficient, MultipliesEveryNumber) { EXPECT_EQ(checks().products(), 0); }

INSTANTIATE_TEST_SUITE_P(
    All, MlKemCoefficient,
    testing::Values(OnTarget{"portable", warpseal::Target::portable, mlkem_coefficients_portable},
                    OnTarget{"avx2", warpseal::Target::avx2, mlkem_coefficients_avx2},
                    OnTarget{"vaes512", warpseal::Target::vaes512, mlkem_coefficients_vaes512}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace

// The entry of every test program: GoogleTest, with a list of skipped tests.
#include <gtest/gtest.h>

#include <cstdio>

namespace {

// Repeats skipped tests at the end, so that a missing target is never mistaken for one that passed.
class NotRun : public testing::EmptyTestEventListener {
    void OnTestProgramEnd(const testing::UnitTest& program) override {
        for (int i = 0; i < program.total_test_suite_count(); ++i) {
            const testing::TestSuite& suite = *program.GetTestSuite(i);
            for (int j = 0; j < suite.total_test_count(); ++j) {
                const testing::TestInfo& test = *suite.GetTestInfo(j);
                if (!test.should_run() || !test.result()->Skipped()) continue;
                std::printf("NOT RUN %s.%s\n", suite.name(), test.name());
            }
        }
    }
};

}  // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    testing::UnitTest::GetInstance()->listeners().Append(new NotRun);
    return RUN_ALL_TESTS();
}

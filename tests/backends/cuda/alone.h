// Runs a test that may break its process in a process of its own.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace gpu {

// `test` is a disabled one of this program. It must pass and print `says`.
inline void passes_alone(const std::string& test, const std::string& says) {
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    ASSERT_GT(length, 0);
    self[length] = 0;
    const std::string command =
        std::string(self) + " --gtest_also_run_disabled_tests --gtest_filter=" + test + " 2>&1";
    std::FILE* child = popen(command.c_str(), "r");
    ASSERT_NE(child, nullptr);
    std::string said;
    for (int c; (c = std::fgetc(child)) != EOF;) said.push_back(static_cast<char>(c));
    EXPECT_EQ(pclose(child), 0) << said;
    EXPECT_NE(said.find(says), std::string::npos) << said;
}

}  // namespace gpu

// A test case of warpseal-counters: the same call on many inputs, and on one of them repeatedly.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace counting {

constexpr int random_inputs = 32;

// bring: copies secrets to the call's input. Its launches are not counted.
struct Input {
    std::string name;
    std::function<void()> bring;
};

struct TestCase {
    std::string name;
    std::function<void()> count;
};

// Ends the program unless it is right.
void expect(bool right, const std::string& what);

// Counts the call on each input and, after each fifth, on the repeated one. It uses the same
// addresses every time.
void count(const std::string& name, const std::vector<Input>& inputs, const Input& repeated,
           const std::function<void()>& call);

// Return the three operations of every set of a scheme.
std::vector<TestCase> ntru_test_cases();
std::vector<TestCase> mlkem_test_cases();
std::vector<TestCase> x25519_test_cases();

}  // namespace counting

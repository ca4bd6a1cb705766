// What a subject of warpseal-counters is: the same call on many inputs, and on one of them again
// and again.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace counting {

constexpr int random_inputs = 32;

// bring: puts secrets where the call reads them. What that launches is not counted.
struct Input {
    std::string name;
    std::function<void()> bring;
};

struct Subject {
    std::string name;
    std::function<void()> count;
};

// Ends the program unless it is right.
void expect(bool right, const std::string& what);

// Counts the call on each input and, after each fifth, on the one that is repeated. It takes the
// same addresses every time.
void count(const std::string& name, const std::vector<Input>& inputs, const Input& repeated,
           const std::function<void()>& call);

// The three operations of every set of NTRU.
std::vector<Subject> kem_subjects();

}  // namespace counting

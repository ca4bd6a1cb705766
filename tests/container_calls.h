// The system calls that the container makes, in front of libc's: each may be told to fail, or to
// move few bytes.
#pragma once

#include <atomic>
#include <cerrno>
#include <functional>

#include "container_support.h"

namespace tests {

struct Script {
    std::atomic<int> countdown{-1};  // calls until the one that fails; negative: none
    int error = 0;
    std::atomic<size_t> at_most{SIZE_MAX};  // bytes a call moves
    std::atomic<int> interrupts{0};         // every other call fails with EINTR while positive
    std::atomic<int> calls{0};
    off_t more_at = -1;  // a byte is there, whatever the file's length
    // Before each call, with its place; an errno other than 0 is how the call fails. A pointer: the
    // first calls come before constructors.
    const std::function<int(off_t)>* before = nullptr;

    bool fails(off_t at = 0) {
        ++calls;
        if (const int refused = before != nullptr ? (*before)(at) : 0) {
            errno = refused;
            return true;
        }
        if (interrupts > 0 && interrupts-- % 2 == 0) {
            errno = EINTR;
            return true;
        }
        if (countdown < 0 || countdown-- != 0) return false;
        errno = error;
        return true;
    }
};
extern Script reading, writing, drawing;  // container_faults_test.cpp

class Faults : public testing::Test {
protected:
    Faults() : text(Random(300).text(40 * chunk + 9)) {
        options.key();
        file = sealed(text, options);
    }
    ~Faults() override {
        for (Script* script : {&reading, &writing, &drawing}) {
            script->countdown = -1;
            script->at_most = SIZE_MAX;
            script->interrupts = 0;
            script->before = nullptr;
            script->more_at = -1;
        }
    }
    Options options;
    const Data text;
    Data file;
};

}  // namespace tests

// Wrappers of the container's system calls: each can be made to fail or to move few bytes.
#pragma once

#include <atomic>
#include <cerrno>
#include <functional>

#include "files.h"

namespace tests {

struct Script {
    std::atomic<int> countdown{-1};  // calls before the failing one; negative: none fails
    int error = 0;
    std::atomic<size_t> at_most{SIZE_MAX};  // maximum number of bytes per call
    std::atomic<int> interrupts{0};         // every other call fails with EINTR while positive
    std::atomic<int> calls{0};
    off_t more_at = -1;  // a byte exists there, whatever the file's length
    // Called before each call with its offset. An errno other than 0 makes the call fail. A
    // pointer, as the first calls precede constructors.
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
extern Script reading, writing, drawing, syncing;  // defined in container_faults_test.cpp

class Faults : public testing::Test {
protected:
    Faults() : text(Random(300).text(40 * chunk + 9)) {
        options.key();
        file = sealed(text, options);
    }
    ~Faults() override {
        for (Script* script : {&reading, &writing, &drawing, &syncing}) {
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

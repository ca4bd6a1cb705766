// Runs a work once for each request or step that can fail in it, each time in a process of its own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "injection.h"
#include "works.h"

namespace runner {

struct Named {
    const char* name;
    works::Work work;
    std::vector<injection::Fault> faults;
    bool needs_gpu = false;        // so that it fails after the loss of a real one
    bool always_succeeds = false;  // whatever fails
};

// Counts of one public function.
struct Points {
    long points = 0;    // faults that happened in it
    long statuses = 0;  // of these, ended in a status other than WARPSEAL_OK
};

struct Outcome {
    long runs = 0;
    std::map<std::string, Points> functions;
    std::vector<std::string> complaints;
};

// Every fault, at every request or step, until the work makes no more. Stops after ten complaints.
Outcome run(const Named& named);

}  // namespace runner

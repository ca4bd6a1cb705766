// Runs that lose their GPU, each in a process of its own: a lost GPU does not come back.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "watched.h"

namespace lost_gpu {

// Of one run, in memory that its process and the parent share.
struct Report {
    Watch watch;
    uint64_t counts[7];  // of the work itself
    char complaint[400];
    bool is_complete;
};

// Does a run in a child. Returns what is wrong, or "".
using Work = std::function<std::string(uint64_t number, Report& run)>;
// Called for each run in the parent, once it has ended. A complaint that it finds is appended.
using Judge = std::function<std::string(const Report& run)>;

// Makes `count` runs, several at once. Returns the complaints, ten at most. This process must have
// no other thread, and must not use CUDA.
std::vector<std::string> in_children(uint64_t count, const Work& work, const Judge& judge);

// Returns true if there is a GPU to lose. A child finds out.
bool has_gpu();

// A count from the environment.
uint64_t number_in(const char* variable, uint64_t usual);

}  // namespace lost_gpu

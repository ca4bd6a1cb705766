// P5's times: from file to file, by threads, and by Amdahl's law.
#pragma once

#include "bench/papers/methods.h"
#include "bench/papers/study.h"

namespace warpseal::papers::p5 {

// Key of the study. It is no secret.
std::vector<uint8_t> study_key();

// Returns the number of blocks that take a quarter of a measurement's time. Methods may be
// thousands of times slower than the product.
uint64_t blocks_in_time(const Study& study, const Method& method);
// Seconds of a block that `method` encrypts or decrypts, on `blocks` blocks in memory.
Timed block_seconds(const Study& study, const Method& method, bool encrypts, uint64_t blocks);

// Amdahl's law: the speed-up of `cores` cores, if `fraction` of one core's time is parallel.
// 0 cores: infinitely many.
constexpr double amdahl(double fraction, double cores) {
    return 1 / (1 - fraction + (cores == 0 ? 0 : fraction / cores));
}

// These take rows of figures 6 and 7 and their variants, of the tiles, and of sections 2.2 and 4.3.
void print_times(Study& study);
void print_tiles(Study& study);
void print_speed_up(Study& study);
void print_amdahl(Study& study);

}  // namespace warpseal::papers::p5

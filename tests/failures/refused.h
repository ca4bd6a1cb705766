// System requests that this program can refuse: memory, pages, threads and random bytes.
#pragma once

namespace refused {

enum class Which : unsigned char { that_one, all_from_then_on };

// Counts the requests of every thread from now on, and refuses number `number` (from 0) alone, or
// also all after it.
void begin(long number, Which which);
// Stops refusing; returns the number of requests.
long end();

}  // namespace refused

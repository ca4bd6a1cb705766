// System requests that this program can refuse: memory, pages, locked pages, threads and random
// bytes. Counts what was granted and not returned.
#pragma once

namespace refused {

enum class Which : unsigned char { that_one, all_from_then_on };

// Counts the requests of every thread from now on, and refuses number `number` (from 0) alone, or
// also all after it.
void begin(long number, Which which);
// Returns true once a request was refused since begin.
bool happened();
// Stops refusing; returns the number of requests.
long end();

// Requests of this thread are granted, and not numbered, while it is true.
extern thread_local bool exempt;

struct Held {
    long blocks = 0;        // of malloc(3) and the like
    long mapped_bytes = 0;  // of mmap(2)
};
Held held();

}  // namespace refused

// Requests to the system that this program refuses: memory, pages, threads and random bytes.
#pragma once

namespace refused {

enum class Which : unsigned char { that_one, all_from_then_on };

// Counts requests from now on, of every thread, and refuses the one of that number (from 0), or it
// and all after it.
void begin(long number, Which which);
// Refuses nothing more; returns how many requests there were.
long end();

}  // namespace refused

// Refuses the module's requests of memory, pages, threads and random bytes, and grants libcrypto's:
// a failure is then certainly of the module's own doing.
#pragma once

namespace interposed {

// Finds the module in memory. Until then all requests are granted. Returns false if it is not
// loaded.
bool find_module();

}  // namespace interposed

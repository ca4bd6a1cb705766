// The printed listings, compiled without optimization (bench/CMakeLists.txt), which keeps their
// temporaries in memory.
#ifdef _OPENMP
#include "bench/papers/openmp_as_printed.h"

template struct warpseal::papers::AsPrinted<warpseal::papers::Unoptimized>;
#endif

// The printed listings, compiled with optimization.
#ifdef _OPENMP
#include "bench/papers/openmp_as_printed.h"

template struct warpseal::papers::AsPrinted<warpseal::papers::Optimized>;
#endif

// Marks what becomes public in the middle of a call: the matrix's seed, which key generation
// derives from a secret one. Included before mlkem_group.h in the objects of
// warpseal-secrets-mlkem.
#pragma once

#include <valgrind/memcheck.h>

#define WARPSEAL_NOW_PUBLIC(memory, bytes) \
    static_cast<void>(VALGRIND_MAKE_MEM_DEFINED(memory, bytes))

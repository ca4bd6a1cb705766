// Calls with "auto" that the engine's model gives to the GPU. Whatever fails there, the cores
// finish them: each must return WARPSEAL_OK.
#pragma once

#include "warpseal/warpseal.h"

namespace works {

// Computes the right outputs on the cores.
void prepare_auto();
warpseal_status auto_messages();
warpseal_status auto_batches();
warpseal_status auto_files();

}  // namespace works

// Changed files are opened while calls of the CUDA runtime fail. None may be accepted, and outputs
// hold text in whole chunks alone.
#pragma once

#include "warpseal/warpseal.h"

namespace works {

// Seals files on the cores and changes them.
void prepare_changed();
// With the works' device, and with "auto", where a change must be reported as such.
warpseal_status changed_files();
warpseal_status auto_changed_files();

}  // namespace works

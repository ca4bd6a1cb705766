// P4's scenario: many clients at once, through the product's batcher.
#pragma once

#include "bench/papers/study.h"

namespace warpseal::papers {

// Takes a row for each scenario, number of clients and device, with a batcher that was just created
// and with one that has worked before.
void print_clients_at_once(Study& study);

}  // namespace warpseal::papers

// The cases of the self-test. They add every output to a digest, which does not depend on the path.
#pragma once

#include <functional>

#include "engine/self_test/test_case.h"

namespace warpseal {

// Entry point that runs the single messages of a mode; batch if it has none of its own.
constexpr BackendEntry message_entry(warpseal_mode mode) {
    return mode == WARPSEAL_XTS   ? BackendEntry::xts
           : mode == WARPSEAL_GCM ? BackendEntry::gcm
                                  : BackendEntry::sweep;
}

// Run the cases of one mode and direction, which the test case must have. Return
// WARPSEAL_SELF_TEST_FAILED if two runs that must give the same output do not, and any status of
// the path. The digest says whether the outputs are right.
warpseal_status run_messages(TestCase& test_case, warpseal_mode mode, Direction direction,
                             uint64_t* digest);
warpseal_status run_batches(TestCase& test_case, warpseal_mode mode, Direction direction,
                            uint64_t* digest);
// Runs begin, combine and finish for several IVs and AADs. Returns the digest.
uint64_t run_gcm_steps(const GcmSteps& gcm);

// Calls `run(in, out)` out of place at even and at odd addresses, and in place. Returns
// WARPSEAL_SELF_TEST_FAILED unless each writes `expected` and nothing else.
using TestRun = std::function<warpseal_status(const uint8_t* in, uint8_t* out)>;
warpseal_status same_outputs(const TestText& in, const TestText& expected, const TestRun& run);

// Returns one message of a mode with ECB, CBC, CFB, OFB or CTR, and its output on the path, as in
// run_messages or run_batches: of `blocks` whole blocks.
warpseal_status whole_blocks(TestCase& test_case, warpseal_mode mode, Direction direction,
                             size_t blocks, TestBatch::Message* out);

}  // namespace warpseal

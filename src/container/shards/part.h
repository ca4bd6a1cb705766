// Parts: files with the chunks of one shard each, which are joined to the sealed file
// (docs/shards.md).
#pragma once

#include "container/shards/plan.h"

namespace warpseal::container {

// Fills the pin of a regular file: its inode number, and its times of modification and of change in
// nanoseconds. Two files that were written in one tick of the clock have the same times. A call
// that writes gives a file another pin, once the clock has moved on; docs/decisions/0011-shards.md
// names the writes that do not.
warpseal_status pin_of_file(int descriptor, uint8_t pin[pin_bytes], Fault& fault);

// Seals a shard of the text that begins at in_fd's position to a part at out_fd's position. Refuses
// a text whose pin or length is not the plan's, before and after it is read.
// options: progress alone. in_fd, out_fd: regular files. The caller drops the output of a failure.
warpseal_status seal_part(const Plan& plan, uint32_t index, int in_fd, int out_fd,
                          const warpseal_file_options& options, warpseal_file_result& result);

// Checks the head and the length of the part at the start of a regular file. Its chunks are not
// read.
warpseal_status check_part(const Plan& plan, int descriptor, uint32_t& index, Fault& fault);

}  // namespace warpseal::container

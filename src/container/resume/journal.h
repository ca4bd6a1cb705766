// Journal of an unfinished output, behind the bytes of the output itself: a record for each window
// that was written, and a last block that says of which input and payload.
#pragma once

#include "container/derive.h"
#include "container/pipeline/descriptor.h"

namespace warpseal::container {

// A later call must find the same. The fields are compared, and never interpreted.
struct JournalSubject {
    Direction direction = Direction::encrypt;
    uint64_t output_bytes = 0;
    uint64_t windows = 0;
    // Sealing: device, inode, position, length, and times of the input.
    uint64_t input[8] = {};
    // Sealing: keyed hash of the recipients.
    uint8_t recipients[hmac_bytes] = {};
};

class Journal {
public:
    static constexpr size_t block_bytes = 4096;
    static constexpr size_t record_bytes = hmac_bytes;

    // True if a file of that length ends like an unfinished output.
    static bool ends_in_one(int descriptor, uint64_t file_bytes);

    // key: of the payload. Refers to it.
    Journal(int descriptor, const JournalSubject& subject, const Secret<hmac_bytes>& key,
            Progress& progress);

    // Makes an unfinished output of an empty file, whose length it then has.
    warpseal_status create(Fault& fault);
    // Compares the last block with the subject. If it differs, `why` says in which part; else it
    // stays empty.
    warpseal_status check(Fault& why, Fault& fault);

    // The record of a window; all zeros if there is none.
    warpseal_status read(uint64_t window, uint8_t record[record_bytes], Fault& fault);
    warpseal_status write(uint64_t window, const uint8_t record[record_bytes], Fault& fault);
    // Waits until all that was written to the output is on the disk.
    warpseal_status sync(Fault& fault) const;

private:
    uint64_t records_at() const;
    uint64_t file_bytes() const;
    void make_block(uint8_t block[block_bytes]) const;

    const int descriptor_;
    const JournalSubject& subject_;
    const Secret<hmac_bytes>& key_;
    Progress& progress_;
};

}  // namespace warpseal::container

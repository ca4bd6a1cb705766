// Batches of the classes of warpseal.aead: messages in buffers of their own, or records in one.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

#include "warpseal/batch.h"

namespace warpseal::python {

struct AeadBatchKey {
    const warpseal_key* key;
    warpseal_mode mode;
    size_t tag_bytes;
};

// Positions of the parts of each record in one buffer, as Python gives them.
struct RecordArguments {
    nanobind::handle buf, nonces, data, lengths, tags, associated_data;
};

// Return lists with a bytes object for each message: nonce, ciphertext and tag; or the plaintext,
// None where the tag does not verify.
nanobind::list seal_batch(const AeadBatchKey& key, nanobind::handle data,
                          nanobind::handle associated_data);
nanobind::list open_batch(const AeadBatchKey& key, nanobind::handle sealed,
                          nanobind::handle associated_data);

// Seal and open records in place. open_records returns the numbers of those that do not verify.
void seal_records(const AeadBatchKey& key, const RecordArguments& arguments);
nanobind::list open_records(const AeadBatchKey& key, const RecordArguments& arguments);

}  // namespace warpseal::python

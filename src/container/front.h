// The front of a sealed file: its header and the head of its payload, before the first chunk.
#pragma once

#include <vector>

#include "container/opening.h"

namespace warpseal::container {

// Draws the salt of a new payload, and appends the payload's head to `front`.
warpseal_status add_payload_head(Engine& engine, const Suite& suite, Bytes input_key, Bytes context,
                                 Opened& out, std::vector<uint8_t>& front, Fault& fault);

// Draws keys, file ID and salts of a new file. front: receives all bytes before the first chunk.
// The options must have passed check_options() and check_sealing(). `keys` of a run may be null.
warpseal_status new_front(Engine& engine, const Suite& suite, const warpseal_file_options& options,
                          Opened& out, std::vector<uint8_t>& front,
                          Secret<data_key_bytes>& data_key, Fault& fault, SlotKeys* keys = nullptr);

// Opens the front of a file that is no bare payload: steps 1 to 5 of docs/file-format.md. `keys` of
// a run may be null.
warpseal_status open_front(Engine& engine, const warpseal_file_options& options, const ReadAt& read,
                           Opened& out, Secret<data_key_bytes>& data_key, Fault& fault,
                           SlotKeys* keys = nullptr);

}  // namespace warpseal::container

// Key slots of a file as text and JSON, for `info` and `key list`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "warpseal/warpseal.h"

namespace warpseal::cli {

// Returns the type and the Argon2id cost.
std::string slot_text(const warpseal_slot_info& slot);
// Returns one object for each slot.
nlohmann::ordered_json slots_json(const warpseal_file_info& info);

}  // namespace warpseal::cli

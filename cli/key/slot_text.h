// Key slots of a file as text and JSON, for `info` and `key list`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "warpseal/warpseal.h"

namespace warpseal::cli {

// Reads the header of a file, which needs no key. `failed` begins the text of a failure, and names
// the file. Throws Failure.
warpseal_file_info read_file_info(int input, const std::string& failed,
                                  warpseal_file_result& result);
// Returns a line for each slot: its number, padded by the format {0}, and its text, {1}.
std::string slot_lines(const warpseal_file_info& info, const char* format);
// Returns the type and the Argon2id cost.
std::string slot_text(const warpseal_slot_info& slot);
// Returns one object for each slot.
nlohmann::ordered_json slots_json(const warpseal_file_info& info);

}  // namespace warpseal::cli

// Suggests a known word for one that is misspelled.
#pragma once

#include <string>
#include <vector>

namespace warpseal::cli {

// Returns " Did you mean 'X'?" for the known word with the fewest differences from `word`, or ""
// if none is near. Letter case makes no difference.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

// Returns the text with ASCII capitals as small letters.
std::string lower_case(std::string text);

}  // namespace warpseal::cli

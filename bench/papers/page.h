// The Python program bench/page, which draws HTML from JSON.
#pragma once

#include <string>

namespace warpseal::papers {

// Returns the path of bench/page in the source tree that this program was built in. Throws
// cli::Failure (unsupported), with what to run instead, if it is not there or does not start.
std::string find_page();

// Draws `json` into `html`. Throws cli::Failure if the program fails.
void draw_page(const std::string& page, const std::string& json, const std::string& html);

}  // namespace warpseal::papers

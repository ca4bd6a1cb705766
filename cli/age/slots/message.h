// Texts for the library's messages, which are short.
#pragma once

#include <string>

namespace warpseal::cli::age {

// The text in at most `most_bytes` bytes, of at least 16. What is too long goes from the end of the
// last name in quotes, or else from the middle, so that the advice at the end stays. Characters of
// UTF-8 stay whole.
std::string shortened(const std::string& text, size_t most_bytes);

}  // namespace warpseal::cli::age

// Any cipher of the catalogue by its own header, one block at a time on plain words, bytes or bits.
// It shares no vector, transposition or S-box circuit with the library, and costs no bundle of
// blocks where a single one is wanted.
#pragma once

#include <memory>
#include <string>

#include "reference/cipher.h"

namespace tests {

// Returns the cipher of that name ("lea-128") under that key, or null if there is none.
std::unique_ptr<reference::Cipher> scalar_cipher(const std::string& name,
                                                 const reference::Text& key);

}  // namespace tests

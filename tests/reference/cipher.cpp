// The twins by name.
#include "reference/cipher.h"

#include "reference/aes.h"

namespace reference {

std::unique_ptr<Cipher> cipher(const std::string& name, const Text& key) {
    if (name.rfind("aes-", 0) == 0 && name == "aes-" + std::to_string(8 * key.size())) return std::make_unique<Aes>(key);
    return nullptr;
}

}  // namespace reference

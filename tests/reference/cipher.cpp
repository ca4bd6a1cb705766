// Creates reference implementations by name.
#include "reference/cipher.h"

#include "reference/aes.h"
#include "reference/aria.h"
#include "reference/camellia.h"
#include "reference/des.h"

namespace reference {

std::unique_ptr<Cipher> cipher(const std::string& name, const Text& key) {
    const std::string bits = "-" + std::to_string(8 * key.size());
    if (name == "aes" + bits) return std::make_unique<Aes>(key);
    if (name == "aria" + bits) return std::make_unique<Aria>(key);
    if (name == "camellia" + bits) return std::make_unique<Camellia>(key);
    if (key.size() == (name == "des" ? 8 : name == "des-ede2" ? 16 : name == "des-ede3" ? 24 : 0))
        return std::make_unique<Des>(key);
    return nullptr;
}

}  // namespace reference

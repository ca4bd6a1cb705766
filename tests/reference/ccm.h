// CCM as SP 800-38C specifies it, with the formatting of its appendix A.
#pragma once

#include "reference/gcm.h"

namespace reference {

Sealed ccm_seal(const Cipher& cipher, const Text& nonce, const Text& aad, const Text& plaintext,
                size_t tag_bytes);

}  // namespace reference

// Expected output of a message: from libcrypto where it has the cipher and mode, else from the
// reference. Neither shares code with the library.
#pragma once

#include "oracle.h"
#include "reference/ccm.h"
#include "reference/cmac.h"
#include "reference/gcm.h"
#include "reference/modes.h"
#include "reference/xts.h"
#include "reference_cipher.h"

namespace tests {

using reference::Text;

struct Message {
    std::string cipher;
    warpseal_mode mode = WARPSEAL_ECB;
    Text key;  // XTS: data key, then tweak key
    Text iv, aad, text;
    size_t tag_bytes = 0, unit_bytes = 0;
};

struct ExpectedOutput {
    Text text, tag;
};

// Encrypts with the reference implementation alone.
inline ExpectedOutput reference_answer(const Message& m) {
    const size_t half = m.mode == WARPSEAL_XTS ? m.key.size() / 2 : m.key.size();
    const auto cipher = make_reference_cipher(
        m.cipher, Text(m.key.begin(), m.key.begin() + static_cast<long>(half)));
    ExpectedOutput out;
    switch (m.mode) {
        case WARPSEAL_ECB: out.text = reference::ecb_encrypt(*cipher, m.text); break;
        case WARPSEAL_CTR: out.text = reference::ctr(*cipher, m.iv, m.text); break;
        case WARPSEAL_CBC: out.text = reference::cbc_encrypt(*cipher, m.iv, m.text); break;
        case WARPSEAL_CFB: out.text = reference::cfb_encrypt(*cipher, m.iv, m.text); break;
        case WARPSEAL_OFB: out.text = reference::ofb(*cipher, m.iv, m.text); break;
        case WARPSEAL_XTS: {
            const auto tweak = make_reference_cipher(
                m.cipher, Text(m.key.begin() + static_cast<long>(half), m.key.end()));
            out.text = reference::xts_units(*cipher, *tweak, true, m.iv, m.unit_bytes, m.text);
            break;
        }
        case WARPSEAL_CMAC: out.tag = reference::cmac(*cipher, m.text); break;
        default: {
            const reference::Sealed sealed =
                m.mode == WARPSEAL_GCM
                    ? reference::gcm_seal(*cipher, m.iv, m.aad, m.text)
                    : reference::ccm_seal(*cipher, m.iv, m.aad, m.text, m.tag_bytes);
            out = {sealed.ciphertext, sealed.tag};
        }
    }
    out.tag.resize(m.tag_bytes);
    return out;
}

// Encrypts. The reference also serves CCM, XTS and CMAC, for which libcrypto has separate calls.
inline ExpectedOutput answer(const Message& m) {
    const bool gcm = m.mode == WARPSEAL_GCM;
    const bool plain = m.mode == WARPSEAL_ECB || m.mode == WARPSEAL_CTR || m.mode == WARPSEAL_CBC ||
                       m.mode == WARPSEAL_CFB || m.mode == WARPSEAL_OFB;
    const std::string name = m.cipher + "-" + warpseal_mode_name(m.mode);
    if ((!plain && !gcm) || !oracle::has(name)) return reference_answer(m);
    ExpectedOutput out;
    out.text = oracle::run(name, true, m.key, m.iv, m.aad, m.text, gcm ? &out.tag : nullptr);
    out.tag.resize(m.tag_bytes);
    return out;
}

}  // namespace tests

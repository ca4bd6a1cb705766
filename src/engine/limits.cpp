// Limits of SP 800-38A 5.3, SP 800-38B 6.2, SP 800-38C A.1, SP 800-38D 5.2.1.1, SP 800-38E and IEEE
// 1619 5.1.
#include "engine/limits.h"

#include "modes/gcm.h"

namespace warpseal {
namespace {

constexpr uint64_t ccm_min_iv_bytes = 7, ccm_max_iv_bytes = 13;
constexpr uint64_t xts_max_unit_bytes = uint64_t{16} << 20;

warpseal_status valid_if(bool holds) { return holds ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT; }

}  // namespace

warpseal_status check_iv(warpseal_mode mode, const CipherFacts& cipher, uint64_t iv_bytes) {
    switch (mode) {
        case WARPSEAL_ECB:
        case WARPSEAL_CMAC: return valid_if(iv_bytes == 0);
        case WARPSEAL_GCM:
            return iv_bytes > modes::gcm_max_iv_bytes ? WARPSEAL_LIMIT_EXCEEDED
                                                      : valid_if(iv_bytes != 0);
        case WARPSEAL_CCM:
            return valid_if(iv_bytes >= ccm_min_iv_bytes && iv_bytes <= ccm_max_iv_bytes);
        default: return valid_if(iv_bytes == cipher.block_bytes);
    }
}

warpseal_status check_tag(warpseal_mode mode, const CipherFacts& cipher, uint64_t tag_bytes) {
    switch (mode) {
        case WARPSEAL_GCM:
            // The lengths that SP 800-38D allows are a policy, which the C API enforces.
            return valid_if(tag_bytes >= 1 && tag_bytes <= 16);
        case WARPSEAL_CCM: return valid_if(tag_bytes >= 4 && tag_bytes <= 16 && tag_bytes % 2 == 0);
        case WARPSEAL_CMAC: return valid_if(tag_bytes >= 1 && tag_bytes <= cipher.block_bytes);
        default: return valid_if(tag_bytes == 0);
    }
}

warpseal_status check_aad(warpseal_mode mode, uint64_t aad_bytes) {
    if (mode == WARPSEAL_GCM && aad_bytes > modes::gcm_max_aad_bytes)
        return WARPSEAL_LIMIT_EXCEEDED;
    return valid_if(aead(mode) ? aad_bytes <= most_bytes : aad_bytes == 0);
}

warpseal_status check_text(warpseal_mode mode, const CipherFacts& cipher, uint64_t iv_bytes,
                           uint64_t text_bytes) {
    switch (mode) {
        case WARPSEAL_ECB:
        case WARPSEAL_CBC:
            return valid_if(text_bytes <= most_bytes && text_bytes % cipher.block_bytes == 0);
        case WARPSEAL_GCM:
            return text_bytes > modes::gcm_max_text_bytes ? WARPSEAL_LIMIT_EXCEEDED : WARPSEAL_OK;
        case WARPSEAL_CCM:  // the length field has 15 - n bytes, where n is the length of the nonce
            return iv_bytes > 7 && text_bytes >> (8 * (15 - iv_bytes)) != 0
                       ? WARPSEAL_LIMIT_EXCEEDED
                       : valid_if(text_bytes <= most_bytes);
        default: return valid_if(text_bytes <= most_bytes);
    }
}

warpseal_status check_units(uint64_t unit_bytes, uint64_t text_bytes) {
    if (unit_bytes < 16) return WARPSEAL_INVALID_ARGUMENT;
    if (unit_bytes > xts_max_unit_bytes) return WARPSEAL_LIMIT_EXCEEDED;
    const uint64_t last = text_bytes % unit_bytes;
    return valid_if(text_bytes <= most_bytes && (last == 0 || last >= 16));
}

warpseal_status check_plain(const Key& key, warpseal_mode mode, Direction direction, Bytes iv,
                            uint64_t bytes) {
    if (!plain(mode) || !key.supports(mode)) return WARPSEAL_INVALID_ARGUMENT;
    if ((key.facts().modes >> mode & 1) == 0) return WARPSEAL_UNSUPPORTED;
    if (iv.size != 0 && iv.data == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    warpseal_status status = check_iv(mode, key.facts(), iv.size);
    if (status == WARPSEAL_OK) status = check_text(mode, key.facts(), iv.size, bytes);
    return status == WARPSEAL_OK && key.refuses(direction) ? WARPSEAL_WEAK_KEY : status;
}

warpseal_status check_xts(const Key& key, Direction direction, const XtsUnits& units,
                          uint64_t bytes) {
    if (!key.for_xts()) return WARPSEAL_INVALID_ARGUMENT;
    const warpseal_status status = check_units(units.unit_bytes, bytes);
    return status == WARPSEAL_OK && key.refuses(direction) ? WARPSEAL_WEAK_KEY : status;
}

}  // namespace warpseal

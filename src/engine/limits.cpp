// Limits of SP 800-38A 5.3, SP 800-38B 6.2, SP 800-38C A.1, SP 800-38D 5.2.1.1, SP 800-38E and IEEE
// 1619 5.1.
#include "engine/limits.h"

#include "engine/refusal.h"
#include "modes/gcm.h"

namespace warpseal {
namespace {

constexpr uint64_t ccm_min_iv_bytes = 7, ccm_max_iv_bytes = 13;
constexpr uint64_t xts_max_unit_bytes = uint64_t{16} << 20;

// For printf, whose %llu is not uint64_t on every machine.
unsigned long long number(uint64_t value) { return value; }

warpseal_status refuse_iv(warpseal_mode mode, uint64_t iv_bytes, const char* wanted) {
    return refuse("iv_bytes is %llu: %s takes %s", number(iv_bytes), mode_name(mode), wanted);
}

warpseal_status refuse_tag(warpseal_mode mode, uint64_t tag_bytes, const char* wanted) {
    return refuse("tag_bytes is %llu: %s takes %s", number(tag_bytes), mode_name(mode), wanted);
}

warpseal_status check_size(uint64_t bytes, const char* name) {
    if (bytes <= most_bytes) return WARPSEAL_OK;
    return refuse("%s is %llu: no object in memory is that large", name, number(bytes));
}

}  // namespace

const char* mode_name(warpseal_mode mode) {
    switch (mode) {
        case WARPSEAL_ECB: return "ecb";
        case WARPSEAL_CTR: return "ctr";
        case WARPSEAL_GCM: return "gcm";
        case WARPSEAL_CBC: return "cbc";
        case WARPSEAL_CFB: return "cfb";
        case WARPSEAL_OFB: return "ofb";
        case WARPSEAL_XTS: return "xts";
        case WARPSEAL_CCM: return "ccm";
        case WARPSEAL_CMAC: return "cmac";
        case WARPSEAL_MODE_COUNT: break;
    }
    return nullptr;
}

warpseal_status check_iv(warpseal_mode mode, const CipherFacts& cipher, uint64_t iv_bytes) {
    switch (mode) {
        case WARPSEAL_ECB:
        case WARPSEAL_CMAC: return iv_bytes == 0 ? WARPSEAL_OK : refuse_iv(mode, iv_bytes, "none");
        case WARPSEAL_GCM:
            if (iv_bytes == 0) return refuse_iv(mode, iv_bytes, "at least 1 byte, best 12");
            if (iv_bytes <= modes::gcm_max_iv_bytes) return WARPSEAL_OK;
            return refuse_as(WARPSEAL_LIMIT_EXCEEDED, "iv_bytes is %llu: gcm takes at most %llu",
                             number(iv_bytes), number(modes::gcm_max_iv_bytes));
        case WARPSEAL_CCM:
            if (iv_bytes >= ccm_min_iv_bytes && iv_bytes <= ccm_max_iv_bytes) return WARPSEAL_OK;
            return refuse_iv(mode, iv_bytes, "7 to 13 bytes");
        default:
            if (iv_bytes == cipher.block_bytes) return WARPSEAL_OK;
            return refuse_iv(
                mode, iv_bytes,
                cipher.block_bytes == 8 ? "one block, 8 bytes" : "one block, 16 bytes");
    }
}

warpseal_status check_tag(warpseal_mode mode, const CipherFacts& cipher, uint64_t tag_bytes) {
    switch (mode) {
        case WARPSEAL_GCM:
            // The lengths that SP 800-38D allows are a policy, which the C API enforces.
            if (tag_bytes >= 1 && tag_bytes <= 16) return WARPSEAL_OK;
            return refuse_tag(mode, tag_bytes, "at most 16 bytes");
        case WARPSEAL_CCM:
            if (tag_bytes >= 4 && tag_bytes <= 16 && tag_bytes % 2 == 0) return WARPSEAL_OK;
            return refuse_tag(mode, tag_bytes, "4, 6, 8, 10, 12, 14 or 16 bytes");
        case WARPSEAL_CMAC:
            if (tag_bytes >= 1 && tag_bytes <= cipher.block_bytes) return WARPSEAL_OK;
            return refuse_tag(mode, tag_bytes, "1 byte to one block");
        default: return tag_bytes == 0 ? WARPSEAL_OK : refuse_tag(mode, tag_bytes, "none");
    }
}

warpseal_status check_aad(warpseal_mode mode, uint64_t aad_bytes) {
    if (mode == WARPSEAL_GCM && aad_bytes > modes::gcm_max_aad_bytes)
        return refuse_as(WARPSEAL_LIMIT_EXCEEDED, "aad_bytes is %llu: gcm takes at most %llu",
                         number(aad_bytes), number(modes::gcm_max_aad_bytes));
    if (aead(mode)) return check_size(aad_bytes, "aad_bytes");
    if (aad_bytes == 0) return WARPSEAL_OK;
    return refuse("aad_bytes is %llu: %s takes none", number(aad_bytes), mode_name(mode));
}

warpseal_status check_text(warpseal_mode mode, const CipherFacts& cipher, uint64_t iv_bytes,
                           uint64_t text_bytes) {
    switch (mode) {
        case WARPSEAL_ECB:
        case WARPSEAL_CBC:
            if (text_bytes % cipher.block_bytes == 0) return check_size(text_bytes, "bytes");
            return refuse("bytes is %llu: %s takes whole blocks of %u bytes", number(text_bytes),
                          mode_name(mode), static_cast<unsigned>(cipher.block_bytes));
        case WARPSEAL_GCM:
            if (text_bytes <= modes::gcm_max_text_bytes) return WARPSEAL_OK;
            return refuse_as(WARPSEAL_LIMIT_EXCEEDED, "bytes is %llu: gcm takes at most %llu",
                             number(text_bytes), number(modes::gcm_max_text_bytes));
        case WARPSEAL_CCM:  // the length field has 15 - n bytes, where n is the length of the nonce
            if (iv_bytes > 7 && text_bytes >> (8 * (15 - iv_bytes)) != 0)
                return refuse_as(
                    WARPSEAL_LIMIT_EXCEEDED,
                    "bytes is %llu: ccm with an iv_bytes of %llu takes less than 2^%llu",
                    number(text_bytes), number(iv_bytes), number(8 * (15 - iv_bytes)));
            return check_size(text_bytes, "bytes");
        default: return check_size(text_bytes, "bytes");
    }
}

warpseal_status check_units(uint64_t unit_bytes, uint64_t text_bytes) {
    if (unit_bytes < 16)
        return refuse("data_unit_bytes is %llu: a unit has at least 16", number(unit_bytes));
    if (unit_bytes > xts_max_unit_bytes)
        return refuse_as(WARPSEAL_LIMIT_EXCEEDED,
                         "data_unit_bytes is %llu: a unit has at most %llu", number(unit_bytes),
                         number(xts_max_unit_bytes));
    const uint64_t last = text_bytes % unit_bytes;
    if (last == 0 || last >= 16) return check_size(text_bytes, "bytes");
    return refuse("bytes is %llu: the last unit has %llu bytes, and needs at least 16",
                  number(text_bytes), number(last));
}

warpseal_status check_mode_of_key(const Key& key, warpseal_mode mode) {
    if (!key.supports(mode))
        return refuse("mode is %s: the key was created for %s", mode_name(mode),
                      key.for_xts() ? "xts alone" : "every mode but xts");
    if ((key.facts().modes >> mode & 1) != 0) return WARPSEAL_OK;
    return refuse_as(WARPSEAL_UNSUPPORTED, "mode is %s: %s does not have it", mode_name(mode),
                     key.facts().name);
}

warpseal_status check_plain(const Key& key, warpseal_mode mode, Direction direction, Bytes iv,
                            uint64_t bytes) {
    if (!plain(mode)) return refuse("mode is %s: that mode has calls of its own", mode_name(mode));
    warpseal_status status = check_mode_of_key(key, mode);
    if (status != WARPSEAL_OK) return status;
    if (iv.size != 0 && iv.data == nullptr) return refuse("iv is null");
    status = check_iv(mode, key.facts(), iv.size);
    if (status == WARPSEAL_OK) status = check_text(mode, key.facts(), iv.size, bytes);
    return status == WARPSEAL_OK && key.refuses(direction) ? WARPSEAL_WEAK_KEY : status;
}

warpseal_status check_xts(const Key& key, Direction direction, const XtsUnits& units,
                          uint64_t bytes) {
    if (!key.for_xts()) return refuse("key was not created for xts");
    const warpseal_status status = check_units(units.unit_bytes, bytes);
    return status == WARPSEAL_OK && key.refuses(direction) ? WARPSEAL_WEAK_KEY : status;
}

warpseal_status check_memory(const void* in, const void* out, uint64_t bytes) {
    if (bytes != 0 && in == nullptr) return refuse("in is null");
    if (bytes != 0 && out == nullptr) return refuse("out is null");
    if (!overlap(in, out, bytes)) return WARPSEAL_OK;
    return refuse("out overlaps in: give the same address or disjoint memory");
}

}  // namespace warpseal

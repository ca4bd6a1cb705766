// Parses the text of recipients and identities.
#include "container/recipients/recipient.h"

#include <cctype>
#include <cstring>
#include <string_view>

#include "container/recipients/bech32.h"

namespace warpseal::container {
namespace {

std::string_view text_of(const warpseal_secret& secret) {
    return {static_cast<const char*>(secret.bytes), secret.byte_count};
}

// `lower` is in lower case.
bool begins_with(std::string_view text, std::string_view lower) {
    if (text.size() < lower.size()) return false;
    for (size_t i = 0; i < lower.size(); ++i)
        if (std::tolower(static_cast<unsigned char>(text[i])) != lower[i]) return false;
    return true;
}

// Decodes exactly `bytes` bytes behind that prefix, in that case.
bool decode(std::string_view text, std::string_view prefix, bool upper_case, uint8_t* out,
            size_t bytes) {
    Secret<bech32_bytes_max(recipient_characters_max)> data;
    Bech32 found;
    if (text.size() > recipient_characters_max || !decode_bech32(text, found, data.data()))
        return false;
    if (found.prefix_characters != prefix.size() || !begins_with(text, prefix) ||
        found.upper_case != upper_case || found.bytes != bytes)
        return false;
    memcpy(out, data.data(), bytes);
    return true;
}

}  // namespace

RecipientType recipient_type(const warpseal_secret& secret) {
    const std::string_view text = text_of(secret);
    if (begins_with(text, "warpntru")) return RecipientType::ntru_x25519;
    const bool hybrid = begins_with(text, "age1pq1") || begins_with(text, "age-secret-key-pq-1");
    return hybrid ? RecipientType::mlkem768_x25519 : RecipientType::x25519;
}

warpseal_status decode_recipient(const warpseal_secret& secret,
                                 uint8_t public_key[recipient_public_bytes_max], Fault& fault) {
    const std::string_view text = text_of(secret);
    const RecipientForm& form = form_of(recipient_type(secret));
    if (decode(text, form.recipient_prefix, false, public_key, form.public_bytes))
        return WARPSEAL_OK;
    if (begins_with(text, "age-secret-key-") || begins_with(text, "warpntru-secret-key-"))
        return fault.say(WARPSEAL_INVALID_ARGUMENT,
                         "a recipient is an identity, which is secret: give the public half");
    return fault.say(WARPSEAL_INVALID_ARGUMENT,
                     "a recipient is neither age1…, age1pq1… nor warpntru1…, copied whole");
}

warpseal_status decode_identity(const warpseal_secret& secret, Secret<recipient_secret_bytes>& key,
                                Fault& fault) {
    const std::string_view text = text_of(secret);
    if (decode(text, form_of(recipient_type(secret)).identity_prefix, true, key.data(), key.size()))
        return WARPSEAL_OK;
    if (begins_with(text, "age1") || begins_with(text, "warpntru1"))
        return fault.say(WARPSEAL_INVALID_ARGUMENT,
                         "an identity is a recipient: give the secret half, AGE-SECRET-KEY-…");
    return fault.say(WARPSEAL_INVALID_ARGUMENT,
                     "an identity is not AGE-SECRET-KEY-1…, AGE-SECRET-KEY-PQ-1… or "
                     "WARPNTRU-SECRET-KEY-1…, copied whole");
}

}  // namespace warpseal::container

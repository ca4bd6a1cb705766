// Keys and heads of chunked-encryption payloads.
#include "container/payload.h"

#include <cstring>

#include "container/bytes.h"
#include "container/random.h"
#include "core/word.h"

namespace warpseal::container {
namespace {

constexpr char protocol[] = "c2sp.org/chunked-encryption@v1+";
constexpr char journal_label[] = "warpseal/resume/v1";

// key || base nonce || commitment = HKDF-Expand(input key, protocol || AEAD name || 0x00 || salt ||
// context)
warpseal_status derive(Engine& engine, const Suite& suite, Bytes input_key, Parts context,
                       const uint8_t* salt, PayloadKey& out, uint8_t commitment[commitment_bytes],
                       Fault& fault) {
    const auto text = [](const char* string, size_t bytes) {
        return Bytes{reinterpret_cast<const uint8_t*>(string), bytes};
    };
    Bytes info[5] = {text(protocol, sizeof protocol - 1),
                     text(suite.aead, std::strlen(suite.aead) + 1),
                     {salt, salt_bytes},
                     {},
                     {}};
    for (size_t i = 0; i < context.count; ++i) info[3 + i] = context.parts[i];

    Secret<32 + nonce_bytes + commitment_bytes> okm;
    const size_t okm_bytes = suite.key_bytes + nonce_bytes + commitment_bytes;
    expand(input_key, {info, 3 + context.count}, okm.data(), okm_bytes);
    memcpy(out.base_nonce.data(), okm.data() + suite.key_bytes, nonce_bytes);
    memcpy(commitment, okm.data() + suite.key_bytes + nonce_bytes, commitment_bytes);
    const warpseal_status status = engine.key(suite.cipher, {okm.data(), suite.key_bytes}, out.key,
                                              KeyKind::one, WeakKeys::refused, KeyUse::host_memory);
    if (status != WARPSEAL_OK) return fault.say(status, "%s cannot be used here", suite.name);
    return WARPSEAL_OK;
}

}  // namespace

const Suite* suite_by_id(uint16_t id) {
    for (const Suite& suite : suites) {
        if (suite.id == id) return &suite;
    }
    return nullptr;
}

const Suite* suite_by_name(const char* name) {
    for (const Suite& suite : suites) {
        if (std::strcmp(suite.name, name) == 0) return &suite;
    }
    return nullptr;
}

const Suite* suite_by_key_bytes(size_t key_bytes) {
    for (const Suite& suite : suites) {
        if (suite.key_bytes == key_bytes) return &suite;
    }
    return nullptr;
}

warpseal_status new_payload(Engine& engine, const Suite& suite, Bytes input_key, Parts context,
                            uint8_t head[payload_head_bytes], PayloadKey& out, Fault& fault) {
    if (!random_bytes(head, salt_bytes))
        return fault.say(WARPSEAL_NO_RANDOM, "no random bytes for the payload's salt");
    return derive(engine, suite, input_key, context, head, out, head + salt_bytes, fault);
}

warpseal_status open_payload(Engine& engine, const Suite& suite, Bytes input_key, Parts context,
                             const uint8_t head[payload_head_bytes], PayloadKey& out,
                             Fault& fault) {
    Secret<commitment_bytes> commitment;
    const warpseal_status status =
        derive(engine, suite, input_key, context, head, out, commitment.data(), fault);
    if (status != WARPSEAL_OK) return status;
    if (!equal_secret(commitment.data(), head + salt_bytes, commitment_bytes)) {
        return fault.say(WARPSEAL_WRONG_KEY,
                         "the payload's commitment does not match: another key or context, or its "
                         "first %zu bytes changed",
                         payload_head_bytes);
    }
    return WARPSEAL_OK;
}

void derive_journal_key(Bytes input_key, const uint8_t head[payload_head_bytes],
                        Secret<hmac_bytes>& out) {
    const Bytes info[] = {text_bytes(journal_label), {head, payload_head_bytes}};
    expand(input_key, {info, 2}, out.data(), out.size());
}

void chunk_nonce(const PayloadKey& payload, uint64_t number, uint8_t nonce[nonce_bytes]) {
    memcpy(nonce, payload.base_nonce.data(), nonce_bytes);
    store_be64(nonce + 4, load_be64(nonce + 4) ^ number);
}

}  // namespace warpseal::container

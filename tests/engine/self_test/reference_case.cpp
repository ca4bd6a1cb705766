// Runs the cases of the self-test on the reference implementations.
#include "reference_case.h"

#include <algorithm>

#include "reference/ccm.h"
#include "reference/cmac.h"
#include "reference/gcm.h"
#include "reference/modes.h"
#include "reference/xts.h"
#include "support/reference_cipher.h"

namespace tests {

using namespace warpseal;
using Text = reference::Text;

namespace {

Text padded(Text text) {
    text.resize((text.size() + 15) / 16 * 16);
    return text;
}

Text plain_output(const reference::Cipher& cipher, warpseal_mode mode, bool encrypt, const Text& iv,
                  const Text& in, uint64_t first_block = 0) {
    switch (mode) {
        case WARPSEAL_ECB:
            return encrypt ? reference::ecb_encrypt(cipher, in)
                           : reference::ecb_decrypt(cipher, in);
        case WARPSEAL_CBC:
            return encrypt ? reference::cbc_encrypt(cipher, iv, in)
                           : reference::cbc_decrypt(cipher, iv, in);
        case WARPSEAL_CFB:
            return encrypt ? reference::cfb_encrypt(cipher, iv, in)
                           : reference::cfb_decrypt(cipher, iv, in);
        case WARPSEAL_OFB: return reference::ofb(cipher, iv, in);
        default: return reference::ctr(cipher, iv, in, first_block);
    }
}

reference::Sealed sealed(const reference::Cipher& cipher, warpseal_mode mode, const Text& iv,
                         const Text& aad, const Text& plaintext, size_t tag_bytes) {
    if (mode == WARPSEAL_CMAC) return {Text(), reference::cmac(cipher, plaintext)};
    return mode == WARPSEAL_GCM ? reference::gcm_seal(cipher, iv, aad, plaintext)
                                : reference::ccm_seal(cipher, iv, aad, plaintext, tag_bytes);
}

// One message of a mode with a tag. Returns its status.
int32_t tagged_message(const reference::Cipher& cipher, warpseal_mode mode, bool encrypt,
                       const Text& iv, const Text& aad, const Text& in, uint8_t* out, uint8_t* tag,
                       size_t tag_bytes) {
    reference::Sealed result = sealed(cipher, mode, iv, aad, in, tag_bytes);
    if (encrypt) {
        std::copy(result.ciphertext.begin(), result.ciphertext.end(), out);
        std::copy_n(result.tag.begin(), tag_bytes, tag);
        return WARPSEAL_OK;
    }
    // GCM and CCM XOR a keystream, so sealing the ciphertext gives the plaintext.
    Text plaintext = mode == WARPSEAL_CMAC ? in : result.ciphertext;
    result = sealed(cipher, mode, iv, aad, plaintext, tag_bytes);
    const bool right = std::equal(tag, tag + tag_bytes, result.tag.begin());
    if (!right) std::fill(plaintext.begin(), plaintext.end(), 0);
    if (mode != WARPSEAL_CMAC) std::copy(plaintext.begin(), plaintext.end(), out);
    return right ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC;
}

}  // namespace

ReferenceCase::ReferenceCase(const CpuCipher& facts)
    : TestCase(facts, facts.known),
      cpu_(facts),
      cipher_(make_reference_cipher(facts.name,
                                    Text(facts.known.key, facts.known.key + facts.key_bytes))),
      tweak_(make_reference_cipher(facts.name, test_tweak_key(facts.key_bytes))) {}

bool ReferenceCase::has(BackendEntry entry, warpseal_mode mode, Direction direction) const {
    return runs(&cpu_, entry, mode, direction);
}

warpseal_status ReferenceCase::sweep(warpseal_mode mode, Direction direction, const uint8_t* iv,
                                     uint64_t first_block, const uint8_t* in, uint8_t* out,
                                     size_t bytes) {
    const Text result = plain_output(*cipher_, mode, direction == Direction::encrypt,
                                     iv == nullptr ? Text() : Text(iv, iv + facts().block_bytes),
                                     Text(in, in + bytes), first_block);
    std::copy(result.begin(), result.end(), out);
    return WARPSEAL_OK;
}

warpseal_status ReferenceCase::segment(Direction direction, GcmState* run, uint64_t first_block,
                                       const uint8_t* in, uint8_t* out, size_t bytes) {
    Text counter0(run->counter0, run->counter0 + 16);
    uint32_t low = 0;
    for (size_t i = 12; i < 16; ++i) low = low << 8 | counter0[i];
    low += static_cast<uint32_t>(first_block);
    for (size_t i = 16; i-- > 12; low >>= 8) counter0[i] = static_cast<uint8_t>(low);
    const Text from(in, in + bytes), to = reference::gcm_decrypt_from(*cipher_, counter0, from);
    const Text sum =
        reference::gcm_ghash(*cipher_, padded(direction == Direction::encrypt ? to : from),
                             Text(run->sum, run->sum + 16));
    std::copy(sum.begin(), sum.end(), run->sum);
    std::copy(to.begin(), to.end(), out);
    return WARPSEAL_OK;
}

warpseal_status ReferenceCase::xts(Direction direction, const XtsUnits& units, const uint8_t* in,
                                   uint8_t* out, size_t bytes) {
    const Text result = reference::xts_units(*cipher_, *tweak_, direction == Direction::encrypt,
                                             Text(units.first, units.first + 16), units.unit_bytes,
                                             Text(in, in + bytes));
    std::copy(result.begin(), result.end(), out);
    return WARPSEAL_OK;
}

warpseal_status ReferenceCase::batch(warpseal_mode mode, Direction direction,
                                     const TestBatch& layout, bool in_place, TestText& memory) {
    const warpseal_batch batch = layout.at(memory.data(), in_place);
    const bool encrypt = direction == Direction::encrypt;
    uint64_t forgeries = 0;
    for (uint64_t i = 0; i < batch.message_count; ++i) {
        const uint64_t bytes = batch.lengths != nullptr ? batch.lengths[i] : batch.message_bytes,
                       at = batch.in_offsets != nullptr ? batch.in_offsets[i] : i * batch.in_stride;
        const auto text = [&](const uint8_t* begin, uint64_t stride, uint64_t size) {
            return size == 0 ? Text() : Text(begin + i * stride, begin + i * stride + size);
        };
        std::unique_ptr<reference::Cipher> own;
        if (batch.keys != nullptr)
            own = make_reference_cipher(facts().name,
                                        text(batch.keys, facts().key_bytes, facts().key_bytes));
        const reference::Cipher& cipher = own ? *own : *cipher_;
        const Text iv = text(batch.ivs, batch.iv_stride, batch.iv_bytes),
                   aad = text(batch.aad, batch.aad_stride, batch.aad_bytes),
                   in(batch.in + at, batch.in + at + bytes);
        uint8_t* const out = batch.out == nullptr ? nullptr : batch.out + at;
        batch.statuses[i] = WARPSEAL_OK;
        if (tagged(mode)) {
            batch.statuses[i] = tagged_message(cipher, mode, encrypt, iv, aad, in, out,
                                               batch.tags + i * batch.tag_stride, batch.tag_bytes);
            forgeries += batch.statuses[i] != WARPSEAL_OK;
        } else {
            const Text result = plain_output(cipher, mode, encrypt, iv, in);
            std::copy(result.begin(), result.end(), out);
        }
    }
    return outcome(forgeries == layout.forgeries(direction));
}

GcmState ReferenceCase::begin(const TestText& iv, const TestText& aad) const {
    const Text counter0 = reference::gcm_counter0(*cipher_, iv),
               sum = reference::gcm_ghash(*cipher_, padded(aad), Text(16));
    GcmState run;
    std::copy_n(counter0.begin(), 16, run.counter0);
    std::copy_n(sum.begin(), 16, run.sum);
    return run;
}

// The GHASH of zero blocks multiplies the accumulator by powers of H.
void ReferenceCase::combine(uint8_t sum[16], const uint8_t part[16], uint64_t block_count) const {
    const Text product =
        reference::gcm_ghash(*cipher_, Text(16 * block_count), Text(sum, sum + 16));
    for (size_t i = 0; i < 16; ++i) sum[i] = product[i] ^ part[i];
}

void ReferenceCase::finish(const GcmState& run, uint64_t aad_bytes, uint64_t text_bytes,
                           uint8_t tag[16]) const {
    Text lengths(16), mask(run.counter0, run.counter0 + 16);
    for (size_t i = 0; i < 8; ++i) {
        lengths[7 - i] = static_cast<uint8_t>(8 * aad_bytes >> (8 * i));
        lengths[15 - i] = static_cast<uint8_t>(8 * text_bytes >> (8 * i));
    }
    const Text sum = reference::gcm_ghash(*cipher_, lengths, Text(run.sum, run.sum + 16));
    cipher_->encrypt(mask.data());
    for (size_t i = 0; i < 16; ++i) tag[i] = mask[i] ^ sum[i];
}

}  // namespace tests

// Batches of messages in serial modes: CBC and CFB encryption, OFB (SP 800-38A 6.2 to 6.4), CMAC
// (SP 800-38B) and CCM (SP 800-38C).
#pragma once

#include "backends/cpu/messages.h"
#include "backends/cpu/parallel_modes.h"
#include "backends/cpu/serial_modes.h"
#include "macs/cmac.h"
#include "modes/cbc.h"
#include "modes/ccm.h"
#include "modes/cfb.h"
#include "modes/ofb.h"

namespace warpseal::cpu {
namespace {

// Supply for SerialModes, which defines its interface. A message of CBC, CFB or OFB is one segment.
template <int words>
struct TextSupply {
    const warpseal_batch& batch;

    Block<words> begin(uint64_t i) const { return load_block<words>(message_of(batch, i).iv); }
    bool segment(uint64_t i, int k, Segment& s, uint8_t*) const {
        const Message m = message_of(batch, i);
        s = {m.in, m.out, m.bytes};
        return k == 0;
    }
    void end(uint64_t i, const Block<words>&) const {
        if (batch.statuses) batch.statuses[i] = WARPSEAL_OK;
    }
};

// Supply for CMAC: all blocks but the last, then the last one, padded and XORed with its subkey (SP
// 800-38B 6.2).
template <int words>
struct CmacSupply {
    const warpseal_batch& batch;
    const Direction direction;
    const Block<words>& encrypted_zero;
    uint64_t failed = 0;

    Block<words> begin(uint64_t) const { return {}; }
    bool segment(uint64_t i, int k, Segment& s, uint8_t* own) const {
        const Message m = message_of(batch, i);
        const size_t before = m.bytes == 0 ? 0 : (m.bytes - 1) / (4 * words) * (4 * words);
        if (k == 0) s = {m.in, nullptr, before};
        if (k == 1) {
            Block<words> last{};
            memcpy(last.word, m.in + before, m.bytes - before);
            store_block(own, macs::cmac::last_block(last, static_cast<uint32_t>(m.bytes - before),
                                                    encrypted_zero));
            s = {own, nullptr, 4 * words};
        }
        return k < 2;
    }
    void end(uint64_t i, const Block<words>& sum) {
        failed += settle_tag(direction, batch, i, sum, nullptr, 0);
    }
};

// Supply for CCM. Segment 0 is B0, and the block of the AAD's length and first bytes. Segment 1 is
// the rest of the AAD, and segment 2 the plaintext. Encryption runs CBC-MAC before CTR, decryption
// after it.
template <class Family>
struct CcmSupply {
    const warpseal_batch& batch;
    const Direction direction;
    const typename Family::Key& key;
    uint64_t failed = 0;
    // Encoded AAD length, which is the same for all messages.
    uint8_t length[modes::ccm::longest_length] = {};
    const uint32_t length_bytes = modes::ccm::encode_length(batch.aad_bytes, length);
    const size_t beside = batch.aad_bytes < 16 - length_bytes ? batch.aad_bytes : 16 - length_bytes;

    Block<4> begin(uint64_t i) const {
        if (direction == Direction::decrypt) crypt(i);
        return {};
    }
    bool segment(uint64_t i, int k, Segment& s, uint8_t* own) const {
        const Message m = message_of(batch, i);
        const uint8_t* const aad = batch.aad + i * batch.aad_stride;
        if (k == 0) {
            store_block(own, modes::ccm::first_block(m.iv, batch.iv_bytes, batch.tag_bytes,
                                                     batch.aad_bytes != 0, m.bytes));
            store_block(own + 16, Block<4>{});
            memcpy(own + 16, length, sizeof length);
            if (batch.aad_bytes != 0) memcpy(own + 16 + length_bytes, aad, beside);
            s = {own, nullptr, batch.aad_bytes == 0 ? size_t{16} : size_t{32}};
        }
        if (k == 1) s = {aad + beside, nullptr, static_cast<size_t>(batch.aad_bytes) - beside};
        if (k == 2) s = {direction == Direction::encrypt ? m.in : m.out, nullptr, m.bytes};
        return k < 3;
    }
    void end(uint64_t i, Block<4> sum) {
        const Message m = message_of(batch, i);
        const Block<4> counter = modes::ccm::first_counter(m.iv, batch.iv_bytes);
        if (direction == Direction::encrypt) crypt(i);
        SecretOf<Block<4>> tag;
        tag.value = sum ^ encrypt_one<Family>(key, counter);
        failed += settle_tag(direction, batch, i, tag.value, m.out, m.bytes);
    }

private:
    void crypt(uint64_t i) const {
        const Message m = message_of(batch, i);
        sweep_of<Family, modes::Ctr, Direction::encrypt>(
            key, modes::ccm::first_counter(m.iv, batch.iv_bytes), 1, m.in, m.out, m.bytes);
    }
};

}  // namespace
}  // namespace warpseal::cpu

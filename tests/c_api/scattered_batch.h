// Messages for batches whose parts lie anywhere, sealed one by one with the calls for single
// messages.
#pragma once

#include <string>
#include <vector>

#include "support/random.h"
#include "support/targets.h"
#include "warpseal/batch.h"
#include "warpseal/error.h"

namespace tests {

using Text = vectors::Text;

struct SealedMessage {
    Text iv, aad, plaintext, ciphertext, tag;
};

// Messages of different lengths, some empty, whose AAD has `aad_lengths` different lengths.
inline std::vector<SealedMessage> sealed_messages(const warpseal_key* key, warpseal_mode mode,
                                                  size_t count, size_t aad_lengths, uint64_t seed,
                                                  size_t longest = 900) {
    Random random(seed);
    std::vector<SealedMessage> out(count);
    for (size_t i = 0; i < count; ++i) {
        SealedMessage& m = out[i];
        m.iv = random.text(12);
        m.aad = random.text(5 * (i / 3 % aad_lengths));
        m.plaintext = random.text(i % 7 == 5 ? 0 : random.length(longest));
        m.ciphertext.resize(m.plaintext.size());
        m.tag.resize(16);
        EXPECT_EQ(warpseal_seal_unsafe_iv(key, mode, m.iv.data(), 12, m.aad.data(), m.aad.size(),
                                          m.plaintext.data(), m.ciphertext.data(),
                                          m.plaintext.size(), m.tag.data(), 16),
                  WARPSEAL_OK);
    }
    return out;
}

// Records in one memory: AAD length (1 byte), AAD, IV, text, tag; each part at its offset.
struct Records {
    explicit Records(const std::vector<SealedMessage>& messages, bool sealed = true) {
        for (const SealedMessage& m : messages) {
            const Text& text = sealed ? m.ciphertext : m.plaintext;
            bytes.push_back(static_cast<uint8_t>(m.aad.size()));
            aad_lengths.push_back(m.aad.size());
            aads.push_back(add(m.aad));
            ivs.push_back(add(m.iv));
            lengths.push_back(text.size());
            texts.push_back(add(text));
            tags.push_back(add(sealed ? m.tag : Text(16, 0xee)));
        }
        statuses.assign(messages.size(), -1);
    }
    uint64_t add(const Text& part) {
        const uint64_t at = bytes.size();
        bytes.insert(bytes.end(), part.begin(), part.end());
        return at;
    }
    Text text(size_t i) const {
        const auto at = bytes.begin() + static_cast<ptrdiff_t>(texts[i]);
        return Text(at, at + static_cast<ptrdiff_t>(lengths[i]));
    }
    Text tag(size_t i) const {
        const auto at = bytes.begin() + static_cast<ptrdiff_t>(tags[i]);
        return Text(at, at + 16);
    }
    // In place, with all extents.
    warpseal_scattered_batch batch() {
        warpseal_scattered_batch b{};
        b.batch.struct_bytes = sizeof b;
        b.batch.iv_bytes = 12, b.batch.tag_bytes = 16;
        b.batch.message_count = lengths.size();
        b.batch.lengths = lengths.data();
        b.batch.ivs = b.batch.aad = b.batch.in = b.batch.out = b.batch.tags = bytes.data();
        b.batch.in_offsets = b.batch.out_offsets = texts.data();
        b.batch.statuses = statuses.data();
        b.iv_offsets = ivs.data(), b.aad_offsets = aads.data(), b.tag_offsets = tags.data();
        b.aad_lengths = aad_lengths.data();
        b.in_extent = b.out_extent = b.iv_extent = b.aad_extent = b.tag_extent = bytes.size();
        return b;
    }

    Text bytes;
    std::vector<uint64_t> aads, ivs, texts, tags, lengths, aad_lengths;
    std::vector<int32_t> statuses;
};

}  // namespace tests

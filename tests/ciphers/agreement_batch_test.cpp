// Random batches on every target: strides, offsets, lengths, a key per message, and broken items
// among good ones.
#include <gtest/gtest.h>

#include "support/expected_output.h"
#include "support/matrix.h"
#include "support/paths.h"
#include "support/random.h"

namespace {

using reference::Text;
using tests::Path;
using warpseal::Direction;

// Positions of the messages: at a stride, or at offsets in any order with gaps.
struct Layout {
    std::vector<uint64_t> offsets;  // empty: message i starts at i * stride
    uint64_t stride = 0;
    size_t bytes = 0;  // total size
    size_t at(size_t i) const { return offsets.empty() ? i * stride : offsets[i]; }
};

// A batch with all its inputs and its expected outputs.
struct Case {
    std::string name;
    warpseal_mode mode = WARPSEAL_CTR;
    bool is_tagged() const {
        return mode == WARPSEAL_GCM || mode == WARPSEAL_CCM || mode == WARPSEAL_CMAC;
    }
    bool writes() const {
        return mode != WARPSEAL_CMAC;
    }  // true if there is an output besides the tag
    warpseal_batch batch{};
    Text key, keys, ivs, aad, tags;
    std::vector<Text> plaintexts, ciphertexts;
    std::vector<uint64_t> lengths;
    Layout in, out;
};

Text slice(const Text& from, size_t offset, size_t bytes) {
    return Text(from.begin() + static_cast<long>(offset),
                from.begin() + static_cast<long>(offset + bytes));
}

const uint8_t* or_null(const Text& text) { return text.empty() ? nullptr : text.data(); }

Layout layout(tests::Random& random, const std::vector<size_t>& sizes, size_t largest) {
    Layout out;
    if (random.one_in(2)) {
        std::vector<size_t> order(sizes.size());
        for (size_t i = 0; i < order.size(); ++i) order[i] = i;
        for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
        out.offsets.resize(sizes.size());
        for (const size_t i : order) {
            out.offsets[i] = out.bytes + random.below(40);
            out.bytes = out.offsets[i] + sizes[i];
        }
    } else {
        out.stride = largest + random.below(40);
        out.bytes = sizes.size() * out.stride;
    }
    out.bytes += 40;
    return out;
}

Case random_case(tests::Random& random, const std::vector<warpseal_cipher_info>& ciphers,
                 size_t largest = 0) {
    const warpseal_cipher_info& cipher = ciphers[random.below(ciphers.size())];
    Case c;
    c.name = cipher.name;
    static constexpr warpseal_mode modes[] = {WARPSEAL_GCM, WARPSEAL_CTR, WARPSEAL_CBC,
                                              WARPSEAL_CFB, WARPSEAL_OFB, WARPSEAL_CCM,
                                              WARPSEAL_CMAC};
    do c.mode = modes[random.below(std::size(modes))];
    while (!targets::has(cipher, c.mode));
    const bool gcm = c.mode == WARPSEAL_GCM, ccm = c.mode == WARPSEAL_CCM,
               mac = c.mode == WARPSEAL_CMAC;
    const size_t block = cipher.block_bytes, whole = c.mode == WARPSEAL_CBC ? block : 1;
    c.batch.struct_bytes = sizeof c.batch;
    c.batch.message_count = largest == 0 && random.one_in(16)
                                ? 300 + random.below(300)
                                : 1 + random.below(largest == 0 ? 40 : 12);
    const size_t count = c.batch.message_count;
    // Length limit of a message; `same` is the length of all messages, or 0 for random lengths.
    const size_t bound = random.one_in(8) ? 5000 : random.one_in(2) ? 600 : 40;
    const size_t same =
        (largest != 0 ? largest - random.below(100) : random.length(bound)) / whole * whole;
    std::vector<size_t> sizes(count, same);
    if (random.one_in(2)) {
        for (size_t& size : sizes) size = random.below(same + 1) / whole * whole;
        c.lengths.assign(sizes.begin(), sizes.end());
    }
    c.batch.message_bytes = same;
    c.in = layout(random, sizes, same);
    c.out = layout(random, sizes, same);
    const size_t iv_bytes = mac                ? 0
                            : ccm              ? 7 + random.below(largest == 0 ? 7 : 5)
                            : !gcm             ? block
                            : random.one_in(4) ? 1 + random.below(40)
                                               : 12;
    const size_t aad_bytes = (gcm || ccm) && !random.one_in(4) ? random.below(80) : 0;
    const size_t tag_bytes = gcm   ? 12 + random.below(5)
                             : ccm ? 4 + 2 * random.below(7)
                             : mac ? 4 + random.below(block - 3)
                                   : 0;  // no tag so short that a wrong one passes
    c.key = random.text(cipher.key_bytes);
    if (random.one_in(2)) c.keys = random.text(count * cipher.key_bytes);
    // Messages under one key have distinct IVs, except in CBC and CFB, which accept any.
    const bool may_share = !c.keys.empty() || c.mode == WARPSEAL_CBC || c.mode == WARPSEAL_CFB;
    const bool shared_iv = may_share && random.one_in(4), shared_aad = random.one_in(3);
    const size_t iv_stride = shared_iv ? 0 : iv_bytes + random.below(8),
                 aad_stride = shared_aad ? 0 : aad_bytes + random.below(8);
    const size_t tag_stride = tag_bytes == 0 ? 0 : tag_bytes + random.below(8);
    c.ivs = random.text(iv_bytes + count * iv_stride);
    if (c.mode == WARPSEAL_CTR && random.one_in(2))  // counters that will carry
        for (size_t i = 0; i < c.ivs.size() && !shared_iv; ++i)
            if (i % iv_stride >= 2) c.ivs[i] = 0xff;
    if (aad_bytes != 0) c.aad = random.text(aad_bytes + count * aad_stride);
    c.tags = random.text(tag_bytes + count * tag_stride);
    for (size_t i = 0; i < count; ++i) {
        const Text pt = random.text(sizes[i]);
        const Text key =
            c.keys.empty() ? c.key : slice(c.keys, i * cipher.key_bytes, cipher.key_bytes);
        const Text aad = aad_bytes == 0 ? Text() : slice(c.aad, i * aad_stride, aad_bytes);
        const tests::ExpectedOutput answer = tests::answer(
            {c.name, c.mode, key, iv_bytes == 0 ? Text() : slice(c.ivs, i * iv_stride, iv_bytes),
             aad, pt, tag_bytes, 0});
        c.plaintexts.push_back(pt);
        c.ciphertexts.push_back(mac ? pt : answer.text);
        std::copy(answer.tag.begin(), answer.tag.end(),
                  c.tags.begin() + static_cast<long>(i * tag_stride));
    }
    c.batch.iv_bytes = static_cast<uint32_t>(iv_bytes);
    c.batch.tag_bytes = static_cast<uint32_t>(tag_bytes);
    c.batch.iv_stride = iv_stride;
    c.batch.aad_bytes = aad_bytes;
    c.batch.aad_stride = aad_stride;
    c.batch.tag_stride = tag_stride;
    return c;
}

// Describes the case as a batch from `in` with layout `from` to `out` with layout `to`.
warpseal_batch bound(const Case& c, const Layout& from, const Text& in, const Layout& to, Text& out,
                     Text& tags, std::vector<int32_t>* statuses) {
    warpseal_batch batch = c.batch;
    batch.keys = or_null(c.keys);
    batch.ivs = or_null(c.ivs);
    batch.aad = or_null(c.aad);
    batch.lengths = c.lengths.empty() ? nullptr : c.lengths.data();
    batch.in_offsets = from.offsets.empty() ? nullptr : from.offsets.data();
    batch.in_stride = from.stride;
    batch.out_offsets = to.offsets.empty() ? nullptr : to.offsets.data();
    batch.out_stride = to.stride;
    batch.in = in.data();
    batch.out = c.writes() ? out.data() : nullptr;
    batch.tags = tags.data();
    batch.statuses = statuses == nullptr ? nullptr : statuses->data();
    return batch;
}

// Returns memory in this layout, filled with poison except for messages [first, first + count).
Text laid_out(const Layout& layout, uint8_t poison, const std::vector<Text>& messages,
              uint64_t first, uint64_t count) {
    Text out(layout.bytes, poison);
    for (uint64_t i = first; i < first + count; ++i)
        std::copy(messages[i].begin(), messages[i].end(),
                  out.begin() + static_cast<long>(layout.at(i)));
    return out;
}

class Batches : public testing::Test {
protected:
    // Encrypts a range to a poisoned buffer, then the whole batch in place. Bytes between messages
    // must not change.
    void encrypt(const Path& path, const Case& c, uint64_t first, uint64_t count) {
        const uint64_t all = c.batch.message_count;
        const Text in = laid_out(c.in, 0, c.plaintexts, 0, all), tag_poison(c.tags.size(), 0x5a);
        Text out(c.out.bytes, 0xa5), tags = tag_poison;
        std::vector<int32_t> statuses(all, -1);
        ASSERT_EQ(path.batch(c.mode, Direction::encrypt,
                             bound(c, c.in, in, c.out, out, tags, &statuses), first, count),
                  0u);
        ASSERT_EQ(out, laid_out(c.out, 0xa5, c.ciphertexts, first, c.writes() ? count : 0));
        for (uint64_t i = 0; i < all; ++i) {
            const bool in_range = i >= first && i < first + count;
            ASSERT_EQ(statuses[i], in_range ? WARPSEAL_OK : -1);
            ASSERT_EQ(
                slice(tags, i * c.batch.tag_stride, c.batch.tag_bytes),
                slice(in_range ? c.tags : tag_poison, i * c.batch.tag_stride, c.batch.tag_bytes));
        }
        Text same = laid_out(c.in, 0x5a, c.plaintexts, 0, all);
        tags = tag_poison;
        ASSERT_EQ(path.batch(c.mode, Direction::encrypt,
                             bound(c, c.in, same, c.in, same, tags, nullptr), 0, all),
                  0u);
        ASSERT_EQ(same, laid_out(c.in, 0x5a, c.ciphertexts, 0, all));
        matrix::count(path.target(), c.name, c.mode, Direction::encrypt, count + all);
    }

    // Decrypts a range with some broken messages. Those are reported and zeroized; the others are
    // not affected.
    void decrypt(const Path& path, const Case& c, uint64_t first, uint64_t count) {
        const uint64_t all = c.batch.message_count;
        Text in = laid_out(c.in, 0, c.ciphertexts, 0, all), tags = c.tags;
        std::vector<Text> expected = c.plaintexts;
        std::vector<int32_t> outcomes(all, WARPSEAL_OK);
        uint64_t broken = 0;
        for (uint64_t i = 0; i < all && c.is_tagged(); ++i) {
            if (!random_.one_in(5)) continue;
            const size_t size = expected[i].size(),
                         bit = random_.below(8 * (size + c.batch.tag_bytes));
            uint8_t& changed = bit / 8 < size ? in[c.in.at(i) + bit / 8]
                                              : tags[i * c.batch.tag_stride + bit / 8 - size];
            changed = static_cast<uint8_t>(changed ^ 1u << bit % 8);
            expected[i].assign(size, 0);
            outcomes[i] = WARPSEAL_NOT_AUTHENTIC;
            if (i >= first && i < first + count) ++broken;
        }
        Text out(c.out.bytes, 0x5a);
        std::vector<int32_t> statuses(all, -1);
        ASSERT_EQ(path.batch(c.mode, Direction::decrypt,
                             bound(c, c.in, in, c.out, out, tags, &statuses), first, count),
                  broken);
        ASSERT_EQ(out, laid_out(c.out, 0x5a, expected, first, c.writes() ? count : 0));
        for (uint64_t i = 0; i < all; ++i)
            ASSERT_EQ(statuses[i], i >= first && i < first + count ? outcomes[i] : -1);
        path.batch(c.mode, Direction::decrypt, bound(c, c.in, in, c.in, in, tags, &statuses), 0,
                   all);
        ASSERT_TRUE(!c.writes() || in == laid_out(c.in, 0, expected, 0, all));
        ASSERT_EQ(statuses, outcomes);
        matrix::count(path.target(), c.name, c.mode, Direction::decrypt, count + all);
    }

    tests::Random random_{21};
};

TEST_F(Batches, RandomBatches) {
    const std::vector<warpseal_cipher_info> ciphers = targets::ciphers();
    for (int i = 0; i < 500; ++i) {
        const Case c = random_case(random_, ciphers);
        for (const auto& path : tests::paths(c.name, c.key)) {
            SCOPED_TRACE(path->target() + " " + c.name + " case " + std::to_string(i));
            const uint64_t first = path->takes_ranges() ? random_.below(c.batch.message_count) : 0;
            const uint64_t count = path->takes_ranges()
                                       ? 1 + random_.below(c.batch.message_count - first)
                                       : c.batch.message_count;
            encrypt(*path, c, first, count);
            if (HasFatalFailure()) return;
            decrypt(*path, c, first, count);
            if (HasFatalFailure()) return;
        }
    }
}

// Runs the same cases through the public calls, and some large enough to be split over threads.
TEST_F(Batches, ThroughThePublicInterface) {
    const std::vector<warpseal_cipher_info> ciphers = targets::ciphers();
    for (const warpseal_target_info& target : targets::all()) {
        if (!target.usable) continue;
        const targets::EngineHandle engine = targets::engine(target.name, 3);
        for (int i = 0; i < 90; ++i) {
            const Case c = random_case(random_, ciphers, i % 18 == 0 ? 30000 : 0);
            SCOPED_TRACE(std::string(target.name) + " " + c.name + " case " + std::to_string(i));
            const targets::KeyHandle key = targets::key(engine, c.name, c.key);
            const bool mac = c.mode == WARPSEAL_CMAC;
            const auto forward = mac             ? warpseal_mac_batch
                                 : c.is_tagged() ? warpseal_seal_batch_unsafe_iv
                                                 : warpseal_encrypt_batch;
            const auto backward = mac             ? warpseal_mac_verify_batch
                                  : c.is_tagged() ? warpseal_open_batch
                                                  : warpseal_decrypt_batch;
            const uint64_t count = c.batch.message_count;
            Text in = laid_out(c.in, 0, c.plaintexts, 0, count), out(c.out.bytes, 0xa5),
                 tags(c.tags.size(), 0x5a);
            warpseal_batch batch = bound(c, c.in, in, c.out, out, tags, nullptr);
            ASSERT_EQ(forward(key.get(), c.mode, &batch), WARPSEAL_OK);
            ASSERT_TRUE(out == laid_out(c.out, 0xa5, c.ciphertexts, 0, mac ? 0 : count));
            for (uint64_t m = 0; m < count; ++m)
                ASSERT_EQ(slice(tags, m * c.batch.tag_stride, c.batch.tag_bytes),
                          slice(c.tags, m * c.batch.tag_stride, c.batch.tag_bytes));
            matrix::count(target.name, c.name, c.mode, Direction::encrypt, count);

            in = laid_out(c.in, 0, c.ciphertexts, 0, count);
            std::vector<Text> expected = c.plaintexts;
            std::vector<int32_t> statuses(count, -1), outcomes(count, WARPSEAL_OK);
            const uint64_t bad = random_.below(2 * count);  // none in half of the cases
            if (c.is_tagged() && bad < count) {
                tags[bad * c.batch.tag_stride + random_.below(c.batch.tag_bytes)] ^= 1;
                outcomes[bad] = WARPSEAL_NOT_AUTHENTIC;
                expected[bad].assign(expected[bad].size(), 0);
            }
            out.assign(out.size(), 0x5a);
            batch = bound(c, c.in, in, c.out, out, tags, &statuses);
            ASSERT_EQ(backward(key.get(), c.mode, &batch),
                      c.is_tagged() && bad < count ? WARPSEAL_NOT_AUTHENTIC : WARPSEAL_OK);
            ASSERT_TRUE(out == laid_out(c.out, 0x5a, expected, 0, mac ? 0 : count));
            ASSERT_EQ(statuses, outcomes);
            matrix::count(target.name, c.name, c.mode, Direction::decrypt, count);
        }
    }
}

}  // namespace

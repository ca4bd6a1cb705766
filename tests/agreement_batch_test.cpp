// Batches of random shape on every target: strides, offsets, lengths, a key per message, broken items among good ones.
#include <gtest/gtest.h>

#include "matrix.h"
#include "oracle.h"
#include "paths.h"
#include "random.h"

namespace {

using reference::Text;
using tests::Path;
using warpseal::Direction;

// A batch with everything that it points at, and what must come out of it.
struct Case {
    std::string name;
    warpseal_mode mode = WARPSEAL_CTR;
    warpseal_batch batch{};
    Text key, keys, ivs, aad, plaintexts, ciphertexts, tags;  // the two texts laid out alike: at in_offsets and out_offsets
    std::vector<uint64_t> lengths, offsets;
    std::vector<size_t> at;  // where message i begins
    std::vector<size_t> size;
};

Text slice(const Text& from, size_t offset, size_t bytes) {
    return Text(from.begin() + static_cast<long>(offset), from.begin() + static_cast<long>(offset + bytes));
}

const uint8_t* or_null(const Text& text) { return text.empty() ? nullptr : text.data(); }

// largest: of a message, and then about as large; 0: by chance.
void lay_out(tests::Random& random, Case& c, size_t largest) {
    const size_t count = c.batch.message_count;
    const size_t same = largest != 0 ? largest - random.below(100) : random.length(random.one_in(8) ? 20000 : random.one_in(2) ? 600 : 40);
    const bool varied = random.one_in(2);
    for (size_t i = 0; i < count; ++i) c.size.push_back(varied ? random.below(same + 1) : same);
    if (varied) c.lengths.assign(c.size.begin(), c.size.end());
    c.batch.message_bytes = same;
    size_t end = 0;
    if (random.one_in(2)) {  // offsets, with gaps, in shuffled order
        std::vector<size_t> order(count);
        for (size_t i = 0; i < count; ++i) order[i] = i;
        for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
        c.at.resize(count);
        for (const size_t i : order) {
            c.at[i] = end + random.below(40);
            end = c.at[i] + c.size[i];
        }
        c.offsets.assign(c.at.begin(), c.at.end());
    } else {
        const size_t stride = same + random.below(40);
        for (size_t i = 0; i < count; ++i) c.at.push_back(i * stride);
        c.batch.in_stride = c.batch.out_stride = stride;
        end = count * stride;
    }
    c.plaintexts.assign(end + 40, 0);
    c.ciphertexts = c.plaintexts;
}

Case random_case(tests::Random& random, const std::vector<warpseal_cipher_info>& ciphers, size_t largest = 0) {
    const warpseal_cipher_info& cipher = ciphers[random.below(ciphers.size())];
    Case c;
    c.name = cipher.name;
    c.mode = random.one_in(3) ? WARPSEAL_CTR : WARPSEAL_GCM;
    const bool gcm = c.mode == WARPSEAL_GCM;
    c.batch.struct_bytes = sizeof c.batch;
    c.batch.message_count = random.one_in(16) ? 300 + random.below(300) : 1 + random.below(40);
    lay_out(random, c, largest);
    const size_t count = c.batch.message_count;
    const size_t iv_bytes = !gcm ? 16 : random.one_in(4) ? 1 + random.below(40) : 12;
    const size_t aad_bytes = gcm && !random.one_in(4) ? random.below(80) : 0;
    const size_t tag_bytes = gcm ? 12 + random.below(5) : 0;
    const bool shared_iv = random.one_in(4), shared_aad = random.one_in(3);
    const size_t iv_stride = shared_iv ? 0 : iv_bytes + random.below(8), aad_stride = shared_aad ? 0 : aad_bytes + random.below(8);
    const size_t tag_stride = gcm ? tag_bytes + random.below(8) : 0;
    c.key = random.text(cipher.key_bytes);
    if (random.one_in(2)) c.keys = random.text(count * cipher.key_bytes);
    c.ivs = random.text(iv_bytes + count * iv_stride);
    if (!gcm && random.one_in(2))  // counters about to carry
        for (size_t i = 0; i < c.ivs.size() && !shared_iv; ++i)
            if (i % iv_stride >= 2) c.ivs[i] = 0xff;
    if (aad_bytes != 0) c.aad = random.text(aad_bytes + count * aad_stride);
    c.tags = random.text(tag_bytes + count * tag_stride);
    for (size_t i = 0; i < count; ++i) {
        const Text pt = random.text(c.size[i]);
        const Text key = c.keys.empty() ? c.key : slice(c.keys, i * cipher.key_bytes, cipher.key_bytes);
        const Text aad = aad_bytes == 0 ? Text() : slice(c.aad, i * aad_stride, aad_bytes);
        Text tag;
        const Text ct = oracle::run(c.name + (gcm ? "-gcm" : "-ctr"), true, key, slice(c.ivs, i * iv_stride, iv_bytes), aad, pt, gcm ? &tag : nullptr);
        std::copy(pt.begin(), pt.end(), c.plaintexts.begin() + static_cast<long>(c.at[i]));
        std::copy(ct.begin(), ct.end(), c.ciphertexts.begin() + static_cast<long>(c.at[i]));
        std::copy(tag.begin(), tag.begin() + static_cast<long>(tag_bytes), c.tags.begin() + static_cast<long>(i * tag_stride));
    }
    c.batch.iv_bytes = static_cast<uint32_t>(iv_bytes);
    c.batch.tag_bytes = static_cast<uint32_t>(tag_bytes);
    c.batch.iv_stride = iv_stride;
    c.batch.aad_bytes = aad_bytes;
    c.batch.aad_stride = aad_stride;
    c.batch.tag_stride = tag_stride;
    return c;
}

// The pointers of the case's batch, after the case came to rest in memory.
warpseal_batch bound(const Case& c, const Text& in, Text& out, Text& tags, std::vector<int32_t>* statuses) {
    warpseal_batch batch = c.batch;
    batch.keys = or_null(c.keys);
    batch.ivs = c.ivs.data();
    batch.aad = or_null(c.aad);
    batch.lengths = c.lengths.empty() ? nullptr : c.lengths.data();
    batch.in_offsets = batch.out_offsets = c.offsets.empty() ? nullptr : c.offsets.data();
    batch.in = in.data();
    batch.out = out.data();
    batch.tags = tags.data();
    batch.statuses = statuses == nullptr ? nullptr : statuses->data();
    return batch;
}

// `before` with the messages [first, first + count) of `after` in it.
Text with(const Case& c, Text before, const Text& after, uint64_t first, uint64_t count) {
    for (uint64_t i = first; i < first + count; ++i)
        std::copy_n(after.begin() + static_cast<long>(c.at[i]), c.size[i], before.begin() + static_cast<long>(c.at[i]));
    return before;
}

class Batches : public testing::Test {
protected:
    // Encrypts a range to a poisoned buffer, then the whole in place; both must leave every byte between messages alone.
    void encrypt(const Path& path, const Case& c, uint64_t first, uint64_t count) {
        const Text poison(c.plaintexts.size(), 0xa5), tag_poison(c.tags.size(), 0x5a);
        Text out = poison, tags = tag_poison;
        std::vector<int32_t> statuses(c.batch.message_count, -1);
        ASSERT_EQ(path.batch(c.mode, Direction::encrypt, bound(c, c.plaintexts, out, tags, &statuses), first, count), 0u);
        ASSERT_EQ(out, with(c, poison, c.ciphertexts, first, count));
        for (uint64_t i = 0; i < c.batch.message_count; ++i) {
            const bool inside = i >= first && i < first + count;
            ASSERT_EQ(statuses[i], inside ? WARPSEAL_OK : -1);
            ASSERT_EQ(slice(tags, i * c.batch.tag_stride, c.batch.tag_bytes),
                      slice(inside ? c.tags : tag_poison, i * c.batch.tag_stride, c.batch.tag_bytes));
        }
        Text same = with(c, poison, c.plaintexts, 0, c.batch.message_count);
        tags = tag_poison;
        ASSERT_EQ(path.batch(c.mode, Direction::encrypt, bound(c, same, same, tags, nullptr), 0, c.batch.message_count), 0u);
        ASSERT_EQ(same, with(c, poison, c.ciphertexts, 0, c.batch.message_count));
        matrix::count(path.target(), c.name, c.mode, Direction::encrypt, count + c.batch.message_count);
    }

    // Decrypts a range with some messages broken: those are reported and wiped, the others are as if nothing had happened.
    void decrypt(const Path& path, const Case& c, uint64_t first, uint64_t count) {
        const Text poison(c.plaintexts.size(), 0x5a);
        Text in = c.ciphertexts, tags = c.tags, expected = c.plaintexts;
        std::vector<int32_t> verdicts(c.batch.message_count, WARPSEAL_OK);
        uint64_t broken = 0;
        for (uint64_t i = 0; i < c.batch.message_count && c.mode == WARPSEAL_GCM; ++i) {
            if (!random_.one_in(5)) continue;
            const size_t bit = random_.below(8 * (c.size[i] + c.batch.tag_bytes));
            uint8_t& changed = bit / 8 < c.size[i] ? in[c.at[i] + bit / 8] : tags[i * c.batch.tag_stride + bit / 8 - c.size[i]];
            changed = static_cast<uint8_t>(changed ^ 1u << bit % 8);
            std::fill_n(expected.begin() + static_cast<long>(c.at[i]), c.size[i], uint8_t{0});
            verdicts[i] = WARPSEAL_NOT_AUTHENTIC;
            if (i >= first && i < first + count) ++broken;
        }
        Text out = poison;
        std::vector<int32_t> statuses(c.batch.message_count, -1);
        ASSERT_EQ(path.batch(c.mode, Direction::decrypt, bound(c, in, out, tags, &statuses), first, count), broken);
        ASSERT_EQ(out, with(c, poison, expected, first, count));
        for (uint64_t i = 0; i < c.batch.message_count; ++i) ASSERT_EQ(statuses[i], i >= first && i < first + count ? verdicts[i] : -1);
        Text same = with(c, poison, in, 0, c.batch.message_count);
        path.batch(c.mode, Direction::decrypt, bound(c, same, same, tags, &statuses), 0, c.batch.message_count);
        ASSERT_EQ(same, with(c, poison, expected, 0, c.batch.message_count));
        ASSERT_EQ(statuses, verdicts);
        matrix::count(path.target(), c.name, c.mode, Direction::decrypt, count + c.batch.message_count);
    }

    tests::Random random_{21};
};

TEST_F(Batches, OfRandomShape) {
    const std::vector<warpseal_cipher_info> ciphers = targets::ciphers();
    for (int i = 0; i < 400; ++i) {
        const Case c = random_case(random_, ciphers);
        for (const auto& path : tests::paths(c.name, c.key)) {
            SCOPED_TRACE(path->target() + " " + c.name + " case " + std::to_string(i));
            const uint64_t first = path->takes_ranges() ? random_.below(c.batch.message_count) : 0;
            const uint64_t count = path->takes_ranges() ? 1 + random_.below(c.batch.message_count - first) : c.batch.message_count;
            encrypt(*path, c, first, count);
            if (HasFatalFailure()) return;
            decrypt(*path, c, first, count);
            if (HasFatalFailure()) return;
        }
    }
}

// The same cases, and some large enough to be shared out over threads, through the public calls.
TEST_F(Batches, ThroughThePublicInterface) {
    const std::vector<warpseal_cipher_info> ciphers = targets::ciphers();
    for (const warpseal_target_info& target : targets::all()) {
        if (!target.usable) continue;
        const targets::EngineHandle engine = targets::engine(target.name, 3);
        for (int i = 0; i < 60; ++i) {
            const Case c = random_case(random_, ciphers, i % 12 == 0 ? 100000 : 0);
            SCOPED_TRACE(std::string(target.name) + " " + c.name + " case " + std::to_string(i));
            const targets::KeyHandle key = targets::key(engine, c.name, c.key);
            const bool gcm = c.mode == WARPSEAL_GCM;
            const uint64_t count = c.batch.message_count;
            Text out(c.plaintexts.size(), 0xa5), tags(c.tags.size(), 0x5a);
            warpseal_batch batch = bound(c, c.plaintexts, out, tags, nullptr);
            ASSERT_EQ((gcm ? warpseal_seal_batch_unsafe_iv : warpseal_encrypt_batch)(key.get(), c.mode, &batch), WARPSEAL_OK);
            ASSERT_TRUE(out == with(c, Text(out.size(), 0xa5), c.ciphertexts, 0, count));
            for (uint64_t m = 0; m < count; ++m)
                ASSERT_EQ(slice(tags, m * c.batch.tag_stride, c.batch.tag_bytes), slice(c.tags, m * c.batch.tag_stride, c.batch.tag_bytes));
            matrix::count(target.name, c.name, c.mode, Direction::encrypt, count);

            Text in = c.ciphertexts, expected = c.plaintexts;
            std::vector<int32_t> statuses(count, -1), verdicts(count, WARPSEAL_OK);
            const uint64_t bad = random_.below(2 * count);  // in half of the cases none
            if (gcm && bad < count) {
                tags[bad * c.batch.tag_stride + random_.below(c.batch.tag_bytes)] ^= 1;
                verdicts[bad] = WARPSEAL_NOT_AUTHENTIC;
                std::fill_n(expected.begin() + static_cast<long>(c.at[bad]), c.size[bad], uint8_t{0});
            }
            out.assign(out.size(), 0x5a);
            batch = bound(c, in, out, tags, &statuses);
            ASSERT_EQ((gcm ? warpseal_open_batch : warpseal_decrypt_batch)(key.get(), c.mode, &batch),
                      gcm && bad < count ? WARPSEAL_NOT_AUTHENTIC : WARPSEAL_OK);
            ASSERT_TRUE(out == with(c, Text(out.size(), 0x5a), expected, 0, count));
            ASSERT_EQ(statuses, verdicts);
            matrix::count(target.name, c.name, c.mode, Direction::decrypt, count);
        }
    }
}

}  // namespace

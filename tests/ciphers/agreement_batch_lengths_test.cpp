// Batches of many lengths: all from 0 to 600 and some of each remainder up to 4096, in each batch
// mode and direction, on every target. Messages use one key each or share one, at any alignment,
// between guard pages. Batches of one message then touch the guards. All equal the reference.
#include <gtest/gtest.h>

#include "support/expected_output.h"
#include "support/matrix.h"
#include "support/paths.h"
#include "support/random.h"

namespace {

using reference::Text;
using tests::Path;
using warpseal::Direction;

constexpr size_t longest = 4096;
constexpr size_t pool =
    8;  // keys, texts and IVs to draw from, so that the reference sees the same blocks again

constexpr warpseal_mode modes[] = {WARPSEAL_CTR, WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_OFB,
                                   WARPSEAL_GCM, WARPSEAL_CCM, WARPSEAL_CMAC};

struct Item {
    size_t bytes, set;
};

class BatchLengths : public testing::TestWithParam<warpseal_cipher_info> {
protected:
    void SetUp() override {
        for (size_t i = 0; i < pool; ++i) {
            keys_.push_back(random_.text(GetParam().key_bytes));
            reference_ciphers_.push_back(tests::make_reference_cipher(GetParam().name, keys_[i]));
            texts_.push_back(random_.text(longest));
            ivs_.push_back(random_.counter(longest / block(), block()));
        }
        paths_ = tests::paths(GetParam().name, keys_[0]);
    }
    size_t block() const { return GetParam().block_bytes; }
    // CTR, CBC, CFB and OFB take an IV of one block.
    size_t iv_bytes(warpseal_mode mode) const {
        return mode == WARPSEAL_GCM ? 12 : mode == WARPSEAL_CCM ? 11 : block();
    }
    size_t tag_bytes(warpseal_mode mode) const {
        return mode < WARPSEAL_XTS && mode != WARPSEAL_GCM ? 0 : block();
    }
    Text iv(warpseal_mode mode, size_t set) const {
        return Text(ivs_[set].begin(), ivs_[set].begin() + static_cast<long>(iv_bytes(mode)));
    }
    static constexpr size_t aad_bytes = 21;  // GCM and CCM: the first bytes of the set's text

    // Returns the message's ciphertext and tag, under the key of its set if `own`, else under the
    // first.
    tests::ExpectedOutput expected(warpseal_mode mode, const Item& item, bool own) {
        const size_t key = own ? item.set : 0;
        const reference::Cipher& reference_cipher = *reference_ciphers_[key];
        const Text text(texts_[item.set].begin(),
                        texts_[item.set].begin() + static_cast<long>(item.bytes));
        const Text aad(texts_[item.set].begin(), texts_[item.set].begin() + aad_bytes);
        if (mode == WARPSEAL_CMAC) return {text, reference::cmac(reference_cipher, text)};
        if (mode == WARPSEAL_GCM || mode == WARPSEAL_CCM) {
            const reference::Sealed sealed =
                mode == WARPSEAL_GCM
                    ? reference::gcm_seal(reference_cipher, iv(mode, item.set), aad, text)
                    : reference::ccm_seal(reference_cipher, iv(mode, item.set), aad, text, 16);
            return {sealed.ciphertext, sealed.tag};
        }
        Text& whole = whole_[{mode, key, item.set}];
        if (whole.empty())
            whole = mode == WARPSEAL_CTR
                        ? reference::ctr(reference_cipher, ivs_[item.set], texts_[item.set])
                    : mode == WARPSEAL_CBC
                        ? reference::cbc_encrypt(reference_cipher, ivs_[item.set], texts_[item.set])
                    : mode == WARPSEAL_CFB
                        ? reference::cfb_encrypt(reference_cipher, ivs_[item.set], texts_[item.set])
                        : reference::ofb(reference_cipher, ivs_[item.set], texts_[item.set]);
        return {Text(whole.begin(), whole.begin() + static_cast<long>(item.bytes)), {}};
    }

    // Encrypts and decrypts the items as one batch on every path. In tagged modes decryption also
    // gets changed items.
    void run(warpseal_mode mode, const std::vector<Item>& items, bool own, bool in_place,
             uint8_t poison) {
        const size_t count = items.size(), stride = tag_bytes(mode);
        std::vector<uint64_t> lengths, offsets;
        std::vector<tests::ExpectedOutput> outputs;
        Text keys, ivs, aad, tags;
        uint64_t end = 0;
        for (const Item& item : items) {
            outputs.push_back(expected(mode, item, own));
            if (!offsets.empty())
                end += random_.below(17);  // any alignment, with gap bytes that must not change
            offsets.push_back(end);
            lengths.push_back(item.bytes);
            end += item.bytes;
            keys.insert(keys.end(), keys_[item.set].begin(), keys_[item.set].end());
            const Text message_iv = iv(mode, item.set);
            ivs.insert(ivs.end(), message_iv.begin(), message_iv.end());
            aad.insert(aad.end(), texts_[item.set].begin(), texts_[item.set].begin() + aad_bytes);
            tags.insert(tags.end(), outputs.back().tag.begin(), outputs.back().tag.end());
        }
        const bool with_aad = mode == WARPSEAL_GCM || mode == WARPSEAL_CCM,
                   is_mac = mode == WARPSEAL_CMAC;
        // All inputs end at inaccessible pages.
        const tests::Guarded in(end), out(end), tag_memory(tags.size()), key_memory(keys.size()),
            iv_memory(ivs.size()), aad_memory(aad.size());
        const uint8_t* const keys_at = key_memory.put(true, keys.data(), keys.size());
        const uint8_t* const ivs_at = iv_memory.put(true, ivs.data(), ivs.size());
        const uint8_t* const aad_at = aad_memory.put(true, aad.data(), aad.size());
        uint8_t* const from = in.at_end(end);
        uint8_t* const to = in_place ? from : out.at_end(end);
        const auto put = [&](uint8_t* at, size_t i, bool ciphertext) {
            if (items[i].bytes != 0)
                std::memcpy(at + offsets[i],
                            ciphertext ? outputs[i].text.data() : texts_[items[i].set].data(),
                            items[i].bytes);
        };
        for (const auto& path : paths_)
            for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                ASSERT_TRUE(path->batches(mode, direction))
                    << path->target() << " has no batch of " << warpseal_mode_name(mode);
                const bool forward = direction == Direction::encrypt;
                std::memset(from, poison, end);
                std::memset(to, poison, end);
                for (size_t i = 0; i < count; ++i) put(from, i, !forward);
                uint8_t* const tags_at = tag_memory.put(true, tags.data(), tags.size());
                std::vector<int32_t> statuses(count, -1), outcomes(count, WARPSEAL_OK);
                uint64_t broken = 0;
                for (size_t i = 0; i < count && !forward && stride != 0; ++i) {
                    if (!random_.one_in(7)) continue;
                    const size_t bit = random_.below(8 * (items[i].bytes + stride));
                    uint8_t& changed = bit / 8 < items[i].bytes
                                           ? from[offsets[i] + bit / 8]
                                           : tags_at[i * stride + bit / 8 - items[i].bytes];
                    changed = static_cast<uint8_t>(changed ^ 1u << bit % 8);
                    outcomes[i] = WARPSEAL_NOT_AUTHENTIC;
                    ++broken;
                }
                if (forward && stride != 0) std::memset(tags_at, poison, tags.size());
                warpseal_batch batch{};
                batch.struct_bytes = sizeof batch;
                batch.iv_bytes = is_mac ? 0 : static_cast<uint32_t>(iv_bytes(mode));
                batch.tag_bytes = static_cast<uint32_t>(stride);
                batch.message_count = count;
                batch.lengths = lengths.data();
                batch.keys = own ? keys_at : nullptr;
                batch.ivs = is_mac ? nullptr : ivs_at;
                batch.iv_stride = batch.iv_bytes;
                batch.aad = with_aad ? aad_at : nullptr;
                batch.aad_bytes = with_aad ? aad_bytes : 0;
                batch.aad_stride = batch.aad_bytes;
                batch.in = from;
                batch.in_offsets = offsets.data();
                batch.out = is_mac ? nullptr : to;
                batch.out_offsets = offsets.data();
                batch.tags = stride == 0 ? nullptr : tags_at;
                batch.tag_stride = stride;
                batch.statuses = statuses.data();
                uint64_t failed = 0;
                for (uint64_t first = 0, n = 0; first < count; first += n) {
                    n = path->takes_ranges() ? 1 + random_.below(count - first) : count;
                    failed += path->batch(mode, direction, batch, first, n);
                }
                ASSERT_EQ(failed, broken)
                    << path->target() << ": a changed bit was accepted, or a valid message refused";
                ASSERT_EQ(statuses, outcomes) << path->target();
                if (stride != 0 && broken == 0) {
                    ASSERT_EQ(std::memcmp(tags_at, tags.data(), tags.size()), 0)
                        << path->target() << ": tags";
                }
                if (!is_mac) {
                    Text wanted(end, poison);
                    for (size_t i = 0; i < count; ++i) {
                        put(wanted.data(), i, forward);
                        if (outcomes[i] != WARPSEAL_OK && items[i].bytes != 0)
                            std::memset(wanted.data() + offsets[i], 0, items[i].bytes);
                    }
                    if (end == 0 || std::memcmp(to, wanted.data(), end) == 0) {
                        matrix::count(path->target(), GetParam().name, mode, direction, count);
                        continue;
                    }
                    for (size_t i = 0; i < end; ++i)
                        ASSERT_EQ(to[i], wanted[i])
                            << path->target() << " " << warpseal_mode_name(mode)
                            << (forward ? " encrypt" : " decrypt") << ", byte " << i
                            << " of the batch";
                }
                matrix::count(path->target(), GetParam().name, mode, direction, count);
            }
    }

    tests::Random random_{71};
    std::vector<Text> keys_, texts_, ivs_;
    std::vector<std::unique_ptr<reference::Cipher>> reference_ciphers_;
    std::map<std::tuple<warpseal_mode, size_t, size_t>, Text> whole_;
    std::vector<std::unique_ptr<Path>> paths_;
};

TEST_P(BatchLengths, AllInOne) {
    for (const warpseal_mode mode : modes) {
        if (!targets::has(GetParam(), mode)) continue;
        SCOPED_TRACE(warpseal_mode_name(mode));
        std::vector<Item> all, some;
        const size_t step = mode == WARPSEAL_CBC ? block() : 1,
                     stride = mode == WARPSEAL_CBC ? 7 * block() : 37;
        for (size_t n = 0; n <= longest; n += n < 600 ? step : stride)
            all.push_back({n, n / step % pool});
        for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random_.below(i)]);
        run(mode, all, true, false, 0xa5);
        if (HasFatalFailure()) return;
        for (const Item& item : all)
            if (item.bytes <= 40 * block()) some.push_back(item);
        run(mode, some, false, false, 0x5a);
        if (HasFatalFailure()) return;
        run(mode, some, false, true, 0xa5);
        if (HasFatalFailure()) return;
    }
}

TEST_P(BatchLengths, OneMessageTouchingTheGuards) {
    for (const warpseal_mode mode : modes) {
        if (!targets::has(GetParam(), mode)) continue;
        SCOPED_TRACE(warpseal_mode_name(mode));
        for (size_t n = 0; n <= 3 * block() + 1; n += mode == WARPSEAL_CBC ? block() : 1) {
            run(mode, {{n, n % pool}}, n % 2 == 0, n % 3 == 0, n % 5 == 0 ? 0x5a : 0xa5);
            if (HasFatalFailure()) return;
        }
    }
}

warpseal_batch one_message(const Text& nonce, const Text& in, Text& out, Text& tag) {
    warpseal_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.iv_bytes = static_cast<uint32_t>(nonce.size());
    batch.tag_bytes = static_cast<uint32_t>(tag.size());
    batch.message_count = 1;
    batch.message_bytes = in.size();
    batch.ivs = nonce.data();
    batch.in = in.data();
    batch.out = out.data();
    batch.tags = tag.data();
    return batch;
}

// CCM encodes the length of its AAD in 2 bytes, or in 6 from 65280 bytes on.
TEST_P(BatchLengths, CcmWithLongAssociatedData) {
    if (!targets::has(GetParam(), WARPSEAL_CCM)) return;
    for (const size_t size : {size_t{65279}, size_t{65280}, size_t{65536}}) {
        const Text text = texts_[0], aad = random_.text(size), nonce = iv(WARPSEAL_CCM, 0);
        const reference::Sealed sealed =
            reference::ccm_seal(*reference_ciphers_[0], nonce, aad, text, 16);
        for (const auto& path : paths_) {
            Text out(text.size()), tag(16);
            warpseal_batch batch = one_message(nonce, text, out, tag);
            batch.aad = aad.data();
            batch.aad_bytes = size;
            ASSERT_EQ(path->batch(WARPSEAL_CCM, Direction::encrypt, batch, 0, 1), 0u);
            ASSERT_EQ(out, sealed.ciphertext) << path->target() << ", " << size << " bytes";
            ASSERT_EQ(tag, sealed.tag) << path->target() << ", " << size << " bytes";
            matrix::count(path->target(), GetParam().name, WARPSEAL_CCM, Direction::encrypt);
        }
    }
}

// Block i of the text is encrypted with Ctr(i + 1) (SP 800-38C A.3), also past 2^16 blocks. Covers
// representations with a CCM loop of their own.
TEST_P(BatchLengths, CcmCountsInMoreThanTwoBytes) {
    if (!targets::has(GetParam(), WARPSEAL_CCM)) return;
    const Text text = random_.text((size_t{1} << 20) + 21), nonce = iv(WARPSEAL_CCM, 0);
    Text counter0(16, 0), expected(text.size()), tag(16);
    counter0[0] = static_cast<uint8_t>(14 - nonce.size());
    std::copy(nonce.begin(), nonce.end(), counter0.begin() + 1);
    for (const auto& path : paths_) {
        if (path->cpu().representation != std::string("instructions")) continue;
        path->sweep(WARPSEAL_CTR, Direction::encrypt, counter0.data(), 1, text.data(),
                    expected.data(), text.size());
        Text out(text.size());
        warpseal_batch batch = one_message(nonce, text, out, tag);
        ASSERT_EQ(path->batch(WARPSEAL_CCM, Direction::encrypt, batch, 0, 1), 0u);
        ASSERT_TRUE(out == expected) << path->target();
        batch.in = out.data();
        ASSERT_EQ(path->batch(WARPSEAL_CCM, Direction::decrypt, batch, 0, 1), 0u);
        ASSERT_TRUE(out == text) << path->target();
        for (const Direction direction : {Direction::encrypt, Direction::decrypt})
            matrix::count(path->target(), GetParam().name, WARPSEAL_CCM, direction);
    }
}

INSTANTIATE_TEST_SUITE_P(Ciphers, BatchLengths, testing::ValuesIn(targets::ciphers()),
                         [](const auto& info) {
                             std::string name = info.param.name;
                             for (char& c : name)
                                 if (c == '-') c = '_';
                             return name;
                         });

}  // namespace

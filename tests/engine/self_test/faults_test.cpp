// Faults of one line, each in one mode or in batches: every one changes a digest of the self-test,
// or an output that must equal another.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "engine/self_test/cases.h"
#include "engine/self_test/digests.h"
#include "engine/self_test/test_paths.h"
#include "reference/ntru.h"

namespace {

using namespace warpseal;

enum class Fault : uint8_t {
    none,
    // Sweeps and GCM segments
    counter_carries_into_4_bytes,
    counter_carries_into_8_bytes,
    first_block_ignored,
    last_partial_block_unchanged,
    last_partial_block_written_whole,
    lanes_swapped,
    wide_loop_alone,
    one_block_alone,
    in_place_alone,
    odd_address_alone,
    previous_block_of_the_output,
    // GCM
    gcm_counter_carries_past_4_bytes,
    accumulator_without_the_last_block,
    accumulator_starts_at_zero,
    // XTS
    unit_number_carries_into_8_bytes,
    unit_number_stays,
    tweak_of_the_first_block,
    no_ciphertext_stealing,
    // Batches
    first_iv_for_all,
    first_aad_for_all,
    first_key_for_all,
    wrong_input_stride,
    last_message_omitted,
    empty_message_without_status,
    tag_of_the_next_message,
    forgery_accepted,
    forged_text_kept,
    long_message_alone
};

// Adds `number` to the last `width` bytes of a block, modulo 2^(8 width).
void add(uint8_t* block, size_t width, uint64_t number) {
    for (size_t i = 16; i-- > 16 - width; number >>= 8) {
        number += block[i];
        block[i] = static_cast<uint8_t>(number);
    }
}

// A sound target with one fault.
class Faulty : public TestOnCores {
public:
    Faulty(const CpuCipher& cipher, Fault fault)
        : TestOnCores(cipher), cipher_(cipher), fault_(fault) {}

    warpseal_status sweep(warpseal_mode mode, Direction direction, const uint8_t* iv,
                          uint64_t first_block, const uint8_t* in, uint8_t* out,
                          size_t bytes) override {
        const TestText before(in, in + bytes);
        const auto right = [&](uint64_t first) {
            TestOnCores::sweep(mode, direction, iv, first, in, out, bytes);
        };
        const size_t tail = bytes % 16;
        if (fault_ == Fault::counter_carries_into_4_bytes) {
            narrow_counter(direction, iv, 4, first_block, in, out, bytes);
        } else if (fault_ == Fault::counter_carries_into_8_bytes) {
            narrow_counter(direction, iv, 8, first_block, in, out, bytes);
        } else {
            right(fault_ == Fault::first_block_ignored ? 0 : first_block);
        }
        if (fault_ == Fault::last_partial_block_unchanged && tail != 0)
            std::copy_n(&before[bytes - tail], tail, out + bytes - tail);
        if (fault_ == Fault::last_partial_block_written_whole && tail != 0)
            out[bytes] = static_cast<uint8_t>(~out[bytes]);
        if (fault_ == Fault::lanes_swapped && bytes >= 256)
            std::swap_ranges(out + 32, out + 48, out + 48);
        if (fault_ == Fault::wide_loop_alone && bytes > 4096) out[bytes / 2] ^= 1;
        if (fault_ == Fault::one_block_alone && bytes == 16) out[3] ^= 1;
        if (fault_ == Fault::in_place_alone && in == out) out[0] ^= 1;
        if (fault_ == Fault::odd_address_alone && reinterpret_cast<uintptr_t>(in) % 2 != 0)
            out[bytes - 1] ^= 1;
        // Chains from the output in place of the input, as if in place.
        if (fault_ == Fault::previous_block_of_the_output && bytes >= 32)
            for (size_t i = 16; i < 32; ++i) out[i] ^= before[i - 16] ^ out[i - 16];
        return WARPSEAL_OK;
    }

    warpseal_status segment(Direction direction, GcmState* run, uint64_t first_block,
                            const uint8_t* in, uint8_t* out, size_t bytes) override {
        const GcmState before = *run;
        const size_t last = (bytes - 1) / 16 * 16;
        if (fault_ == Fault::accumulator_starts_at_zero) std::memset(run->sum, 0, 16);
        if (fault_ == Fault::accumulator_without_the_last_block && last != 0) {
            TestOnCores::segment(direction, run, first_block, in, out, last);
            GcmState lost = before;
            TestOnCores::segment(direction, &lost, first_block + last / 16, in + last, out + last,
                                 bytes - last);
            return WARPSEAL_OK;
        }
        const TestText plain(in, in + bytes);
        TestOnCores::segment(direction, run, first_block, in, out, bytes);
        if (fault_ == Fault::gcm_counter_carries_past_4_bytes) {
            uint8_t counter[16];
            std::copy_n(before.counter0, 16, counter);
            add(counter, 16, first_block + 1);
            TestOnCores::sweep(WARPSEAL_CTR, direction, counter, 0, plain.data(), out, bytes);
        }
        return WARPSEAL_OK;
    }

    warpseal_status xts(Direction direction, const XtsUnits& units, const uint8_t* in, uint8_t* out,
                        size_t bytes) override {
        for (size_t at = 0, unit = 0; at < bytes; at += units.unit_bytes, ++unit) {
            const size_t size = std::min<size_t>(units.unit_bytes, bytes - at);
            XtsUnits one = units;
            const size_t width =
                fault_ == Fault::unit_number_carries_into_8_bytes ? size_t{8} : size_t{16};
            uint64_t carry = fault_ == Fault::unit_number_stays ? 0 : unit;
            for (size_t i = 0; i < width; ++i, carry >>= 8) {
                carry += one.first[i];
                one.first[i] = static_cast<uint8_t>(carry);
            }
            xts_unit(direction, one, in + at, out + at, size);
        }
        return WARPSEAL_OK;
    }

    warpseal_status batch(warpseal_mode mode, Direction direction, const TestBatch& layout,
                          bool in_place, TestText& memory) override {
        const TestText untouched = memory;
        warpseal_batch batch = layout.at(memory.data(), in_place);
        const uint64_t count = batch.message_count;
        uint64_t run = count;
        if (fault_ == Fault::first_iv_for_all) batch.iv_stride = 0;
        if (fault_ == Fault::first_aad_for_all) batch.aad_stride = 0;
        if (fault_ == Fault::wrong_input_stride) batch.in_stride += 1;
        if (fault_ == Fault::last_message_omitted && count > 1) --run;
        if (fault_ == Fault::first_key_for_all && batch.keys != nullptr)
            for (uint64_t i = 1; i < count; ++i)
                std::copy_n(batch.keys, cipher_.key_bytes,
                            memory.data() + (batch.keys - memory.data()) + i * cipher_.key_bytes);
        const auto process = cipher_.batch[mode][static_cast<int>(direction)];
        process(batch.keys != nullptr ? nullptr : state(), batch, 0, run);
        if (fault_ == Fault::first_key_for_all && batch.keys != nullptr) {
            const size_t keys_at = static_cast<size_t>(batch.keys - memory.data());
            std::copy_n(&untouched[keys_at], count * cipher_.key_bytes, &memory[keys_at]);
        }
        spoil(direction, batch);
        return WARPSEAL_OK;
    }

private:
    void narrow_counter(Direction direction, const uint8_t* iv, size_t width, uint64_t first_block,
                        const uint8_t* in, uint8_t* out, size_t bytes) {
        for (size_t at = 0; at < bytes; at += 16) {
            uint8_t counter[16];
            std::copy_n(iv, 16, counter);
            add(counter, width, first_block + at / 16);
            TestOnCores::sweep(WARPSEAL_CTR, direction, counter, 0, in + at, out + at,
                               std::min<size_t>(16, bytes - at));
        }
    }

    void xts_unit(Direction direction, const XtsUnits& unit, const uint8_t* in, uint8_t* out,
                  size_t bytes) {
        const size_t tail = bytes % 16;
        const TestText last(in + bytes - tail, in + bytes);
        if (fault_ == Fault::tweak_of_the_first_block) {
            for (size_t at = 0; at + 16 <= bytes; at += 16)
                TestOnCores::xts(direction, unit, in + at, out + at, 16);
            if (tail != 0 && in != out) std::copy(last.begin(), last.end(), out + bytes - tail);
        } else {
            TestOnCores::xts(direction, unit, in, out,
                             fault_ == Fault::no_ciphertext_stealing ? bytes - tail : bytes);
            if (fault_ == Fault::no_ciphertext_stealing)
                std::copy(last.begin(), last.end(), out + bytes - tail);
        }
    }

    void spoil(Direction direction, const warpseal_batch& batch) const {
        const uint64_t count = batch.message_count;
        if (fault_ == Fault::empty_message_without_status && count > 1)
            batch.statuses[1] = static_cast<int32_t>(0xa5a5a5a5u);
        if (fault_ == Fault::tag_of_the_next_message && count > 1 &&
            direction == Direction::encrypt)
            std::swap_ranges(batch.tags, batch.tags + batch.tag_stride,
                             batch.tags + batch.tag_stride);
        for (uint64_t i = 0; i < count; ++i) {
            if (batch.statuses[i] != WARPSEAL_NOT_AUTHENTIC) continue;
            if (fault_ == Fault::forgery_accepted) batch.statuses[i] = WARPSEAL_OK;
            const uint64_t at =
                batch.out_offsets != nullptr ? batch.out_offsets[i] : i * batch.out_stride;
            if (fault_ == Fault::forged_text_kept) batch.out[at] = 1;
        }
        if (fault_ == Fault::long_message_alone && count == 1) {
            uint8_t* const last = batch.out != nullptr ? batch.out : batch.tags;
            last[batch.out != nullptr ? batch.message_bytes - 1 : 0] ^= 1;
        }
    }

    const CpuCipher& cipher_;
    const Fault fault_;
};

const CpuCipher& sound() {
    return *cpu_cipher(cpu_has(Target::aesni) ? Target::aesni : Target::portable, "aes-256");
}

bool passes(Fault fault, warpseal_mode mode, Direction direction) {
    Faulty path(sound(), fault);
    const ModeDigests& stored = stored_digests("aes-256")->modes[mode];
    const int d = static_cast<int>(direction);
    uint64_t messages = 0, batches = 0;
    if (path.has(message_entry(mode), mode, direction) &&
        (run_messages(path, mode, direction, &messages) != WARPSEAL_OK ||
         messages != stored.messages[d]))
        return false;
    return !path.has(BackendEntry::batch, mode, direction) ||
           (run_batches(path, mode, direction, &batches) == WARPSEAL_OK &&
            batches == stored.batches[d]);
}

void expect_refused(std::initializer_list<Fault> faults,
                    std::initializer_list<std::pair<warpseal_mode, Direction>> modes) {
    for (const auto& [mode, direction] : modes) {
        ASSERT_TRUE(passes(Fault::none, mode, direction)) << warpseal_mode_name(mode);
        for (const Fault fault : faults)
            EXPECT_FALSE(passes(fault, mode, direction))
                << warpseal_mode_name(mode) << ", fault " << static_cast<int>(fault);
    }
}

constexpr Direction encrypt = Direction::encrypt, decrypt = Direction::decrypt;

TEST(SelfTestFaults, Sweeps) {
    expect_refused({Fault::lanes_swapped, Fault::wide_loop_alone, Fault::in_place_alone,
                    Fault::odd_address_alone},
                   {{WARPSEAL_ECB, encrypt},
                    {WARPSEAL_ECB, decrypt},
                    {WARPSEAL_CTR, encrypt},
                    {WARPSEAL_CTR, decrypt},
                    {WARPSEAL_CBC, decrypt},
                    {WARPSEAL_CFB, decrypt}});
    expect_refused({Fault::one_block_alone}, {{WARPSEAL_ECB, encrypt},
                                              {WARPSEAL_CTR, decrypt},
                                              {WARPSEAL_CBC, decrypt},
                                              {WARPSEAL_CFB, decrypt}});
    expect_refused({Fault::last_partial_block_unchanged, Fault::last_partial_block_written_whole},
                   {{WARPSEAL_CTR, encrypt}, {WARPSEAL_CTR, decrypt}, {WARPSEAL_CFB, decrypt}});
    expect_refused({Fault::previous_block_of_the_output},
                   {{WARPSEAL_CBC, decrypt}, {WARPSEAL_CFB, decrypt}});
    expect_refused({Fault::counter_carries_into_4_bytes, Fault::counter_carries_into_8_bytes,
                    Fault::first_block_ignored},
                   {{WARPSEAL_CTR, encrypt}, {WARPSEAL_CTR, decrypt}});
}

TEST(SelfTestFaults, GcmSegments) {
    expect_refused({Fault::gcm_counter_carries_past_4_bytes,
                    Fault::accumulator_without_the_last_block, Fault::accumulator_starts_at_zero},
                   {{WARPSEAL_GCM, encrypt}, {WARPSEAL_GCM, decrypt}});
}

TEST(SelfTestFaults, DataUnits) {
    expect_refused({Fault::unit_number_carries_into_8_bytes, Fault::unit_number_stays,
                    Fault::tweak_of_the_first_block, Fault::no_ciphertext_stealing},
                   {{WARPSEAL_XTS, encrypt}, {WARPSEAL_XTS, decrypt}});
}

TEST(SelfTestFaults, Batches) {
    expect_refused({Fault::first_iv_for_all, Fault::first_key_for_all, Fault::wrong_input_stride,
                    Fault::last_message_omitted, Fault::empty_message_without_status,
                    Fault::long_message_alone},
                   {{WARPSEAL_CTR, encrypt},
                    {WARPSEAL_CTR, decrypt},
                    {WARPSEAL_CBC, encrypt},
                    {WARPSEAL_CBC, decrypt},
                    {WARPSEAL_CFB, encrypt},
                    {WARPSEAL_CFB, decrypt},
                    {WARPSEAL_OFB, encrypt},
                    {WARPSEAL_OFB, decrypt},
                    {WARPSEAL_GCM, encrypt},
                    {WARPSEAL_CCM, encrypt}});
    expect_refused({Fault::first_aad_for_all, Fault::tag_of_the_next_message},
                   {{WARPSEAL_GCM, encrypt}, {WARPSEAL_CCM, encrypt}});
    expect_refused({Fault::tag_of_the_next_message, Fault::first_key_for_all,
                    Fault::last_message_omitted, Fault::long_message_alone},
                   {{WARPSEAL_CMAC, encrypt}});
    expect_refused({Fault::forgery_accepted, Fault::forged_text_kept},
                   {{WARPSEAL_GCM, decrypt}, {WARPSEAL_CCM, decrypt}});
    expect_refused({Fault::forgery_accepted}, {{WARPSEAL_CMAC, decrypt}});
}

// The stored digests and the inputs come from SHAKE256 of FIPS 202.
TEST(SelfTest, ShakeEqualsLibcryptos) {
    for (const size_t bytes : {0, 1, 135, 136, 137, 272, 1000}) {
        const TestText message = test_bytes("message", bytes);
        Shake256 shake;
        for (size_t at = 0; at < bytes; at += 50)
            shake.absorb(&message[at], std::min<size_t>(50, bytes - at));
        TestText output(300);
        shake.squeeze(output.data(), 7);
        shake.squeeze(output.data() + 7, 293);
        EXPECT_EQ(output, reference::shake256(message, 300)) << bytes;
    }
}

}  // namespace

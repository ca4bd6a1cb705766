// Self-test of every path: one test for each mode. Each test case runs every test that applies to
// it.
#include "engine/self_test/self_test.h"

#include <algorithm>
#include <cstring>

#include "engine/self_test/test_case.h"

namespace warpseal {
namespace {

using reference_output::Text;

// Lengths that fill the widest representations twice and leave a tail: short messages, lengths that
// are no multiple of a block, and none.
constexpr size_t whole_lengths[] = {
    // Blocks. Only ciphers with 8-byte blocks take the last, because their representations hold
    // more blocks.
    1, 2, 5, 16, 33, 259, 521};
constexpr size_t lengths[] = {1, 15, 16, 31, 100, 512, 1029, 4153};

size_t most_blocks(const CpuCipher& reference) { return reference.block_bytes == 8 ? 521 : 259; }

Text first_of(const Text& text, size_t bytes) {
    return Text(text.begin(), text.begin() + static_cast<ptrdiff_t>(bytes));
}

// Runs out of place, then in place; both must give `expected`.
template <class Run>
warpseal_status both_ways(const Text& in, const Text& expected, Run run) {
    Text out(in.size(), 0xa5);
    if (const warpseal_status status = run(in.data(), out.data()); status != WARPSEAL_OK)
        return status;
    if (out != expected) return WARPSEAL_SELF_TEST_FAILED;
    out = in;
    if (const warpseal_status status = run(out.data(), out.data()); status != WARPSEAL_OK)
        return status;
    return outcome(out == expected);
}

warpseal_status test_ecb(TestCase& test_case, const CpuCipher& reference, Direction direction) {
    const reference_output::Blocks blocks(reference, reference.known.key);
    const size_t block_bytes = reference.block_bytes;
    const KnownAnswer& known = reference.known;
    Text plaintext = reference_output::pattern(block_bytes * most_blocks(reference), 1);
    Text ciphertext = reference_output::ecb(blocks, plaintext);
    memcpy(plaintext.data(), known.plaintext, block_bytes);
    memcpy(ciphertext.data(), known.ciphertext, block_bytes);
    const Text& from = direction == Direction::encrypt ? plaintext : ciphertext;
    const Text& to = direction == Direction::encrypt ? ciphertext : plaintext;
    for (const size_t count : whole_lengths) {
        const size_t bytes = count * block_bytes;
        if (bytes > from.size()) break;
        const warpseal_status status = both_ways(
            first_of(from, bytes), first_of(to, bytes), [&](const uint8_t* i, uint8_t* o) {
                return test_case.sweep(WARPSEAL_ECB, direction, nullptr, 0, i, o, bytes);
            });
        if (status != WARPSEAL_OK) return status;
    }
    return WARPSEAL_OK;
}

// Tests CBC and CFB decryption.
warpseal_status test_feedback(TestCase& test_case, const CpuCipher& reference, warpseal_mode mode) {
    const reference_output::Blocks blocks(reference, reference.known.key);
    const size_t block_bytes = reference.block_bytes;
    const Text iv = reference_output::pattern(block_bytes, 12),
               plaintext = reference_output::pattern(block_bytes * most_blocks(reference), 13);
    const Text ciphertext = mode == WARPSEAL_CBC ? reference_output::cbc(blocks, iv, plaintext)
                                                 : reference_output::cfb(blocks, iv, plaintext);
    for (const size_t count : whole_lengths)
        for (const size_t less : {size_t{0}, size_t{3}}) {
            const size_t bytes = count * block_bytes - less;
            if (bytes > plaintext.size() || (less != 0 && mode == WARPSEAL_CBC)) continue;
            const warpseal_status status = both_ways(
                first_of(ciphertext, bytes), first_of(plaintext, bytes),
                [&](const uint8_t* in, uint8_t* out) {
                    return test_case.sweep(mode, Direction::decrypt, iv.data(), 0, in, out, bytes);
                });
            if (status != WARPSEAL_OK) return status;
        }
    return WARPSEAL_OK;
}

// Tests data units with every kind of tail, complete and cut off. The unit numbers carry out of 64
// bits and out of the block.
warpseal_status test_xts(TestCase& test_case, const CpuCipher& reference, Direction direction) {
    const reference_output::Blocks data(reference, reference.known.key),
        tweak(reference, test_tweak_key(reference.key_bytes).data());
    constexpr struct {
        size_t unit_bytes, bytes, ones;
    } cases[] = {{16, 16 * 5, 0},
                 {17, 17 * 5, 8},
                 {31, 31 * 2 + 16, 16},
                 {512, 512 * 4 + 101, 8},
                 {1055, 1055 * 2, 16}};
    for (const auto& [unit_bytes, bytes, ones] : cases) {
        Text number = reference_output::pattern(16, 14);
        for (size_t i = 0; i < ones; ++i) number[i] = 0xff;
        const Text plaintext = reference_output::pattern(bytes, 15),
                   ciphertext = reference_output::xts(data, tweak, number, unit_bytes, plaintext);
        XtsUnits units = {{}, unit_bytes};
        memcpy(units.first, number.data(), 16);
        const bool encrypting = direction == Direction::encrypt;
        const warpseal_status status =
            both_ways(encrypting ? plaintext : ciphertext, encrypting ? ciphertext : plaintext,
                      [&, size = bytes](const uint8_t* in, uint8_t* out) {
                          return test_case.xts(direction, units, in, out, size);
                      });
        if (status != WARPSEAL_OK) return status;
    }
    return WARPSEAL_OK;
}

// Counters that carry out of their last byte, last 4 bytes, last 8 bytes and the block, and one
// that does not carry.
std::vector<Text> counters(size_t block_bytes) {
    std::vector<Text> all = {reference_output::pattern(block_bytes, 2)};
    for (const size_t ones : {size_t{1}, size_t{4}, size_t{8}, block_bytes}) {
        Text counter = reference_output::pattern(block_bytes, 3);
        for (size_t i = 1; i <= ones; ++i) counter[block_bytes - i] = 0xff;
        counter[block_bytes - 1] = 0xfd;
        all.push_back(counter);
    }
    return all;
}

warpseal_status test_ctr(TestCase& test_case, const CpuCipher& reference, Direction direction) {
    const reference_output::Blocks blocks(reference, reference.known.key);
    const size_t block_bytes = reference.block_bytes;
    const std::vector<Text> starts = counters(block_bytes);
    for (size_t s = 0; s < starts.size(); ++s) {
        const Text in = reference_output::pattern(
            s == 0 ? lengths[std::size(lengths) - 1] : 9 * block_bytes + 5, 4);
        const Text expected = reference_output::xor_bytes(
            in, reference_output::keystream(blocks, starts[s], block_bytes, in.size()));
        for (const size_t bytes : lengths) {
            if (bytes > in.size()) break;
            for (const uint64_t first : {uint64_t{0}, uint64_t{3}}) {
                if (first != 0 && (!test_case.any_first_block() || bytes <= first * block_bytes))
                    continue;
                const auto skip = static_cast<ptrdiff_t>(first * block_bytes);
                const Text part(in.begin() + skip, in.begin() + static_cast<ptrdiff_t>(bytes));
                const Text answer(expected.begin() + skip,
                                  expected.begin() + static_cast<ptrdiff_t>(bytes));
                const warpseal_status status =
                    both_ways(part, answer, [&](const uint8_t* i, uint8_t* o) {
                        return test_case.sweep(WARPSEAL_CTR, direction, starts[s].data(), first, i,
                                               o, part.size());
                    });
                if (status != WARPSEAL_OK) return status;
            }
        }
    }
    return WARPSEAL_OK;
}

GcmState run_of(const Text& counter0, const Text& sum) {
    GcmState run;
    memcpy(run.counter0, counter0.data(), 16);
    memcpy(run.sum, sum.data(), 16);
    return run;
}

// Tests a GCM segment in one call and in two calls on one GcmState. One start counter soon wraps
// its low 32 bits, the other does not.
warpseal_status test_gcm_segments(TestCase& test_case, const CpuCipher& reference,
                                  Direction direction) {
    const reference_output::Blocks blocks(reference, reference.known.key);
    for (const uint8_t last : {uint8_t{0x01}, uint8_t{0xff}}) {
        Text counter0 = reference_output::pattern(16, 5);
        for (size_t i = 12; i < 16; ++i) counter0[i] = last;
        Text first = counter0;
        for (size_t i = 15; i >= 12 && ++first[i] == 0; --i) {
        }
        const Text plaintext = reference_output::pattern(
                       last == 0xff ? 200 : lengths[std::size(lengths) - 1], 6),
                   before = reference_output::pattern(16, 7);
        const Text ciphertext = reference_output::xor_bytes(
            plaintext, reference_output::keystream(blocks, first, 4, plaintext.size()));
        const Text& from = direction == Direction::encrypt ? plaintext : ciphertext;
        const Text& to = direction == Direction::encrypt ? ciphertext : plaintext;
        for (const size_t bytes : lengths) {
            if (bytes > plaintext.size()) break;
            const auto end = static_cast<ptrdiff_t>(bytes);
            const Text sum = reference_output::ghash(
                blocks, before, Text(ciphertext.begin(), ciphertext.begin() + end));
            for (const size_t split : {size_t{0}, bytes / 48 * 16}) {
                GcmState run;
                const warpseal_status status = both_ways(
                    Text(from.begin(), from.begin() + end), Text(to.begin(), to.begin() + end),
                    [&](const uint8_t* in, uint8_t* out) {
                        run = run_of(counter0, before);
                        const warpseal_status begun =
                            split == 0 ? WARPSEAL_OK
                                       : test_case.segment(direction, &run, 0, in, out, split);
                        return begun != WARPSEAL_OK
                                   ? begun
                                   : test_case.segment(direction, &run, split / 16, in + split,
                                                       out + split, bytes - split);
                    });
                if (status != WARPSEAL_OK) return status;
                if (memcmp(run.sum, sum.data(), 16) != 0 ||
                    memcmp(run.counter0, counter0.data(), 16) != 0)
                    return WARPSEAL_SELF_TEST_FAILED;
            }
        }
    }
    return WARPSEAL_OK;
}

warpseal_status test_batches(TestCase& test_case, const CpuCipher& reference, warpseal_mode mode,
                             Direction direction) {
    for (const bool own_keys : {false, true}) {
        const TestBatch batch(reference, mode, direction, own_keys);
        for (const bool in_place : {false, true}) {
            Text memory = batch.memory();
            const warpseal_status status =
                test_case.batch(mode, direction, batch, in_place, memory);
            if (status != WARPSEAL_OK) return status;
            if (!batch.holds(memory, in_place)) return WARPSEAL_SELF_TEST_FAILED;
        }
    }
    return WARPSEAL_OK;
}

// Runs every test for which the test case has the mode.
warpseal_status test(TestCase& test_case, const CpuCipher& reference, warpseal_mode mode,
                     Direction direction) {
    warpseal_status status = WARPSEAL_OK;
    if (test_case.has(BackendEntry::sweep, mode, direction)) {
        if (mode == WARPSEAL_ECB) status = test_ecb(test_case, reference, direction);
        if (mode == WARPSEAL_CTR) status = test_ctr(test_case, reference, direction);
        if (mode == WARPSEAL_CBC || mode == WARPSEAL_CFB)
            status = test_feedback(test_case, reference, mode);
    }
    if (status == WARPSEAL_OK && mode == WARPSEAL_GCM &&
        test_case.has(BackendEntry::gcm, mode, direction))
        status = test_gcm_segments(test_case, reference, direction);
    if (status == WARPSEAL_OK && mode == WARPSEAL_XTS &&
        test_case.has(BackendEntry::xts, mode, direction))
        status = test_xts(test_case, reference, direction);
    if (status == WARPSEAL_OK && test_case.has(BackendEntry::batch, mode, direction))
        status = test_batches(test_case, reference, mode, direction);
    return status;
}

// Tests the GCM steps that run only on the CPU: gcm_begin, gcm_combine and gcm_finish.
warpseal_status test_gcm_ends(const CpuCipher& cipher, const void* state,
                              const CpuCipher& reference) {
    const reference_output::Blocks blocks(reference, reference.known.key);
    const Text text = reference_output::pattern(600, 8);
    for (const size_t iv_bytes : {12, 1, 60})
        for (const size_t aad_bytes : {0, 20, 150}) {
            const Text iv = reference_output::pattern(iv_bytes, 9),
                       aad = reference_output::pattern(aad_bytes, 10);
            GcmState run;
            cipher.gcm_begin(state, iv.data(), iv_bytes, aad.data(), aad_bytes, &run);
            const GcmState expected = run_of(reference_output::counter0(blocks, iv),
                                             reference_output::aad_sum(blocks, aad));
            if (memcmp(&run, &expected, sizeof run) != 0) return WARPSEAL_SELF_TEST_FAILED;
            for (const size_t split : {size_t{16}, size_t{560}}) {
                const auto middle = text.begin() + static_cast<ptrdiff_t>(split);
                const Text front(text.begin(), middle), back(middle, text.end());
                GcmState joined = run_of(
                    reference_output::counter0(blocks, iv),
                    reference_output::ghash(blocks, reference_output::aad_sum(blocks, aad), front));
                cipher.gcm_combine(state, joined.sum,
                                   reference_output::ghash(blocks, Text(16), back).data(),
                                   (back.size() + 15) / 16);
                uint8_t tag[16];
                cipher.gcm_finish(state, &joined, aad_bytes, text.size(), tag);
                if (memcmp(tag, reference_output::tag(blocks, iv, aad, text).data(), 16) != 0)
                    return WARPSEAL_SELF_TEST_FAILED;
            }
        }
    return WARPSEAL_OK;
}

}  // namespace

bool gives_known_answer(const CpuCipher& cipher) {
    const TestSchedule<CpuCipher> schedule(cipher, cipher.known.key);
    uint8_t block[16];
    cipher.sweep[WARPSEAL_ECB][0](schedule.state(), nullptr, 0, cipher.known.plaintext, block,
                                  cipher.block_bytes);
    if (memcmp(block, cipher.known.ciphertext, cipher.block_bytes) != 0) return false;
    cipher.sweep[WARPSEAL_ECB][1](schedule.state(), nullptr, 0, cipher.known.ciphertext, block,
                                  cipher.block_bytes);
    return memcmp(block, cipher.known.plaintext, cipher.block_bytes) == 0;
}

warpseal_status test_cores(const CpuCipher& test_case, const CpuCipher& reference,
                           warpseal_mode mode, Direction direction) {
    TestOnCores cores(test_case, reference.known.key);
    if (mode == WARPSEAL_GCM) {
        const warpseal_status status = test_gcm_ends(test_case, cores.state(), reference);
        if (status != WARPSEAL_OK) return status;
    }
    const CpuBlockLoops* const loops = cpu_block_loops(test_case);
    const warpseal_status status = test(cores, reference, mode, direction);
    return status != WARPSEAL_OK || loops == nullptr
               ? status
               : test_loops(test_case, *loops, reference, mode, direction);
}

warpseal_status test_loops(const CpuCipher& test_case, const CpuBlockLoops& loops,
                           const CpuCipher& reference, warpseal_mode mode, Direction direction) {
    const CpuBlockLoops::Blocks run = loops.blocks[mode][static_cast<int>(direction)];
    if (run == nullptr) return WARPSEAL_OK;
    constexpr size_t chunk_blocks[] = {1, 4, 2, 3, 5, 4, 33, 1};
    size_t all = 0;
    for (const size_t count : chunk_blocks) all += count;
    const reference_output::Blocks blocks(reference, reference.known.key);
    const TestSchedule<CpuCipher> schedule(test_case, reference.known.key);
    Text iv = reference_output::pattern(16, 16);
    // The counter carries past many bytes within a chunk.
    if (mode == WARPSEAL_CTR) std::fill_n(iv.begin() + 1, 14, 0xff), iv[15] = 0xf3;
    const Text plaintext = reference_output::pattern(16 * all, 17);
    const Text ciphertext =
        mode == WARPSEAL_ECB   ? reference_output::ecb(blocks, plaintext)
        : mode == WARPSEAL_CBC ? reference_output::cbc(blocks, iv, plaintext)
        : mode == WARPSEAL_CFB ? reference_output::cfb(blocks, iv, plaintext)
        : mode == WARPSEAL_OFB
            ? reference_output::ofb(blocks, iv, plaintext)
            : reference_output::xor_bytes(
                  plaintext, reference_output::keystream(blocks, iv, 16, plaintext.size()));
    const bool encrypting = direction == Direction::encrypt;
    return both_ways(encrypting ? plaintext : ciphertext, encrypting ? ciphertext : plaintext,
                     [&](const uint8_t* in, uint8_t* out) {
                         Text feedback = iv;
                         for (const size_t count : chunk_blocks) {
                             run(schedule.state(), feedback.data(), in, out, 16 * count);
                             in += 16 * count, out += 16 * count;
                         }
                         return outcome(mode != WARPSEAL_ECB || feedback == iv);
                     });
}

warpseal_status test_through_gpu(const GpuBackend& backend, int device, const CudaCipher& test_case,
                                 const CpuCipher& reference, warpseal_mode mode,
                                 Direction direction) {
    TestThroughGpu gpu(backend, device, test_case, reference.known.key);
    return test(gpu, reference, mode, direction);
}

warpseal_status test_device_memory(const GpuBackend& backend, int device,
                                   const CudaCipher& test_case, const CpuCipher& reference,
                                   warpseal_mode mode, Direction direction) {
    TestOnDevice memory(backend, device, test_case, reference.known.key);
    const warpseal_status status = memory.prepare();
    return status != WARPSEAL_OK ? status : test(memory, reference, mode, direction);
}

}  // namespace warpseal

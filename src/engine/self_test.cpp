// The self-test: one test for each mode, and every subject through every test that it can take.
#include "engine/self_test.h"

#include <cstring>

#include "engine/self_test_subjects.h"

namespace warpseal {
namespace {

using answers::Text;

// Long enough to fill the widest shapes twice and leave them a tail, short, not whole, and nothing at all.
constexpr size_t whole_lengths[] = {1, 2, 5, 16, 33, 259};  // blocks
constexpr size_t lengths[] = {1, 15, 16, 31, 100, 512, 1029, 4153};

// Out of place, then in place; both must give `expected`.
template <class Run>
warpseal_status both_ways(const Text& in, const Text& expected, Run run) {
    Text out(in.size(), 0xa5);
    if (const warpseal_status status = run(in.data(), out.data()); status != WARPSEAL_OK) return status;
    if (out != expected) return WARPSEAL_SELF_TEST_FAILED;
    out = in;
    if (const warpseal_status status = run(out.data(), out.data()); status != WARPSEAL_OK) return status;
    return outcome(out == expected);
}

warpseal_status test_ecb(TestSubject& subject, const CpuCipher& reference, Direction direction) {
    const answers::Blocks blocks(reference, reference.known.key);
    const size_t block_bytes = reference.block_bytes;
    const KnownBlock& known = reference.known;
    Text plaintext = answers::pattern(block_bytes * whole_lengths[std::size(whole_lengths) - 1], 1);
    Text ciphertext = answers::ecb(blocks, plaintext);
    memcpy(plaintext.data(), known.plaintext, block_bytes);
    memcpy(ciphertext.data(), known.ciphertext, block_bytes);
    const Text& from = direction == Direction::encrypt ? plaintext : ciphertext;
    const Text& to = direction == Direction::encrypt ? ciphertext : plaintext;
    for (const size_t count : whole_lengths) {
        const size_t bytes = count * block_bytes;
        const Text in(from.begin(), from.begin() + static_cast<ptrdiff_t>(bytes));
        const Text expected(to.begin(), to.begin() + static_cast<ptrdiff_t>(bytes));
        const warpseal_status status = both_ways(
            in, expected, [&](const uint8_t* i, uint8_t* o) { return subject.sweep(WARPSEAL_ECB, direction, nullptr, 0, i, o, bytes); });
        if (status != WARPSEAL_OK) return status;
    }
    return WARPSEAL_OK;
}

// Counters that carry out of their last byte, their last 4, their last 8 and out of the block; and one that is just a number.
std::vector<Text> counters(size_t block_bytes) {
    std::vector<Text> all = {answers::pattern(block_bytes, 2)};
    for (const size_t ones : {size_t{1}, size_t{4}, size_t{8}, block_bytes}) {
        Text counter = answers::pattern(block_bytes, 3);
        for (size_t i = 1; i <= ones; ++i) counter[block_bytes - i] = 0xff;
        counter[block_bytes - 1] = 0xfd;
        all.push_back(counter);
    }
    return all;
}

warpseal_status test_ctr(TestSubject& subject, const CpuCipher& reference, Direction direction) {
    const answers::Blocks blocks(reference, reference.known.key);
    const size_t block_bytes = reference.block_bytes;
    const std::vector<Text> starts = counters(block_bytes);
    for (size_t s = 0; s < starts.size(); ++s) {
        const Text in = answers::pattern(s == 0 ? lengths[std::size(lengths) - 1] : 9 * block_bytes + 5, 4);
        const Text expected = answers::exclusive_or(in, answers::keystream(blocks, starts[s], block_bytes, in.size()));
        for (const size_t bytes : lengths) {
            if (bytes > in.size()) break;
            for (const uint64_t first : {uint64_t{0}, uint64_t{3}}) {
                if (first != 0 && (!subject.any_first_block() || bytes <= first * block_bytes)) continue;
                const auto skip = static_cast<ptrdiff_t>(first * block_bytes);
                const Text part(in.begin() + skip, in.begin() + static_cast<ptrdiff_t>(bytes));
                const Text answer(expected.begin() + skip, expected.begin() + static_cast<ptrdiff_t>(bytes));
                const warpseal_status status = both_ways(part, answer, [&](const uint8_t* i, uint8_t* o) {
                    return subject.sweep(WARPSEAL_CTR, direction, starts[s].data(), first, i, o, part.size());
                });
                if (status != WARPSEAL_OK) return status;
            }
        }
    }
    return WARPSEAL_OK;
}

GcmRun run_of(const Text& counter0, const Text& sum) {
    GcmRun run;
    memcpy(run.counter0, counter0.data(), 16);
    memcpy(run.sum, sum.data(), 16);
    return run;
}

// Pieces of one message, at once and as two on one run, from a counter whose low 32 bits soon wrap and from one where they do not.
warpseal_status test_gcm_pieces(TestSubject& subject, const CpuCipher& reference, Direction direction) {
    const answers::Blocks blocks(reference, reference.known.key);
    for (const uint8_t last : {uint8_t{0x01}, uint8_t{0xff}}) {
        Text counter0 = answers::pattern(16, 5);
        for (size_t i = 12; i < 16; ++i) counter0[i] = last;
        Text first = counter0;
        for (size_t i = 15; i >= 12 && ++first[i] == 0; --i) {
        }
        const Text plaintext = answers::pattern(last == 0xff ? 200 : lengths[std::size(lengths) - 1], 6), before = answers::pattern(16, 7);
        const Text ciphertext = answers::exclusive_or(plaintext, answers::keystream(blocks, first, 4, plaintext.size()));
        const Text& from = direction == Direction::encrypt ? plaintext : ciphertext;
        const Text& to = direction == Direction::encrypt ? ciphertext : plaintext;
        for (const size_t bytes : lengths) {
            if (bytes > plaintext.size()) break;
            const auto end = static_cast<ptrdiff_t>(bytes);
            const Text sum = answers::ghash(blocks, before, Text(ciphertext.begin(), ciphertext.begin() + end));
            for (const size_t split : {size_t{0}, bytes / 48 * 16}) {
                GcmRun run;
                const warpseal_status status = both_ways(
                    Text(from.begin(), from.begin() + end), Text(to.begin(), to.begin() + end), [&](const uint8_t* in, uint8_t* out) {
                        run = run_of(counter0, before);
                        const warpseal_status begun = split == 0 ? WARPSEAL_OK : subject.piece(direction, &run, 0, in, out, split);
                        return begun != WARPSEAL_OK ? begun
                                                    : subject.piece(direction, &run, split / 16, in + split, out + split, bytes - split);
                    });
                if (status != WARPSEAL_OK) return status;
                if (memcmp(run.sum, sum.data(), 16) != 0 || memcmp(run.counter0, counter0.data(), 16) != 0)
                    return WARPSEAL_SELF_TEST_FAILED;
            }
        }
    }
    return WARPSEAL_OK;
}

warpseal_status test_batches(TestSubject& subject, const CpuCipher& reference, warpseal_mode mode, Direction direction) {
    if (!subject.has_batch(mode, direction)) return WARPSEAL_OK;
    for (const bool own_keys : {false, true}) {
        const TestBatch batch(reference, mode, direction, own_keys);
        Text memory = batch.memory();
        const warpseal_status status = subject.batch(mode, direction, batch, own_keys, memory);
        if (status != WARPSEAL_OK) return status;
        if (!batch.holds(memory)) return WARPSEAL_SELF_TEST_FAILED;
    }
    return WARPSEAL_OK;
}

warpseal_status test(TestSubject& subject, const CpuCipher& reference, warpseal_mode mode, Direction direction) {
    warpseal_status status = WARPSEAL_OK;
    if (mode == WARPSEAL_ECB) status = test_ecb(subject, reference, direction);
    if (mode == WARPSEAL_CTR) status = test_ctr(subject, reference, direction);
    if (mode == WARPSEAL_GCM && subject.has_pieces()) status = test_gcm_pieces(subject, reference, direction);
    return status != WARPSEAL_OK ? status : test_batches(subject, reference, mode, direction);
}

// What only cores do of a GCM message: its beginning, the joining of sums, its end.
warpseal_status test_gcm_ends(const CpuCipher& cipher, const void* state, const CpuCipher& reference) {
    const answers::Blocks blocks(reference, reference.known.key);
    const Text text = answers::pattern(600, 8);
    for (const size_t iv_bytes : {12, 1, 60})
        for (const size_t aad_bytes : {0, 20, 150}) {
            const Text iv = answers::pattern(iv_bytes, 9), aad = answers::pattern(aad_bytes, 10);
            GcmRun run;
            cipher.gcm_begin(state, iv.data(), iv_bytes, aad.data(), aad_bytes, &run);
            const GcmRun expected = run_of(answers::counter0(blocks, iv), answers::aad_sum(blocks, aad));
            if (memcmp(&run, &expected, sizeof run) != 0) return WARPSEAL_SELF_TEST_FAILED;
            for (const size_t split : {size_t{16}, size_t{560}}) {
                const auto middle = text.begin() + static_cast<ptrdiff_t>(split);
                const Text front(text.begin(), middle), back(middle, text.end());
                GcmRun joined = run_of(answers::counter0(blocks, iv), answers::ghash(blocks, answers::aad_sum(blocks, aad), front));
                cipher.gcm_combine(state, joined.sum, answers::ghash(blocks, Text(16), back).data(), (back.size() + 15) / 16);
                uint8_t tag[16];
                cipher.gcm_finish(state, &joined, aad_bytes, text.size(), tag);
                if (memcmp(tag, answers::tag(blocks, iv, aad, text).data(), 16) != 0) return WARPSEAL_SELF_TEST_FAILED;
            }
        }
    return WARPSEAL_OK;
}

}  // namespace

bool gives_known_block(const CpuCipher& cipher) {
    const TestSchedule<CpuCipher> schedule(cipher, cipher.known.key);
    uint8_t block[16];
    cipher.sweep[WARPSEAL_ECB][0](schedule.state(), nullptr, 0, cipher.known.plaintext, block, cipher.block_bytes);
    if (memcmp(block, cipher.known.ciphertext, cipher.block_bytes) != 0) return false;
    cipher.sweep[WARPSEAL_ECB][1](schedule.state(), nullptr, 0, cipher.known.ciphertext, block, cipher.block_bytes);
    return memcmp(block, cipher.known.plaintext, cipher.block_bytes) == 0;
}

warpseal_status test_cores(const CpuCipher& subject, const CpuCipher& reference, warpseal_mode mode, Direction direction) {
    TestOnCores cores(subject, reference.known.key);
    if (mode == WARPSEAL_GCM) {
        const warpseal_status status = test_gcm_ends(subject, cores.state(), reference);
        if (status != WARPSEAL_OK) return status;
    }
    return test(cores, reference, mode, direction);
}

warpseal_status test_through_gpu(const CudaDoor& door, int device, const CudaCipher& subject, const CpuCipher& reference,
                                 warpseal_mode mode, Direction direction) {
    TestThroughGpu gpu(door, device, subject, reference.known.key);
    return test(gpu, reference, mode, direction);
}

warpseal_status test_device_memory(const CudaDoor& door, int device, const CudaCipher& subject, const CpuCipher& reference,
                                   warpseal_mode mode, Direction direction) {
    TestOnDevice memory(door, device, subject, reference.known.key);
    const warpseal_status status = memory.prepare();
    return status != WARPSEAL_OK ? status : test(memory, reference, mode, direction);
}

}  // namespace warpseal

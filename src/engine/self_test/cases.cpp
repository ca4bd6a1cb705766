// The messages, batches and GCM steps of the self-test. Lengths leave every kind of tail; counters
// and unit numbers carry.
#include "engine/self_test/cases.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace warpseal {
namespace {

using Text = TestText;
using View = std::span<const uint8_t>;

// Lengths that fill the widest representations twice and leave a tail: short messages, lengths that
// are no multiple of a block, and none.
constexpr size_t whole_lengths[] = {
    // Blocks. Only ciphers with 8-byte blocks take the last, because their representations hold
    // more blocks.
    1, 2, 5, 16, 33, 259, 521};
constexpr size_t lengths[] = {1, 15, 16, 31, 100, 512, 1029, 4153};

size_t most_blocks(size_t block_bytes) { return block_bytes == 8 ? 521 : 259; }

// A run of any length.
using SizedRun = std::function<warpseal_status(const uint8_t* in, uint8_t* out, size_t bytes)>;

// Adds the outputs of all cases to a digest.
class Outputs {
public:
    void add(const void* bytes, size_t count) { shake_.absorb(bytes, count); }
    void add(const Text& text) { add(text.data(), text.size()); }
    uint64_t digest() {
        uint8_t first[8];
        shake_.squeeze(first, sizeof first);
        uint64_t digest = 0;
        for (const uint8_t byte : first) digest = digest << 8 | byte;
        return digest;
    }

private:
    Shake256 shake_;
};

enum class Placement : uint8_t { apart, odd_addresses, in_place };

constexpr uint8_t untouched = 0xa5;
constexpr size_t guard_bytes = 16;  // after each output; no run may write them

warpseal_status output_of(View in, Placement placement, const TestRun& run, Text& output) {
    const size_t in_at = placement == Placement::odd_addresses ? 1 : 0, out_at = 3 * in_at;
    Text from(in_at + in.size()), to(out_at + in.size() + guard_bytes, untouched);
    std::copy(in.begin(), in.end(), from.begin() + static_cast<ptrdiff_t>(in_at));
    if (placement == Placement::in_place) std::copy(in.begin(), in.end(), to.begin());
    uint8_t* const out = to.data() + out_at;
    const warpseal_status status =
        run(placement == Placement::in_place ? out : from.data() + in_at, out);
    const auto intact = [](uint8_t byte) { return byte == untouched; };
    const bool inside = std::all_of(to.data(), out, intact) &&
                        std::all_of(out + in.size(), to.data() + to.size(), intact);
    output.assign(out, out + in.size());
    return status == WARPSEAL_OK ? outcome(inside) : status;
}

warpseal_status same(View in, View expected, const TestRun& run) {
    for (const Placement placement :
         {Placement::apart, Placement::odd_addresses, Placement::in_place}) {
        Text output;
        const warpseal_status status = output_of(in, placement, run, output);
        if (status != WARPSEAL_OK) return status;
        if (!std::equal(expected.begin(), expected.end(), output.begin(), output.end()))
            return WARPSEAL_SELF_TEST_FAILED;
    }
    return WARPSEAL_OK;
}

// Runs the whole text, whose output then is what runs of its prefixes must give.
warpseal_status whole_text(const Text& in, const SizedRun& run, Outputs& outputs, Text& output) {
    const warpseal_status status = output_of(
        in, Placement::apart,
        [&](const uint8_t* from, uint8_t* to) { return run(from, to, in.size()); }, output);
    outputs.add(output);
    return status;
}

warpseal_status same_prefix(const Text& in, const Text& output, size_t bytes, const SizedRun& run) {
    return same(View(in).first(bytes), View(output).first(bytes),
                [&](const uint8_t* from, uint8_t* to) { return run(from, to, bytes); });
}

Text ecb_text(const TestCase& test_case, Direction direction) {
    const size_t block_bytes = test_case.facts().block_bytes;
    const KnownAnswer& known = test_case.known();
    Text text = test_bytes("ECB text", block_bytes * most_blocks(block_bytes));
    std::copy_n(direction == Direction::encrypt ? known.plaintext : known.ciphertext, block_bytes,
                text.begin());
    return text;
}

// The first block is the published example.
warpseal_status run_ecb(TestCase& test_case, Direction direction, Outputs& outputs) {
    const size_t block_bytes = test_case.facts().block_bytes;
    const Text in = ecb_text(test_case, direction);
    const SizedRun run = [&](const uint8_t* from, uint8_t* to, size_t bytes) {
        return test_case.sweep(WARPSEAL_ECB, direction, nullptr, 0, from, to, bytes);
    };
    Text out;
    warpseal_status status = whole_text(in, run, outputs, out);
    if (status != WARPSEAL_OK) return status;
    const KnownAnswer& known = test_case.known();
    if (std::memcmp(out.data(),
                    direction == Direction::encrypt ? known.ciphertext : known.plaintext,
                    block_bytes) != 0)
        return WARPSEAL_SELF_TEST_FAILED;
    for (const size_t count : whole_lengths)
        if (count * block_bytes <= in.size() && status == WARPSEAL_OK)
            status = same_prefix(in, out, count * block_bytes, run);
    return status;
}

// CBC and CFB decryption.
warpseal_status run_feedback(TestCase& test_case, warpseal_mode mode, Outputs& outputs) {
    const size_t block_bytes = test_case.facts().block_bytes;
    const Text iv = test_bytes("CBC and CFB IV", block_bytes),
               in = test_bytes("CBC and CFB text", block_bytes * most_blocks(block_bytes));
    const SizedRun run = [&](const uint8_t* from, uint8_t* to, size_t bytes) {
        return test_case.sweep(mode, Direction::decrypt, iv.data(), 0, from, to, bytes);
    };
    Text out;
    warpseal_status status = whole_text(in, run, outputs, out);
    for (const size_t count : whole_lengths)
        for (const size_t less : {size_t{0}, size_t{3}}) {
            const size_t bytes = count * block_bytes - less;
            if (bytes > in.size() || (less != 0 && mode == WARPSEAL_CBC)) continue;
            if (status == WARPSEAL_OK) status = same_prefix(in, out, bytes, run);
        }
    return status;
}

// Counters that carry out of their last byte, last 4 bytes, last 8 bytes and the block, and one
// that does not carry.
std::vector<Text> counters(size_t block_bytes) {
    std::vector<Text> all = {test_bytes("CTR counter", block_bytes)};
    for (const size_t ones : {size_t{1}, size_t{4}, size_t{8}, block_bytes}) {
        Text counter = all[0];
        std::fill_n(counter.rbegin(), ones, 0xff);
        counter.back() = 0xfd;
        all.push_back(counter);
    }
    return all;
}

// Runs all lengths from the start of the message and, where the path can, from its fourth block.
warpseal_status run_ctr_from(TestCase& test_case, Direction direction, const Text& counter,
                             const Text& in, Outputs& outputs) {
    const size_t block_bytes = test_case.facts().block_bytes;
    uint64_t first = 0;
    const SizedRun run = [&](const uint8_t* from, uint8_t* to, size_t bytes) {
        return test_case.sweep(WARPSEAL_CTR, direction, counter.data(), first, from, to, bytes);
    };
    Text out;
    warpseal_status status = whole_text(in, run, outputs, out);
    for (const size_t bytes : lengths)
        for (first = 0; first <= 3 && status == WARPSEAL_OK; first += 3) {
            const size_t skipped = first * block_bytes;
            if (bytes > in.size() || bytes <= skipped) continue;
            if (first != 0 && !test_case.any_first_block()) continue;
            const size_t rest = bytes - skipped;
            status = same(View(in).subspan(skipped, rest), View(out).subspan(skipped, rest),
                          [&](const uint8_t* from, uint8_t* to) { return run(from, to, rest); });
        }
    return status;
}

warpseal_status run_ctr(TestCase& test_case, Direction direction, Outputs& outputs) {
    const size_t block_bytes = test_case.facts().block_bytes;
    const std::vector<Text> starts = counters(block_bytes);
    const Text longest = test_bytes("CTR text", *std::rbegin(lengths)),
               in(longest.begin(), longest.begin() + static_cast<ptrdiff_t>(9 * block_bytes + 5));
    warpseal_status status = run_ctr_from(test_case, direction, starts[0], longest, outputs);
    for (size_t i = 1; i < starts.size() && status == WARPSEAL_OK; ++i)
        status = run_ctr_from(test_case, direction, starts[i], in, outputs);
    return status;
}

// Runs a GCM segment in one call, and in two calls on one GcmState.
warpseal_status run_segments(TestCase& test_case, Direction direction, const Text& counter0,
                             const Text& in, Outputs& outputs) {
    const Text before = test_bytes("GHASH accumulator", 16);
    size_t split = 0;
    Text sum;  // GHASH after the segment; empty until a run of this length gave it
    const SizedRun run = [&](const uint8_t* from, uint8_t* to, size_t bytes) {
        GcmState gcm;
        std::copy_n(counter0.data(), 16, gcm.counter0);
        std::copy_n(before.data(), 16, gcm.sum);
        warpseal_status status = WARPSEAL_OK;
        if (split != 0) status = test_case.segment(direction, &gcm, 0, from, to, split);
        if (status == WARPSEAL_OK)
            status = test_case.segment(direction, &gcm, split / 16, from + split, to + split,
                                       bytes - split);
        if (sum.empty()) sum.assign(gcm.sum, gcm.sum + 16);
        const bool right = std::memcmp(gcm.sum, sum.data(), 16) == 0 &&
                           std::memcmp(gcm.counter0, counter0.data(), 16) == 0;
        return status == WARPSEAL_OK ? outcome(right) : status;
    };
    Text out;
    warpseal_status status = whole_text(in, run, outputs, out);
    outputs.add(sum);
    for (const size_t bytes : lengths) {
        if (bytes > in.size()) break;
        sum.clear();
        for (const size_t first : {size_t{0}, bytes / 48 * 16}) {
            split = first;
            if (status == WARPSEAL_OK) status = same_prefix(in, out, bytes, run);
        }
        outputs.add(sum);
    }
    return status;
}

// One start counter soon wraps its low 32 bits, the other does not.
warpseal_status run_gcm(TestCase& test_case, Direction direction, Outputs& outputs) {
    const Text longest = test_bytes("GCM text", *std::rbegin(lengths)),
               in(longest.begin(), longest.begin() + 200);
    Text counter0 = test_bytes("GCM counter", 16);
    std::fill_n(counter0.rbegin(), 4, 0x01);
    const warpseal_status status = run_segments(test_case, direction, counter0, longest, outputs);
    std::fill_n(counter0.rbegin(), 4, 0xff);
    return status != WARPSEAL_OK ? status
                                 : run_segments(test_case, direction, counter0, in, outputs);
}

// Data units with every kind of tail, complete and cut off. The unit numbers carry out of 64 bits
// and out of the block.
warpseal_status run_xts(TestCase& test_case, Direction direction, Outputs& outputs) {
    constexpr struct {
        size_t unit_bytes, bytes, ones;
    } cases[] = {{16, 16 * 5, 0},
                 {17, 17 * 5, 8},
                 {31, 31 * 2 + 16, 16},
                 {512, 512 * 4 + 101, 8},
                 {1055, 1055 * 2, 16}};
    for (const auto& [unit_bytes, bytes, ones] : cases) {
        Text number = test_bytes("XTS unit number", 16);
        std::fill_n(number.begin(), ones, 0xff);
        XtsUnits units = {{}, unit_bytes};
        std::copy_n(number.data(), 16, units.first);
        const Text in = test_bytes("XTS text", bytes);
        const SizedRun run = [&](const uint8_t* from, uint8_t* to, size_t size) {
            return test_case.xts(direction, units, from, to, size);
        };
        Text out;
        warpseal_status status = whole_text(in, run, outputs, out);
        if (status == WARPSEAL_OK) status = same_prefix(in, out, bytes, run);
        if (status != WARPSEAL_OK) return status;
    }
    return WARPSEAL_OK;
}

}  // namespace

warpseal_status same_outputs(const Text& in, const Text& expected, const TestRun& run) {
    return same(in, expected, run);
}

warpseal_status run_messages(TestCase& test_case, warpseal_mode mode, Direction direction,
                             uint64_t* digest) {
    Outputs outputs;
    const warpseal_status status = mode == WARPSEAL_ECB   ? run_ecb(test_case, direction, outputs)
                                   : mode == WARPSEAL_CTR ? run_ctr(test_case, direction, outputs)
                                   : mode == WARPSEAL_GCM ? run_gcm(test_case, direction, outputs)
                                   : mode == WARPSEAL_XTS ? run_xts(test_case, direction, outputs)
                                                          : run_feedback(test_case, mode, outputs);
    *digest = outputs.digest();
    return status;
}

warpseal_status run_batches(TestCase& test_case, warpseal_mode mode, Direction direction,
                            uint64_t* digest) {
    Outputs outputs;
    for (const BatchKind kind : {BatchKind::one_message, BatchKind::one_key, BatchKind::own_keys}) {
        const TestBatch batch(test_case.facts(), mode, kind);
        Text before = batch.memory();
        warpseal_status status = WARPSEAL_OK;
        if (tagged(mode) && direction == Direction::decrypt) {
            Text sealed = before;
            status = test_case.batch(mode, Direction::encrypt, batch, false, sealed);
            before = batch.to_open(sealed);
        }
        Text apart = before, in_place = before;
        if (status == WARPSEAL_OK) status = test_case.batch(mode, direction, batch, false, apart);
        if (status == WARPSEAL_OK) status = test_case.batch(mode, direction, batch, true, in_place);
        if (status == WARPSEAL_OK) status = outcome(in_place == batch.in_place(apart));
        if (status != WARPSEAL_OK) return status;
        outputs.add(apart);
    }
    *digest = outputs.digest();
    return WARPSEAL_OK;
}

uint64_t run_gcm_steps(const GcmSteps& gcm) {
    Outputs outputs;
    const Text text = test_bytes("GCM steps: text", 600);
    for (const size_t iv_bytes : {12, 1, 60})
        for (const size_t aad_bytes : {0, 20, 150}) {
            const Text iv = test_bytes("GCM steps: IV", iv_bytes),
                       aad = test_bytes("GCM steps: AAD", aad_bytes);
            const GcmState begun = gcm.begin(iv, aad);
            outputs.add(&begun, sizeof begun);
            for (const ptrdiff_t split : {16, 560}) {
                const Text back(text.begin() + split, text.end());
                // GHASH of the text before the split follows that of the padded AAD.
                Text front = aad;
                front.resize((aad_bytes + 15) / 16 * 16);
                front.insert(front.end(), text.begin(), text.begin() + split);
                GcmState joined = gcm.begin(iv, front);
                gcm.combine(joined.sum, gcm.begin(iv, back).sum, (back.size() + 15) / 16);
                uint8_t tag[16];
                gcm.finish(joined, aad_bytes, text.size(), tag);
                outputs.add(tag, sizeof tag);
            }
        }
    return outputs.digest();
}

warpseal_status whole_blocks(TestCase& test_case, warpseal_mode mode, Direction direction,
                             size_t blocks, TestBatch::Message* out) {
    warpseal_status status = WARPSEAL_OK;
    if (mode == WARPSEAL_ECB) {
        out->in = ecb_text(test_case, direction);
        out->out = out->in;
        status = test_case.sweep(mode, direction, nullptr, 0, out->in.data(), out->out.data(),
                                 out->in.size());
    } else {
        const TestBatch batch(test_case.facts(), mode, BatchKind::one_message);
        Text memory = batch.memory();
        status = test_case.batch(mode, direction, batch, false, memory);
        *out = batch.first(memory);
    }
    out->in.resize(blocks * test_case.facts().block_bytes);
    out->out.resize(out->in.size());
    return status;
}

}  // namespace warpseal

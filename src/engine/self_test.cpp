// The self-test: one subject for each kind of path, one test for each mode, every subject through every test that it can take.
#include "engine/self_test.h"

#include <cstring>
#include <memory>

#include "engine/answers.h"
#include "engine/self_test_batch.h"

namespace warpseal {
namespace {

using answers::Text;

// Long enough to fill the widest shapes twice and leave them a tail, short, not whole, and nothing at all.
constexpr size_t whole_lengths[] = {1, 2, 5, 16, 33, 259};  // blocks
constexpr size_t lengths[] = {1, 15, 16, 31, 100, 512, 1029, 4153};

// What is tested: a path under the key of the cipher's published block.
class Subject {
public:
    virtual ~Subject() = default;
    virtual warpseal_status sweep(warpseal_mode mode, Direction direction, const uint8_t* iv, uint64_t first_block, const uint8_t* in,
                                  uint8_t* out, size_t bytes) = 0;
    virtual warpseal_status piece(Direction direction, GcmRun* run, uint64_t first_block, const uint8_t* in, uint8_t* out,
                                  size_t bytes) = 0;
    // The batch over `memory`, which becomes the result. own_keys: those of the batch.
    virtual warpseal_status batch(warpseal_mode mode, Direction direction, const TestBatch& batch, bool own_keys, Text& memory) = 0;
    virtual bool any_first_block() const { return true; }
    virtual bool has_pieces() const { return true; }
    virtual bool has_batch(warpseal_mode mode, Direction direction) const = 0;
};

warpseal_status outcome(bool holds) { return holds ? WARPSEAL_OK : WARPSEAL_SELF_TEST_FAILED; }

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

warpseal_status test_ecb(Subject& subject, const CpuCipher& reference, Direction direction) {
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

warpseal_status test_ctr(Subject& subject, const CpuCipher& reference, Direction direction) {
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
warpseal_status test_gcm_pieces(Subject& subject, const CpuCipher& reference, Direction direction) {
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

warpseal_status test_batches(Subject& subject, const CpuCipher& reference, warpseal_mode mode, Direction direction) {
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

warpseal_status test(Subject& subject, const CpuCipher& reference, warpseal_mode mode, Direction direction) {
    warpseal_status status = WARPSEAL_OK;
    if (mode == WARPSEAL_ECB) status = test_ecb(subject, reference, direction);
    if (mode == WARPSEAL_CTR) status = test_ctr(subject, reference, direction);
    if (mode == WARPSEAL_GCM && subject.has_pieces()) status = test_gcm_pieces(subject, reference, direction);
    return status != WARPSEAL_OK ? status : test_batches(subject, reference, mode, direction);
}

// A schedule of the published key, aligned as backends want it.
template <class Cipher>
class Schedule {
public:
    Schedule(const Cipher& cipher, const uint8_t* key) : memory_(cipher.state_bytes + 64), state_(memory_.data()) {
        size_t room = memory_.size();
        std::align(64, cipher.state_bytes, state_, room);
        cipher.expand(state_, key);
    }
    const void* state() const { return state_; }

private:
    std::vector<uint8_t> memory_;
    void* state_;
};

class OnCores : public Subject {
public:
    OnCores(const CpuCipher& cipher, const uint8_t* key) : cipher_(cipher), schedule_(cipher, key) {}
    const void* state() const { return schedule_.state(); }

    warpseal_status sweep(warpseal_mode mode, Direction direction, const uint8_t* iv, uint64_t first_block, const uint8_t* in, uint8_t* out,
                          size_t bytes) override {
        cipher_.sweep[mode][static_cast<int>(direction)](state(), iv, first_block, in, out, bytes);
        return WARPSEAL_OK;
    }
    warpseal_status piece(Direction direction, GcmRun* run, uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes) override {
        cipher_.gcm_piece[static_cast<int>(direction)](state(), run, first_block, in, out, bytes);
        return WARPSEAL_OK;
    }
    warpseal_status batch(warpseal_mode mode, Direction direction, const TestBatch& batch, bool own_keys, Text& memory) override {
        const auto run = cipher_.batch[mode][static_cast<int>(direction)];
        const warpseal_batch all = batch.at(memory.data());
        const void* key = own_keys ? nullptr : state();
        const uint64_t forgeries = run(key, all, 0, 5) + run(key, all, 5, all.message_count - 5);
        return outcome(forgeries == batch.forgeries());
    }
    bool has_batch(warpseal_mode mode, Direction direction) const override {
        return cipher_.batch[mode][static_cast<int>(direction)] != nullptr;
    }

private:
    const CpuCipher& cipher_;
    const Schedule<CpuCipher> schedule_;
};

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

class ThroughGpu : public Subject {
public:
    ThroughGpu(const CudaDoor& door, int device, const CudaCipher& cipher, const uint8_t* key)
        : door_(door), device_(device), cipher_(cipher), schedule_(cipher, key) {}

    warpseal_status sweep(warpseal_mode mode, Direction direction, const uint8_t* iv, uint64_t first_block, const uint8_t* in, uint8_t* out,
                          size_t bytes) override {
        size_t done = 0;
        return door_.sweep_host(device_, cipher_, schedule_.state(), mode, direction, iv, first_block, in, out, bytes, &done);
    }
    warpseal_status piece(Direction direction, GcmRun* run, uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes) override {
        size_t done = 0;
        return door_.gcm_host(device_, cipher_, schedule_.state(), direction, run, first_block, in, out, bytes, &done);
    }
    warpseal_status batch(warpseal_mode mode, Direction direction, const TestBatch& batch, bool own_keys, Text& memory) override {
        uint64_t done = 0, forgeries = 0;
        const void* key = own_keys ? nullptr : schedule_.state();
        const warpseal_status status = door_.batch_host(device_, cipher_, key, mode, direction, batch.at(memory.data()), &done, &forgeries);
        return status != WARPSEAL_OK && status != WARPSEAL_NOT_AUTHENTIC ? status : outcome(forgeries == batch.forgeries());
    }
    bool has_batch(warpseal_mode mode, Direction direction) const override {
        return cipher_.batch[mode][static_cast<int>(direction)] != nullptr;
    }

protected:
    const CudaDoor& door_;
    const int device_;
    const CudaCipher& cipher_;
    const Schedule<CudaCipher> schedule_;
};

class OnDevice : public ThroughGpu {
public:
    using ThroughGpu::ThroughGpu;
    ~OnDevice() override {
        if (memory_ != nullptr && !door_.lost()) door_.device_free(device_, memory_, room);
    }
    // Once, before anything else.
    warpseal_status prepare() {
        void* memory = nullptr;
        const warpseal_status status = door_.device_alloc(device_, room, &memory);
        memory_ = static_cast<uint8_t*>(memory);
        return status;
    }
    warpseal_status sweep(warpseal_mode mode, Direction direction, const uint8_t* iv, uint64_t, const uint8_t* in, uint8_t* out,
                          size_t bytes) override {
        uint8_t* to = in == out ? memory_ : memory_ + room / 2;
        return there_and_back(memory_, in, to, out, bytes, [&] {
            return door_.sweep_device(device_, cipher_, schedule_.state(), mode, direction, iv, memory_, to, bytes, nullptr);
        });
    }
    warpseal_status piece(Direction, GcmRun*, uint64_t, const uint8_t*, uint8_t*, size_t) override { return WARPSEAL_UNSUPPORTED; }
    warpseal_status batch(warpseal_mode mode, Direction direction, const TestBatch& batch, bool own_keys, Text& memory) override {
        const void* key = own_keys ? nullptr : schedule_.state();
        return there_and_back(memory_, memory.data(), memory_, memory.data(), memory.size(),
                              [&] { return door_.batch_device(device_, cipher_, key, mode, direction, batch.at(memory_), nullptr); });
    }
    bool any_first_block() const override { return false; }
    bool has_pieces() const override { return false; }

private:
    static constexpr size_t room = 1 << 16;

    template <class Work>
    warpseal_status there_and_back(uint8_t* to_device, const void* in, const uint8_t* from_device, void* out, size_t bytes, Work work) {
        if (bytes > room / 2) return WARPSEAL_SELF_TEST_FAILED;
        warpseal_status status = door_.upload(device_, to_device, in, bytes);
        if (status == WARPSEAL_OK) status = work();
        if (status == WARPSEAL_OK) status = door_.synchronize(device_, nullptr);
        if (status == WARPSEAL_OK) status = door_.download(device_, out, from_device, bytes);
        return status;
    }

    uint8_t* memory_ = nullptr;
};

}  // namespace

bool gives_known_block(const CpuCipher& cipher) {
    const Schedule<CpuCipher> schedule(cipher, cipher.known.key);
    uint8_t block[16];
    cipher.sweep[WARPSEAL_ECB][0](schedule.state(), nullptr, 0, cipher.known.plaintext, block, cipher.block_bytes);
    if (memcmp(block, cipher.known.ciphertext, cipher.block_bytes) != 0) return false;
    cipher.sweep[WARPSEAL_ECB][1](schedule.state(), nullptr, 0, cipher.known.ciphertext, block, cipher.block_bytes);
    return memcmp(block, cipher.known.plaintext, cipher.block_bytes) == 0;
}

warpseal_status test_cores(const CpuCipher& subject, const CpuCipher& reference, warpseal_mode mode, Direction direction) {
    OnCores cores(subject, reference.known.key);
    if (mode == WARPSEAL_GCM) {
        const warpseal_status status = test_gcm_ends(subject, cores.state(), reference);
        if (status != WARPSEAL_OK) return status;
    }
    return test(cores, reference, mode, direction);
}

warpseal_status test_through_gpu(const CudaDoor& door, int device, const CudaCipher& subject, const CpuCipher& reference,
                                 warpseal_mode mode, Direction direction) {
    ThroughGpu gpu(door, device, subject, reference.known.key);
    return test(gpu, reference, mode, direction);
}

warpseal_status test_device_memory(const CudaDoor& door, int device, const CudaCipher& subject, const CpuCipher& reference,
                                   warpseal_mode mode, Direction direction) {
    OnDevice memory(door, device, subject, reference.known.key);
    const warpseal_status status = memory.prepare();
    return status != WARPSEAL_OK ? status : test(memory, reference, mode, direction);
}

}  // namespace warpseal

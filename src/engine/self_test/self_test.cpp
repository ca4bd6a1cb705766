// Compares the outputs of a path with the stored digests of its cipher.
#include "engine/self_test/self_test.h"

#include <cstring>

#include "engine/self_test/cases.h"
#include "engine/self_test/digests.h"
#include "engine/self_test/test_paths.h"

namespace warpseal {
namespace {

warpseal_status test(TestCase& test_case, warpseal_mode mode, Direction direction) {
    const CipherDigests* const stored = stored_digests(test_case.facts().name);
    if (stored == nullptr) return WARPSEAL_SELF_TEST_FAILED;
    const int d = static_cast<int>(direction);
    const ModeDigests& expected = stored->modes[mode];
    uint64_t digest = 0;
    if (test_case.has(message_entry(mode), mode, direction)) {
        const warpseal_status status = run_messages(test_case, mode, direction, &digest);
        if (status != WARPSEAL_OK) return status;
        if (digest != expected.messages[d]) return WARPSEAL_SELF_TEST_FAILED;
    }
    if (test_case.has(BackendEntry::batch, mode, direction)) {
        const warpseal_status status = run_batches(test_case, mode, direction, &digest);
        if (status != WARPSEAL_OK) return status;
        if (digest != expected.batches[d]) return WARPSEAL_SELF_TEST_FAILED;
    }
    return WARPSEAL_OK;
}

// True if one block gives the published example in both directions.
bool gives_known_answer(TestOnCores& cores) {
    const KnownAnswer& known = cores.known();
    const size_t bytes = cores.facts().block_bytes;
    uint8_t block[16];
    cores.sweep(WARPSEAL_ECB, Direction::encrypt, nullptr, 0, known.plaintext, block, bytes);
    if (std::memcmp(block, known.ciphertext, bytes) != 0) return false;
    cores.sweep(WARPSEAL_ECB, Direction::decrypt, nullptr, 0, known.ciphertext, block, bytes);
    return std::memcmp(block, known.plaintext, bytes) == 0;
}

}  // namespace

bool has_digests(const char* cipher) { return stored_digests(cipher) != nullptr; }

warpseal_status test_cores(const CpuCipher& cipher, warpseal_mode mode, Direction direction) {
    TestOnCores cores(cipher);
    if (!gives_known_answer(cores)) return WARPSEAL_SELF_TEST_FAILED;
    const warpseal_status status = test(cores, mode, direction);
    if (status != WARPSEAL_OK) return status;
    if (mode == WARPSEAL_GCM && run_gcm_steps(cores) != stored_digests(cipher.name)->gcm_steps)
        return WARPSEAL_SELF_TEST_FAILED;
    const CpuBlockLoops* const loops = cpu_block_loops(cipher);
    return loops == nullptr ? WARPSEAL_OK : test_loops(cipher, *loops, mode, direction);
}

warpseal_status test_loops(const CpuCipher& cipher, const CpuBlockLoops& loops, warpseal_mode mode,
                           Direction direction) {
    const CpuBlockLoops::Blocks run = loops.blocks[mode][static_cast<int>(direction)];
    if (run == nullptr) return WARPSEAL_OK;
    constexpr size_t chunk_blocks[] = {1, 4, 2, 3, 5, 4, 33, 1};
    size_t all = 0;
    for (const size_t count : chunk_blocks) all += count;
    TestOnCores cores(cipher);
    TestBatch::Message message;
    const warpseal_status status = whole_blocks(cores, mode, direction, all, &message);
    if (status != WARPSEAL_OK) return status;
    message.iv.resize(16);  // ECB has none
    return same_outputs(message.in, message.out, [&](const uint8_t* in, uint8_t* out) {
        TestText feedback = message.iv;
        for (const size_t count : chunk_blocks) {
            run(cores.state(), feedback.data(), in, out, 16 * count);
            in += 16 * count, out += 16 * count;
        }
        return outcome(mode != WARPSEAL_ECB || feedback == message.iv);
    });
}

warpseal_status test_through_gpu(const GpuBackend& backend, int device, const CudaCipher& cipher,
                                 const KnownAnswer& known, warpseal_mode mode,
                                 Direction direction) {
    TestThroughGpu gpu(backend, device, cipher, known);
    return test(gpu, mode, direction);
}

warpseal_status test_device_memory(const GpuBackend& backend, int device, const CudaCipher& cipher,
                                   const KnownAnswer& known, warpseal_mode mode,
                                   Direction direction) {
    TestOnDevice memory(backend, device, cipher, known);
    const warpseal_status status = memory.prepare();
    return status != WARPSEAL_OK ? status : test(memory, mode, direction);
}

}  // namespace warpseal

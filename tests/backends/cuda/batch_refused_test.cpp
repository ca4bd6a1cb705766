// Batches in device memory that are refused, whole or in part: lengths that only the device reads,
// and kernels that cannot be loaded.
#include "launches.h"
#include "messages.h"

namespace {

using namespace gpu;

class BatchRefused : public OnGpuBatches {};

// A message whose AAD is longer than GCM or CCM allow is left alone; the number of its blocks does
// not wrap.
TEST_P(BatchRefused, AadPastTheLimit) {
    tests::Random random(523);
    constexpr uint64_t most = (uint64_t{1} << 61) - 1;
    for (const warpseal_mode mode : {WARPSEAL_GCM, WARPSEAL_CCM})
        for (const Direction direction : {Direction::encrypt, Direction::decrypt})
            for (const uint64_t aad_bytes : {most + 1, UINT64_MAX - 15, UINT64_MAX})
                for (const size_t bytes : {size_t{96}, size_t{1} << 20}) {
                    if (bytes > 96 && mode == WARPSEAL_CCM) continue;
                    Key key(aes(128), random);
                    BatchSpec spec;
                    spec.mode = mode;
                    spec.bytes = bytes;
                    spec.count = 5;
                    spec.aad_bytes = 20;
                    spec.places = Places::offsets;
                    Messages messages(spec, key, direction, random);
                    messages.claim_aad_bytes(2, aad_bytes);
                    const Memory memory(messages.image);
                    ASSERT_EQ(run(key, mode, direction, messages.at(memory.data())), WARPSEAL_OK);
                    ASSERT_EQ(
                        memory.get() == messages.right_but_refused(2, WARPSEAL_LIMIT_EXCEEDED),
                        true)
                        << mode << " " << bytes << " " << aad_bytes;
                }
}

// A message whose text is longer than GCM or CCM allow is left alone.
TEST_P(BatchRefused, TextPastTheLimit) {
    tests::Random random(526);
    constexpr uint64_t most_of_gcm = (uint64_t{1} << 36) - 32, most_of_ccm = (1 << 24) - 1;
    for (const warpseal_mode mode : {WARPSEAL_GCM, WARPSEAL_CCM})
        for (const Direction direction : {Direction::encrypt, Direction::decrypt})
            for (const uint64_t over : {uint64_t{1}, uint64_t{1} << 40}) {
                Key key(aes(256), random);
                BatchSpec spec;
                spec.mode = mode;
                spec.bytes = 96;
                spec.count = 40;
                spec.lengths = true;
                Messages messages(spec, key, direction, random);
                messages.claim_text_bytes(
                    3, over + (mode == WARPSEAL_GCM ? most_of_gcm : most_of_ccm));
                const Memory memory(messages.image);
                ASSERT_EQ(run(key, mode, direction, messages.at(memory.data())), WARPSEAL_OK);
                ASSERT_EQ(memory.get() == messages.right_but_refused(3, WARPSEAL_LIMIT_EXCEEDED),
                          true)
                    << mode << " " << over;
            }
}

// In CBC a message that is not whole blocks is left alone.
TEST_P(BatchRefused, PartialBlocks) {
    tests::Random random(524);
    for (const CudaCipher* cipher : ciphers())
        for (const Direction direction : {Direction::encrypt, Direction::decrypt})
            for (const uint64_t bytes : {uint64_t{1}, uint64_t{44}, uint64_t{95}}) {
                Key key(*cipher, random);
                BatchSpec spec;
                spec.mode = WARPSEAL_CBC;
                spec.bytes = 96;
                spec.count = 40;
                spec.lengths = true;
                spec.in_place = bytes == 44;
                spec.iv_bytes = cipher->block_bytes;
                spec.tag_bytes = 0;
                Messages messages(spec, key, direction, random);
                messages.claim_text_bytes(35, bytes);
                const Memory memory(messages.image);
                ASSERT_EQ(run(key, WARPSEAL_CBC, direction, messages.at(memory.data())),
                          WARPSEAL_OK);
                ASSERT_EQ(memory.get() == messages.right_but_refused(35), true)
                    << cipher->name << " " << bytes;
            }
}

// In one pass, kernels that follow the first compare the tags of long messages. If one of them
// cannot be loaded, the call fails before it writes plaintext.
TEST_P(BatchRefused, LongWithoutMemoryForTheKernels) {
    tests::Random random(525);
    warpseal::cuda::Limits limits;  // read once, by such a request too
    ASSERT_EQ(warpseal::cuda::current_limits(limits), WARPSEAL_OK);
    for (const bool own_keys : {false, true})
        for (const int load : {1, 2}) {
            Key key(aes(256), random);
            BatchSpec spec;
            spec.bytes = size_t{1} << 20;
            spec.count = 3;
            spec.lengths = true;
            spec.own_keys = own_keys;
            spec.spoil_every = 2;
            Messages messages(spec, key, Direction::decrypt, random);
            const Memory memory(messages.image);
            const auto open = [&] {
                return backend().batch_device(device, key.cipher, own_keys ? nullptr : key.state(),
                                              WARPSEAL_GCM, Direction::decrypt,
                                              messages.at(memory.data()), nullptr);
            };
            refuse_load(load);
            EXPECT_EQ(open(), WARPSEAL_OUT_OF_MEMORY);
            EXPECT_TRUE(refuse_load(0)) << "load " << load << " was not requested";
            ASSERT_EQ(memory.get() == messages.image, true) << load;
            ASSERT_EQ(open(), WARPSEAL_OK);
            ASSERT_EQ(memory.get() == messages.right(), true) << load;
        }
}

INSTANTIATE_TEST_SUITE_P(Layouts, BatchRefused, testing::Values(Layouts::usual, Layouts::merged));

}  // namespace

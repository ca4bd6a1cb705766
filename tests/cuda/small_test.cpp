// A small case of every kernel in every layout, on allocations of exact size: what a memory checker can run through in a minute.
#include "messages.h"
#include "reference/xts.h"

namespace {

using namespace gpu;

class Small : public OnGpu {};

void batch(const Shape& shape, Key& key, Direction direction, tests::Random& random) {
    const Messages messages(shape, key, direction, random);
    const Memory memory(messages.image);
    ASSERT_EQ(door().batch_device(device, key.cipher, shape.own_keys ? nullptr : key.state(), shape.mode, direction,
                                  messages.at(memory.data()), nullptr),
              WARPSEAL_OK);
    ASSERT_EQ(memory.get(), messages.right());
}

// Direction, IV and tag that suit the mode; keys of the call and of each message, lengths of the call and of each message, in place or not.
TEST_P(Small, Batches) {
    tests::Random random(561);
    for (const CudaCipher* cipher : ciphers()) {
        Key key(*cipher, random);
        for (const warpseal_mode mode :
             {WARPSEAL_CTR, WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_OFB, WARPSEAL_GCM, WARPSEAL_CCM, WARPSEAL_CMAC}) {
            if ((cipher->modes >> mode & 1) == 0) continue;
            for (int i = 0; i < 4; ++i) {
                Shape shape;
                shape.mode = mode;
                shape.iv_bytes = mode == WARPSEAL_GCM    ? (i < 2 ? 12 : 21)
                                 : mode == WARPSEAL_CCM  ? 12
                                 : mode == WARPSEAL_CMAC ? 0
                                                         : cipher->block_bytes;
                shape.tag_bytes = shape.tagged() ? 8 : 0;
                shape.count = 3;
                shape.bytes = mode == WARPSEAL_CBC ? 688 : 700;
                if (i == 3 && mode == WARPSEAL_GCM) shape.count = 1, shape.bytes = 70001;  // in several parts
                shape.own_keys = i % 2 == 1;
                shape.lengths = i == 2;
                shape.aad_bytes = shape.seals() && i >= 1 ? 19 : 0;
                shape.in_place = i >= 2;
                shape.spoil_every = 2;
                for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                    batch(shape, key, direction, random);
                    if (HasFatalFailure()) return;
                }
            }
        }
    }
}

TEST_P(Small, Sweeps) {
    tests::Random random(562);
    for (const CudaCipher* cipher : ciphers()) {
        Key key(*cipher, random);
        const Text iv = random.text(cipher->block_bytes);
        // The last is long enough for the kernels of long sweeps.
        for (const size_t bytes : {size_t{16}, size_t{1008}, size_t{1001}, (size_t{16} << 20) + 3}) {
            for (const warpseal_mode mode : {WARPSEAL_ECB, WARPSEAL_CTR, WARPSEAL_CBC, WARPSEAL_CFB}) {
                for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                    if (cipher->sweep[mode][static_cast<int>(direction)] == nullptr) continue;
                    const size_t n = mode == WARPSEAL_ECB || mode == WARPSEAL_CBC ? bytes / 16 * 16 : bytes,
                                 head = std::min<size_t>(n, 1024);
                    const Text in = random.text(n);
                    const Memory from(in), to(n);
                    ASSERT_EQ(
                        door().sweep_device(device, *cipher, key.state(), mode, direction, iv.data(), from.data(), to.data(), n, nullptr),
                        WARPSEAL_OK);
                    ASSERT_EQ(part(to.get(), 0, head), expected(*cipher, mode, direction, key.bytes, iv, 0, part(in, 0, head)));
                    // In place, the edges of tiles are saved.
                    ASSERT_EQ(
                        door().sweep_device(device, *cipher, key.state(), mode, direction, iv.data(), from.data(), from.data(), n, nullptr),
                        WARPSEAL_OK);
                    ASSERT_EQ(from.get(), to.get());
                }
            }
        }
    }
}

TEST_P(Small, DataUnits) {
    tests::Random random(563);
    for (const CudaCipher* cipher : ciphers()) {
        if (cipher->block_bytes != 16) continue;
        Key data(*cipher, random), tweak(*cipher, random);
        warpseal::XtsUnits units{};
        for (const size_t unit : {size_t{16}, size_t{528}, size_t{535}, size_t{70000}}) {
            units.unit_bytes = unit;
            for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                const Text in = random.text(3 * unit);
                const Memory from(in), to(in.size());
                ASSERT_EQ(door().xts_device(device, *cipher, data.state(), tweak.state(), direction, units, from.data(), to.data(),
                                            in.size(), nullptr),
                          WARPSEAL_OK);
                ASSERT_EQ(to.get(), reference::xts_units(*tests::twin(cipher->name, data.bytes), *tests::twin(cipher->name, tweak.bytes),
                                                         direction == Direction::encrypt, Text(16, 0), unit, in));
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Small, testing::Values(Layouts::usual, Layouts::merged));

}  // namespace

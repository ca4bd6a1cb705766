// A small case of every kernel in every layout, on allocations of exact size: what a memory checker can run through in a minute.
#include "messages.h"

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

TEST_P(Small, Batches) {
    tests::Random random(561);
    for (const char* name : names) {
        Key key(name, random);
        for (int i = 0; i < 16; ++i) {
            Shape shape;
            shape.mode = i < 4 ? WARPSEAL_CTR : WARPSEAL_GCM;
            shape.iv_bytes = i < 4 ? 16 : i % 3 == 0 ? 21 : 12;
            shape.tag_bytes = i < 4 ? 0 : 16;
            shape.count = 3;
            shape.bytes = i % 2 == 0 ? 700 : 0;
            if (i >= 12) shape.count = 1, shape.bytes = 70001;  // in several parts
            shape.own_keys = i / 2 % 2 == 1;
            shape.lengths = i % 4 == 2;
            shape.aad_bytes = i >= 8 ? 19 : 0;
            shape.in_place = i % 5 == 0;
            shape.spoil_every = 2;
            batch(shape, key, i % 3 == 1 ? Direction::decrypt : Direction::encrypt, random);
            batch(shape, key, i % 3 == 1 ? Direction::encrypt : Direction::decrypt, random);
            if (HasFatalFailure()) return;
        }
    }
}

TEST_P(Small, Sweeps) {
    tests::Random random(562);
    for (const char* name : names) {
        Key key(name, random);
        const Text iv = random.text(16);
        for (const size_t bytes : {size_t{16}, size_t{1008}, size_t{1001}, (size_t{16} << 20) + 3}) {
            for (const bool ctr : {false, true}) {
                if (!ctr && bytes % 16 != 0) continue;
                for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                    const Text in = random.text(bytes);
                    const Memory from(in), to(bytes);
                    ASSERT_EQ(door().sweep_device(device, key.cipher, key.state(), ctr ? WARPSEAL_CTR : WARPSEAL_ECB, direction, iv.data(),
                                                  from.data(), to.data(), bytes, nullptr),
                              WARPSEAL_OK);
                    const bool encrypts = ctr || direction == Direction::encrypt;
                    ASSERT_EQ(to.get(),
                              oracle::run(key.mode(ctr ? "ctr" : "ecb"), encrypts, key.bytes, ctr ? iv : Text{}, {}, in, nullptr));
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Small, testing::ValuesIn(layouts));

}  // namespace

// Batches in device memory, every cipher and mode: lengths, strides, IVs, tags, keys per message,
// forged messages, long ones.
#include <set>
#include <string>

#include "allocations.h"
#include "messages.h"
#include "reference/gcm.h"

namespace {

using namespace gpu;
using warpseal::as_scattered;
using warpseal::IvCounter;
using warpseal::write_drawn_iv;

void check(const BatchSpec& spec, Key& key, Direction direction, tests::Random& random) {
    Messages messages(spec, key, direction, random);
    Memory memory(messages.image.size());
    memory.put(messages.placed_at(memory.data()));
    ASSERT_EQ(backend().batch_device(device, key.cipher, spec.own_keys ? nullptr : key.state(),
                                     spec.mode, direction, messages.at(memory.data()), nullptr),
              WARPSEAL_OK);
    const Text got = memory.get();
    if (got == messages.right()) return;
    size_t first = 0;
    while (got[first] == messages.right()[first]) ++first;
    FAIL() << key.cipher.name << " mode " << spec.mode << " direction "
           << static_cast<int>(direction) << " count " << spec.count << " bytes " << spec.bytes
           << " lengths " << spec.lengths << " own keys " << spec.own_keys << " in place "
           << spec.in_place << " iv " << spec.iv_bytes << " aad " << spec.aad_bytes << " tag "
           << spec.tag_bytes << " gap " << spec.gap << ": byte " << first
           << " of the image, input at " << messages.text_at() << ", output at "
           << messages.output_at() << " places " << static_cast<int>(spec.places);
}

class Batch : public OnGpuBatches {};

TEST_P(Batch, Random) {
    tests::Random random(511);
    for (const CudaCipher* cipher : ciphers()) {
        for (int i = 0; i < 60; ++i) {
            Key key(*cipher, random);
            const AnyLength any_length(i / 2 % 2 == 0);
            const BatchSpec spec = random_spec(random, *cipher, i % 8 == 0 ? 10000 : 1500);
            check(spec, key, i % 2 == 0 ? Direction::encrypt : Direction::decrypt, random);
            if (HasFatalFailure()) return;
        }
    }
}

// Every length around the edges of blocks and of rows of 32 blocks, with AAD that shifts them.
TEST_P(Batch, Lengths) {
    tests::Random random(512);
    Key key(aes(256), random);
    for (size_t bytes = 0; bytes <= 4096; bytes += bytes < 48                              ? 1
                                                   : bytes % 512 > 494 || bytes % 512 < 18 ? 1
                                                                                           : 59) {
        BatchSpec spec;
        spec.bytes = bytes;
        spec.count = 2;
        spec.aad_bytes = bytes % 5 == 0 ? bytes % 37 : 0;
        check(spec, key, bytes % 2 == 0 ? Direction::encrypt : Direction::decrypt, random);
        if (HasFatalFailure()) return;
    }
}

TEST_P(Batch, LongMessages) {
    tests::Random random(513);
    for (const size_t bytes :
         {(size_t{1} << 20) + 7, (size_t{8} << 20) - 16, (size_t{40} << 20) + 1}) {
        for (int i = 0; i < 6; ++i) {
            Key key(aes(128 + 64 * (i % 3)), random);
            BatchSpec spec;
            spec.bytes = bytes;
            spec.count = i == 5 ? 3 : 1;
            spec.lengths = i == 4;
            spec.own_keys = i == 3;
            spec.in_place = i == 2;
            spec.aad_bytes = i % 2 == 0 ? 0 : 33;
            spec.spoil_every = i == 1 ? 1 : 0;
            spec.mode = i == 5 ? WARPSEAL_CTR : WARPSEAL_GCM;
            if (i == 5) spec.iv_bytes = 16, spec.aad_bytes = 0, spec.tag_bytes = 0;
            check(spec, key, i % 2 == 0 ? Direction::encrypt : Direction::decrypt, random);
            if (HasFatalFailure()) return;
        }
    }
}

// Falls back to one pass where two passes find no memory: the output is the same.
TEST_P(Batch, LongWithoutScratch) {
    if (!has_ghash()) GTEST_SKIP() << "this GPU takes one pass";
    tests::Random random(519);
    for (const size_t bytes : {size_t{16384}, (size_t{9} << 20) + 5})
        for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
            Key key(aes(256), random);
            BatchSpec spec;
            spec.bytes = bytes;
            spec.count = (size_t{9} << 20) / bytes + 1;
            spec.gap = 32 - bytes % 16;
            spec.iv_bytes = bytes == 16384 ? 12 : 60;
            spec.aad_bytes = 20;
            spec.spoil_every = 3;
            refuse_next_scratch();
            check(spec, key, direction, random);
            EXPECT_TRUE(refused_scratch()) << bytes;
            if (HasFatalFailure()) return;
        }
}

// Few messages of many sizes each, so that every split among warps occurs.
TEST_P(Batch, MediumMessages) {
    tests::Random random(514);
    Key key(aes(128), random);
    for (int i = 0; i < 40; ++i) {
        BatchSpec spec;
        spec.bytes = size_t{1} << random.below(20);
        spec.bytes += random.below(spec.bytes + 1);
        spec.count = 1 + random.below((size_t{4} << 20) / spec.bytes + 1) % 300;
        spec.own_keys = i % 4 == 3;
        spec.lengths = i % 3 == 2;
        spec.aad_bytes = random.below(64);
        spec.spoil_every = 4;
        check(spec, key, i % 2 == 0 ? Direction::encrypt : Direction::decrypt, random);
        if (HasFatalFailure()) return;
    }
}

// Enough text under one key for GHASH on tensor cores, in messages of every kind of length.
TEST_P(Batch, ManyChunks) {
    tests::Random random(516);
    int i = 0;
    for (const size_t bytes : {1024u, 4095u, 16383u, 16384u, 16385u, 40000u, 131072u, 1048577u}) {
        Key key(aes(i % 2 == 0 ? 128 : 256), random);
        BatchSpec spec;
        spec.bytes = bytes;
        spec.count = (size_t{8} << 20) / bytes + 1 + random.below(40);
        spec.gap = 32 - bytes % 16;
        spec.in_place = i % 3 == 0;
        spec.aad_bytes = i % 2 == 0 ? 0 : random.below(70);
        if (i % 5 == 2) spec.iv_bytes = 1 + random.below(100);
        spec.tag_bytes = i % 4 == 0 ? 16 : 12 + random.below(5);
        spec.spoil_every = 7;
        for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
            check(spec, key, direction, random);
            if (HasFatalFailure()) return;
        }
        ++i;
    }
}

// The same with lengths that only the device knows, at aligned addresses and at others. The caller
// gives their mean, or a wrong one.
TEST_P(Batch, ListsInTwoPasses) {
    tests::Random random(527);
    int i = 0;
    for (const size_t bytes : {4096u, 20000u, 131072u, 1048577u, 12000001u})
        for (const double expected : {1.0, 0.2, 9.0, 1e12}) {
            Key key(aes(128 + 64 * (i % 3)), random);
            BatchSpec spec;
            spec.bytes = bytes;
            spec.lengths = true;
            spec.expected = expected;
            // The mean of Random::length is small beside the bound.
            const AnyLength any_length(true);
            spec.count = i % 7 == 6 ? 1 : (size_t{bytes < 1'000'000 ? 16u : 160u} << 20) / bytes;
            spec.shift = i % 5 == 1 ? 4 : 0;
            spec.gap = i % 4 == 3 ? 3 : 32 - bytes % 16;
            spec.places = static_cast<Places>(i % 3);
            spec.own_aad_lengths = false;
            spec.in_place = i % 2 == 0;
            spec.aad_bytes = i % 3 == 0 ? 0 : random.below(70);
            if (i % 5 == 2) spec.iv_bytes = 1 + random.below(100);
            spec.tag_bytes = i % 4 == 0 ? 16 : 12 + random.below(5);
            spec.spoil_every = 7;
            for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                check(spec, key, direction, random);
                if (HasFatalFailure()) return;
            }
            ++i;
        }
}

// A message of a list that is refused is left alone, in two passes too.
TEST_P(Batch, RefusedMessagesOfLists) {
    tests::Random random(528);
    for (const Direction direction : {Direction::encrypt, Direction::decrypt})
        for (const size_t iv_bytes : {size_t{12}, size_t{40}}) {
            const AnyLength any_length(true);
            Key key(aes(256), random);
            BatchSpec spec;
            spec.bytes = 2'000'000;
            spec.count = 200;
            spec.lengths = true;
            spec.expected = 1;
            spec.iv_bytes = iv_bytes;
            spec.gap = 16;
            spec.spoil_every = 5;
            Messages messages(spec, key, direction, random);
            messages.claim_text_bytes(0, uint64_t{1} << 62);
            messages.claim_text_bytes(77, UINT64_MAX);
            const Memory memory(messages.image);
            ASSERT_EQ(run(key, WARPSEAL_GCM, direction, messages.at(memory.data())), WARPSEAL_OK);
            Text right = messages.right_but_refused(0, WARPSEAL_LIMIT_EXCEEDED);
            messages.refuse(right, 77, WARPSEAL_LIMIT_EXCEEDED);
            ASSERT_EQ(memory.get() == right, true) << iv_bytes;
        }
}

// The same for every cipher, against the cores.
TEST_P(Batch, ManyChunksOfEveryCipher) {
    tests::Random random(517);
    for (const CudaCipher* cipher : ciphers()) {
        if ((cipher->modes >> WARPSEAL_GCM & 1) == 0) continue;
        const warpseal::CpuCipher* cpu = nullptr;
        for (int t = warpseal::cpu_target_count - 1; t >= 0 && cpu == nullptr; --t)
            if (warpseal::cpu_has(static_cast<warpseal::Target>(t)))
                cpu = warpseal::cpu_cipher(static_cast<warpseal::Target>(t), cipher->name);
        ASSERT_NE(cpu, nullptr);
        Key key(*cipher, random);
        std::vector<uint8_t> state(cpu->state_bytes + 64);
        void* const cpu_state = state.data() + 64 - reinterpret_cast<uintptr_t>(state.data()) % 64;
        cpu->expand(cpu_state, key.bytes.data());
        constexpr size_t bytes = 20000, pitch = 20000, count = 1700, ivs = pitch * count,
                         tags = ivs + 16 * count, statuses = tags + 16 * count;
        Text image = random.text(statuses + 4 * count);
        const Memory memory(image);
        const auto batch = [&](uint8_t* base) {
            warpseal_batch b{};
            b.struct_bytes = sizeof b;
            b.iv_bytes = 12;
            b.tag_bytes = 16;
            b.message_count = count;
            b.message_bytes = bytes;
            b.ivs = base + ivs;
            b.iv_stride = 16;
            b.in = b.out = base;
            b.in_stride = b.out_stride = pitch;
            b.tags = base + tags;
            b.tag_stride = 16;
            b.statuses = reinterpret_cast<int32_t*>(base + statuses);
            return b;
        };
        const Text clear = slice(image, 0, ivs);
        cpu->batch[WARPSEAL_GCM][0](cpu_state, batch(image.data()), 0, count);
        ASSERT_EQ(
            backend().batch_device(device, *cipher, key.state(), WARPSEAL_GCM, Direction::encrypt,
                                   as_scattered(batch(memory.data())), nullptr),
            WARPSEAL_OK);
        ASSERT_EQ(memory.get() == image, true) << cipher->name;
        ASSERT_EQ(
            backend().batch_device(device, *cipher, key.state(), WARPSEAL_GCM, Direction::decrypt,
                                   as_scattered(batch(memory.data())), nullptr),
            WARPSEAL_OK);
        ASSERT_EQ(slice(memory.get(), 0, ivs) == clear, true) << cipher->name;
    }
}

// The low 32 bits of the counter wrap within the message and carry no further.
TEST_P(Batch, GcmCounterWraps) {
    tests::Random random(515);
    Key key(aes(256), random);
    const auto reference_cipher = reference::cipher("aes-256", key.bytes);
    for (const uint64_t before : {0u, 1u, 5u, 40u, 3000u}) {
        Text counter0 = random.text(16);
        std::fill(counter0.begin() + 12, counter0.end(), uint8_t{0xff});
        counter0[14] = static_cast<uint8_t>(0xff - (before >> 8));
        counter0[15] = static_cast<uint8_t>(0xff - before);
        const Text iv = reference::gcm_iv_for(*reference_cipher, counter0), in = random.text(70000);
        Text tag;
        const Text right = oracle::run("aes-256-gcm", true, key.bytes, iv, {}, in, &tag);
        const Memory ivs(iv), from(in), tags(16);
        Memory to(in.size());
        warpseal_batch b{};
        b.struct_bytes = sizeof b;
        b.iv_bytes = 16;
        b.tag_bytes = 16;
        b.message_count = 1;
        b.message_bytes = in.size();
        b.ivs = ivs.data();
        b.in = from.data();
        b.out = to.data();
        b.tags = tags.data();
        for (const bool any_length :
             {false, true}) {  // the kernels of short texts, and those of long ones
            to.put(Text(in.size(), 0xa5));
            const AnyLength length(any_length);
            ASSERT_EQ(backend().batch_device(device, key.cipher, key.state(), WARPSEAL_GCM,
                                             Direction::encrypt, as_scattered(b), nullptr),
                      WARPSEAL_OK);
            ASSERT_EQ(to.get(), right);
            ASSERT_EQ(tags.get(), tag);
        }
    }
}

// A message that ends past an extent is left alone, and says so; the others are processed. Also in
// two passes over lengths that only the device knows.
TEST_P(Batch, Extents) {
    tests::Random random(520);
    for (const warpseal_mode mode :
         {WARPSEAL_GCM, WARPSEAL_CCM, WARPSEAL_CTR, WARPSEAL_CBC, WARPSEAL_OFB, WARPSEAL_CMAC})
        for (const Direction direction : {Direction::encrypt, Direction::decrypt})
            for (const size_t bytes : {size_t{96}, size_t{1} << 20})
                for (const bool listed : {false, true}) {
                    if (bytes > 96 && mode != WARPSEAL_GCM && mode != WARPSEAL_CTR) continue;
                    if (listed && mode != WARPSEAL_GCM) continue;
                    const AnyLength any_length(listed);
                    Key key(aes(128), random);
                    BatchSpec spec;
                    spec.mode = mode;
                    spec.bytes = bytes;
                    spec.count = 5;
                    spec.in_place = true;
                    spec.places = Places::offsets;
                    spec.lengths = spec.full_lengths = listed;
                    spec.expected = 1;
                    spec.own_aad_lengths = !listed;
                    if (!spec.tagged()) spec.iv_bytes = 16, spec.tag_bytes = 0;
                    if (listed) spec.iv_bytes = bytes == 96 ? 40 : 12;
                    if (mode == WARPSEAL_CMAC) spec.iv_bytes = 0;
                    if (spec.seals()) spec.aad_bytes = 20;
                    Messages messages(spec, key, direction, random);
                    Memory memory(messages.image.size());
                    warpseal_scattered_batch batch = messages.at(memory.data());
                    const auto run_again = [&] {
                        memory.put(messages.placed_at(memory.data()));
                        EXPECT_EQ(run(key, mode, direction, batch), WARPSEAL_OK);
                        return memory.get();
                    };
                    // Message 0 lies last. Its text ends where the memory does.
                    batch.in_extent = 5 * (bytes + 16) - 16;
                    batch.out_extent = mode == WARPSEAL_CMAC ? 0 : batch.in_extent;
                    ASSERT_EQ(run_again() == messages.right(), true) << mode << " " << bytes;
                    --batch.in_extent;
                    ASSERT_EQ(run_again() == messages.right_but_refused(0), true)
                        << mode << " " << bytes;
                    if (!spec.seals()) continue;
                    batch.in_extent = batch.out_extent = 0;
                    batch.tag_extent = 5 * 16 - 1;
                    ASSERT_EQ(run_again() == messages.right_but_refused(0), true)
                        << mode << " " << bytes;
                    batch.tag_extent = 0;
                    batch.iv_extent = 5 * spec.iv_bytes - 1;
                    ASSERT_EQ(run_again() == messages.right_but_refused(0), true)
                        << mode << " " << bytes;
                }
}

// With a workspace of the size that batch_workspace gives, a batch allocates nothing, and the
// workspace is zeros afterwards.
TEST_P(Batch, Workspace) {
    tests::Random random(521);
    for (const size_t bytes : {size_t{100}, size_t{16384}, (size_t{9} << 20) + 5})
        for (const Direction direction : {Direction::encrypt, Direction::decrypt})
            for (const bool lengths : {false, true}) {
                const AnyLength any_length(lengths && bytes > 100);
                Key key(aes(256), random);
                BatchSpec spec;
                spec.bytes = bytes;
                spec.lengths = lengths;
                spec.expected = bytes == 16384 ? 3 : 1;
                spec.count = (size_t{9} << 20) / bytes % 3000 + 1;
                spec.full_lengths = spec.count == 1;
                spec.gap = 32 - bytes % 16;
                spec.spoil_every = 3;
                Messages messages(spec, key, direction, random);
                const Memory memory(messages.image);
                warpseal_scattered_batch batch = messages.at(memory.data());
                const auto needed_for = [&](const warpseal_scattered_batch& b) {
                    size_t bytes_needed = 0;
                    EXPECT_EQ(backend().batch_workspace(device, spec.mode, b, &bytes_needed),
                              WARPSEAL_OK);
                    return bytes_needed;
                };
                const size_t needed = needed_for(batch);
                if (lengths && bytes > 100 && has_ghash()) {
                    warpseal_scattered_batch unknown = batch;
                    unknown.batch.message_bytes = 0;
                    EXPECT_NE(needed, needed_for(unknown)) << "it does not take two passes";
                }
                const Memory workspace(Text(needed + 64, 0xa5));
                batch.workspace = workspace.data();
                batch.workspace_bytes = needed;
                refuse_next_scratch();
                ASSERT_EQ(run(key, spec.mode, direction, batch), WARPSEAL_OK);
                EXPECT_FALSE(refused_scratch()) << bytes;
                ASSERT_EQ(memory.get() == messages.right(), true) << bytes << " " << lengths;
                const Text left = workspace.get();
                EXPECT_EQ(slice(left, needed, 64), Text(64, 0xa5));
                EXPECT_EQ(slice(left, 0, needed), Text(needed)) << bytes << " " << lengths;
            }
}

// Drawn IVs are all different, whatever the places of the messages, and go on where the counter
// stood.
TEST_P(Batch, DrawnIvs) {
    tests::Random random(522);
    for (const Places places : {Places::strides, Places::offsets, Places::pointers}) {
        Key key(aes(128), random);
        BatchSpec spec;
        spec.bytes = 32;
        spec.count = 5000;
        spec.apart = 3;
        spec.places = places;
        Messages messages(spec, key, Direction::encrypt, random);
        Memory memory(messages.image.size());
        memory.put(messages.placed_at(memory.data()));
        IvCounter counter{};
        const Text start = random.text(12);
        std::memcpy(counter.start, start.data(), 12);
        counter.next = 77;
        Text image(sizeof counter);
        std::memcpy(image.data(), &counter, sizeof counter);
        const Memory state(image);
        std::set<std::string> expected, drawn;
        for (uint64_t i = 0; i < 2 * spec.count; ++i) {
            Text iv(12);
            write_drawn_iv(start.data(), 77 + i, iv.data());
            expected.emplace(iv.begin(), iv.end());
        }
        for (int call = 0; call < 2; ++call) {
            ASSERT_EQ(backend().draw_ivs(device, state.data(), messages.at(memory.data()), nullptr),
                      WARPSEAL_OK);
            for (const Text& iv : messages.ivs_in(memory.get()))
                drawn.emplace(iv.begin(), iv.end());
        }
        EXPECT_EQ(drawn == expected, true);
    }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Batch, testing::Values(Layouts::usual, Layouts::merged));

}  // namespace

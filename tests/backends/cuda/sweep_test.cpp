// Sweeps in device memory: every cipher and mode, lengths, alignments, in place, counters that
// carry, data units that end within a block.
#include "backends/cuda/host/tuning.h"
#include "gpu.h"
#include "reference/xts.h"

namespace {

using namespace gpu;

constexpr size_t margin = 64;
constexpr warpseal_mode modes[] = {WARPSEAL_ECB, WARPSEAL_CTR, WARPSEAL_CBC, WARPSEAL_CFB};

bool whole(warpseal_mode mode) { return mode == WARPSEAL_ECB || mode == WARPSEAL_CBC; }
bool chained(warpseal_mode mode) { return mode == WARPSEAL_CBC || mode == WARPSEAL_CFB; }

struct Buffers {
    size_t in_shift, out_shift;
    bool in_place;
};

Buffers random_buffers(tests::Random& random) {
    return {random.one_in(3) ? 0 : random.below(17), random.one_in(3) ? 0 : random.below(17),
            random.one_in(3)};
}

// Returns the output of `call(in, out)` for a text at that offset. Nothing around the output may
// change.
template <class Call>
Text run(const Text& in, const Buffers& buffers, uint8_t poison, const Call& call) {
    Text image(in.size() + 2 * margin, poison), source(in.size() + margin, poison);
    const size_t out_at = margin - 16 + buffers.out_shift,
                 in_at = buffers.in_place ? out_at : buffers.in_shift;
    write(buffers.in_place ? image : source, in_at, in);
    const Memory from(source), to(image);
    EXPECT_EQ(call((buffers.in_place ? to.data() : from.data()) + in_at, to.data() + out_at),
              WARPSEAL_OK);
    const Text after = to.get(), out = slice(after, out_at, in.size());
    write(image, out_at, out);
    EXPECT_EQ(after, image) << "outside of the output";
    return out;
}

Text sweep(Key& key, warpseal_mode mode, Direction direction, const Text& iv, uint64_t first_block,
           const Text& in, const Buffers& buffers, uint8_t poison = 0xa5) {
    return run(in, buffers, poison, [&](const uint8_t* from, uint8_t* to) {
        return key.cipher.sweep[mode][static_cast<int>(direction)](
            key.state(), iv.data(), first_block, from, to, in.size(), nullptr);
    });
}

class Sweep : public OnGpu {};

TEST_P(Sweep, LengthsAndAlignments) {
    tests::Random random(501);
    for (const CudaCipher* cipher : ciphers()) {
        Key key(*cipher, random);
        for (int i = 0; i < 100; ++i) {
            for (const warpseal_mode mode : modes) {
                const Direction direction =
                    chained(mode) || random.one_in(2) ? Direction::decrypt : Direction::encrypt;
                size_t bytes = i < 40 ? static_cast<size_t>(i) : random.below(4097);
                if (whole(mode)) bytes = bytes / cipher->block_bytes * cipher->block_bytes;
                const uint64_t first_block =
                    random.one_in(2) ? 0 : random.next() >> random.below(64);
                const Text in = random.text(bytes), iv = random.text(cipher->block_bytes);
                const Text right = expected(*cipher, mode, direction, key.bytes, iv,
                                            mode == WARPSEAL_CTR ? first_block : 0, in);
                const Buffers buffers = random_buffers(random);
                for (const uint8_t poison : {0xa5, 0x5a})
                    ASSERT_EQ(sweep(key, mode, direction, iv, first_block, in, buffers, poison),
                              right)
                        << cipher->name << " mode " << mode << " bytes " << bytes << " shifts "
                        << buffers.in_shift << " " << buffers.out_shift << " in place "
                        << buffers.in_place;
            }
        }
    }
}

TEST_P(Sweep, CountersCarry) {
    tests::Random random(502);
    for (const CudaCipher* cipher : ciphers()) {
        Key key(*cipher, random);
        const size_t n = cipher->block_bytes;
        for (const size_t ones : {size_t{4}, size_t{8}, n}) {
            for (int i = 0; i < 12; ++i) {
                const AnyLength length(i % 2 != 0);  // also with the kernels of long texts
                const Text iv = tests::Random::counter_before(random.text(n), ones,
                                                              random.below(200)),
                           in = random.text(3200 + random.below(900));
                ASSERT_EQ(
                    sweep(key, WARPSEAL_CTR, Direction::encrypt, iv, 0, in, {0, 0, i % 4 < 2}),
                    expected(*cipher, WARPSEAL_CTR, Direction::encrypt, key.bytes, iv, 0, in));
            }
        }
    }
}

// Long enough for every kernel and many rounds of its grid. Out of place has whole blocks, in place
// does not. The reference checks the beginning; short, misaligned segments check the whole.
TEST_P(Sweep, Long) {
    tests::Random random(503);
    for (const CudaCipher* cipher : ciphers()) {
        Key key(*cipher, random);
        for (const warpseal_mode mode : modes) {
            for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                if (key.cipher.sweep[mode][static_cast<int>(direction)] == nullptr) continue;
                for (const Buffers& buffers : {Buffers{0, 16, false}, Buffers{0, 16, true},
                                               Buffers{3, 8, false}, Buffers{0, 13, true}}) {
                    const size_t n = cipher->block_bytes,
                                 bytes = (size_t{17} << 20) + 48 +
                                         (whole(mode) || !buffers.in_place ? 0 : 5);
                    const Text in = random.text(bytes),
                               iv = tests::Random::counter_before(random.text(n), 4,
                                                                  random.below(1 << 21));
                    const Text got = sweep(key, mode, direction, iv, 0, in, buffers);
                    constexpr size_t segment = size_t{1} << 20;
                    for (size_t at = 0; at < bytes; at += segment) {
                        const Text previous = chained(mode) && at != 0 ? slice(in, at - n, n) : iv;
                        const Text some = slice(in, at, std::min(bytes - at, segment));
                        const Text again =
                            sweep(key, mode, direction, previous, mode == WARPSEAL_CTR ? at / n : 0,
                                  some, {1, 3, false});
                        ASSERT_EQ(again, slice(got, at, some.size()))
                            << cipher->name << " mode " << mode << " from " << at;
                    }
                    ASSERT_EQ(slice(got, 0, 4096), expected(*cipher, mode, direction, key.bytes, iv,
                                                            0, slice(in, 0, 4096)));
                }
            }
        }
    }
}

Text xts(Key& data, Key& tweak, Direction direction, const Text& first, size_t unit_bytes,
         const Text& in, const Buffers& buffers) {
    warpseal::XtsUnits units{};
    std::memcpy(units.first, first.data(), 16);
    units.unit_bytes = unit_bytes;
    return run(in, buffers, 0xa5, [&](const uint8_t* from, uint8_t* to) {
        return backend().xts_device(device, data.cipher, data.state(), tweak.state(), direction,
                                    units, from, to, in.size(), nullptr);
    });
}

// Units of every size, whole blocks and not, the last one shorter, and numbers that carry.
TEST_P(Sweep, DataUnits) {
    tests::Random random(505);
    for (const CudaCipher* cipher : ciphers()) {
        if (cipher->block_bytes != 16) continue;
        for (int i = 0; i < 60; ++i) {
            Key data(*cipher, random), tweak(*cipher, random);
            const size_t unit = i % 4 == 0   ? 16 + random.below(50)
                                : i % 4 == 1 ? 4096
                                : i % 4 == 2 ? 16 + random.below(3000)
                                             : 16 + 16 * random.below(99);
            size_t bytes = 16 + random.below(9000);
            if (bytes % unit != 0 && bytes % unit < 16) bytes += 16;
            if (bytes % unit != 0 && bytes % unit < 16) bytes = unit;
            Text first = random.text(16);
            if (random.one_in(2))
                std::fill(first.begin(),
                          first.begin() + static_cast<std::ptrdiff_t>(random.below(17)),
                          uint8_t{0xff});
            const Text in = random.text(bytes);
            for (const Direction direction : {Direction::encrypt, Direction::decrypt})
                ASSERT_EQ(
                    xts(data, tweak, direction, first, unit, in, random_buffers(random)),
                    reference::xts_units(*tests::make_reference_cipher(cipher->name, data.bytes),
                                         *tests::make_reference_cipher(cipher->name, tweak.bytes),
                                         direction == Direction::encrypt, first, unit, in))
                    << cipher->name << " unit " << unit << " bytes " << bytes;
        }
    }
}

// Units of whole rows and others, a unit of many tiles of the tweak's kernel, and units enough for
// several launches. Tests round trips, misaligned, and the first unit against the reference.
TEST_P(Sweep, LargeDataUnits) {
    tests::Random random(506);
    Key data(*ciphers().front(), random), tweak(data.cipher, random);
    for (const size_t unit : {size_t{100} * 1024 + 5, size_t{17}, size_t{16} << 20, size_t{512},
                              size_t{4096}, size_t{48} << 10}) {
        const Text in = random.text((size_t{40} << 20) / unit * unit + 16), first = random.text(16);
        const Text out = xts(data, tweak, Direction::encrypt, first, unit, in, {0, 0, true});
        ASSERT_EQ(xts(data, tweak, Direction::decrypt, first, unit, out, {5, 12, false}), in);
        if (unit >= 1 << 20) continue;
        const auto reference_cipher = tests::make_reference_cipher(data.cipher.name, data.bytes),
                   tweak_reference = tests::make_reference_cipher(data.cipher.name, tweak.bytes);
        ASSERT_EQ(slice(out, 0, unit), reference::xts_encrypt(*reference_cipher, *tweak_reference,
                                                              first, slice(in, 0, unit)));
    }
}

TEST_P(Sweep, ExactAllocations) {
    tests::Random random(504);
    for (const CudaCipher* cipher : ciphers()) {
        Key key(*cipher, random);
        const Text iv = random.text(cipher->block_bytes);
        for (const warpseal_mode mode : {WARPSEAL_CTR, WARPSEAL_CFB}) {
            for (const size_t bytes : {1u, 15u, 16u, 17u, 511u, 1000u, 4096u}) {
                const Text in = random.text(bytes);
                const Memory from(in), to(bytes);
                ASSERT_EQ(
                    backend().sweep_device(device, *cipher, key.state(), mode, Direction::decrypt,
                                           iv.data(), from.data(), to.data(), bytes, nullptr),
                    WARPSEAL_OK);
                ASSERT_EQ(to.get(),
                          expected(*cipher, mode, Direction::decrypt, key.bytes, iv, 0, in));
            }
        }
    }
}

class SweepInParts : public OnGpuOnce {};

// More than tiles_per_round tiles, of 8 KiB here: in place it is processed in chunks, elsewhere at
// once, with equal output.
TEST_F(SweepInParts, InPlace) {
    tests::Random random(508);
    const struct {
        const char* name;
        warpseal_mode mode;
        size_t tail;
    } cases[] = {{"aes-128", WARPSEAL_CBC, 48}, {"des-ede3", WARPSEAL_CFB, 13}};
    for (const auto& c : cases) {
        Key key(c.name, random);
        const Text iv = random.text(key.cipher.block_bytes);
        const size_t bytes = warpseal::cuda::tuning::tiles_per_round * 8192 + (size_t{5} << 20) +
                             c.tail,
                     step = size_t{64} << 20;
        const Memory text(bytes), right(bytes);
        const auto sweep = [&](warpseal_mode mode, uint8_t* out) {
            return key.cipher.sweep[mode][1](key.state(), iv.data(), 0, text.data(), out, bytes,
                                             nullptr);
        };
        ASSERT_EQ(sweep(WARPSEAL_CTR, text.data()),
                  WARPSEAL_OK);  // arbitrary content, now without a pattern
        ASSERT_EQ(sweep(c.mode, right.data()), WARPSEAL_OK);
        ASSERT_EQ(sweep(c.mode, text.data()), WARPSEAL_OK);
        for (size_t at = 0; at < bytes; at += step) {
            Text a(std::min(step, bytes - at)), b(a.size());
            ASSERT_EQ(backend().download(device, a.data(), text.data() + at, a.size()),
                      WARPSEAL_OK);
            ASSERT_EQ(backend().download(device, b.data(), right.data() + at, b.size()),
                      WARPSEAL_OK);
            ASSERT_TRUE(a == b) << c.name << " within 64 MiB from " << at;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Sweep, testing::Values(Layouts::usual, Layouts::merged));

}  // namespace

// Statistical tests of 64 MiB of each target, and of the tests themselves on planted faults.
#include "statistics.h"

#include <cstring>
#include <random>

#include "generator.h"

namespace {

using tests::Text;

constexpr size_t bytes = size_t{64} << 20, segment = 65536;

TEST(Statistics, PassOnEveryTarget) {
    for (const warpseal_target_info& target : targets::all()) {
        if (!target.usable) {
            std::printf("NOT RUN %s: %s\n", target.name, target.reason);
            continue;
        }
        const auto engine = targets::engine(target.name, 2, targets::unexpected);
        EXPECT_EQ(tests::failed(tests::filled(tests::drbg_on(engine), bytes)), "") << target.name;
    }
}

// Short requests, of a leaf each.
TEST(Statistics, PassOnShortRequests) {
    const auto engine = targets::engine("cpu", 1, targets::unexpected);
    const tests::DrbgHandle drbg = tests::drbg_on(engine);
    Text all(size_t{8} << 20);
    for (size_t at = 0; at < all.size(); at += 32)
        ASSERT_EQ(warpseal_drbg_fill(drbg.get(), all.data() + at, 32), WARPSEAL_OK);
    EXPECT_EQ(tests::failed(all), "");
}

// A fault, and a test that must find it.
struct Planted {
    const char* fault;
    const char* test;
    void (*plant)(Text& stream);
};

const Planted planted[] = {
    {"a segment twice, far apart", "repeated-blocks",
     [](Text& s) { std::copy_n(s.begin(), segment, s.begin() + 300 * segment); }},
    {"every segment equal to the one before it in a thousandth of its bits",
     "autocorrelation-65536",
     [](Text& s) {
         for (size_t i = segment; i < s.size(); i += 500) s[i] = s[i - segment];
     }},
    {"a bit cleared in one byte of 300", "monobit",
     [](Text& s) {
         for (size_t i = 0; i < s.size(); i += 300) s[i] &= 0xf7;
     }},
    {"segments with more ones, and as many with more zeros", "block-frequency-65536",
     [](Text& s) {
         for (size_t i = 0; i < s.size(); i += 20) {
             if (i / segment % 2 == 0)
                 s[i] |= 1;
             else
                 s[i] &= 0xfe;
         }
     }},
    {"128 bytes with as many ones as zeros", "block-frequency-128",
     [](Text& s) {
         for (size_t i = 0; i < s.size(); i += 128)
             for (size_t k = 0; k < 64; ++k) s[i + 64 + k] = static_cast<uint8_t>(~s[i + k]);
     }},
    {"a bit that follows the one before it too often", "runs",
     [](Text& s) {
         for (size_t i = 0; i < s.size(); i += 200)
             s[i] = static_cast<uint8_t>((s[i] & 0xfd) | (s[i] & 1) << 1);
     }},
    {"one value of bytes instead of another in 60 of a thousand", "poker",
     [](Text& s) {
         for (size_t i = 0; i < s.size(); ++i)
             if (s[i] == 0x33 && i % 16 == 0) s[i] = 0xcc;
     }},
    {"a pair of bytes that does not occur", "serial",
     [](Text& s) {
         for (size_t i = 0; i < s.size(); i += 2)
             if (s[i] == s[i + 1]) s[i] ^= 0x81;
     }},
    {"a keystream with a period of 512 bytes for one segment in 256", "autocorrelation-512",
     [](Text& s) {
         for (size_t at = 0; at < s.size(); at += 256 * segment)
             for (size_t i = 512; i < segment; ++i) s[at + i] = s[at + i - 512];
     }},
    {"zeros at the end of each segment", "monobit",
     [](Text& s) {
         for (size_t at = 0; at < s.size(); at += segment)
             std::fill_n(s.begin() + static_cast<ptrdiff_t>(at + segment - 40), 40, uint8_t{0});
     }},
    {"one leaf in 512 not written", "repeated-blocks",
     [](Text& s) { std::fill_n(s.begin() + 5 * segment, segment, uint8_t{0xa5}); }},
};

// The stream is the same in each run, so that no test passes or fails by chance.
TEST(Statistics, FindPlantedFaults) {
    Text sound(bytes);
    std::mt19937_64 random(1);
    for (size_t at = 0; at < bytes; at += 8) {
        const uint64_t word = random();
        std::memcpy(sound.data() + at, &word, sizeof word);
    }
    ASSERT_EQ(tests::failed(sound), "");
    for (const Planted& one : planted) {
        Text stream = sound;
        one.plant(stream);
        EXPECT_LT(tests::statistic(one.test, stream), tests::least_p) << one.fault;
    }
}

}  // namespace

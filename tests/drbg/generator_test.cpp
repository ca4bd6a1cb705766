// The calls of drbg.h in host memory.
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <string>
#include <thread>

#include "generator.h"
#include "warpseal/warpseal.hpp"

namespace {

using tests::DrbgHandle;
using tests::filled;
using tests::fixed_entropy;
using tests::source;
using tests::Source;
using tests::Text;
using tests::Tree;

std::string name(const Text& bytes) { return {bytes.begin(), bytes.end()}; }

class Generator : public tests::DrbgTest {
protected:
    targets::EngineHandle engine = targets::engine("cpu", 2, targets::unexpected);
};

// Lengths around a block, a leaf and several leaves, one after the other from one generator.
TEST_F(Generator, IsTheDocumentedConstruction) {
    source = Source::fixed;
    const DrbgHandle drbg = tests::drbg_on(engine);
    Tree expected;
    for (const size_t bytes :
         {size_t{1}, size_t{16}, size_t{32}, size_t{47}, size_t{4099}, size_t{65535}, size_t{65536},
          size_t{65537}, size_t{131072}, size_t{1000003}, size_t{16}, size_t{3} << 20})
        ASSERT_EQ(filled(drbg, bytes), expected.fill(bytes)) << bytes;
}

// More than one request to the root, on every target.
TEST_F(Generator, IsTheSameOnEveryTargetBeyondOneRequest) {
    constexpr size_t bytes = tests::leaves_of_a_request * tests::request_bytes + 70001;
    const Text expected = Tree().fill(bytes);
    source = Source::fixed;
    for (const warpseal_target_info& target : targets::all()) {
        if (!target.usable) {
            std::printf("NOT RUN %s: %s\n", target.name, target.reason);
            continue;
        }
        const auto own = targets::engine(target.name, 2, targets::unexpected);
        const DrbgHandle drbg = tests::drbg_on(own);
        const Text got = filled(drbg, bytes);
        EXPECT_TRUE(got == expected) << target.name;
    }
}

TEST_F(Generator, TakesAPersonalizationString) {
    source = Source::fixed;
    for (const size_t bytes : {size_t{1}, size_t{20}, size_t{48}}) {
        const Text personalization(bytes, 0x3c);
        const DrbgHandle drbg = tests::drbg_on(engine, personalization);
        EXPECT_EQ(filled(drbg, 200), Tree(fixed_entropy(personalization)).fill(200)) << bytes;
    }
    DrbgHandle none;
    EXPECT_EQ(tests::create(engine, Text(49), false, none), WARPSEAL_LIMIT_EXCEEDED);
    EXPECT_EQ(none, nullptr);
}

TEST_F(Generator, Reseeds) {
    source = Source::fixed;
    const DrbgHandle drbg = tests::drbg_on(engine);
    Tree expected;
    EXPECT_EQ(filled(drbg, 100), expected.fill(100));
    const Text additional(30, 0x77);
    ASSERT_EQ(warpseal_drbg_reseed(drbg.get(), additional.data(), additional.size()), WARPSEAL_OK);
    expected.reseed(fixed_entropy(additional));
    EXPECT_EQ(filled(drbg, 100), expected.fill(100));
    ASSERT_EQ(warpseal_drbg_reseed(drbg.get(), nullptr, 0), WARPSEAL_OK);
    expected.reseed(fixed_entropy());
    EXPECT_EQ(filled(drbg, 100), expected.fill(100));
    EXPECT_EQ(warpseal_drbg_reseed(drbg.get(), Text(49).data(), 49), WARPSEAL_LIMIT_EXCEEDED);
    EXPECT_EQ(filled(drbg, 100), expected.fill(100));
}

TEST_F(Generator, ReseedsBeforeEachRequestWithPredictionResistance) {
    source = Source::fixed;
    const DrbgHandle drbg = tests::drbg_on(engine, {}, true);
    Tree expected;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(filled(drbg, 70000), expected.fill(70000, true)) << i;
}

TEST_F(Generator, DrawsFromTheOperatingSystem) {
    std::set<std::string> seen;
    for (int i = 0; i < 50; ++i) {
        const DrbgHandle drbg = tests::drbg_on(engine);
        for (int k = 0; k < 3; ++k) seen.insert(name(filled(drbg, 32)));
    }
    EXPECT_EQ(seen.size(), 150u);
}

TEST_F(Generator, RefusesWrongArguments) {
    const DrbgHandle drbg = tests::drbg_on(engine);
    uint8_t byte = 7;
    warpseal_drbg* none = drbg.get();
    EXPECT_EQ(warpseal_drbg_create(engine.get(), nullptr, nullptr), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_drbg_create(nullptr, nullptr, &none), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(none, nullptr);
    warpseal_drbg_options options{};
    options.struct_bytes = sizeof options - 1;
    EXPECT_EQ(warpseal_drbg_create(engine.get(), &options, &none), WARPSEAL_INVALID_ARGUMENT);
    options.struct_bytes = sizeof options;
    options.personalization_bytes = 1;
    EXPECT_EQ(warpseal_drbg_create(engine.get(), &options, &none), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(none, nullptr);
    warpseal_drbg_destroy(nullptr);

    EXPECT_EQ(warpseal_drbg_fill(nullptr, &byte, 1), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_drbg_fill(drbg.get(), nullptr, 1), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_drbg_fill(drbg.get(), nullptr, 0), WARPSEAL_OK);
    EXPECT_EQ(warpseal_drbg_fill(drbg.get(), &byte, 0), WARPSEAL_OK);
    EXPECT_EQ(warpseal_drbg_fill(drbg.get(), &byte, size_t{PTRDIFF_MAX} + 1),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(byte, 7);
    EXPECT_EQ(warpseal_drbg_reseed(nullptr, nullptr, 0), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_drbg_reseed(drbg.get(), nullptr, 1), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_drbg_fill_device(nullptr, &byte, 1, nullptr), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_drbg_fill_device(drbg.get(), nullptr, 1, nullptr),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_drbg_fill_device(drbg.get(), &byte, 1, nullptr), WARPSEAL_NO_DEVICE);
    EXPECT_EQ(warpseal_drbg_fill_device(drbg.get(), nullptr, 0, nullptr), WARPSEAL_NO_DEVICE);
}

TEST_F(Generator, FailsWithoutTheRandomSource) {
    source = Source::failing;
    DrbgHandle drbg;
    EXPECT_EQ(tests::create(engine, {}, false, drbg), WARPSEAL_NO_RANDOM);
    EXPECT_EQ(drbg, nullptr);

    source = Source::fixed;
    drbg = tests::drbg_on(engine);
    Tree expected;
    EXPECT_EQ(filled(drbg, 50), expected.fill(50));
    source = Source::failing;
    EXPECT_EQ(warpseal_drbg_reseed(drbg.get(), nullptr, 0), WARPSEAL_NO_RANDOM);
    EXPECT_EQ(filled(drbg, 50), expected.fill(50));  // no entropy is due
}

// With prediction resistance the second group of a fill finds no entropy: the first is zeroized.
TEST_F(Generator, ReleasesNothingOfAFillThatFails) {
    source = Source::fixed;
    const DrbgHandle drbg = tests::drbg_on(engine, {}, true);
    source = Source::some;
    tests::calls_left = 1;
    Text out(tests::leaves_of_a_request * tests::request_bytes + 1, 0xa5);
    EXPECT_EQ(warpseal_drbg_fill(drbg.get(), out.data(), out.size()), WARPSEAL_NO_RANDOM);
    EXPECT_TRUE(out == Text(out.size()));
}

TEST_F(Generator, GivesThreadsDifferentBytes) {
    const DrbgHandle drbg = tests::drbg_on(engine);
    constexpr size_t threads = 4, fills = 200, bytes = 33;
    std::vector<std::string> drawn(threads * fills);
    std::vector<std::thread> all;
    for (size_t t = 0; t < threads; ++t)
        all.emplace_back([&, t] {
            for (size_t i = 0; i < fills; ++i) {
                if (i % 50 == 0) {
                    EXPECT_EQ(warpseal_drbg_reseed(drbg.get(), nullptr, 0), WARPSEAL_OK);
                }
                drawn[t * fills + i] = name(filled(drbg, bytes));
            }
        });
    for (std::thread& one : all) one.join();
    EXPECT_EQ(std::set<std::string>(drawn.begin(), drawn.end()).size(), drawn.size());
}

Text bytes_of_child(const DrbgHandle& drbg, size_t bytes) {
    int ends[2];
    if (pipe(ends) != 0) return {};
    const pid_t child = fork();
    if (child == 0) {
        alarm(120);
        Text out(bytes);
        if (warpseal_drbg_fill(drbg.get(), out.data(), bytes) != WARPSEAL_OK) _exit(1);
        _exit(write(ends[1], out.data(), bytes) == static_cast<ssize_t>(bytes) ? 0 : 2);
    }
    close(ends[1]);
    Text out(bytes);
    const bool whole = read(ends[0], out.data(), bytes) == static_cast<ssize_t>(bytes);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return whole && status == 0 ? out : Text();
}

// Parent, two children and the parent again: no two have the same bytes.
TEST_F(Generator, GivesAForkedChildBytesOfItsOwn) {
    const DrbgHandle drbg = tests::drbg_on(engine);
    std::set<std::string> seen;
    seen.insert(name(filled(drbg, 64)));
    for (int i = 0; i < 2; ++i) {
        const Text of_child = bytes_of_child(drbg, 64);
        ASSERT_FALSE(of_child.empty());
        seen.insert(name(of_child));
        seen.insert(name(filled(drbg, 64)));
    }
    EXPECT_EQ(seen.size(), 5u);
}

// A child instantiates anew: its entropy and the personalization string, and nothing of its parent.
TEST_F(Generator, SeedsAForkedChildAsANewGenerator) {
    source = Source::fixed;
    const Text personalization(48, 0x19);
    const DrbgHandle drbg = tests::drbg_on(engine, personalization);
    (void)filled(drbg, 1000);
    EXPECT_EQ(bytes_of_child(drbg, 64), Tree(fixed_entropy(personalization)).fill(64));
}

TEST_F(Generator, FailsInAForkedChildWithoutTheRandomSource) {
    const DrbgHandle drbg = tests::drbg_on(engine);
    source = Source::failing;
    EXPECT_TRUE(bytes_of_child(drbg, 64).empty());
    EXPECT_EQ(filled(drbg, 64).size(), 64u);
}

TEST_F(Generator, HasAWrapperForCpp) {
    source = Source::fixed;
    const warpseal::Engine own("cpu", 1);
    const Text personalization(10, 0x44), additional(5, 0x55);
    warpseal::Drbg drbg(own, personalization);
    Tree expected(fixed_entropy(personalization));
    Text out(500);
    drbg.fill(out);
    EXPECT_EQ(out, expected.fill(500));
    drbg.reseed(additional);
    expected.reseed(fixed_entropy(additional));
    drbg.fill(out);
    EXPECT_EQ(out, expected.fill(500));
    EXPECT_THROW(warpseal::Drbg(own, Text(49)), warpseal::Error);
}

}  // namespace
